import { assertEquals, assertThrows } from "@std/assert";
import { PortTaken } from "../../server/mod.ts";
import { checkPorts, type WantedPort } from "./free_ports.ts";

Deno.test("checkPorts() names every port that is taken with its variable, TCP and UDP apart", () => {
  using tcp = Deno.listen({ hostname: "::", port: 0 });
  const udp = Deno.listenDatagram({ hostname: "::", port: 0, transport: "udp" });
  const [tcpPort, udpPort] = [tcp, udp].map(({ addr }) => "port" in addr ? addr.port : 0);
  const wanted = (
    port: number | undefined,
    transport: "tcp" | "udp",
    variable: string,
  ): WantedPort => {
    return { hostname: "127.0.0.1", port: port ?? 0, transport, variable };
  };
  checkPorts([wanted(0, "tcp", "A"), wanted(0, "udp", "B")]);
  const all = [wanted(tcpPort, "tcp", "A"), wanted(udpPort, "udp", "B"), wanted(0, "tcp", "C")];
  const { message } = assertThrows(() => checkPorts(all), PortTaken);
  assertEquals(message.split("\n"), [
    `Cannot listen: port ${tcpPort} is taken. Stop what uses it, or set A to another port`,
    `Cannot listen: port ${udpPort} is taken. Stop what uses it, or set B to another port`,
  ]);
  udp.close();
});

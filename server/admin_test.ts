import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { readAdminAddress, serveAdmin } from "./admin.ts";
import { PortTaken } from "./taken_port.ts";
import { ConfigError, readVariables } from "./variables.ts";

Deno.test("the admin port shows metrics and nothing else, and a taken one is named with its variable", async () => {
  const admin = await serveAdmin({ host: "127.0.0.1", port: 0, names: [] }, () => "static_up 1\n");
  const metrics = await fetch(`${admin.url}/metrics`);
  assertEquals([metrics.headers.get("content-type"), await metrics.text()], [
    "text/plain; version=0.0.4; charset=utf-8",
    "static_up 1\n",
  ]);
  const other = await fetch(`${admin.url}/`);
  assertEquals([other.status, await other.text()], [404, "Not found\n"]);
  const port = Number(new URL(admin.url).port);
  await assertRejects(
    () => serveAdmin({ host: "127.0.0.1", port, names: [] }, () => ""),
    PortTaken,
    `port ${port} is taken. Stop what uses it, or set STATIC_ADMIN_PORT to another port`,
  );
  await admin.close();
});

Deno.test("the admin port answers to addresses and to names that it was told, which nobody else's DNS can lead to it", async () => {
  const names = ["relay-0.relay.ns.svc", "relay"];
  const admin = await serveAdmin({ host: "127.0.0.1", port: 0, names }, () => "static_up 1\n");
  const statusFor = async (host: string): Promise<number> => {
    using connection = await Deno.connect({
      hostname: "127.0.0.1",
      port: Number(new URL(admin.url).port),
    });
    const request = `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    await connection.write(new TextEncoder().encode(request));
    const answer = await new Response(connection.readable).text();
    assertEquals(answer.includes("static_up"), answer.startsWith("HTTP/1.1 200"), answer);
    return Number(answer.split(" ")[1]);
  };
  const served = [
    ...["127.0.0.1", "localhost:9464", "LOCALHOST", "[::1]:9464", "10.1.2.3:9464"],
    ...["relay:9465", "relay-0.relay.ns.svc", "Relay-0.Relay.ns.svc:9465"],
  ];
  for (const host of served) assertEquals(await statusFor(host), 200, host);
  const refused = [
    ...[
      "evil.example",
      "evil.example:9464",
      "localhost.evil.example",
      "127.0.0.1.evil.example",
      "localhost.",
    ],
    // Of a machine in the same network, or one name beside ours.
    ...["laptop", "laptop:9464", "relay-1.relay.ns.svc", "relay.ns.svc"],
  ];
  for (const host of refused) assertEquals(await statusFor(host), 421, host);
  await admin.close();
});

Deno.test("the admin port is on loopback unless told, and can be off", () => {
  const read = (variables: Readonly<Record<string, string>>): unknown =>
    readVariables(
      { what: "the server", variable: (name) => variables[name] },
      (reader) => readAdminAddress(reader, 9464),
    );
  assertEquals(read({}), { host: "127.0.0.1", port: 9464, names: [] });
  const given = {
    STATIC_ADMIN_HOST: "::1",
    STATIC_ADMIN_PORT: "1",
    STATIC_ADMIN_NAMES: "relay, Relay.ns.svc",
  };
  assertEquals(read(given), { host: "::1", port: 1, names: ["relay", "relay.ns.svc"] });
  assertThrows(
    () => read({ STATIC_ADMIN_NAMES: "relay:9465" }),
    ConfigError,
    "STATIC_ADMIN_NAMES must be a list",
  );
  assertEquals(read({ STATIC_ADMIN_PORT: "off" }), undefined);
});

Deno.test("the admin port closes although clients hold connections in silence, idle and in the middle of a request", async () => {
  const admin = await serveAdmin({ host: "127.0.0.1", port: 0, names: [] }, () => "static_up 1\n");
  const port = Number(new URL(admin.url).port);
  const held = await Promise.all(
    ["", "GET /metr", "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"].map(async (text) => {
      const connection = await Deno.connect({ hostname: "127.0.0.1", port });
      await connection.write(new TextEncoder().encode(text));
      return connection;
    }),
  );
  await (await fetch(`${admin.url}/metrics`)).text();
  await admin.close();
  for (const connection of held) connection.close();
});

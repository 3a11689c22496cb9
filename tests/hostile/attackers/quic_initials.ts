/**
 * First packets of QUIC connections whose sender says nothing more, as if its address were forged. A real client makes them,
 * for a socket that passes them on and never brings an answer back.
 */
import { attack } from "../../support/hostile/attack.ts";

export interface InitialsOrder {
  readonly port: number;
  readonly ca: string;
  readonly perSecond: number;
}

export interface InitialsReport {
  readonly sent: number;
}

/** A client repeats its first packet until it is given up; a few are under way at any time. */
const patienceMs = 300;

await attack<InitialsOrder, InitialsReport>(async ({ port, ca, perSecond }, stop) => {
  const sink = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const out = Deno.listenDatagram({ transport: "udp", hostname: "127.0.7.1", port: 0 });
  if (sink.addr.transport !== "udp") throw new Error("a UDP socket has a port");
  const sinkPort = sink.addr.port;
  const relay: Deno.NetAddr = { transport: "udp", hostname: "127.0.0.1", port };
  const seen = new Set<number>();
  let sent = 0;
  const passOn = async (): Promise<void> => {
    for await (const [packet, from] of sink) {
      if (from.transport !== "udp") continue;
      if (!seen.has(from.port)) sent++;
      seen.add(from.port);
      await out.send(packet, relay);
    }
  };
  const passing = passOn().catch(() => {});
  const dial = async (): Promise<void> => {
    const endpoint = new Deno.QuicEndpoint({ hostname: "127.0.0.1", port: 0 });
    const options = { hostname: "127.0.0.1", port: sinkPort, serverName: "localhost", endpoint };
    const dialling = Deno.connectQuic<false>({ ...options, alpnProtocols: ["static-relay/1"], caCerts: [ca] });
    dialling.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, patienceMs)); // wait: its packets go out
    endpoint.close();
  };
  const dials = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const dialling = dial().catch(() => {}).finally(() => dials.delete(dialling));
    dials.add(dialling);
  }, 1_000 / perSecond);
  await new Promise((resolve) => stop.addEventListener("abort", resolve));
  clearInterval(timer);
  await Promise.all(dials);
  sink.close();
  await passing;
  out.close();
  return { sent };
});

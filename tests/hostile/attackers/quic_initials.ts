/**
 * First packets of QUIC connections whose sender says nothing more, as if its address were forged.
 * A real client makes one; the others are the same under connection ids of their own, so that a
 * thousand a second cost the attacker little.
 */
import { attack } from "../../support/hostile/attack.ts";
import { type Initial, openInitial, sealInitial } from "../../support/hostile/quic_initial.ts";

export interface InitialsOrder {
  readonly port: number;
  readonly ca: string;
  readonly perSecond: number;
}

export interface InitialsReport {
  readonly sent: number;
}

const tickMs = 5;

await attack<InitialsOrder, InitialsReport>(async ({ port, ca, perSecond }, stop) => {
  const initial = await captureInitial(ca);
  const out = Deno.listenDatagram({ transport: "udp", hostname: "127.0.7.1", port: 0 });
  const relay: Deno.NetAddr = { transport: "udp", hostname: "127.0.0.1", port };
  const startedMs = performance.now();
  let sent = 0;
  while (!stop.aborted) {
    for (const due = (performance.now() - startedMs) * perSecond / 1_000; sent < due; sent++) {
      const connectionId = crypto.getRandomValues(new Uint8Array(initial.connectionId.length));
      await out.send(sealInitial({ ...initial, connectionId }), relay);
    }
    await new Promise((resolve) => setTimeout(resolve, tickMs)); // wait: for the next ones
  }
  out.close();
  return { sent };
});

/** The first packet of a client of this runtime. */
async function captureInitial(ca: string): Promise<Initial> {
  const sink = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  if (sink.addr.transport !== "udp") throw new Error("a UDP socket has a port");
  const endpoint = new Deno.QuicEndpoint({ hostname: "127.0.0.1", port: 0 });
  const options = {
    hostname: "127.0.0.1",
    port: sink.addr.port,
    serverName: "localhost",
    endpoint,
  };
  const dialling = Deno.connectQuic<false>({
    ...options,
    alpnProtocols: ["static-relay/1"],
    caCerts: [ca],
  });
  dialling.catch(() => {});
  const [packet] = await sink.receive();
  endpoint.close();
  sink.close();
  return openInitial(packet);
}

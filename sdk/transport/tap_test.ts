import { assertEquals } from "@std/assert";
import { tapped } from "./tap.ts";
import type { Connector } from "./transport.ts";

Deno.test("a tap is shown what goes to the relay and what comes from it", async () => {
  const connector: Connector = {
    transport: "quic",
    carrier: "udp",
    unusable: () => undefined,
    connect: () =>
      Promise.resolve({
        read: () => Promise.resolve(Uint8Array.of(2)),
        write: () => Promise.resolve(),
        close: () => {},
        closed: new Promise(() => {}),
      }),
  };
  const seen: unknown[] = [];
  const tap = tapped(connector, (cells, cellBytes, direction) => seen.push([[...cells], cellBytes, direction]));
  const trust = { caCerts: [], certificateHashes: [] };
  const stream = await tap.connect({ host: "h", port: 1, trust }, new AbortController().signal);
  await stream.write(Uint8Array.of(1), 1024);
  await stream.read();
  assertEquals(seen, [[[1], 1024, "sent"], [[2], 1024, "received"]]);
});

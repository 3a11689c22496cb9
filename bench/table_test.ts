import { assertEquals } from "@std/assert";
import { tableOf } from "./table.ts";

Deno.test("tableOf() shows a comparison with its ratio, and says why a peer was not measured", () => {
  const figures = {
    bench: "relay",
    what: "QUIC, 1 → 1",
    unit: "/s",
    ours: 200,
    runtime: "Deno 2.9.5",
  };
  const table = tableOf([
    { ...figures, peer: "in memory", theirs: 400, ratio: 0.5, target: 1 },
    { ...figures, peer: "NATS, plain text", reason: "nats-server is not installed" },
  ]);
  assertEquals(table.split("\n").slice(2), [
    "| relay: QUIC, 1 → 1 | 200 /s | in memory | 400 /s | 0.50 | 1, short |",
    "| relay: QUIC, 1 → 1 | 200 /s | NATS, plain text | nats-server is not installed |  |  |",
  ]);
});

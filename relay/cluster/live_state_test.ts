import { assertEquals } from "@std/assert";
import { sampleAccount, sampleAgent } from "../engine/testing/sample.ts";
import { encodeBatch } from "./batch.ts";
import { encodeLive, type LiveCommand, LiveState } from "./live_state.ts";

const nowMs = 1_000;
const room = { account: sampleAccount(1), bytesPerAccount: 1 << 20, bytesGuaranteed: 0, bytesInAll: 1 << 20 };

function upload(first: number, count: number): LiveCommand {
  const keyPackages = Array.from({ length: count }, (_, index) => {
    const bytes = new Uint8Array(100).fill(first + index);
    return { bytes, reference: bytes.slice(0, 32), notAfterMs: 10_000 };
  });
  return {
    op: "upload",
    agentId: sampleAgent(1),
    upload: { keyPackages, replace: false, capacity: 100, nowMs, ...room },
  };
}

function createState(): LiveState {
  const ignore = (): void => {};
  return new LiveState({
    seen: ignore,
    reset: ignore,
    join: ignore,
    joinEnd: ignore,
    tell: ignore,
    confirm: ignore,
    fault: (error) => {
      throw error;
    },
  });
}

function batch(writer: string, number: number, ...commands: readonly LiveCommand[]): Uint8Array {
  return encodeBatch({ writer, relay: `relay of ${writer}`, number, commands: commands.map(encodeLive) });
}

Deno.test("relays agree behind the reset of one that began without the others' state, whatever was on its way", () => {
  const log = [
    batch("old", 1),
    batch("old", 2, upload(1, 5)),
    batch("new", 1),
    batch("new", 2, { op: "reset" }),
    // Sent before its relay had seen the reset: one that counts the writer's batches would take it, and the new one cannot.
    batch("old", 3, upload(10, 3)),
    batch("old", 4, upload(20, 3)),
    batch("old again", 1),
    batch("old again", 2, upload(30, 2)),
    batch("new", 3, upload(40, 1)),
  ];
  const [knowing, fresh] = [createState(), createState()];
  log.forEach((bytes, index) => knowing.take(index + 1, bytes));
  log.slice(2).forEach((bytes, index) => fresh.take(index + 3, bytes));
  const counts = [knowing, fresh].map((state) => state.pools.count(sampleAgent(1), nowMs).keyPackages);
  assertEquals(counts, [3, 3]);
});

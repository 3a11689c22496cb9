import { createHash } from "node:crypto";
import { assertEquals, assertLess } from "@std/assert";
import { limits } from "../../../proto/mod.ts";
import type { PooledKeyPackage } from "../../engine/engine.ts";
import { sampleAccount, sampleAgent } from "../../engine/testing/sample.ts";
import { encodeBatch, maxBatchBytes } from "../log/batch.ts";
import { encodeLive, type EphemeralCommand, EphemeralState } from "./ephemeral_state.ts";

const nowMs = 1_000;
const room = {
  account: sampleAccount(1),
  bytesPerAccount: 1 << 20,
  bytesGuaranteed: 0,
  bytesInAll: 1 << 20,
};

function upload(first: number, count: number): EphemeralCommand {
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

function createState(): EphemeralState {
  const ignore = (): void => {};
  return new EphemeralState({
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

function batch(
  writer: string,
  number: number,
  ...commands: readonly EphemeralCommand[]
): Uint8Array {
  return encodeBatch({
    writer,
    relay: `relay of ${writer}`,
    number,
    commands: commands.map(encodeLive),
  });
}

Deno.test("relays agree behind the reset of one that began without the others' state, whatever was on its way", () => {
  const log = [
    batch("old", 1),
    batch("old", 2, upload(1, 5)),
    batch("new", 1),
    batch("new", 2, { op: "reset" }),
    // Sent before its relay had seen the reset: one that counts the writer's batches would take it,
    // and the new one cannot.
    batch("old", 3, upload(10, 3)),
    batch("old", 4, upload(20, 3)),
    batch("old again", 1),
    batch("old again", 2, upload(30, 2)),
    batch("new", 3, upload(40, 1)),
  ];
  const [knowing, fresh] = [createState(), createState()];
  log.forEach((bytes, index) => knowing.take(index + 1, bytes));
  log.slice(2).forEach((bytes, index) => fresh.take(index + 3, bytes));
  const counts = [knowing, fresh].map((state) =>
    state.pools.count(sampleAgent(1), nowMs).keyPackages
  );
  assertEquals(counts, [3, 3]);
});

function keyPackages(count: number): PooledKeyPackage[] {
  return Array.from({ length: count }, (_, index) => {
    const reference = new Uint8Array(32);
    new DataView(reference.buffer).setUint32(0, index);
    return { bytes: new Uint8Array(limits.keyPackageBytes), reference, notAfterMs: 10_000 };
  });
}

function hashOf(parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

Deno.test("a pool that many have claimed from, with the largest KeyPackages, comes over to a relay that begins", () => {
  const [state, other] = [createState(), createState()];
  // More bytes than a message has, and more references than a decoder takes.
  const answers = keyPackages(500).map((each, index) => [`claim ${index}`, each, false] as const);
  const claimed = Array.from(
    { length: 12_000 },
    (_, index) => [`reference ${index}`, 10_000] as const,
  );
  const [lastResort] = keyPackages(1);
  const pool = { account: sampleAccount(1), available: keyPackages(100), lastResort, filled: 100 };
  state.pools.restore({ ...pool, agentId: sampleAgent(1), claimed, answers });
  state.pools.restore({ ...pool, agentId: sampleAgent(2), claimed: [], answers: [] });
  const parts = [...state.dump()];
  assertLess(Math.max(...parts.map(({ length }) => length)), maxBatchBytes);
  other.restore(parts);
  assertEquals(hashOf([...other.dump()]), hashOf(parts));
  const sizes = [...other.pools.dump()].map((
    each,
  ) => [each.available.length, each.claimed.length, each.answers.length]);
  assertEquals(sizes, [[100, 12_000, 500], [100, 0, 0]]);
});

Deno.test("a state that is taken over part by part is that of one moment, whatever is uploaded and claimed meanwhile", () => {
  const [state, other] = [createState(), createState()];
  state.take(1, batch("one", 1));
  state.take(2, batch("one", 2, upload(1, 5)));
  const taken: Uint8Array[] = [];
  for (const part of state.dump()) {
    taken.push(part);
    const next = state.position + 1;
    state.take(next, batch("one", next, upload(10 * next, 3)));
    state.pools.claim(sampleAgent(1), { key: `claim ${next}`, nowMs });
  }
  other.restore(taken);
  assertEquals([taken.length, other.position], [2, 2]);
  assertEquals(other.pools.count(sampleAgent(1), nowMs).keyPackages, 5);
  assertEquals(state.pools.count(sampleAgent(1), nowMs).keyPackages, 9);
});

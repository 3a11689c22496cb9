/** Records: compare-and-set by revisions that never come back, and expiry. */
import { assert, assertEquals, assertExists, assertGreater, assertRejects } from "@std/assert";
import type { Engine } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { ContractTest } from "./contract.ts";
import { bytesOf } from "./sample.ts";

const record = (number: number, expiresAtMs = 5000): { value: Uint8Array; expiresAtMs: number } => ({
  value: bytesOf(number),
  expiresAtMs,
});

async function store(engine: Engine, key: string, number: number, revision = 0): Promise<number> {
  const outcome = await engine.records.put(key, record(number), revision);
  assert(outcome.kind === "stored");
  return outcome.revision;
}

export function recordContract(test: ContractTest): void {
  test("records.put() stores, replaces the revision that was read, and refuses any other", async (engine) => {
    const { records } = engine;
    assertEquals(await records.get("k"), undefined);
    assertEquals(await records.put("k", record(1), 3), { kind: "conflict" });
    const first = await store(engine, "k", 1);
    assertEquals(await records.get("k"), { ...record(1), revision: first });
    assertEquals(await records.put("k", record(2), 0), { kind: "conflict" });
    const second = await store(engine, "k", 2, first);
    assertGreater(second, first);
    assertEquals(await records.put("k", record(3), first), { kind: "conflict" });
    assertEquals(await records.get("k"), { ...record(2), revision: second });
  });

  test("records.put() has one winner among 100 that replace the same revision", async (engine) => {
    const revision = await store(engine, "k", 0);
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, i) => engine.records.put("k", record(i), revision)),
    );
    assertEquals(outcomes.filter(({ kind }) => kind === "stored").length, 1);
  });

  test("a revision does not come back after its record was deleted", async (engine) => {
    const revision = await store(engine, "k", 1);
    await engine.records.delete("k");
    await engine.records.delete("k");
    assertEquals(await engine.records.get("k"), undefined);
    assertEquals(await engine.records.put("k", record(2), revision), { kind: "conflict" });
    assertGreater(await store(engine, "k", 2), revision);
    assertEquals(await engine.records.put("k", record(3), revision), { kind: "conflict" });
  });

  test("records.expire() deletes what has expired, however much, and nothing else", async (engine) => {
    await Promise.all(Array.from({ length: 500 }, (_, i) => engine.records.put(`k${i}`, record(i, i), 0)));
    await engine.records.expire(450);
    assertEquals(await engine.records.get("k450"), undefined);
    assertExists(await engine.records.get("k451"));
    assertEquals(await engine.records.get("k0"), undefined);
  });

  test("records.put() refuses an empty or long key, a large value, and bad numbers", async (engine) => {
    const { records } = engine;
    const bad = [
      () => records.put("", record(1), 0),
      () => records.put("k".repeat(513), record(1), 0),
      () => records.put("k", { value: new Uint8Array(1024 * 1024 + 1), expiresAtMs: 1 }, 0),
      () => records.put("k", record(1, -1), 0),
      () => records.put("k", record(1), -1),
      () => records.expire(NaN),
    ];
    for (const call of bad) assertEquals((await assertRejects<EngineError>(call, EngineError)).code, "invalid");
  });
}

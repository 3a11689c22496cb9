/** Records: compare-and-set by revisions that never come back, and expiry. */
import { assert, assertEquals, assertExists, assertGreater, assertRejects } from "@std/assert";
import type { Engine, RecordEdit } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { ContractTest } from "./contract.ts";
import { appended, bytesOf, commit, createChannel, sampleAccount } from "./sample.ts";

const record = (
  number: number,
  expiresAtMs = 5000,
): { value: Uint8Array; expiresAtMs: number } => ({
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
    await Promise.all(
      Array.from({ length: 500 }, (_, i) => engine.records.put(`k${i}`, record(i, i), 0)),
    );
    await engine.records.expire(450);
    assertEquals(await engine.records.get("k450"), undefined);
    assertExists(await engine.records.get("k451"));
    assertEquals(await engine.records.get("k0"), undefined);
  });

  test("append() changes records in one with its entry, or not at all", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const of = { channelId, most: 10, room: { channelBytes: 1 << 20, accountBytes: 1 << 20 } };
    for (const key of ["kept", "ended", "replaced", "changed"]) {
      await engine.records.put(key, { ...record(1), of }, 0);
    }
    const revisions = new Map(
      (await engine.records.ofChannel(channelId)).map((each) => [each.key, each.revision]),
    );
    assertEquals([...revisions.keys()].sort(), ["changed", "ended", "kept", "replaced"]);
    const replace = (key: string): RecordEdit => ({
      kind: "replace",
      key,
      revision: revisions.get(key) ?? 0,
      value: bytesOf(2),
    });
    const records: RecordEdit[] = [
      { kind: "delete", key: "ended" },
      replace("replaced"),
      replace("changed"),
    ];
    const values = async (): Promise<unknown> =>
      Object.fromEntries(
        (await engine.records.ofChannel(channelId)).map(({ key, value }) => [key, value[15]]),
      );

    assertEquals(await engine.append(channelId, commit("late", 1, { records })), {
      kind: "conflict",
      epoch: 0,
    });
    assertEquals(await values(), { kept: 1, ended: 1, replaced: 1, changed: 1 });
    await engine.records.put("changed", { ...record(3), of }, revisions.get("changed") ?? 0);
    appended(await engine.append(channelId, commit("first", 0, { records })));
    assertEquals(await values(), { kept: 1, replaced: 2, changed: 3 });
    assertEquals((await engine.records.get("replaced"))?.expiresAtMs, 5000);

    // The same again is not a second change.
    await engine.records.put("ended", { ...record(4), of }, 0);
    assertEquals(
      (await engine.append(channelId, commit("first", 0, { records }))).kind,
      "duplicate",
    );
    assertEquals(await values(), { kept: 1, ended: 4, replaced: 2, changed: 3 });
  });

  test("a record that an entry replaces or deletes is counted as what it takes then", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const of = { channelId, most: 10, room: { channelBytes: 1 << 20, accountBytes: 1 << 20 } };
    const before = await engine.accountBytes(sampleAccount(1));
    await engine.records.put("k", { ...record(1), of }, 0);
    const [held] = await engine.records.ofChannel(channelId);
    const value = new Uint8Array(116);
    const edit: RecordEdit = { kind: "replace", key: "k", revision: held?.revision ?? 0, value };
    const taken = await engine.accountBytes(sampleAccount(1)) - before;
    await engine.append(channelId, commit("a", 0, { records: [edit], body: new Uint8Array(0) }));
    assertEquals(await engine.accountBytes(sampleAccount(1)) - before, taken + 100);
    const end: RecordEdit = { kind: "delete", key: "k" };
    await engine.append(channelId, commit("b", 1, { records: [end], body: new Uint8Array(0) }));
    assertEquals(await engine.accountBytes(sampleAccount(1)), before);
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
    for (const call of bad) {
      assertEquals((await assertRejects<EngineError>(call, EngineError)).code, "invalid");
    }
  });
}

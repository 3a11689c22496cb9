/** The log: one total order, compare-and-set on the epoch, idempotent keys, all or nothing. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { AppendOutcome, NewEntry } from "../engine.ts";
import { entryKinds } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { ContractTest } from "./contract.ts";
import {
  appendAll,
  appended,
  bytesOf,
  commit,
  createChannel,
  founding,
  message,
  readAll,
  sampleAgent,
  sampleLease,
} from "./sample.ts";

export function logContract(test: ContractTest): void {
  test("append() numbers entries from 1 and read() gives them back as they were", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const entries = entryKinds.map((kind, i): NewEntry => {
      const head = {
        sender: sampleAgent(i),
        timeMs: 2000 + i,
        bodyVersion: 1 + i,
        body: bytesOf(i, 1000),
      };
      if (kind === "commit") return commit("k1", 0, head);
      if (kind === "founding") return founding("k2", { epoch: 10, fromEpoch: 0 }, head);
      return message(`k${i}`, { ...head, kind, epoch: i > 1 ? 11 : 0 });
    });
    for (const [i, entry] of entries.entries()) {
      const { epoch, timeMs } = entry;
      assertEquals(await engine.append(channelId, entry), {
        kind: "appended",
        sequence: i + 1,
        epoch,
        timeMs,
      });
    }
    const expected = entries.map(({ kind, epoch, sender, timeMs, bodyVersion, body }, i) => ({
      sequence: i + 1,
      kind,
      epoch,
      sender,
      timeMs,
      bodyVersion,
      body,
    }));
    assertEquals(await readAll(engine, channelId), expected);
    assertEquals((await engine.findChannel(channelId))?.head, entries.length);
  });

  test("a founding is taken in any epoch of its range, once, and skips the rest of them", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await appendAll(engine, channelId, [commit("a", 0), commit("b", 1)]);
    const range = { epoch: 10, fromEpoch: 2 };
    const late = founding("late", { epoch: 10, fromEpoch: 3 });
    assertEquals(await engine.append(channelId, late), { kind: "conflict", epoch: 2 });
    const first = appended(await engine.append(channelId, founding("first", range)));
    assertEquals((await engine.findChannel(channelId))?.epoch, 11);
    assertEquals(await engine.append(channelId, founding("second", range)), {
      kind: "conflict",
      epoch: 11,
    });
    assertEquals(await engine.append(channelId, founding("first", range)), {
      ...first,
      kind: "duplicate",
    });
    assertEquals((await engine.findCommit(channelId, 10))?.sequence, first.sequence);
    assertEquals(await engine.findCommit(channelId, 2), undefined);
  });

  test("a founding is not taken behind a change that came after it was judged; messages, Welcomes and routine commits are none", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const range = { epoch: 10, fromEpoch: 0 };
    const judgedAt = await appendAll(engine, channelId, [commit("a", 0)]);
    await appendAll(engine, channelId, [
      message("b", { epoch: 1 }),
      message("c", { kind: "welcome", epoch: 1 }),
    ]);
    for (const kind of ["leave", "commit"] as const) {
      const change = kind === "commit" ? commit(kind, 1) : message(kind, { kind, epoch: 1 });
      const latest = await appendAll(engine, channelId, [change]);
      const late = founding("late", range, { judgedAt: latest - 1 });
      const epoch = kind === "commit" ? 2 : 1;
      assertEquals(await engine.append(channelId, late), { kind: "conflict", epoch });
      assertEquals(await engine.append(channelId, { ...late, judgedAt }), {
        kind: "conflict",
        epoch,
      });
    }
    const routine = [2, 3, 4].map((epoch) =>
      commit(`routine ${epoch}`, epoch, { isRoutine: true })
    );
    const last = await appendAll(engine, channelId, [message("d", { epoch: 2 }), ...routine]);
    const overtaken = founding("late", range, { judgedAt: last - routine.length - 2 });
    assertEquals(await engine.append(channelId, overtaken), { kind: "conflict", epoch: 5 });
    appended(
      await engine.append(channelId, {
        ...overtaken,
        key: "good",
        judgedAt: last - routine.length - 1,
      }),
    );
    assertEquals(await engine.findKey(channelId, "late"), undefined);
  });

  test("append() checks key, epoch and charge in this order", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.leases.open(sampleLease({ granted: 0 }));
    const charge = { leaseId: "lease-1", fence: 7, messages: 1, payloadBytes: 1 };
    const first = appended(await engine.append(channelId, message("a")));
    await engine.append(channelId, commit("c", 0));
    const duplicate: AppendOutcome = { ...first, kind: "duplicate" };
    assertEquals(
      await engine.append(channelId, message("a", { epoch: 9, charge, timeMs: 7 })),
      duplicate,
    );
    assertEquals(await engine.append(channelId, message("a", { epoch: 1, charge })), duplicate);
    assertEquals(await engine.append(channelId, message("a", { epoch: 1 })), duplicate);
    assertEquals(await engine.append(channelId, message("b", { epoch: 0, charge })), {
      kind: "conflict",
      epoch: 1,
    });
    assertEquals(await engine.append(channelId, message("b", { epoch: 2 })), {
      kind: "conflict",
      epoch: 1,
    });
    assertEquals(await engine.append(channelId, message("b", { epoch: 1, charge })), {
      kind: "lease_spent",
    });
    assertEquals((await engine.findChannel(channelId))?.head, 2);
    assertEquals(await engine.findKey(channelId, "b"), undefined);
  });

  test("append() of a key that is in the same group answers the original too", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, () => engine.append(channelId, message("same"))),
    );
    assertEquals(outcomes.map(({ kind }) => kind), ["appended", ...Array(19).fill("duplicate")]);
    assertEquals(
      outcomes.map((outcome) => "sequence" in outcome && outcome.sequence),
      Array(20).fill(1),
    );
    const other = await createChannel(engine, 2);
    appended(await engine.append(other, message("same")));
  });

  test("append() has one winner per epoch among 200 concurrent commits", async (engine) => {
    const channelId = await createChannel(engine, 1);
    for (let epoch = 0; epoch < 3; epoch++) {
      const outcomes = await Promise.all(
        Array.from(
          { length: 200 },
          (_, i) => engine.append(channelId, commit(`${epoch}/${i}`, epoch)),
        ),
      );
      assertEquals(outcomes.filter(({ kind }) => kind === "appended").length, 1);
      const losers = outcomes.filter(({ kind }) => kind !== "appended");
      assertEquals(losers, Array(199).fill({ kind: "conflict", epoch: epoch + 1 }));
    }
    assertEquals((await engine.findChannel(channelId))?.epoch, 3);
    assertEquals((await readAll(engine, channelId)).length, 3);
  });

  test("appends of one caller take effect in the order of its calls", async (engine) => {
    const ids = [await createChannel(engine, 1), await createChannel(engine, 2)];
    const calls = Array.from(
      { length: 600 },
      (_, i) => ({ channelId: ids[i % 2] ?? ids[0], number: i }),
    );
    await Promise.all(
      calls.map(({ channelId, number }) =>
        channelId && engine.append(channelId, message(`${number}`))
      ),
    );
    for (const [parity, channelId] of ids.entries()) {
      const bodies = (await readAll(engine, channelId)).map((item) =>
        item.kind === "gap" ? "" : text(item.body)
      );
      assertEquals(bodies, Array.from({ length: 300 }, (_, i) => `${2 * i + parity}`));
    }
  });

  test("an entry is durable with all that belongs to it: key, commit, lists, cursors", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const [stays, leaves] = [sampleAgent(2), sampleAgent(3)];
    await engine.append(channelId, commit("join", 0, { added: [stays, leaves] }));
    await engine.append(channelId, message("m", { epoch: 1 }));
    const removal = commit("removal", 1, { removed: [leaves], timeMs: 4000, sender: stays });
    const { sequence } = appended(await engine.append(channelId, removal));
    assertEquals(await engine.findKey(channelId, "removal"), { sequence, epoch: 1, timeMs: 4000 });
    const commitHash = new TextEncoder().encode("removal");
    assertEquals(await engine.findCommit(channelId, 1), {
      sequence,
      commitHash,
      sender: stays,
      timeMs: 4000,
    });
    assertEquals(await engine.findCommit(channelId, 2), undefined);
    // Cursors start just before the joining entry, and stay until they are dropped.
    const start = { consumed: 0, acknowledged: 0 };
    assertEquals(
      await engine.cursors(channelId),
      new Map([sampleAgent(1), stays, leaves].map((agentId) => [agentId, start])),
    );
  });

  test("read() answers at least one entry, then as many as fit", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await appendAll(
      engine,
      channelId,
      Array.from({ length: 10 }, (_, i) => message(`${i}`, { body: bytesOf(i, 100) })),
    );
    const sequences = async (after: number, maxBytes: number): Promise<number[]> =>
      (await engine.read(channelId, { after, maxBytes })).map(({ sequence }) => sequence);
    assertEquals(await sequences(0, 0), [1]);
    assertEquals(await sequences(0, 299), [1, 2]);
    assertEquals(await sequences(0, 300), [1, 2, 3]);
    assertEquals(await sequences(8, 10_000), [9, 10]);
    assertEquals(await sequences(10, 10_000), []);
    assertEquals(await sequences(11, 10_000), []);
  });

  test("read() pages through more entries than one answer holds", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const count = 1300;
    await Promise.all(
      Array.from({ length: count }, (_, i) => engine.append(channelId, message(`${i}`))),
    );
    const sequences = (await readAll(engine, channelId, 10_000_000)).map(({ sequence }) =>
      sequence
    );
    assertEquals(sequences, Array.from({ length: count }, (_, i) => i + 1));
  });

  test("forget() forgets keys and commits older than their times", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const count = 700;
    for (let i = 0; i < count; i++) void engine.append(channelId, message(`m${i}`, { timeMs: i }));
    await engine.append(channelId, commit("c0", 0, { timeMs: 800 }));
    await engine.append(channelId, commit("c1", 1, { timeMs: 900 }));
    await engine.forget({ keysMs: 650, commitsMs: 900, readMs: 0, closedMs: 0 });
    assertEquals(await engine.findKey(channelId, "m649"), undefined);
    assertEquals((await engine.findKey(channelId, "m650"))?.sequence, 651);
    assertEquals((await engine.findKey(channelId, "c0"))?.sequence, count + 1);
    assertEquals(await engine.findCommit(channelId, 0), undefined);
    assertEquals((await engine.findCommit(channelId, 1))?.sequence, count + 2);
    assertEquals((await engine.findChannel(channelId))?.head, count + 2);
  });

  test("append() refuses what is too large or makes no sense, and undoes nothing of others", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const good = engine.append(channelId, message("before"));
    const crowd = Array.from({ length: 1001 }, (_, i) => sampleAgent(i));
    const bad: NewEntry[] = [
      message(""),
      message("k".repeat(513)),
      message("big", { body: new Uint8Array(6 * 1024 * 1024) }),
      message("crowd", { added: crowd }),
      message("crowd", { removed: crowd }),
      message("epoch", { epoch: -1 }),
      message("epoch", { epoch: 0.5 }),
      message("time", { timeMs: NaN }),
      message("hash", { commitHash: bytesOf(1) }),
      message("no hash", { kind: "commit" }),
      message("charge", { charge: { leaseId: "l", fence: 1, messages: 1, payloadBytes: -1 } }),
    ];
    for (const entry of bad) {
      const error = await assertRejects(() => engine.append(channelId, entry), EngineError);
      assertEquals(error.code, "invalid", error.message);
    }
    assertEquals(appended(await good).sequence, 1);
    await assertRejects(() => engine.read(channelId, { after: -1, maxBytes: 1 }), EngineError);
    await assertRejects(
      () => engine.read(channelId, { after: 0, maxBytes: Infinity }),
      EngineError,
    );
    await assertRejects(() => engine.findCommit(channelId, -1), EngineError);
    assertEquals((await engine.findChannel(channelId))?.head, 1);
  });

  test("close() finishes what was asked for, then refuses", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const outcomes = Promise.all(
      Array.from({ length: 400 }, (_, i) => engine.append(channelId, message(`${i}`))),
    );
    await engine.close();
    assert((await outcomes).every(({ kind }) => kind === "appended"));
    for (
      const call of [
        () => engine.append(channelId, message("late")),
        () => engine.findChannel(channelId),
      ]
    ) {
      assertEquals((await assertRejects(call, EngineError)).code, "closed");
    }
  });
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

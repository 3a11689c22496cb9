/** The queue: cursors, what messages take, trimming, and gaps in the place of messages. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { bytesPerChannel, bytesPerMember } from "../log_bytes.ts";
import type { ChannelId } from "../../../proto/mod.ts";
import type { AppendOutcome, CursorMove } from "../engine.ts";
import { EngineError } from "../errors.ts";
import type { ContractTest } from "./contract.ts";
import {
  appendAll,
  bytesOf,
  commit,
  createChannel,
  describeLog,
  message,
  readAll,
  sampleAccount,
  sampleAgent,
} from "./sample.ts";

const creator = sampleAgent(1);

export function queueContract(test: ContractTest): void {
  test("cursors never move back, nor beyond the log, nor come back after they were dropped", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await appendAll(engine, channelId, ["a", "b", "c"].map((key) => message(key)));
    await Promise.all(
      [2, 1, 2, 0].map((consumed) =>
        engine.moveCursors(channelId, [[creator, { consumed, acknowledged: 0 }]])
      ),
    );
    assertEquals(
      await engine.cursors(channelId),
      new Map([[creator, { consumed: 2, acknowledged: 0 }]]),
    );
    const error = await assertRejects(
      () => engine.moveCursors(channelId, [[creator, { consumed: 4, acknowledged: 0 }]]),
      EngineError,
    );
    assertEquals(error.code, "invalid");
    await engine.append(channelId, commit("d", 0, { removed: [creator] }));
    await engine.dropCursor(channelId, creator);
    await engine.moveCursors(channelId, [[creator, { consumed: 3, acknowledged: 0 }]]);
    assertEquals(await engine.cursors(channelId), new Map());
  });

  test("moveCursors() moves all of a list but those beyond the log, and refuses a long one", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const [other, third] = [sampleAgent(2), sampleAgent(3)];
    await engine.append(channelId, commit("1", 0, { added: [other, third] }));
    await engine.moveCursors(channelId, []);
    const done = { consumed: 1, acknowledged: 1 };
    const moves: readonly CursorMove[] = [
      [creator, done],
      [other, { consumed: 3, acknowledged: 1 }],
      [third, done],
    ];
    const beyond = await assertRejects(() => engine.moveCursors(channelId, moves), EngineError);
    const long = await assertRejects(
      () => engine.moveCursors(channelId, Array.from({ length: 65 }, () => [creator, done])),
      EngineError,
    );
    assertEquals([beyond.code, long.code], ["invalid", "invalid"]);
    const cursors = await engine.cursors(channelId);
    assertEquals([cursors.get(creator), cursors.get(third)], [done, done]);
    assertEquals(cursors.get(other), { consumed: 0, acknowledged: 0 });
  });

  test("what a member acknowledged moves by itself, never back, and begins anew with its membership", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const agentId = sampleAgent(2);
    await engine.append(channelId, commit("1", 0, { added: [agentId] }));
    await appendAll(engine, channelId, ["a", "b"].map((key) => message(key, { epoch: 1 })));
    await engine.moveCursors(channelId, [[agentId, { consumed: 3, acknowledged: 0 }]]);
    assertEquals((await engine.cursors(channelId)).get(agentId), { consumed: 3, acknowledged: 0 });
    await engine.moveCursors(channelId, [[agentId, { consumed: 1, acknowledged: 2 }]]);
    await engine.moveCursors(channelId, [[agentId, { consumed: 1, acknowledged: 1 }]]);
    assertEquals((await engine.cursors(channelId)).get(agentId), { consumed: 3, acknowledged: 2 });
    await engine.append(channelId, commit("2", 1, { removed: [agentId], added: [agentId] }));
    await engine.moveCursors(channelId, [[agentId, { consumed: 3, acknowledged: 2 }]]);
    assertEquals((await engine.cursors(channelId)).get(agentId), { consumed: 3, acknowledged: 3 });
  });

  test("dropCursor() leaves that of a member alone, so that it cannot meet the next membership", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const agentId = sampleAgent(2);
    await engine.append(channelId, commit("1", 0, { added: [agentId] }));
    await engine.append(channelId, commit("2", 1, { removed: [agentId] }));
    await Promise.all([
      engine.append(channelId, commit("3", 2, { added: [agentId] })),
      engine.dropCursor(channelId, agentId),
    ]);
    assertEquals((await engine.cursors(channelId)).get(agentId)?.consumed, 2);
  });

  test("who is added again starts before the entry that adds it", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const agentId = sampleAgent(2);
    await engine.append(channelId, commit("1", 0, { added: [agentId] }));
    assertEquals((await engine.cursors(channelId)).get(agentId)?.consumed, 0);
    await engine.append(channelId, commit("2", 1, { removed: [agentId] }));
    await engine.append(channelId, commit("3", 2, { added: [agentId] }));
    assertEquals((await engine.cursors(channelId)).get(agentId)?.consumed, 2);
  });

  test("queueSize() counts messages only, follows trimming and dropping, and knows the oldest", async (engine) => {
    const channelId = await createChannel(engine, 1);
    assertEquals(await engine.queueSize(channelId), { messages: 0, bytes: 0 });
    await engine.append(channelId, commit("c", 0, { timeMs: 1 }));
    for (let i = 0; i < 5; i++) {
      await engine.append(
        channelId,
        message(`${i}`, { epoch: 1, timeMs: 100 + i, body: bytesOf(i, 10 + i) }),
      );
    }
    assertEquals(await engine.queueSize(channelId), { messages: 5, bytes: 60, oldestMs: 100 });
    await engine.dropMessages(channelId, 3, "size");
    assertEquals(await engine.queueSize(channelId), { messages: 3, bytes: 39, oldestMs: 102 });
    await engine.saveSnapshot(channelId, { sequence: 6, state: bytesOf(1) });
    await engine.trim(channelId, 5);
    assertEquals(await engine.queueSize(channelId), { messages: 1, bytes: 14, oldestMs: 104 });
    await engine.trim(channelId, 6);
    assertEquals(await engine.queueSize(channelId), { messages: 0, bytes: 0 });
    await engine.append(
      channelId,
      message("new", { epoch: 1, timeMs: 500, body: bytesOf(1, 7 + 9) }),
    );
    assertEquals(await engine.queueSize(channelId), { messages: 1, bytes: 16, oldestMs: 500 });
  });

  test("append() refuses what would make the log too long, messages apart, until it is trimmed", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const limited = (key: string, epoch: number, bytes: number): Promise<AppendOutcome> =>
      engine.append(
        channelId,
        commit(key, epoch, {
          body: bytesOf(1, bytes),
          room: { channelBytes: 100 + bytesPerMember, accountBytes: 10_000 },
        }),
      );
    await limited("1", 0, 60);
    await engine.append(channelId, message("m", { epoch: 1, body: bytesOf(1, 500) }));
    assertEquals(await limited("2", 1, 41), { kind: "full", of: "channel" });
    // The same again has its answer, an old epoch too, and who names no limit has none.
    assertEquals((await limited("1", 0, 60)).kind, "duplicate");
    assertEquals((await limited("2", 0, 41)).kind, "conflict");
    assertEquals((await limited("2", 1, 40)).kind, "appended");
    assertEquals(
      (await engine.append(channelId, commit("3", 2, { body: bytesOf(1, 30) }))).kind,
      "appended",
    );
    assertEquals(await limited("4", 3, 4), { kind: "full", of: "channel" });
    await engine.saveSnapshot(channelId, { sequence: 4, state: bytesOf(1) });
    await engine.trim(channelId, 1);
    assertEquals(await limited("4", 3, 31), { kind: "full", of: "channel" });
    assertEquals((await limited("4", 3, 30)).kind, "appended");
  });

  test("append() refuses what would make the logs of an account too long, until they are trimmed", async (engine) => {
    const [first, second] = [await createChannel(engine, 1), await createChannel(engine, 2)];
    const other = await createChannel(engine, 3, {
      account: sampleAccount(2),
      creator: sampleAgent(2),
    });
    const limited = (
      channelId: ChannelId,
      epoch: number,
      bytes: number,
    ): Promise<AppendOutcome> => {
      const room = {
        channelBytes: 100 + bytesPerMember,
        accountBytes: 150 + 2 * (bytesPerChannel + bytesPerMember),
      };
      return engine.append(
        channelId,
        commit(`${epoch} ${bytes}`, epoch, { body: bytesOf(1, bytes), room }),
      );
    };
    await limited(first, 0, 90);
    await limited(other, 0, 90);
    assertEquals(await limited(second, 0, 61), { kind: "full", of: "account" });
    assertEquals((await limited(second, 0, 60)).kind, "appended");
    assertEquals((await limited(first, 0, 90)).kind, "duplicate");
    // A channel that was closed takes its room until it is forgotten.
    await engine.append(
      first,
      message("end", { kind: "close", epoch: 1, timeMs: 3000, body: bytesOf(1, 5) }),
    );
    assertEquals(await limited(second, 1, 5), { kind: "full", of: "account" });
    await engine.forget({ keysMs: 0, commitsMs: 0, readMs: 0, closedMs: 4000 });
    assertEquals((await limited(second, 1, 40)).kind, "appended");
    await engine.saveSnapshot(second, { sequence: 1, state: bytesOf(1) });
    await engine.trim(second, 1);
    assertEquals((await limited(second, 2, 60)).kind, "appended");
    assertEquals((await limited(other, 1, 10)).kind, "appended");
  });

  test("agedChannels() finds open channels whose oldest message is older, oldest first", async (engine) => {
    const ids = [];
    for (let i = 1; i <= 5; i++) {
      const channelId = await createChannel(engine, i);
      ids.push(channelId);
      await engine.append(channelId, commit("c", 0, { timeMs: 1 }));
      if (i !== 3) {
        await engine.append(channelId, message("m", { epoch: 1, timeMs: 600 - 100 * i }));
      }
    }
    const [first = fail(), second = fail(), , fourth = fail(), fifth = fail()] = ids;
    const aged = (beforeMs: number, limit = 10): Promise<readonly string[]> =>
      engine.agedChannels({ beforeMs, limit });
    assertEquals(await aged(401), [fifth, fourth, second]);
    assertEquals(await aged(400), [fifth, fourth]);
    assertEquals(await aged(9000, 2), [fifth, fourth]);
    await engine.dropMessages(fifth, 2, "age");
    await engine.append(fourth, message("end", { kind: "close", epoch: 1 }));
    assertEquals(await aged(9000), [second, first]);
  });

  test("trim() deletes up to the last snapshot and no further; sequences, keys and commits stay", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const through = await appendAll(engine, channelId, [
      message("a"),
      commit("c", 0),
      message("b", { epoch: 1 }),
    ]);
    await engine.trim(channelId, through);
    assertEquals(await describeLog(engine, channelId), "message 1, commit 2, message 3");
    await engine.saveSnapshot(channelId, { sequence: 2, state: bytesOf(1) });
    await engine.trim(channelId, through);
    assertEquals(await describeLog(engine, channelId), "message 3");
    assertEquals(await engine.findKey(channelId, "a"), { sequence: 1, epoch: 0, timeMs: 2000 });
    assertEquals((await engine.findCommit(channelId, 0))?.sequence, 2);
    await engine.saveSnapshot(channelId, { sequence: 3, state: bytesOf(1) });
    await engine.trim(channelId, 99);
    assertEquals(await engine.append(channelId, message("d", { epoch: 1 })), {
      kind: "appended",
      sequence: 4,
      epoch: 1,
      timeMs: 2000,
    });
    assertEquals(await describeLog(engine, channelId), "message 4");
  });

  test("dropMessages() leaves a gap in the place of messages; commits stay", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await appendAll(engine, channelId, [
      ...["1", "2", "3"].map((key) => message(key)),
      commit("4", 0),
      ...["5", "6", "7"].map((key) => message(key, { epoch: 1 })),
    ]);
    await engine.dropMessages(channelId, 6, "age");
    assertEquals(
      await describeLog(engine, channelId),
      "gap 1-3 age 3, commit 4, gap 5-6 age 2, message 7",
    );
    await engine.dropMessages(channelId, 6, "size");
    assertEquals(
      await describeLog(engine, channelId),
      "gap 1-3 age 3, commit 4, gap 5-6 age 2, message 7",
    );
  });

  test("neighbouring gaps become one when they have the same reason", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await appendAll(engine, channelId, ["1", "2", "3", "4", "5"].map((key) => message(key)));
    await engine.dropMessages(channelId, 1, "age");
    await engine.dropMessages(channelId, 3, "age");
    assertEquals(await describeLog(engine, channelId), "gap 1-3 age 3, message 4, message 5");
    await engine.dropMessages(channelId, 4, "size");
    await engine.dropMessages(channelId, 5, "size");
    assertEquals(await describeLog(engine, channelId), "gap 1-3 age 3, gap 4-5 size 2");
  });

  test("a gap that a reader is inside of is told from its position on, and trimmed to it", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await appendAll(engine, channelId, ["1", "2", "3", "4", "5"].map((key) => message(key)));
    await engine.dropMessages(channelId, 4, "size");
    const rest = {
      kind: "gap",
      sequence: 3,
      lastSequence: 4,
      messages: 2,
      reason: "size",
    } as const;
    assertEquals((await engine.read(channelId, { after: 2, maxBytes: 100 }))[0], rest);
    assertEquals(
      (await engine.read(channelId, { after: 4, maxBytes: 100 })).map(({ sequence }) => sequence),
      [5],
    );
    await engine.saveSnapshot(channelId, { sequence: 5, state: bytesOf(1) });
    await engine.trim(channelId, 2);
    assertEquals(await describeLog(engine, channelId), "gap 3-4 size 2, message 5");
    await engine.trim(channelId, 4);
    assertEquals(await describeLog(engine, channelId), "message 5");
  });

  test("a queue of thousands is dropped and trimmed while others append", async (engine) => {
    const [full, busy] = [await createChannel(engine, 1), await createChannel(engine, 2)];
    const count = 3000;
    await Promise.all(
      Array.from(
        { length: count },
        (_, i) => engine.append(full, message(`${i}`, { body: bytesOf(i, 500) })),
      ),
    );
    let finished = false;
    const dropping = engine.dropMessages(full, count - 1, "size").then(() =>
      engine.trim(full, count)
    ).then(() => {
      finished = true;
    });
    let appendedMeanwhile = 0;
    for (; !finished; appendedMeanwhile++) {
      await engine.append(busy, message(`${appendedMeanwhile}`));
    }
    await dropping;
    assert(appendedMeanwhile >= 5, `only ${appendedMeanwhile} appends got through`);
    assertEquals(
      await describeLog(engine, full),
      `gap 1-${count - 1} size ${count - 1}, message ${count}`,
    );
    assertEquals((await readAll(engine, busy)).length, appendedMeanwhile);
  });
}

function fail(): never {
  throw new Error("nothing there");
}

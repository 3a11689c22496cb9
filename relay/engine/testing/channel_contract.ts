/** Channels: made once, listed for their members, counted, closed and forgotten. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { parseChannelName } from "../../../proto/mod.ts";
import { EngineError } from "../errors.ts";
import { bytesPerChannel, bytesPerMember } from "../log_bytes.ts";
import type { ContractTest } from "./contract.ts";
import {
  appendAll,
  appended,
  bytesOf,
  commit,
  createChannel,
  message,
  sampleAccount,
  sampleAgent,
  sampleChannel,
  sampleChannelId,
} from "./sample.ts";

export function channelContract(test: ContractTest): void {
  test("createChannel() makes a channel at epoch 0 with an empty log, listed for its creator", async (engine) => {
    const { nonce: _, ...record } = sampleChannel(1);
    const channelId = await createChannel(engine, 1);
    assertEquals(await engine.findChannel(channelId), { ...record, epoch: 0, head: 0 });
    assertEquals(await engine.read(channelId, { after: 0, maxBytes: 100 }), []);
    const query = { agentId: sampleAgent(1), account: sampleAccount(2), limit: 10 };
    assertEquals(await engine.listChannels(query), { channels: [channelId], more: false });
    assertEquals(
      await engine.cursors(channelId),
      new Map([[sampleAgent(1), { consumed: 0, acknowledged: 0 }]]),
    );
  });

  test("createChannel() answers the original for the same nonce of the same creator, even when the name differs", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.append(channelId, message("a"));
    const again = sampleChannel(2, { nonce: bytesOf(1) });
    const outcome = await engine.createChannel(again);
    assertEquals(outcome, {
      kind: "duplicate",
      original: (await engine.findChannel(channelId)) ?? fail(),
    });
    assertEquals(await engine.findChannel(again.channelId), undefined);
    await createChannel(engine, 3, { nonce: bytesOf(1), creator: sampleAgent(2) });
  });

  test("createChannel() keeps names unique per account, until the channel is closed", async (engine) => {
    const name = parseChannelName("org/tests/taken");
    const channelId = await createChannel(engine, 1, { name });
    assertEquals(await engine.createChannel(sampleChannel(2, { name })), { kind: "name_taken" });
    await createChannel(engine, 3, { name, account: sampleAccount(2) });
    await engine.append(channelId, message("close", { kind: "close" }));
    await createChannel(engine, 4, { name });
  });

  test("createChannel() has one winner among 50 that want a name at once", async (engine) => {
    const name = parseChannelName("org/tests/wanted");
    const outcomes = await Promise.all(
      Array.from({ length: 50 }, (_, i) => engine.createChannel(sampleChannel(i, { name }))),
    );
    assertEquals(outcomes.filter(({ kind }) => kind === "created").length, 1);
    assertEquals(outcomes.filter(({ kind }) => kind === "name_taken").length, 49);
  });

  test("createChannel() refuses an id that is in use, an empty nonce and a long one", async (engine) => {
    await createChannel(engine, 1);
    const bad = [
      sampleChannel(2, { channelId: sampleChannelId(1) }),
      sampleChannel(3, { nonce: new Uint8Array() }),
      sampleChannel(4, { nonce: new Uint8Array(65) }),
      sampleChannel(5, { timeMs: -1 }),
    ];
    for (const channel of bad) {
      const error = await assertRejects(() => engine.createChannel(channel), EngineError);
      assertEquals(error.code, "invalid");
    }
  });

  test("findChannel() knows nothing of a channel that was never made", async (engine) => {
    const nowhere = sampleChannelId(9);
    assertEquals(await engine.findChannel(nowhere), undefined);
    assertEquals(await engine.append(nowhere, message("a")), { kind: "no_channel" });
    assertEquals(await engine.read(nowhere, { after: 0, maxBytes: 1 }), []);
    assertEquals(await engine.findKey(nowhere, "a"), undefined);
    assertEquals(await engine.findCommit(nowhere, 0), undefined);
    assertEquals(await engine.cursors(nowhere), new Map());
    assertEquals(await engine.queueSize(nowhere), { messages: 0, bytes: 0 });
    await engine.moveCursors(nowhere, [[sampleAgent(1), { consumed: 5, acknowledged: 0 }]]);
    await engine.trim(nowhere, 5);
    await engine.dropMessages(nowhere, 5, "age");
    await engine.saveSnapshot(nowhere, { sequence: 0, state: new Uint8Array(1) });
  });

  test("listChannels() answers what lists the agent or was created by the account, ascending, page by page", async (engine) => {
    const agentId = sampleAgent(5);
    for (let i = 1; i <= 9; i++) {
      const owned = i % 3 === 0;
      const channelId = await createChannel(engine, i, { account: sampleAccount(owned ? 5 : 1) });
      if (i % 2 === 0) await engine.append(channelId, commit("add", 0, { added: [agentId] }));
    }
    const expected = [2, 3, 4, 6, 8, 9].map(sampleChannelId);
    const query = { agentId, account: sampleAccount(5), limit: 4 };
    const first = await engine.listChannels(query);
    assertEquals(first, { channels: expected.slice(0, 4), more: true });
    const after = first.channels.at(-1) ?? fail();
    assertEquals(await engine.listChannels({ ...query, after }), {
      channels: expected.slice(4),
      more: false,
    });
    assertEquals(await engine.listChannels({ ...query, limit: 6 }), {
      channels: expected,
      more: false,
    });
  });

  test("listChannels() follows additions and removals, removals first, and leaves out closed channels", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const agentId = sampleAgent(2);
    const listed = async (): Promise<boolean> =>
      (await engine.listChannels({ agentId, account: sampleAccount(9), limit: 5 })).channels
        .includes(channelId);
    assert(!await listed());
    await engine.append(channelId, commit("1", 0, { added: [agentId] }));
    assert(await listed());
    await engine.append(channelId, commit("2", 1, { added: [agentId], removed: [agentId] }));
    assert(await listed());
    await engine.append(channelId, commit("3", 2, { removed: [agentId] }));
    assert(!await listed());
    await engine.append(channelId, commit("4", 3, { added: [agentId] }));
    await engine.append(channelId, message("5", { kind: "close", epoch: 4 }));
    assert(!await listed());
  });

  test("listJoining() answers where the agent has not consumed the entry that added it", async (engine) => {
    const agentId = sampleAgent(5);
    for (let i = 1; i <= 5; i++) {
      const channelId = await createChannel(engine, i);
      await engine.append(channelId, commit("1", 0, { added: i === 1 ? [] : [agentId] }));
      await engine.append(channelId, message("2", { epoch: 1 }));
    }
    await engine.moveCursors(sampleChannelId(2), [[agentId, { consumed: 1, acknowledged: 1 }]]);
    await engine.append(sampleChannelId(3), message("close", { kind: "close", epoch: 1 }));
    const joining = [4, 5].map(sampleChannelId);
    assertEquals(await engine.listJoining({ agentId, limit: 2 }), {
      channels: joining,
      more: false,
    });
    assertEquals(await engine.listJoining({ agentId, limit: 1 }), {
      channels: joining.slice(0, 1),
      more: true,
    });
    const [after] = joining;
    assertEquals(
      (await engine.listJoining({ agentId, limit: 1, ...(after && { after }) })).channels,
      joining.slice(1),
    );
    // Removed and added again at once: it starts anew.
    await engine.append(
      sampleChannelId(2),
      commit("3", 1, { added: [agentId], removed: [agentId] }),
    );
    assertEquals((await engine.listJoining({ agentId, limit: 3 })).channels.length, 3);
    const account = sampleAccount(2);
    const foreign = await createChannel(engine, 6, { account, creator: sampleAgent(2) });
    await engine.append(foreign, commit("1", 0, { added: [agentId] }));
    const waiting = await engine.joining({ agentId, account, except: sampleChannelId(0) });
    assertEquals(waiting, { channelsOfAccount: 1, bytesOfAccount: 0, otherAccounts: 1 });
    assertEquals(
      (await engine.joining({ agentId, account, except: foreign })).channelsOfAccount,
      0,
    );
  });

  test("createChannel() counts the account's open channels, and answers the original at the limit too", async (engine) => {
    const limited = { maxOpen: 2 };
    await createChannel(engine, 1, limited);
    await createChannel(engine, 2, limited);
    const outcome = async (number: number): Promise<string> =>
      (await engine.createChannel({ ...sampleChannel(number), ...limited })).kind;
    assertEquals([await outcome(3), await outcome(2)], ["too_many", "duplicate"]);
    await engine.append(sampleChannelId(1), message("close", { kind: "close" }));
    assertEquals(await outcome(3), "created");
  });

  test("a close entry ends the log: it can be read, nothing can be appended, its keys are still answered", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await engine.append(channelId, message("a"));
    const { sequence } = appended(
      await engine.append(channelId, message("end", { kind: "close", timeMs: 5000 })),
    );
    assertEquals((await engine.findChannel(channelId))?.closedAtMs, 5000);
    assertEquals(await engine.append(channelId, message("b")), { kind: "no_channel" });
    assertEquals((await engine.read(channelId, { after: 0, maxBytes: 1000 })).length, 2);
    assertEquals(await engine.findKey(channelId, "end"), { sequence, epoch: 0, timeMs: 5000 });
  });

  test("saveSnapshot() keeps the newest one within the log", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await appendAll(engine, channelId, ["a", "b", "c"].map((key) => message(key)));
    const snapshot = (sequence: number): { sequence: number; state: Uint8Array } => ({
      sequence,
      state: bytesOf(sequence),
    });
    for (const sequence of [2, 1, 4]) await engine.saveSnapshot(channelId, snapshot(sequence));
    assertEquals((await engine.findChannel(channelId))?.snapshot, snapshot(2));
    await engine.saveSnapshot(channelId, snapshot(3));
    assertEquals((await engine.findChannel(channelId))?.snapshot, snapshot(3));
  });

  test("forget() purges what was closed long ago, and nothing of other channels", async (engine) => {
    const [open, recent, gone] = [
      await createChannel(engine, 1),
      await createChannel(engine, 2),
      await createChannel(engine, 3),
    ];
    const messages = Array.from({ length: 450 }, (_, i) => message(`m${i}`, { timeMs: 9000 }));
    for (const channelId of [open, recent, gone]) {
      await Promise.all(messages.map((entry) => engine.append(channelId, entry)));
      await engine.append(channelId, commit("c", 0, { timeMs: 9000, added: [sampleAgent(2)] }));
      await engine.dropMessages(channelId, 5, "age");
      await engine.saveSnapshot(channelId, { sequence: 9, state: bytesOf(1) });
    }
    await engine.append(gone, message("end", { kind: "close", epoch: 1, timeMs: 3000 }));
    await engine.append(recent, message("end", { kind: "close", epoch: 1, timeMs: 5000 }));
    await engine.forget({ keysMs: 4000, commitsMs: 4000, readMs: 0, closedMs: 4000 });
    assertEquals(await engine.findChannel(gone), undefined);
    assertEquals(await engine.read(gone, { after: 0, maxBytes: 1 }), []);
    assertEquals((await engine.findChannel(recent))?.head, 452);
    assertEquals((await engine.findChannel(open))?.head, 451);
    assertEquals((await engine.findKey(open, "m7"))?.sequence, 8);
    assertEquals((await engine.cursors(open)).size, 2);
    // Nothing is left that a successor could inherit.
    await createChannel(engine, 3);
    assertEquals(appended(await engine.append(gone, message("m7"))).sequence, 1);
    assertEquals(await engine.findCommit(gone, 0), undefined);
    assertEquals((await engine.findChannel(gone))?.snapshot, undefined);
    assertEquals((await engine.cursors(gone)).size, 1);
    const query = { agentId: sampleAgent(2), account: sampleAccount(9), limit: 5 };
    assertEquals((await engine.listChannels(query)).channels, [open]);
  });

  test("joining() adds up the latest Welcomes that wait for an agent", async (engine) => {
    const [agentId, account] = [sampleAgent(2), sampleAccount(1)];
    const [first, second] = [await createChannel(engine, 1), await createChannel(engine, 2)];
    const foreign = await createChannel(engine, 3, { account: sampleAccount(3) });
    const welcomes = (bytes: number) => ({ welcomeBytes: new Map([[agentId, bytes]]) });
    for (const [channelId, bytes] of [[first, 10], [second, 20], [foreign, 40]] as const) {
      await engine.append(channelId, commit("c", 0, { added: [agentId], ...welcomes(bytes) }));
    }
    const waiting = (except = sampleChannelId(9)): Promise<unknown> =>
      engine.joining({ agentId, account, except });
    assertEquals(await waiting(), { channelsOfAccount: 2, bytesOfAccount: 30, otherAccounts: 1 });
    assertEquals(await waiting(first), {
      channelsOfAccount: 1,
      bytesOfAccount: 20,
      otherAccounts: 1,
    });
    await engine.append(first, message("w", { kind: "welcome", epoch: 1, ...welcomes(100) }));
    assertEquals(await waiting(), { channelsOfAccount: 2, bytesOfAccount: 120, otherAccounts: 1 });
    // An agent that has joined waits no more, and a late Welcome changes nothing.
    await engine.moveCursors(first, [[agentId, { consumed: 1, acknowledged: 1 }]]);
    await engine.append(first, message("w2", { kind: "welcome", epoch: 1, ...welcomes(100) }));
    assertEquals(await waiting(), { channelsOfAccount: 1, bytesOfAccount: 20, otherAccounts: 1 });
    await engine.append(second, message("end", { kind: "close", epoch: 1 }));
    assertEquals(await waiting(), { channelsOfAccount: 0, bytesOfAccount: 0, otherAccounts: 1 });
    await engine.append(foreign, commit("d", 1, { removed: [agentId] }));
    assertEquals(await waiting(), { channelsOfAccount: 0, bytesOfAccount: 0, otherAccounts: 0 });
  });

  test("forget() purges a closed channel early once everybody has read it", async (engine) => {
    const [alone, read, unread] = [
      await createChannel(engine, 1),
      await createChannel(engine, 2),
      await createChannel(engine, 3),
    ];
    for (const channelId of [read, unread]) {
      await engine.append(channelId, commit("c", 0, { added: [sampleAgent(2)] }));
    }
    // More than a purge takes at once: it forgets the members' positions on the way.
    await Promise.all(
      Array.from({ length: 250 }, (_, i) => engine.append(read, message(`m${i}`, { epoch: 1 }))),
    );
    for (const [channelId, epoch] of [[alone, 0], [read, 1], [unread, 1]] as const) {
      await engine.append(channelId, message("end", { kind: "close", epoch, timeMs: 3000 }));
    }
    await engine.moveCursors(read, [[sampleAgent(2), { consumed: 252, acknowledged: 2 }]]);
    await engine.forget({ keysMs: 0, commitsMs: 0, readMs: 3000, closedMs: 0 });
    assertEquals((await engine.findChannel(alone))?.head, 1);
    await engine.forget({ keysMs: 0, commitsMs: 0, readMs: 3001, closedMs: 0 });
    assertEquals(await engine.findChannel(alone), undefined);
    assertEquals(await engine.findChannel(read), undefined);
    assertEquals((await engine.findChannel(unread))?.head, 2);
  });

  test("channels and messages count against the room of their account, until they are gone", async (engine) => {
    const [bytes, accountBytes] = [1000, 3 * (bytesPerChannel + bytesPerMember)];
    const room = { channelBytes: 0, accountBytes };
    const channelId = await createChannel(engine, 1, { accountBytes });
    const second = await createChannel(engine, 2, { accountBytes });
    const send = async (key: string): Promise<string> =>
      (await engine.append(channelId, message(key, { body: new Uint8Array(bytes), room }))).kind;
    for (let i = 0; i < 4; i++) assertEquals(await send(`m${i}`), "appended");
    assertEquals(
      await engine.append(channelId, message("m4", { body: new Uint8Array(bytes), room })),
      {
        kind: "full",
        of: "account",
      },
    );
    assertEquals(await engine.createChannel(sampleChannel(3, { accountBytes })), { kind: "full" });
    const elsewhere = { account: sampleAccount(2), accountBytes };
    assertEquals(await engine.createChannel(sampleChannel(4, elsewhere)), { kind: "created" });
    await engine.append(second, message("end", { kind: "close", timeMs: 3000 }));
    await engine.forget({ keysMs: 0, commitsMs: 0, readMs: 4000, closedMs: 0 });
    assertEquals(await send("m4"), "appended");
    await engine.dropMessages(channelId, 5, "age");
    assertEquals(await engine.createChannel(sampleChannel(3, { accountBytes })), {
      kind: "created",
    });
  });
}

function fail(): never {
  throw new Error("nothing there");
}

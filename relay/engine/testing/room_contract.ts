/**
 * Sizes of accounts: members and records count too, sums outlive a restart and an undone group, and
 * room can be made.
 */
import { assertEquals } from "@std/assert";
import type { ChannelId } from "../../../proto/mod.ts";
import type { Engine, NewRecord, PutOutcome } from "../engine.ts";
import { bytesPerChannel, bytesPerMember, bytesPerRecord } from "../log_bytes.ts";
import type { ContractTest } from "./contract.ts";
import {
  bytesOf,
  commit,
  createChannel,
  message,
  sampleAccount,
  sampleAgent,
  sampleChannelId,
} from "./sample.ts";

const account = sampleAccount(1);
const emptyChannel = bytesPerChannel + bytesPerMember;
const anyRoom = { channelBytes: 1_000_000, accountBytes: 1_000_000 };

function recordOf(
  channelId: ChannelId,
  changes: Partial<NonNullable<NewRecord["of"]>> = {},
  expiresAtMs = 5000,
): NewRecord {
  return { value: bytesOf(1), expiresAtMs, of: { channelId, most: 10, room: anyRoom, ...changes } };
}

async function put(
  engine: Engine,
  key: string,
  record: NewRecord,
  revision = 0,
): Promise<PutOutcome["kind"]> {
  return (await engine.records.put(key, record, revision)).kind;
}

export function roomContract(test: ContractTest): void {
  test("accountBytes() is what its channels, members, entries and records take, until they are gone", async (engine) => {
    const channelId = await createChannel(engine, 1);
    await createChannel(engine, 2, { account: sampleAccount(2), creator: sampleAgent(2) });
    assertEquals(await engine.accountBytes(account), emptyChannel);
    const added = [sampleAgent(2), sampleAgent(3)];
    await engine.append(channelId, commit("c", 0, { added, body: bytesOf(1, 100) }));
    assertEquals(await engine.accountBytes(account), emptyChannel + 100 + 2 * bytesPerMember);
    // A returning member has its place already, a removed one until it is dropped.
    await engine.append(
      channelId,
      commit("d", 1, { removed: added, added: [sampleAgent(2)], body: bytesOf(1, 10) }),
    );
    assertEquals(await engine.accountBytes(account), emptyChannel + 110 + 2 * bytesPerMember);
    await engine.dropCursor(channelId, sampleAgent(2));
    await engine.dropCursor(channelId, sampleAgent(3));
    await engine.dropCursor(channelId, sampleAgent(3));
    assertEquals(await engine.accountBytes(account), emptyChannel + 110 + bytesPerMember);
    await engine.append(channelId, message("m", { epoch: 2, body: bytesOf(1, 1000) }));
    await engine.dropMessages(channelId, 3, "size");
    await engine.saveSnapshot(channelId, { sequence: 3, state: bytesOf(1) });
    await engine.trim(channelId, 1);
    assertEquals(await engine.accountBytes(account), emptyChannel + 10 + bytesPerMember);
    await engine.append(channelId, message("end", { kind: "close", epoch: 2, timeMs: 3000 }));
    await engine.purge(channelId);
    assertEquals(await engine.accountBytes(account), 0);
    assertEquals(await engine.accountBytes(sampleAccount(2)), emptyChannel);
  });

  test("records of a channel are counted and bounded, and go with it", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const bytes = bytesPerRecord + 16;
    assertEquals(await put(engine, "a", recordOf(channelId)), "stored");
    assertEquals(await put(engine, "b", recordOf(channelId, {}, 2000)), "stored");
    assertEquals(await engine.accountBytes(account), emptyChannel + 2 * bytes);
    assertEquals(await engine.records.put("c", recordOf(channelId, { most: 2 }), 0), {
      kind: "full",
      of: "records",
    });
    const noRoom = { channelBytes: 1_000_000, accountBytes: emptyChannel + 3 * bytes - 1 };
    const full = recordOf(channelId, { room: noRoom });
    assertEquals(await engine.records.put("c", full, 0), { kind: "full", of: "account" });
    // One that takes another's place takes no more room.
    const { revision } = await engine.records.get("a") ?? { revision: 0 };
    assertEquals(
      await put(engine, "a", recordOf(channelId, { most: 0, room: noRoom }), revision),
      "stored",
    );
    await engine.records.expire(2000);
    assertEquals(await engine.accountBytes(account), emptyChannel + bytes);
    await put(engine, "d", recordOf(channelId));
    await engine.records.delete("d");
    assertEquals(await engine.accountBytes(account), emptyChannel + bytes);
    await engine.append(channelId, message("end", { kind: "close", timeMs: 3000 }));
    assertEquals(await put(engine, "e", recordOf(channelId)), "no_channel");
    await engine.purge(channelId);
    assertEquals(await engine.records.get("a"), undefined);
    assertEquals(await engine.accountBytes(account), 0);
  });

  test("an entry without room for its members is refused", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const added = [sampleAgent(2), sampleAgent(3)];
    const room = { channelBytes: 10_000, accountBytes: emptyChannel + 100 + 2 * bytesPerMember };
    const add = (bytes: number): Promise<unknown> =>
      engine.append(channelId, commit("c", 0, { added, room, body: bytesOf(1, bytes) }));
    assertEquals(await add(101), { kind: "full", of: "account" });
    assertEquals(await add(100), { kind: "appended", sequence: 1, epoch: 0, timeMs: 2000 });
  });

  test("largestChannel() is the open one that takes most, and closedChannels() are told longest closed first", async (engine) => {
    assertEquals(await engine.largestChannel(account), undefined);
    for (let i = 1; i <= 4; i++) {
      await createChannel(engine, i);
      await engine.append(sampleChannelId(i), message("m", { body: bytesOf(1, 100 * i) }));
    }
    await createChannel(engine, 5, { account: sampleAccount(2), creator: sampleAgent(2) });
    assertEquals(await engine.largestChannel(account), sampleChannelId(4));
    for (const [i, timeMs] of [[4, 3000], [3, 2500]] as const) {
      await engine.append(sampleChannelId(i), message("end", { kind: "close", timeMs }));
    }
    assertEquals(await engine.largestChannel(account), sampleChannelId(2));
    assertEquals(await engine.closedChannels({ account, limit: 10 }), [
      sampleChannelId(3),
      sampleChannelId(4),
    ]);
    assertEquals(await engine.closedChannels({ account, limit: 1 }), [sampleChannelId(3)]);
    // An open channel is not purged.
    await engine.purge(sampleChannelId(2));
    assertEquals((await engine.findChannel(sampleChannelId(2)))?.head, 1);
  });

  test("findKey() knows of an entry that is not written yet", async (engine) => {
    const channelId = await createChannel(engine, 1);
    const appending = engine.append(channelId, message("m"));
    assertEquals(await engine.findKey(channelId, "m"), { sequence: 1, epoch: 0, timeMs: 2000 });
    await appending;
  });
}

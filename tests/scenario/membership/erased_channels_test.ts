/** A channel that is over is erased in several writes; on a slow disk much happens in between. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { formatJoinLink, parseInviteToken } from "../../../proto/mod.ts";
import {
  Agent,
  createError,
  factsKind,
  kindOf,
  openMemory,
  RecordStore,
} from "../../../sdk/testing/agents.ts";
import { type Channel, StaticError } from "../../../sdk/mod.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

/** Of the note that a channel is being erased. */
const note = "erasing";

/** Resolves with the code of the error that ends the channel. */
async function endOf(channel: Channel): Promise<string> {
  const reading = (async () => {
    for await (const _ of channel.envelopes());
  })();
  return (await assertRejects(() => reading, StaticError)).code;
}

async function assertWorks(alice: Actor, bob: Actor): Promise<void> {
  await allAgree(alice, bob);
  await alice.manager.send(name, "hello");
  assertEquals(await read(await bob.channel(), 1), ["hello"]);
}

for (const how of ["leave", "close"] as const) {
  Deno.test(`a channel is erased for good though other calls open it meanwhile: ${how}`, async () => {
    await using stage = await Stage.open();
    const { alice } = await stage.pair();
    const channel = await alice.channel();
    alice.writeMs = 20;
    let isOver = false;
    const ending = (how === "leave" ? channel.leave() : alice.client.closeChannel(name)).then(() =>
      isOver = true
    );
    await Promise.all([
      ending,
      until("it is over", async () => {
        await alice.manager.invites(); // passes over the channel once it is erased
        return isOver;
      }),
    ]);
    alice.writeMs = 0;
    await alice.change(async (store) => {
      assertEquals(await store.list(kindOf(channel.id)), []);
      assert(!store.has(note, channel.id) && !store.has("channels", channel.id));
    });
  });
}

for (const alone of [true, false]) {
  Deno.test(`leave() fails as long as keys are on a disk that fails, ${alone ? "alone" : "with others"}`, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    if (alone) await (await alice.channel()).leave();
    const channel = await bob.channel();
    await until("bob is as alone as that", () => channel.members().length === (alone ? 1 : 2));
    const leaving = alone ? "CloseChannel" : "LeaveChannel";
    bob.session.tampering.call = async (operation, _, forward) => {
      const answer = await forward();
      if (operation === leaving) void bob.diesAfter(0);
      return answer;
    };
    for (const _ of ["first", "second"]) {
      const { message } = await assertRejects(() => channel.leave(), StaticError);
      assertStringIncludes(message, "Cannot write to the store");
    }
    await bob.crash();
  });
}

Deno.test("the note of an erasure that failed does not erase a later membership", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const { id } = await bob.channel();
  await (await bob.channel()).leave();
  await bob.change((store) => store.put(note, id, Uint8Array.of(1)));
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await bob.restart();
  await assertWorks(alice, bob);
});

Deno.test("who was removed and joins again at once with a token is in, however slow its disk", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const token = await alice.manager.invite(name);
  const end = endOf(await bob.channel());
  bob.writeMs = 5;
  await (await alice.channel()).removeMember(bob.client.agentId);
  assertEquals(await end, "removed");
  await bob.manager.joinWithToken(name, token);
  bob.writeMs = 0;
  await bob.restart();
  await assertWorks(alice, bob);
});

for (const laterMs of [0, 50]) {
  Deno.test(`who was removed and joins again by a Welcome ${laterMs} ms later is in, however slow its disk`, async () => {
    await using stage = await Stage.open();
    const { alice, bob } = await stage.pair();
    const keyPackage = await bob.client.generateKeyPackage();
    const end = endOf(await bob.channel());
    bob.writeMs = 15;
    const channel = await alice.channel();
    await channel.removeMember(bob.client.agentId);
    assertEquals(await end, "removed");
    const welcome = await channel.addMember(keyPackage);
    // wait: the erasure is as far as that
    await new Promise((resolve) => setTimeout(resolve, laterMs));
    await bob.client.joinChannel(name, welcome);
    bob.writeMs = 0;
    await bob.restart();
    await assertWorks(alice, bob);
  });
}

Deno.test("a channel is created anew while the one before it is erased", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const end = endOf(await bob.channel());
  bob.writeMs = 15;
  await (await alice.channel()).removeMember(bob.client.agentId);
  await end;
  await alice.client.closeChannel(name);
  const { channelId } = await bob.agent.openOrCreate(name);
  bob.writeMs = 0;
  await bob.restart();
  assertEquals((await bob.channel()).id, channelId);
});

Deno.test("a link that is used at every start erases nothing by the relay's word", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const invite = parseInviteToken(await alice.manager.invite(name));
  const link = (expiresAtMs: number): string =>
    formatJoinLink({ invite, apiUrl: "https://api.example", relayUrls: [], expiresAtMs });
  const forgetful: Tampering["call"] = (operation, _, forward) =>
    operation === "ListMembers" || operation === "LeaveChannel"
      ? Promise.reject(createError("not_found", "no such channel"))
      : forward();
  for (
    const [expiresAtMs, code] of [[1, "join_rejected"], [
      Date.now() + 3_600_000,
      "join_timeout",
    ]] as const
  ) {
    bob.session.tampering.call = forgetful;
    const { code: got } = await assertRejects(
      () => bob.client.join(link(expiresAtMs), { timeoutMs: 50 }),
      StaticError,
    );
    assertEquals(got, code);
    bob.session.tampering = {};
    await bob.restart();
    assertEquals((await bob.client.join(link(expiresAtMs))).name, name);
  }
  await assertWorks(alice, bob);
});

Deno.test("who was removed while it was away joins again with a token, and its earlier records are gone", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await bob.manager.invite(name);
  await bob.stop();
  const channel = await alice.channel();
  await channel.removeMember(bob.client.agentId);
  // The relay's word that it was removed comes before the commit that proves it.
  await bob.start({ notice: (notice) => notice.operation === "DeliverCommit" ? [] : [notice] });
  bob.session.tampering = {};
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await assertWorks(alice, bob);
  assertEquals(await bob.manager.invites(), []);
});

Deno.test("one damaged record of a channel that is being erased does not keep the agent from its other channels", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  const { id } = await alice.manager.create(name);
  await alice.manager.create("acme/ops/other");
  await alice.change(async (store) => {
    await store.put(note, id, Uint8Array.of(1));
    const before = alice.copyDisk().blobs;
    await store.put(kindOf(id), "past/99", Uint8Array.of(1, 2, 3));
    const added = [...alice.copyDisk().blobs].find(([key]) => !before.has(key));
    assert(added);
    // The last byte belongs to the seal.
    const { value } = added[1];
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
  });
  assertEquals(alice.client.channels, ["acme/ops/other"]);
  await alice.manager.send("acme/ops/other", "still here");
});

Deno.test("a damaged store that is opened for reading shows its channels, but none that was being erased", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  const { id } = await alice.manager.create(name);
  await alice.manager.create("acme/ops/other");
  await alice.agent.parts.store.put(note, id, Uint8Array.of(1));
  const disk = alice.copyDisk();
  const { witness } = disk;
  assert(witness);
  witness[20] = (witness[20] ?? 0) ^ 1;
  const random = (length: number): Uint8Array<ArrayBuffer> =>
    crypto.getRandomValues(new Uint8Array(length));
  const store = await RecordStore.open(openMemory(disk, random), { damaged: "read" });
  assertEquals(store.faults.length, 1);
  const agent = await Agent.open({ ...alice.agent.parts, store });
  assertEquals(agent.names, ["acme/ops/other"]);
  await store.close();
  await alice.agent.parts.store.delete(note, id);
});

Deno.test("a channel whose keys are lost keeps no other from its work, and a new one takes its name for good", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  const { id } = await alice.manager.create(name);
  await alice.manager.create("acme/ops/other");
  const loseKeys = async (store: RecordStore): Promise<void> => {
    const kind = kindOf(id);
    await store.batch(
      (await store.list(kind)).map((record) => ({ type: "delete", kind, id: record.id })),
    );
  };
  await alice.change(loseKeys);
  await alice.manager.send("acme/ops/other", "still here");
  const { message } = await assertRejects(() => alice.channel(), StaticError);
  assertStringIncludes(message, "lost the keys");
  assertEquals((await alice.manager.invites()).length, 0);
  await alice.client.closeChannel(name);
  const created = await alice.client.createChannel(name);
  await alice.change((store) => {
    assertEquals([store.has("channels", id), store.has(factsKind(id), "trust")], [false, true]);
    return Promise.resolve();
  });
  assertEquals((await alice.channel()).id, created.id);
});

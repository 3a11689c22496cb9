/** A channel that is over is erased in several writes; on a slow disk much happens in between. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { kindOf } from "../../sdk/testing/agents.ts";
import { type Channel, StaticError } from "../../sdk/mod.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

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

Deno.test("an agent leaves for good though other calls open the channel meanwhile", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const channel = await bob.channel();
  bob.writeMs = 20;
  let left = false;
  const leaving = channel.leave().then(() => left = true);
  await Promise.all([
    leaving,
    until("bob has left", async () => {
      await bob.manager.invites(name).catch(() => {});
      return left;
    }),
  ]);
  bob.writeMs = 0;
  await bob.change(async (store) => {
    assertEquals(await store.list(kindOf(channel.id)), []);
    assert(!store.has(note, channel.id) && !store.has("channels", channel.id));
  });
});

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
    await new Promise((resolve) => setTimeout(resolve, laterMs)); // wait: the erasure is as far as that
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

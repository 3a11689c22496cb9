import { assert, assertEquals, assertRejects } from "@std/assert";
import { defaultCoreConfig } from "../../../relay/core/testing/world.ts";
import { ChannelError } from "../../../sdk/mod.ts";
import {
  allAgree,
  name,
  read,
  readEnvelopes,
  roomy,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

Deno.test("three members hear each other, in one order, and know who spoke", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await alice.manager.send(name, "from alice");
  await bob.manager.send(name, "from bob");
  await carol.manager.send(name, "from carol");
  const heard = await readEnvelopes(await alice.channel(), 2);
  assertEquals(heard.map(({ sender }) => sender.agentId), [
    bob.client.agentId,
    carol.client.agentId,
  ]);
  assertEquals(await read(await bob.channel(), 2), ["from alice", "from carol"]);
  assertEquals(await read(await carol.channel(), 2), ["from alice", "from bob"]);
  await allAgree(alice, bob, carol);
  assertEquals((await alice.channel()).health().state, "ok");
});

Deno.test("hundreds of messages each way arrive once and in order, through restarts of both agents and of the relay", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const perRound = Deno.env.get("STATIC_STRESS") === "1" ? 2500 : 80;
  const [heardByBob, heardByAlice]: [string[], string[]] = [[], []];
  for (let round = 0; round < 4; round++) {
    const texts = Array.from({ length: perRound }, (_, i) => `${round}/${i}`);
    await Promise.all(
      texts.flatMap((text) => [alice.manager.send(name, text), bob.manager.send(name, text)]),
    );
    heardByBob.push(...await read(await bob.channel(), perRound / 2));
    if (round === 0) await bob.restart();
    if (round === 1) await alice.restart();
    if (round === 2) await stage.restartRelay();
    heardByBob.push(...await read(await bob.channel(), perRound / 2));
    heardByAlice.push(...await read(await alice.channel(), perRound));
  }
  const expected = Array.from(
    { length: 4 },
    (_, r) => Array.from({ length: perRound }, (_, i) => `${r}/${i}`),
  ).flat();
  assertEquals(heardByBob, expected);
  assertEquals(heardByAlice, expected);
  assertEquals((await bob.channel()).health().missing, []);
});

Deno.test("a message of 1 MiB arrives as it was sent", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const payload = new Uint8Array(1024 * 1024).map((_, i) => i * 31);
  await alice.manager.send(name, payload);
  const [envelope] = await readEnvelopes(await bob.channel(), 1);
  assertEquals(envelope?.payload, payload);
});

Deno.test("KeyPackage and Welcome passed by hand work between two accounts", async () => {
  await using stage = await Stage.open();
  const owner = await stage.actor("owner", 1);
  const guest = await stage.actor("guest", 2);
  const channel = await owner.client.createChannel(name);
  const welcome = await channel.addMember(await guest.client.generateKeyPackage());
  const joined = await guest.client.joinChannel(name, welcome);
  await joined.send("from another account");
  assertEquals(await read(channel, 1), ["from another account"]);
  await channel.send("heard");
  assertEquals(await read(joined, 1), ["heard"]);
  assertEquals(channel.members().map(({ owner, self }) => [owner, self]), [[true, true], [
    false,
    false,
  ]]);
});

Deno.test("an agent that is added by its id joins by the Welcome that the relay delivers", async () => {
  await using stage = await Stage.open(roomy);
  const owner = await stage.actor("owner");
  const guest = await stage.actor("guest");
  const channel = await owner.client.createChannel(name);
  await until(
    "the guest's KeyPackages are on the relay",
    () => hasKeyPackages(stage, guest.client.agentId),
  );
  await channel.addMember(guest.client.agentId);
  await until("the Welcome has arrived", () => guest.client.welcomes.includes(name));
  const joined = await guest.client.joinChannel(name);
  await channel.send("welcome");
  assertEquals(await read(joined, 1), ["welcome"]);
});

Deno.test("after a restart the relay is given KeyPackages again", async () => {
  await using stage = await Stage.open(roomy);
  const guest = await stage.actor("guest");
  await until("KeyPackages are there", () => hasKeyPackages(stage, guest.client.agentId));
  await guest.restart();
  await until("KeyPackages are there still", () => hasKeyPackages(stage, guest.client.agentId));
});

Deno.test("who is removed hears nothing more, is told so, and can be let in again", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const bobs = await bob.channel();
  const ended = assertRejects(
    async () => {
      for await (const _ of bobs.messages()) throw new Error("nothing was sent to him");
    },
    ChannelError,
    "was removed from channel",
  );
  await (await alice.channel()).removeMember(bob.client.agentId);
  await ended;
  await alice.manager.send(name, "among us");
  assertEquals(await read(await carol.channel(), 1), ["among us"]);
  await assertRejects(() => bobs.send("hello?"), ChannelError);
  await until("bob has forgotten it", () => bob.client.channels.length === 0);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await carol.manager.send(name, "again");
  assertEquals(await read(await bob.channel(), 1), ["again"]);
});

Deno.test("only owners remove others", async () => {
  await using stage = await Stage.open();
  const { bob, alice } = await stage.pair();
  await assertRejects(
    async () => (await bob.channel()).removeMember(alice.client.agentId),
    ChannelError,
    "only owners",
  );
});

Deno.test("who leaves is removed by a member that stays, and its keys are gone", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await bob.channel()).leave();
  assertEquals(bob.client.channels, []);
  await until(
    "bob is out of the group",
    async () => (await carol.channel()).members().length === 2,
  );
  await allAgree(alice, carol);
  await carol.manager.send(name, "without bob");
  assertEquals(await read(await alice.channel(), 1), ["without bob"]);
  await bob.restart();
  await assertRejects(() => bob.channel(), ChannelError, "no channel");
});

Deno.test("a leaver is removed by those who were offline when it left, after their restart", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await alice.stop();
  await (await bob.channel()).leave();
  await alice.start();
  await until(
    "bob is out of the group",
    async () => (await alice.channel()).members().length === 1,
  );
});

Deno.test("when the only owner leaves, another member owns the channel", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).leave();
  await until(
    "alice is out of the group",
    async () => (await carol.channel()).members().length === 2,
  );
  await allAgree(bob, carol);
  const channel = await bob.channel();
  assertEquals(channel.members().map(({ owner }) => owner), [true, false]);
  await channel.removeMember(carol.client.agentId);
  assertEquals(channel.members().length, 1);
});

Deno.test("who is alone in a channel closes it by leaving, and the name is free", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  const channel = await alice.client.createChannel(name);
  await channel.leave();
  assert(await alice.client.createChannel(name));
});

Deno.test("closing a channel ends it for all", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const bobs = await bob.channel();
  const ended = assertRejects(
    async () => {
      for await (const _ of bobs.messages()) throw new Error("nothing was sent");
    },
    ChannelError,
    "was closed",
  );
  await alice.client.closeChannel(name);
  await ended;
  await alice.client.createChannel(name);
  await bob.manager.joinWithToken(name, await alice.manager.invite(name));
  await alice.manager.send(name, "a new one");
  assertEquals(await read(await bob.channel(), 1), ["a new one"]);
});

Deno.test("a channel that was closed while an agent was away for longer than the relay remembers is gone, and not called a removal", async () => {
  const hourMs = 3_600_000;
  const limits = { ...defaultCoreConfig.limits, keyPackagesPerAgent: 1, queueAgeMs: hourMs };
  await using stage = await Stage.open({ config: { limits } });
  const { alice, bob } = await stage.pair();
  await bob.stop();
  await alice.client.closeChannel(name);
  await stage.world.time.advance(3 * hourMs);
  await stage.restartRelay();
  await bob.start();
  const ended = await assertRejects(
    async () => void await read(await bob.channel(), 1),
    ChannelError,
    "it was closed, or",
  );
  assertEquals(ended.code, "not_found");
});

Deno.test("what is for others is seen by a loop that is shown all, and what came too late by nobody: it is counted and told", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const [from, to] = [await alice.channel(), await bob.channel()];
  const events = to.events();
  const all = to.envelopes({ all: true });
  await from.send("for carol", { to: carol.client.agentId });
  await from.send("late", { expiresInMs: 20 });
  await from.send("for all");
  const laterMs = bob.agent.relayNowMs + 30;
  await until("its time is over", () => bob.agent.relayNowMs > laterMs);
  assertEquals([(await all.next()).value?.text(), (await all.next()).value?.text()], [
    "for carol",
    "for all",
  ]);
  assertEquals(await read(to, 1), ["for all"]);
  const told = (await events.next()).value;
  assert(
    told?.type === "expired" && told.kind === "message" && told.sender === alice.client.agentId,
  );
  assertEquals(to.health().expired, 1);
});

Deno.test("openChannel() twice at once is one channel", async () => {
  await using stage = await Stage.open();
  const alice = await stage.actor("alice");
  const opened = await Promise.all([1, 2, 3].map(() => alice.client.openChannel(name)));
  assertEquals(new Set(opened.map(({ id }) => id)).size, 1);
});

Deno.test("receive() that got nothing, or something, holds up no loop that comes after it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  assertEquals(await channel.receive({ timeoutMs: 5 }), undefined);
  for (const text of ["one", "two", "three", "four"]) await alice.manager.send(name, text);
  assertEquals(await read(channel, 1), ["one"]);
  assertEquals((await channel.receiveEnvelope()).text(), "two");
  assertEquals(await read(channel, 3), ["two", "three", "four"]);
  await until("all is acknowledged", () => channel.health().unread === 0);
});

async function hasKeyPackages(stage: Stage, agentId: string): Promise<boolean> {
  const count = await stage.world.engine.keyPackages.count(
    agentId as Parameters<
      typeof stage.world.engine.keyPackages.count
    >[0],
    stage.world.time.nowMs(),
  );
  return count.keyPackages > 5 && count.hasLastResort;
}

/** A member with a modified client, that owns nothing: it stops nobody, and what it sends is held against it alone. */
import { assert, assertEquals } from "@std/assert";
import { HostileMember } from "../../sdk/testing/hostile_member.ts";
import type { Channel, IssueKind } from "../../sdk/mod.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

const countOf = (channel: Channel, wanted: IssueKind): number =>
  channel.health().issues.find(({ kind }) => kind === wanted)?.count ?? 0;

/** How often this agent asks for the log from now on. */
function countFetches({ session }: Actor): () => number {
  let fetches = 0;
  session.tampering.call = (operation, _, forward) => {
    if (operation === "Subscribe") fetches++;
    return forward();
  };
  return () => fetches;
}

Deno.test("messages that nobody can open are counted for their sender, and make nobody rejoin", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const hostile = await HostileMember.of(bob.agent, name);
  for (let counter = 1; counter <= 40; counter++) await hostile.send(await hostile.garbage(counter));
  for (let generation = 100; generation < 140; generation++) {
    await hostile.send(hostile.forged({ leafIndex: generation % 3, generation }));
  }
  await alice.manager.send(name, "by alice");
  await carol.manager.send(name, "by carol");
  for (const [actor, heard] of [[alice, "by carol"], [carol, "by alice"]] as const) {
    const channel = await actor.channel();
    assertEquals(await read(channel, 1), [heard]);
    assertEquals(channel.health().state, "ok");
    assertEquals(channel.health().unreadable, [{ sender: bob.client.agentId, messages: 80 }]);
    assertEquals(countOf(channel, "rejoined"), 0);
  }
  await allAgree(alice, bob, carol);
});

Deno.test("counters that jump and messages that do not open make nobody fetch the log without end", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const hostile = await HostileMember.of(bob.agent, name);
  const fetches = countFetches(alice);
  const channel = await alice.channel();
  for (let sent = 1; sent <= 60; sent++) {
    await hostile.send(await (sent % 2 === 0 ? hostile.counted(10 * sent) : hostile.garbage(10 * sent)));
  }
  await carol.manager.send(name, "last");
  assertEquals((await read(channel, 31)).at(-1), "last");
  assertEquals(channel.health().unreadable, [{ sender: bob.client.agentId, messages: 30 }]);
  assert(fetches() >= 8 && fetches() <= 12, `${fetches()} fetches`);
});

Deno.test("a counter that is used for two messages is reported, and the first is the one that is shown", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const hostile = await HostileMember.of(bob.agent, name);
  const channel = await alice.channel();
  for (const [counter, text] of [[1, "one"], [2, "two"], [2, "another two"], [3, "three"]] as const) {
    await hostile.send(await hostile.counted(counter, text));
  }
  assertEquals(await read(channel, 3), ["one", "two", "three"]);
  assertEquals(countOf(channel, "repeated_counter"), 1);
  // As from a restored backup: the key of the message was used before.
  const four = await hostile.counted(4, "four");
  await hostile.send(four);
  await hostile.send(hostile.again(four));
  await hostile.send(await hostile.counted(5, "five"));
  assertEquals(await read(channel, 2), ["four", "five"]);
  assertEquals(countOf(channel, "repeated_counter"), 2);
});

Deno.test("a message that comes twice after a restart is no repeated counter", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  for (const text of ["one", "two"]) await bob.manager.send(name, text);
  await until("alice has them", async () => (await alice.channel()).health().unread === 2);
  await alice.crash();
  assertEquals(await read(await alice.channel(), 2), ["one", "two"]);
  assertEquals(countOf(await alice.channel(), "repeated_counter"), 0);
});

Deno.test("a known identity with a new key that a member without memory brings in divides nobody, and is not shown", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const before = await stage.actor("dave");
  await before.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, before);
  await (await before.channel()).leave();
  await until("dave is out", async () => (await bob.channel()).members().length === 2);
  // Carol has never met dave. The one whom she lets in has his name, and another key.
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await carol.manager.invite(name));
  await allAgree(alice, bob, carol, dave);
  await dave.manager.send(name, "it is me");
  assertEquals(await read(await carol.channel(), 1), ["it is me"]);
  await bob.restart();
  await carol.manager.send(name, "by carol");
  for (const actor of [alice, bob]) {
    const channel = await actor.channel();
    assertEquals(await read(channel, 1), ["by carol"]);
    assertEquals(channel.health().state, "ok");
  }
  const { issues } = (await alice.channel()).health();
  const text = issues.find(({ kind }) => kind === "key_changed")?.text ?? "";
  assert(text.includes("not shown") && text.includes("ask an owner"), text);
  await (await alice.channel()).removeMember(dave.client.agentId);
  await until("dave has noticed", () => dave.client.channels.length === 0);
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await dave.manager.send(name, "it is me, says the owner");
  assertEquals(await read(await bob.channel(), 1), ["it is me, says the owner"]);
});

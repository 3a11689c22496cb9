/**
 * A member with a modified client, that owns nothing: it stops nobody, and what it sends is held
 * against it alone.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { leaveStatement, rejoinStatement, type RequestBody } from "../../../proto/mod.ts";
import { decodeKeyPackageMessage } from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { type IssueKind, StaticError } from "../../../sdk/mod.ts";
import { createKeyPackage, mlsUint, mlsVector } from "../../support/mls.ts";
import { declareNothing, usurp } from "../../support/scenario/hostile.ts";
import {
  type Actor,
  allAgree,
  issueCount,
  name,
  read,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

async function saw(actor: Actor, kind: IssueKind): Promise<boolean> {
  return issueCount(await actor.channel(), kind) > 0;
}

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
  for (let counter = 1; counter <= 40; counter++) {
    await hostile.send(await hostile.garbage(counter));
  }
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
    assertEquals(issueCount(channel, "rejoined"), 0);
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
    await hostile.send(
      await (sent % 2 === 0 ? hostile.counted(10 * sent) : hostile.garbage(10 * sent)),
    );
  }
  await carol.manager.send(name, "last");
  assertEquals((await read(channel, 31)).at(-1), "last");
  assertEquals(channel.health().unreadable, [{ sender: bob.client.agentId, messages: 30 }]);
  assert(fetches() >= 8 && fetches() <= 12, `${fetches()} fetches`);
});

for (const parts of [[1, 2, 3], [1, 2]]) {
  Deno.test(`counters beyond 2^53 of a message of 2 that holds ${parts.length} end nobody's channel`, async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    const hostile = await HostileMember.of(bob.agent, name);
    const contents = parts.map((part) => Uint8Array.of(part));
    const message = await hostile.bundled(Number.MAX_SAFE_INTEGER, contents, 2);
    await assertRejects(() => hostile.send(message), StaticError, "counter");
    // With the relay's help it comes all the same.
    const { channelId } = await alice.inside();
    const head = (await stage.world.engine.findChannel(channelId))?.head ?? 0;
    const body = { ...message, sequence: head + 1, sender: bob.client.agentId, timeMs: Date.now() };
    alice.session.inject({ kind: "notice", operation: "DeliverMessage", body });
    await until(
      "it is counted",
      async () =>
        (await alice.channel()).health().unreadable.length > 0 || await saw(alice, "undecryptable"),
    );
    await alice.restart();
    await carol.manager.send(name, "still here");
    assertEquals(await read(await alice.channel(), 1), ["still here"]);
    assertEquals((await alice.channel()).health().state, "ok");
  });
}

Deno.test("a counter that is used for two messages is reported, and the first is the one that is shown", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const hostile = await HostileMember.of(bob.agent, name);
  const channel = await alice.channel();
  for (
    const [counter, text] of [[1, "one"], [2, "two"], [2, "another two"], [3, "three"]] as const
  ) {
    await hostile.send(await hostile.counted(counter, text));
  }
  assertEquals(await read(channel, 3), ["one", "two", "three"]);
  assertEquals(issueCount(channel, "repeated_counter"), 1);
  // As from a restored backup: the key of the message was used before.
  const four = await hostile.counted(4, "four");
  await hostile.send(four);
  await hostile.send(hostile.again(four));
  await hostile.send(await hostile.counted(5, "five"));
  assertEquals(await read(channel, 2), ["four", "five"]);
  assertEquals(issueCount(channel, "repeated_counter"), 2);
});

Deno.test("a message that comes twice after a restart is no repeated counter", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  for (const text of ["one", "two"]) await bob.manager.send(name, text);
  await until("alice has them", async () => (await alice.channel()).health().unread === 2);
  await alice.crash();
  assertEquals(await read(await alice.channel(), 2), ["one", "two"]);
  assertEquals(issueCount(await alice.channel(), "repeated_counter"), 0);
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

Deno.test("a void leave statement keeps nobody out and removes nobody; an owner can remove its sender", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { id: channelId } = await alice.channel();
  const { agentId } = carol.client;
  const leafHash = new Uint8Array(32).fill(1);
  const signature = carol.sign(leaveStatement({ channelId, agentId, leafHash }));
  await carol.session.call("LeaveChannel", { channelId, leafHash, signature });
  await until("bob has heard", () => saw(bob, "void_leave"));
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await bob.manager.invite(name));
  assertEquals((await dave.channel()).members().length, 4);
  await (await alice.channel()).removeMember(agentId);
  await allAgree(alice, bob, dave);
  assertEquals((await dave.channel()).members().length, 3);
});

Deno.test("a Welcome of garbage in answer to a request to rejoin is reported, and another member lets the asker in", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  // The hostile member answers first, because the owner is away, and what it sends opens for
  // nobody.
  carol.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    for (const { welcome } of (body as RequestBody<"SendCommit">).welcomes) {
      welcome.fill(0x55, welcome.length - 32);
    }
    return forward();
  };
  let welcomes = 0;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverWelcome") welcomes++;
    return notice.operation === "DeliverCommit" && welcomes === 0 ? [] : [notice];
  };
  const inside = await alice.inside();
  await inside.commit();
  await alice.stop();
  await carol.manager.send(name, "lost to bob");
  await until("bob has refused it", () => saw(bob, "refused_welcome"));
  assert((await bob.channel()).health().state !== "stopped");
  await alice.start();
  await until("bob is back", () => saw(bob, "rejoined"));
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "after all");
  assertEquals((await read(await bob.channel(), 1)).at(-1), "after all");
});

Deno.test("a request to rejoin with a KeyPackage that only one of two decoders reads stops nobody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { id: channelId } = await alice.channel();
  const { agentId } = bob.client;
  const two = mlsVector(mlsUint(1, 2), mlsUint(2, 2));
  const types = mlsVector(...[0xf5c0, 0xf5c2, 0xf5c3].map((type) => mlsUint(type, 2)));
  const [suites, credentials] = [mlsVector(mlsUint(3, 2)), mlsVector(mlsUint(1, 2))];
  const nowMs = stage.world.time.nowMs();
  const keyPackage = createKeyPackage({
    secretKey: bob.secretKey,
    identity: new TextEncoder().encode("bob"),
    capabilities: concatBytes(two, suites, types, mlsVector(), credentials),
    notBeforeMs: nowMs - 1000,
    notAfterMs: nowMs + 1_000_000,
  });
  const leafHash = sha256(
    (await bob.inside()).group.current.tree.leaf(1)?.encoded ?? new Uint8Array(0),
  );
  const statement = rejoinStatement({
    channelId,
    agentId,
    leafHash,
    keyPackageHash: sha256(keyPackage),
  });
  await bob.session.call("RequestRejoin", {
    channelId,
    keyPackage,
    leafHash,
    signature: bob.sign(statement),
    epoch: 0,
    generation: 0,
  });
  for (const member of [alice, carol]) {
    await until("it is refused", () => saw(member, "refused_join"));
  }
  await alice.manager.send(name, "still here");
  assertEquals(await read(await carol.channel(), 1), ["still here"]);
});

Deno.test("a rejoin that the relay lets pass without a valid proof is followed by nobody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { id: channelId } = await alice.channel();
  const { agentId } = bob.client;
  const keyPackage = await bob.client.generateKeyPackage();
  // The relay cannot tell a statement about another leaf; here it has one that honest members
  // answer with SendLeaf only.
  const leafHash = new Uint8Array(32).fill(1);
  const statement = rejoinStatement({
    channelId,
    agentId,
    leafHash,
    keyPackageHash: sha256(keyPackage),
  });
  const signature = bob.sign(statement);
  for (const member of [alice, carol]) {
    member.session.tampering.notice = (notice) =>
      notice.operation === "DeliverRejoinRequest" ? [] : [notice];
  }
  const ask = { channelId, keyPackage, leafHash, signature, epoch: 0, generation: 0 };
  const { requestId } = await bob.session.call("RequestRejoin", ask);
  const inside = await carol.inside();
  const change = {
    remove: [agentId],
    add: [decodeKeyPackageMessage(keyPackage)],
    rejoins: [{ agentId, signature }],
  };
  await inside.commit(() => change, [requestId]);
  await until("alice has refused it", () => saw(alice, "refused_commit"));
  assertEquals((await alice.channel()).members().length, 3);
});

Deno.test("a commit that does something else than its sender signed is refused, and its sender is named", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  declareNothing(carol);
  const inside = await carol.inside();
  await inside.commit(() => ({ remove: [bob.client.agentId] }));
  for (const member of [alice, bob]) {
    await until("it is refused", () => saw(member, "refused_commit"));
    const channel = await member.channel();
    assertEquals([channel.health().state, channel.members().length], ["stopped", 3]);
    const issue = channel.health().issues.find(({ kind }) => kind === "refused_commit");
    assert(issue?.text.includes(carol.client.agentId));
  }
});

Deno.test("a member that made itself owner, and the relay, convince nobody that comes back; it returns by an honest one", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol: mallory } = await stage.trio();
  const channel = await bob.channel();
  const owners = (): string[] =>
    channel.members().flatMap(({ agentId, owner }) => owner ? [agentId] : []);
  usurp(bob, mallory, 3);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await alice.manager.send(name, "in an epoch that bob was not told of");
  await until("bob has refused what he was shown", () => saw(bob, "refused_welcome"));
  assertEquals(owners(), [alice.client.agentId]);
  await until("bob is back", () => saw(bob, "rejoined"));
  await allAgree(alice, bob, mallory, dave);
  assertEquals(owners(), [alice.client.agentId]);
  await alice.manager.send(name, "by the owner");
  assertEquals(await read(channel, 1), ["by the owner"]);
  assert(channel.health().issues.every(({ text }) => !text.includes("cannot go on")));
});

/**
 * Statements are about a leaf: a member that lost step comes back, independent of the age of its
 * state and of the member that answers.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  type AgentId,
  binaryIdFromBytes,
  type JoinRequestId,
  type NoticeBody,
  type NoticeEnvelope,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type IssueKind, StaticError } from "../../../sdk/mod.ts";
import {
  createError,
  createKeyPackage,
  createSealKey,
  someone,
} from "../../../sdk/testing/agents.ts";
import {
  type Actor,
  allAgree,
  issueCount,
  name,
  read,
  Stage,
  until,
} from "../../support/scenario/stage.ts";

/**
 * The way back is the same for any number. The long form has as many as a member keeps of its own
 * commits at most.
 */
const manyEpochs = Deno.env.get("STATIC_STRESS") === "1" ? 1000 : 200;

async function saw(actor: Actor, kind: IssueKind): Promise<boolean> {
  return (await actor.channel()).health().issues.some((issue) => issue.kind === kind);
}

/** Empty commits: each gives its sender a new leaf, and the channel a new epoch. */
async function commit(actor: Actor, times: number): Promise<void> {
  const inside = await actor.inside();
  for (let made = 0; made < times; made++) await inside.commit();
}

/** The relay delivers what it delivered before, or held back, behind the end of the log. */
async function deliverLate(stage: Stage, to: Actor, notice: NoticeEnvelope): Promise<void> {
  if (notice.operation !== "DeliverLeave") throw new Error("this is for leave statements");
  const channel = await stage.world.engine.findChannel(notice.body.channelId);
  to.session.inject({ ...notice, body: { ...notice.body, sequence: (channel?.head ?? 0) + 1 } });
}

/** From now on this agent hears of no commit until it is welcomed again. */
function withholdCommits(actor: Actor): void {
  let welcomed = false;
  actor.session.tampering.notice = (notice) => {
    welcomed ||= notice.operation === "DeliverWelcome";
    return notice.operation === "DeliverCommit" && !welcomed ? [] : [notice];
  };
}

for (const commits of [1, 5]) {
  Deno.test(`an agent restored from before ${commits} commits of its own learns its leaf and comes back`, async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    const backup = await bob.backup();
    const leaves: NoticeEnvelope[] = [];
    await commit(bob, commits);
    await allAgree(alice, bob, carol);
    await bob.restore(backup);
    bob.session.tampering.notice = (notice) => {
      if (notice.operation === "DeliverLeaf") leaves.push(notice);
      return [notice];
    };
    await alice.manager.send(name, "under keys that bob has lost");
    await until("bob is back", () => saw(bob, "rejoined"));
    assert(leaves.length > 0, "its own statement was about an old leaf");
    await allAgree(alice, bob, carol);
    await bob.manager.send(name, "here again");
    assertEquals((await read(await carol.channel(), 2)).at(-1), "here again");
  });
}

Deno.test("the only owner, restored from before its own commits, is let in by others and still owns the channel", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const backup = await alice.backup();
  await commit(alice, 2);
  await allAgree(alice, bob, carol);
  await alice.restore(backup);
  await bob.manager.send(name, "who owns this?");
  await until("alice is back", () => saw(alice, "rejoined"));
  await allAgree(alice, bob, carol);
  const owners = (await carol.channel()).members().filter(({ owner }) => owner).map(({ agentId }) =>
    agentId
  );
  assertEquals(owners, [alice.client.agentId]);
});

Deno.test("who joins while another's request to rejoin waits follows the commit that answers it", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const held: [Actor, NoticeEnvelope][] = [];
  for (const member of [alice, carol]) {
    member.session.tampering.notice = (notice) => {
      if (notice.operation !== "DeliverRejoinRequest") return [notice];
      held.push([member, notice]);
      return [];
    };
  }
  withholdCommits(bob);
  await commit(alice, 1);
  await alice.manager.send(name, "lost to bob");
  await until("bob has asked", () => held.length === 2);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  for (const [member, notice] of held) member.session.inject(notice);
  await until("bob is back", () => saw(bob, "rejoined"));
  await allAgree(alice, bob, carol, dave);
  assertEquals((await dave.channel()).health().state, "ok");
});

Deno.test(`a member that is ${manyEpochs} epochs behind asks once and comes back`, async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  withholdCommits(bob);
  await commit(alice, manyEpochs);
  await alice.manager.send(name, "long ago");
  await until("bob is back", () => saw(bob, "rejoined"));
  await allAgree(alice, bob);
});

Deno.test("a leave that is committed fifty epochs later convinces members that joined meanwhile", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const held: NoticeEnvelope[] = [];
  for (const member of [alice, bob]) {
    member.session.tampering.notice = (notice) => {
      if (notice.operation !== "DeliverLeave") return [notice];
      if (member === bob) held.push(notice);
      return [];
    };
  }
  await (await carol.channel()).leave();
  await until("bob would have heard", () => held.length === 1);
  await commit(alice, 50);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, dave);
  for (const notice of held) await deliverLate(stage, bob, notice);
  await until("carol is gone", async () => (await dave.channel()).members().length === 3);
  await allAgree(alice, bob, dave);
  for (const member of [alice, bob, dave]) {
    assertEquals((await member.channel()).health().state, "ok");
  }
});

Deno.test("a leave statement that the relay replays after a new invite removes nobody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const heard: NoticeEnvelope[] = [];
  bob.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverLeave") heard.push(notice);
    return [notice];
  };
  await (await carol.channel()).leave();
  await until("carol is gone", async () => (await alice.channel()).members().length === 2);
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol);
  assertEquals(heard.length, 1);
  for (const notice of heard) await deliverLate(stage, bob, notice);
  await until("it is void", () => saw(bob, "void_leave"));
  assertEquals((await bob.inside()).leavers, []);
  assertEquals((await bob.channel()).members().length, 3);
});

Deno.test("a statement to leave that a member has not signed is the relay's lie, and says nothing of the member", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const inside = await bob.inside();
  const { channelId, epoch } = inside;
  const sender = carol.client.agentId;
  const present = sha256(inside.leafOf(sender)?.leaf.encoded ?? new Uint8Array(0));
  const head = (await stage.world.engine.findChannel(channelId))?.head ?? 0;
  for (const [number, leafHash] of [present, new Uint8Array(32)].entries()) {
    const place = { channelId, sequence: head + 1 + number, epoch, timeMs: 0 };
    const body = { ...place, sender, leafHash, signature: new Uint8Array(64) };
    bob.session.inject({ kind: "notice", operation: "DeliverLeave", body });
  }
  const channel = await bob.channel();
  await until(
    "bob has heard both",
    () => issueCount(channel, "relay_lied") === 2 || inside.leavers.length > 0,
  );
  assertEquals(channel.health().issues.map(({ kind }) => kind), ["relay_lied"]);
  assertEquals(inside.leavers, []);
  assertEquals(channel.members().length, 3);
  await allAgree(alice, bob, carol);
});

Deno.test("who is removed and added again without having asked loses nothing and comes back", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const keyPackage = await bob.client.generateKeyPackage();
  await (await alice.channel()).addMember(keyPackage);
  await until("bob is back", () => saw(bob, "rejoined"));
  await allAgree(alice, bob, carol);
  await alice.manager.send(name, "anew");
  assertEquals((await read(await bob.channel(), 1)).at(-1), "anew");
});

Deno.test("who came back renews its leaf, so that the leaf names its group", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  withholdCommits(bob);
  await commit(alice, 1);
  await alice.manager.send(name, "lost to bob");
  await until("bob is back", () => saw(bob, "rejoined"));
  await until("bob has a leaf of his own making", async () => {
    const { group } = await carol.inside();
    const place = (await carol.inside()).leafOf(bob.client.agentId);
    return group.epoch > 0 && place?.leaf.node.leafNodeSource === "commit";
  });
  await allAgree(alice, bob, carol);
});

Deno.test("who joined after the asker lost step answers last: the asker has not met it", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const erin = await stage.actor("erin");
  await erin.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, bob, carol, erin);
  withholdCommits(carol);
  // Dave takes the place of bob, before carol and erin in the tree; only those two have met.
  await (await alice.channel()).removeMember(bob.client.agentId);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, dave, erin);
  const inside = await erin.inside();
  assert((inside.leafOf(dave.client.agentId)?.leafIndex ?? 9) < inside.group.self.leafIndex);
  await alice.stop();
  await dave.manager.send(name, "lost to carol");
  await until("carol is back", () => saw(carol, "rejoined"));
  assert(!await saw(carol, "refused_welcome"));
  await allAgree(carol, dave, erin);
});

Deno.test("a member that is ahead of the log comes back into an earlier epoch than its own", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const inside = await bob.inside();
  const { epoch } = inside;
  // Bob is told that his commits were taken; the log has none of them.
  bob.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    const sent = body as RequestBody<"SendCommit">; // cast: of this operation
    const reply = {
      sequence: 90 + sent.epoch,
      epoch: sent.epoch + 1,
      commitHash: sha256(sent.commit),
      timeMs: 0,
    };
    return Promise.resolve({ ...reply, duplicate: false });
  };
  await commit(bob, 5);
  bob.session.tampering = {};
  assertEquals(inside.epoch, epoch + 5);
  await commit(alice, 1);
  await until("bob is back", () => saw(bob, "rejoined"));
  await allAgree(alice, bob);
  assert(inside.epoch < epoch + 5);
});

Deno.test("a commit that is under way is settled before its sender signs that it leaves", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  let sent = false;
  bob.session.tampering.call = async (operation, _, forward) => {
    const reply = await forward();
    if (operation !== "SendCommit") return reply;
    sent = true;
    await held;
    return reply;
  };
  const committing = commit(bob, 1);
  await until("the relay has taken it", () => sent);
  const leaving = (await bob.channel()).leave();
  release();
  await Promise.all([committing, leaving]);
  await until("bob is out", async () => (await carol.channel()).members().length === 2);
  for (const member of [alice, carol]) assert(!await saw(member, "void_leave"));
  await allAgree(alice, carol);
});

Deno.test("a member that leaves makes no commit any more, and one that could not leave goes on", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const inside = await bob.inside();
  bob.session.tampering.call = async (operation, _, forward) => {
    if (operation !== "LeaveChannel") return await forward();
    await assertRejects(() => inside.commit(), StaticError, "leaving");
    throw createError("overloaded", "Later");
  };
  await assertRejects(async () => await (await bob.channel()).leave(), StaticError, "Later");
  bob.session.tampering = {};
  await commit(bob, 1);
  await allAgree(alice, bob);
});

Deno.test("who leaves while the Welcome that lets it in is looked at is gone for everybody", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const backup = await bob.backup();
  await commit(bob, 1);
  await allAgree(alice, bob, carol);
  await bob.restore(backup);
  const channel = await bob.channel();
  let welcome: NoticeEnvelope | undefined;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverWelcome" || welcome !== undefined) return [notice];
    welcome = notice;
    return [];
  };
  await alice.manager.send(name, "under keys that bob has lost");
  await until("bob is let in", () => welcome !== undefined);
  let statements = 0;
  bob.session.tampering.call = (operation, _body, forward) => {
    if (operation === "LeaveChannel") statements++;
    return forward();
  };
  if (welcome !== undefined) bob.session.inject(welcome);
  await channel.leave();
  for (const actor of [alice, carol]) {
    await until(
      `bob is gone for ${actor.label}`,
      async () => (await actor.channel()).members().length === 2,
    );
    assertEquals(await saw(actor, "void_leave"), false);
  }
  assertEquals(statements, 2, "it has left the membership that the Welcome gave it");
});

Deno.test("the only owner that leaves hands the channel to a member that stays", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await alice.channel()).leave();
  await until("alice is out", async () => (await carol.channel()).members().length === 2);
  const owners = (await carol.channel()).members().filter(({ owner }) => owner).map(({ agentId }) =>
    agentId
  );
  assertEquals(owners, [bob.client.agentId]);
  await allAgree(bob, carol);
});

Deno.test("of more members that ask to come back than there is room for, none is called false", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const inside = await alice.inside();
  const { channelId } = inside;
  const { parts: { runtime, signatures } } = alice.agent;
  // As of a channel with so many members: whether they are, is judged elsewhere. Nobody's turn
  // comes.
  inside.believeRejoins();
  alice.session.tampering.call = (operation, _body, forward) =>
    operation === "ListMembers" ? new Promise(() => {}) : forward();
  const nowMs = runtime.nowMs();
  const ask = (agentId: AgentId, keyPackage: Uint8Array): void => {
    const body: NoticeBody<"DeliverRejoinRequest"> = {
      channelId,
      requestId: binaryIdFromBytes<JoinRequestId>(runtime.randomBytes(16)),
      agentId,
      keyPackage,
      signature: new Uint8Array(64),
      leafHash: new Uint8Array(32),
      epoch: inside.epoch,
      expiresAtMs: nowMs + 60_000,
    };
    alice.session.inject({ kind: "notice", operation: "DeliverRejoinRequest", body });
  };
  const sealKey = await createSealKey((length) => runtime.randomBytes(length), signatures.xWing);
  for (let i = 0; i < 101; i++) {
    const identity = someone(`agent ${i}`);
    const { message } = await createKeyPackage({
      suiteId: 3,
      identity,
      notBeforeMs: nowMs - 60_000,
      notAfterMs: nowMs + 60_000,
      lastResort: false,
      sealKey,
      randomBytes: (length) => runtime.randomBytes(length),
      signatures,
    });
    ask(identity.id, message);
  }
  await (await alice.channel()).send("behind them");
  assertEquals(await saw(alice, "refused_join"), false);
  ask(someone("agent 0").id, new Uint8Array(10));
  await until("a request that is false is called so", () => saw(alice, "refused_join"));
});

Deno.test("a member whose clock is wrong lets nobody back in, says so, and does as soon as the clock is right", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  bob.clockOffsetMs = 5 * 365 * 24 * 60 * 60 * 1000;
  await bob.restart();
  withholdCommits(alice);
  await commit(bob, 1);
  await bob.manager.send(name, "lost to alice");
  await until("bob is told of its clock", async () => {
    const { issues } = (await bob.channel()).health();
    return issues.some(({ kind, text }) => kind === "refused_join" && text.includes("clock"));
  });
  const { issues } = (await bob.channel()).health();
  assert(
    !issues.some(({ text }) => text.includes("is not genuine")),
    "alice has done nothing wrong",
  );
  assert(!(await saw(alice, "rejoined")));
  bob.clockOffsetMs = 0;
  await until("alice is back", () => saw(alice, "rejoined"));
  await allAgree(alice, bob);
});

/** The log around the beginning of a generation: what is read, read again, or under way there. */
import { assertEquals, assertRejects } from "@std/assert";
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { idsOf, sendBogus } from "../../support/scenario/bad_commits.ts";
import {
  createError,
  type MemoryDisk,
  putState,
  storedChannel,
} from "../../../sdk/testing/agents.ts";
import {
  allStopped,
  deafen,
  fourMembers,
  issuesOf,
  membersOf,
  recover,
  sendGarbled,
  stateOf,
  talk,
} from "../../support/scenario/recovery.ts";
import { type Actor, name, read, Stage, until } from "../../support/scenario/stage.ts";

async function hasUnread(actor: Actor, count: number): Promise<void> {
  await until(
    `${actor.label} has it`,
    async () => (await actor.channel()).health().unread === count,
  );
}

/** Bob's commit stops alice alone, and nobody lets her in. */
async function stopAlice(stage: Stage): Promise<[Actor, Actor, Actor, Actor]> {
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(carol, dave);
  await (await bob.channel()).send("before");
  for (const actor of [alice, carol, dave]) await hasUnread(actor, 1);
  await sendGarbled(bob, [0]);
  await allStopped(alice);
  const inside = await carol.inside();
  await until("carol has followed", async () => inside.epoch > (await alice.inside()).epoch);
  return [alice, bob, carol, dave];
}

Deno.test("a message that the blamed sealed later is not shown when the log is read again", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  for (const text of ["one", "two"]) await (await bob.channel()).send(text);
  for (const actor of [alice, carol]) await hasUnread(actor, 2);
  const later = await (await HostileMember.of(bob.agent, name)).counted(3, "later");
  await sendBogus(bob);
  await allStopped(alice, carol);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await until("carol follows", async () => (await issuesOf(carol, "recovered")).length > 0);
  const inserted = (notice: NoticeEnvelope): NoticeEnvelope => {
    if (notice.operation !== "DeliverMessage" || notice.body.epoch !== later.epoch) return notice;
    const { ciphertext, messageId } = later;
    return notice.body.sequence % 2 === 0
      ? { ...notice, body: { ...notice.body, ciphertext, messageId } }
      : notice;
  };
  await carol.stop();
  await carol.start({ notice: (notice) => [inserted(notice)] });
  await until("it is told", async () => (await issuesOf(carol, "spoke_after_removal")).length > 0);
  assertEquals((await read(await carol.channel(), 1)).includes("later"), false);
});

Deno.test("a founder that dies with messages unread reads them in the new generation, and nothing is called a lie", async () => {
  await using stage = await Stage.open();
  const [alice, , carol, dave] = await stopAlice(stage);
  await (await carol.channel()).send("behind");
  assertEquals(await read(await dave.channel(), 2), ["before", "behind"]);
  alice.clockOffsetMs += 61_000;
  const taken = Promise.withResolvers<void>();
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation !== "FoundGeneration") return reply;
    taken.resolve();
    return await new Promise(() => {});
  };
  (await alice.channel()).recover().catch(() => {});
  await taken.promise;
  await alice.crash();
  await until(
    "alice is in it",
    async () => (await alice.inside()).group.binding.generation !== undefined,
  );
  assertEquals(await read(await alice.channel(), 1), ["before"]);
  assertEquals(await read(await carol.channel(), 1), ["before"]);
  await talk(alice, carol, dave);
  for (const actor of [alice, carol, dave]) {
    assertEquals(await issuesOf(actor, "relay_lied"), [], actor.label);
  }
});

Deno.test("a log that is read again across a founding is no lie of the relay", async () => {
  await using stage = await Stage.open();
  const [alice, , carol, dave] = await stopAlice(stage);
  await (await carol.channel()).send("behind");
  assertEquals(await read(await dave.channel(), 2), ["before", "behind"]);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await alice.crash();
  assertEquals(await read(await alice.channel(), 1), ["before"]);
  assertEquals(await read(await carol.channel(), 1), ["before"]);
  await talk(alice, carol, dave);
  assertEquals(await issuesOf(alice, "relay_lied"), []);
  // The founding was written, and not that it was read.
  for (const actor of [alice, carol, dave]) assertEquals(await issuesOf(actor, "missing_tail"), []);
});

Deno.test("a message that cannot be read any more is counted once, however often it is delivered", async () => {
  await using stage = await Stage.open();
  const [alice, , carol, dave] = await stopAlice(stage);
  await (await carol.channel()).send("behind");
  assertEquals(await read(await dave.channel(), 2), ["before", "behind"]);
  assertEquals(await read(await alice.channel(), 1), ["before"]);
  for (let i = 0; i < 2; i++) {
    const delivered = Promise.withResolvers<void>();
    alice.session.tampering.notice = (notice) => {
      if (notice.operation === "DeliverMessage" && notice.body.sender === carol.client.agentId) {
        delivered.resolve();
      }
      return [notice];
    };
    alice.session.disconnect();
    await alice.session.connect();
    await delivered.promise;
  }
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  const [lost] = (await alice.channel()).health().issues.filter(({ kind }) =>
    kind === "undecryptable"
  );
  assertEquals([lost?.count, lost?.text.startsWith("1 messages")], [1, true]);
});

Deno.test("a commit that was taken before a founding which arrives first is made again, and the relay is not blamed", async () => {
  await using stage = await Stage.open();
  const [alice, , carol, dave] = await stopAlice(stage);
  const inside = await carol.inside();
  carol.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "SendCommit") {
      await until("carol has followed", () => inside.group.binding.generation !== undefined);
    }
    return reply;
  };
  const committing = inside.commit();
  await until("it is taken", async () => {
    const { commit } = await dave.session.call("FindCommit", {
      channelId: inside.channelId,
      epoch: inside.epoch,
      generation: 0,
    });
    return commit !== undefined;
  });
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await committing;
  for (const actor of [alice, carol]) {
    assertEquals(await read(await actor.channel(), 1), ["before"]);
  }
  await until(
    "all agree",
    async () => (await alice.channel()).fingerprint() === (await carol.channel()).fingerprint(),
  );
  assertEquals(await issuesOf(carol, "relay_lied"), []);
  assertEquals(await issuesOf(carol, "rejoined"), []);
});

Deno.test("a founding that is said to be ours and is not moves no place in the log", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  let real: NoticeEnvelope | undefined;
  carol.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverFounding") real = notice;
    return [notice];
  };
  await sendBogus(bob);
  await allStopped(alice, carol);
  await recover(alice);
  await talk(alice, carol);
  if (real?.operation !== "DeliverFounding") throw new Error("carol was told of no founding");
  const { founding } = real.body;
  const body = {
    ...real.body,
    sequence: 900_000,
    founding: { ...founding, badCommit: new Uint8Array(32) },
  };
  carol.session.inject({ ...real, body });
  await until("it is told", async () => (await issuesOf(carol, "relay_lied")).length > 0);
  await talk(alice, carol);
});

Deno.test("a join that waits for its inviter while the channel is begun anew ends in the new generation", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const token = await carol.manager.invite(name);
  carol.session.disconnect();
  const dave = await stage.actor("dave");
  const asked = Promise.withResolvers<void>();
  dave.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "RequestJoin") asked.resolve();
    return reply;
  };
  const joining = dave.manager.joinWithToken(name, token);
  await Promise.race([asked.promise, joining]);
  await sendBogus(bob);
  await allStopped(alice);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await carol.session.connect();
  await joining;
  await talk(alice, carol, dave);
  assertEquals(await membersOf(dave), ["alice", "carol", "dave"]);
});

Deno.test("a join that reaches a stopped channel is refused with the reason, and its token is good for the next generation", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const token = await alice.manager.invite(name);
  await sendBogus(bob);
  await allStopped(alice, carol);
  const dave = await stage.actor("dave");
  await assertRejects(
    () => dave.manager.joinWithToken(name, token),
    StaticError,
    "begin the channel anew",
  );
  await recover(alice);
  await dave.manager.joinWithToken(name, token);
  await talk(alice, carol, dave);
});

Deno.test("a member that was let in behind the commit that a founding undoes is told, and comes in by a new invite", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(carol, dave);
  await sendGarbled(bob, [0]);
  await allStopped(alice);
  const inside = await carol.inside();
  await until("carol has followed", async () => inside.epoch > (await alice.inside()).epoch);
  const erin = await stage.actor("erin");
  await erin.manager.joinWithToken(name, await carol.manager.invite(name));
  const joined = await erin.channel();
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await until("erin is told", () => joined.health().state === "ended");
  await talk(alice, carol, dave);
  await erin.manager.joinWithToken(name, await carol.manager.invite(name));
  await talk(alice, carol, dave, erin);
});

Deno.test("states of epochs are kept of the last 256, also across a founding", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  await recover(alice);
  await talk(alice, carol);
  const { channelId } = await alice.inside();
  // As of a channel that was long in the generation before.
  const earlier = Array.from(
    { length: 255 },
    (_, i) => putState(channelId, 10 + i, new Uint8Array(32)),
  );
  await alice.change((store) => store.batch(earlier));
  const inside = await alice.inside();
  for (let i = 0; i < 3; i++) await inside.commit();
  const { confirmations } = await storedChannel(alice.agent.parts.store, channelId);
  const kept = [...confirmations.states.keys()];
  assertEquals([kept.length, kept.includes(10), kept.includes(inside.epoch)], [256, false, true]);
});

/** Both own the channel and are stopped at bob's commit, and alice may begin anew. */
async function stoppedOwners(stage: Stage): Promise<Record<"alice" | "carol", Actor>> {
  const { alice, bob, carol } = await stage.trio();
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, carol) }));
  await sendBogus(bob);
  await allStopped(alice, carol);
  alice.clockOffsetMs += 61_000;
  return { alice, carol };
}

Deno.test("an owner that leaves while its founding is on its way leaves the new generation", async () => {
  await using stage = await Stage.open();
  const { alice, carol } = await stoppedOwners(stage);
  const inside = await alice.inside();
  const [taken, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "LeaveChannel") gone.resolve();
    if (operation === "FoundGeneration") {
      taken.resolve();
      // wait: it must not come
      await Promise.race([gone.promise, new Promise((resolve) => setTimeout(resolve, 200))]);
    }
    return reply;
  };
  const recovering = inside.recover();
  await taken.promise;
  await Promise.all([recovering, inside.leave()]);
  await until("carol is alone", async () => (await membersOf(carol)).length === 1);
  assertEquals(await issuesOf(carol, "void_leave"), []);
});

Deno.test("an owner whose founding was taken with its reply lost leaves the new generation", async () => {
  await using stage = await Stage.open();
  const { alice, carol } = await stoppedOwners(stage);
  const inside = await alice.inside();
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation !== "FoundGeneration") return reply;
    alice.session.disconnect();
    throw createError("transport_error", "Lost");
  };
  await assertRejects(() => inside.recover(), StaticError);
  // Two callers at once are one.
  const leaving = [inside.leave(), inside.leave()];
  await alice.session.connect();
  await Promise.all(leaving);
  await until("carol is alone", async () => (await membersOf(carol)).length === 1);
  assertEquals(await issuesOf(carol, "void_leave"), []);
});

/** Alice begins anew with a message unread, and hears nothing of it. Returns her disk from then. */
async function foundUnheard(
  stage: Stage,
): Promise<Record<"alice" | "carol", Actor> & { disk: MemoryDisk }> {
  const { alice, bob, carol } = await stage.trio();
  await bob.manager.send(name, "before");
  await hasUnread(alice, 1);
  await sendBogus(bob);
  await allStopped(alice, carol);
  alice.clockOffsetMs += 61_000;
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "FoundGeneration") throw createError("transport_error", "Lost");
    return reply;
  };
  const channel = await alice.channel();
  await assertRejects(() => channel.recover(), StaticError);
  return { alice, carol, disk: alice.copyDisk() };
}

for (const tries of ["", "leave", "recover"] as const) {
  const what = tries === "" ? "" : `, also if it tries to ${tries}`;
  Deno.test(`a disk from before a founding was entered sends nothing with keys that were used since${what}`, async () => {
    await using stage = await Stage.open();
    const { alice, carol, disk } = await foundUnheard(stage);
    await alice.crash();
    await alice.manager.send(name, "one");
    assertEquals(await read(await carol.channel(), 2), ["before", "one"]);
    await alice.restore(disk);
    const channel = await alice.channel();
    const sending = channel.send("two");
    if (tries === "leave") await channel.leave({ successor: alice.client.agentId }).catch(() => {});
    if (tries === "recover") await channel.recover().catch(() => {});
    await sending;
    assertEquals(await read(await carol.channel(), 1), ["two"]);
    assertEquals(await issuesOf(carol, "repeated_counter"), []);
  });
}

Deno.test("an owner that could not leave loses no message from before a founding of its own", async () => {
  await using stage = await Stage.open();
  const { alice } = await foundUnheard(stage);
  await alice.crash();
  const channel = await alice.channel();
  await assertRejects(() => channel.leave({ successor: alice.client.agentId }), StaticError);
  assertEquals(await read(channel, 1), ["before"]);
});

Deno.test("an owner leaves though the reply to its founding was lost on a connection that stays", async () => {
  await using stage = await Stage.open();
  const { alice, carol } = await foundUnheard(stage);
  await (await alice.channel()).leave({ successor: carol.client.agentId });
  await until("carol is alone", async () => (await membersOf(carol)).length === 1);
  assertEquals(await issuesOf(carol, "void_leave"), []);
});

Deno.test("an owner that leaves between two tries to begin anew makes no other one", async () => {
  await using stage = await Stage.open();
  const { alice } = await stoppedOwners(stage);
  const inside = await alice.inside();
  const calls: string[] = [];
  let leaving: Promise<void> | undefined;
  alice.session.tampering.call = (operation, _body, forward) => {
    calls.push(operation);
    if (operation !== "FoundGeneration" || leaving !== undefined) return forward();
    leaving = inside.leave();
    return Promise.reject(createError("invalid_request", "A member that it welcomes has left"));
  };
  await assertRejects(() => inside.recover(), StaticError, "is leaving");
  await leaving;
  assertEquals(calls.filter((call) => call === "FoundGeneration").length, 1);
});

Deno.test("nothing is sent in a new generation before the relay is asked for its entries, if it refuses that at first", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  alice.clockOffsetMs += 61_000;
  const channel = await alice.channel();
  const calls: string[] = [];
  const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  alice.session.tampering.call = async (operation, _body, forward) => {
    calls.push(operation);
    if (operation === "Subscribe" && calls.includes("FoundGeneration")) {
      if (calls.filter((call) => call === "Subscribe").length === 1) {
        throw createError("internal", "Not now");
      }
      asked.resolve();
      await answered.promise;
    }
    return await forward();
  };
  await channel.recover();
  await asked.promise;
  const state = await stateOf(alice);
  answered.resolve();
  await channel.send("in the new generation");
  assertEquals([state, calls.indexOf("SendMessage") > calls.lastIndexOf("Subscribe")], [
    "catching_up",
    true,
  ]);
  assertEquals(await read(await carol.channel(), 1), ["in the new generation"]);
});

Deno.test("a founder that is let in anew before it hears of its founding comes in, and the relay is not blamed", async () => {
  await using stage = await Stage.open();
  const { alice, carol } = await foundUnheard(stage);
  const channel = await alice.channel();
  const before = (await alice.inside()).epoch;
  const welcomes: NoticeEnvelope[] = [];
  const notice = (notice: NoticeEnvelope): readonly NoticeEnvelope[] => {
    if (notice.operation !== "DeliverWelcome") return [notice];
    welcomes.push(notice);
    return [];
  };
  // The relay is busy whenever she asks for it, and the Welcome is on its way when the connection
  // breaks.
  const call: Tampering["call"] = (operation, body, forward) => {
    // cast: of this operation
    const { epoch = 0 } = operation === "FindCommit" ? body as { epoch?: number } : {};
    return epoch > before
      ? Promise.reject(createError("overloaded", "The relay is busy"))
      : forward();
  };
  alice.session.tampering = { call, notice };
  assertEquals(await read(channel, 1), ["before"]);
  alice.session.disconnect();
  await alice.session.connect();
  await until("alice is let in", () => welcomes.length > 0);
  alice.session.disconnect();
  alice.session.tampering = { notice };
  await alice.session.connect();
  await until("alice has entered her founding", async () => (await alice.inside()).epoch > before);
  for (const welcome of welcomes.splice(0, 1)) alice.session.inject(welcome);
  await until(
    "alice is in step",
    async () => (await alice.inside()).epoch === (await carol.inside()).epoch,
  );
  assertEquals(await read(await carol.channel(), 1), ["before"]);
  await talk(alice, carol);
  assertEquals(await issuesOf(alice, "withheld_commit"), []);
});

/**
 * A commit that nobody can follow stops a channel, and an owner begins it anew: for every sender
 * and every kind of fault.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { NoticeBody, NoticeEnvelope, RequestBody } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import {
  changeNext,
  flipped,
  foundingAgainst,
  idsOf,
  sendBogus,
} from "../../support/scenario/bad_commits.ts";
import { declareNothing } from "../../support/scenario/hostile.ts";
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
  withoutKeyPackages,
} from "../../support/scenario/recovery.ts";
import { allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

Deno.test("a commit of random bytes stops a channel, and recovery brings everybody back without its sender", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await (await carol.channel()).send("before");
  assertEquals(await read(await alice.channel(), 1), ["before"]);
  const bobs = await bob.channel();
  await sendBogus(bob);
  await allStopped(alice, carol);
  const { problem } = (await alice.channel()).health();
  assert(problem?.includes(`"bob" (${bob.client.agentId}) signed a commit`), problem);
  await assertRejects(
    async () => await (await carol.channel()).recover(),
    StaticError,
    alice.client.agentId,
  );
  await recover(alice);
  await talk(alice, carol);
  assertEquals(await membersOf(alice), ["alice", "carol"]);
  for (const actor of [alice, carol]) {
    const [told] = await issuesOf(actor, "recovered");
    assert(
      told?.includes(`${alice.client.agentId} began generation 1`) &&
        told.includes(bob.client.agentId),
      told,
    );
  }
  await until("bob is told", () => bobs.health().state === "ended");
  // The way in is as before: by an invite, into the new generation.
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await carol.manager.invite(name));
  await talk(alice, carol, dave);
});

Deno.test("a flipped byte, and a removal that is not declared, stop a channel and are blamed on their sender", async () => {
  for (const kind of ["flipped", "undeclared"] as const) {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    const inside = await bob.inside();
    // Commits that the honest client would never make.
    if (kind === "flipped") changeNext(bob, ({ commit }) => ({ commit: flipped(commit) }));
    else declareNothing(bob);
    const remove = kind === "flipped" ? [] : idsOf(alice);
    const owners = kind === "flipped" ? undefined : idsOf(bob);
    void inside.commit(() => ({ remove, ...(owners && { owners }) })).catch(() => {});
    await allStopped(alice, carol);
    assertEquals(inside.name, name);
    await recover(alice);
    await talk(alice, carol);
    assertEquals(await membersOf(carol), ["alice", "carol"], kind);
  }
});

Deno.test("a path that is garbled for half of the members heals without a founding when somebody could follow", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await sendGarbled(bob, [1]);
  for (const actor of [carol, dave]) {
    await until(
      `${actor.label} is back`,
      async () => (await issuesOf(actor, "rejoined")).length > 0,
    );
    const [blamed] = await issuesOf(actor, "refused_commit");
    assert(blamed?.includes(bob.client.agentId), blamed);
  }
  await talk(alice, carol, dave);
  assertEquals(await issuesOf(alice, "recovered"), []);
});

Deno.test("a change in the moment in which a stopped member is let in is made in the group that lets it in", async () => {
  await using stage = await Stage.open();
  const [alice, bob, , dave] = await fourMembers(stage);
  const [channel, inside] = [await dave.channel(), await dave.inside()];
  const told = Promise.withResolvers<string>();
  // Its group ends right before the next one is written.
  const before = inside.life as { retire(): void };
  const retire = before.retire.bind(before);
  before.retire = () => {
    retire();
    channel.rotate().then(() => told.resolve("made"), ({ message }) => told.resolve(message));
  };
  await sendGarbled(bob, [1]);
  assertEquals(await told.promise, "made");
  assert(inside.life !== before, "dave is back");
  await talk(alice, dave);
  await channel.rotate();
});

Deno.test("a founding is followed by both halves: those that could follow the named commit, and those that could not", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(carol, dave);
  await sendGarbled(bob, [0]);
  await allStopped(alice);
  const inside = await carol.inside();
  await until("carol has followed", async () => inside.epoch > (await alice.inside()).epoch);
  await (await carol.channel()).send("said after the commit");
  assertEquals(await read(await dave.channel(), 1), ["said after the commit"]);
  await assertRejects(async () => await (await alice.channel()).recover(), StaticError, "a minute");
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await talk(alice, carol, dave);
  const [lost] = await issuesOf(alice, "undecryptable");
  assert(lost?.includes("1 messages stand in the log"), lost);
  const [told] = await issuesOf(carol, "recovered");
  assert(told?.includes("this agent could follow it"), told);
});

Deno.test("a member that has moved on further than the named commit is let into the new generation by anybody", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  deafen(carol, dave);
  await sendGarbled(bob, [0]);
  await allStopped(alice);
  const inside = await carol.inside();
  await until("carol has followed", async () => inside.epoch > (await alice.inside()).epoch);
  await inside.commit();
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await talk(alice, carol, dave);
  for (const actor of [carol, dave]) {
    assert((await issuesOf(actor, "rejoined")).length > 0, actor.label);
  }
});

Deno.test("a member that is stopped further back than the base comes back, though it does not know the founder as an owner", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave, erin] = await stage.channelOf(4);
  assert(alice && bob && carol && dave && erin);
  for (const { session } of [alice, dave, erin]) {
    session.tampering.notice = (notice) =>
      notice.operation === "DeliverRejoinRequest" && notice.body.agentId === carol.client.agentId
        ? []
        : [notice];
  }
  await sendGarbled(bob, [1]);
  await allStopped(carol);
  await until("dave is back", async () => (await issuesOf(dave, "rejoined")).length > 0);
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, dave) }));
  await allAgree(alice, dave, erin);
  await sendBogus(erin);
  await allStopped(alice, dave);
  for (const { session } of [alice, dave, erin]) session.tampering = {};
  alice.clockOffsetMs = dave.clockOffsetMs = 61_000;
  await (await dave.channel()).recover();
  await talk(alice, carol, dave);
  assertEquals(await issuesOf(carol, "refused_recovery"), []);
});

Deno.test("of two owners that recover at once one founds, and the other follows", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  const inside = await alice.inside();
  await inside.commit(() => ({ owners: idsOf(alice, carol) }));
  await allAgree(alice, bob, carol, dave);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  await Promise.all([recover(alice), recover(carol)]);
  for (const actor of [alice, carol]) {
    assertEquals((await actor.inside()).group.binding.generation?.generation, 1);
  }
  await talk(alice, carol, dave);
  const founders = await Promise.all(
    [alice, carol, dave].map((actor) => issuesOf(actor, "recovered")),
  );
  assertEquals(new Set(founders.flat().map((text) => text.split(" began")[0])).size, 1);
  assertEquals((await dave.channel()).members().filter(({ owner }) => owner).length, 2);
});

Deno.test("calls of recover() at once are one: the channel is begun anew once, and all of them return", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  const calls: string[] = [];
  alice.session.tampering.call = (operation, _body, forward) => {
    calls.push(operation);
    return forward();
  };
  await Promise.all([recover(alice), recover(alice), recover(alice)]);
  const ofFounding = calls.filter((operation) =>
    operation === "FoundGeneration" || operation === "ClaimForFounding"
  );
  assertEquals(ofFounding, ["ClaimForFounding", "FoundGeneration"]);
  await talk(alice, carol);
  // A channel that works refuses the next one.
  await assertRejects(
    () => alice.channel().then((channel) => channel.recover()),
    StaticError,
    "not stopped at a commit",
  );
});

Deno.test("members that are offline, with a KeyPackage or without, come back when they connect", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await (await bob.channel()).send("unread by carol");
  await until("carol has it", async () => (await carol.channel()).health().unread === 1);
  assertEquals(await read(await alice.channel(), 1), ["unread by carol"]);
  await dave.stop();
  carol.session.disconnect();
  // The relay has none of dave any more.
  alice.session.tampering.call = (operation, body, forward) => {
    if (operation !== "ClaimForFounding") return forward();
    // cast: of this operation
    const { agentIds, ...claim } = body as RequestBody<"ClaimForFounding">;
    return forward({
      ...claim,
      agentIds: agentIds.filter((agentId) => agentId !== dave.client.agentId),
    });
  };
  await sendBogus(bob);
  await allStopped(alice);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await (await alice.channel()).send("said while they were away");
  await dave.start();
  await carol.session.connect();
  assertEquals(await read(await carol.channel(), 2), [
    "unread by carol",
    "said while they were away",
  ]);
  assertEquals(await read(await dave.channel(), 1), ["unread by carol"]);
  await talk(alice, carol, dave);
  assert((await issuesOf(dave, "rejoined")).length > 0);
  assertEquals(await membersOf(dave), ["alice", "carol", "dave"]);
});

Deno.test("a member that leaves a stopped channel is not waited for in the new generation", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  await (await carol.channel()).leave();
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  const inside = await alice.inside();
  await until("carol is struck", () => inside.absent.length === 0);
  await talk(alice, dave);
  assertEquals(await membersOf(dave), ["alice", "dave"]);
});

Deno.test("a member that leaves while its owner begins the channel anew does not make recover() fail", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  const leaving = await carol.channel();
  let foundings = 0;
  alice.session.tampering.call = async (operation, _, forward) => {
    if (operation === "FoundGeneration" && foundings++ === 0) await leaving.leave();
    return await forward();
  };
  await recover(alice);
  assertEquals(foundings, 2);
  await talk(alice, dave);
  await until("carol is out", async () => (await alice.channel()).members().length === 2);
});

Deno.test("a channel is begun anew again, after restarts of relay and agents, and works as before in each generation", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  await recover(alice);
  await talk(alice, carol, dave);
  await stage.restartRelay();
  for (const actor of [alice, carol, dave]) await actor.restart();
  await talk(alice, carol, dave);
  const inside = await alice.inside();
  await inside.commit(() => ({ owners: idsOf(alice, dave) }));
  await allAgree(alice, carol, dave);
  await sendBogus(carol);
  await allStopped(alice, dave);
  await recover(dave);
  await talk(alice, dave);
  assertEquals(inside.group.binding.generation?.generation, 2);
  await (await alice.channel()).removeMember(dave.client.agentId);
  await until("dave is out", async () => await stateOf(dave).catch(() => "ended") === "ended");
});

Deno.test("the only owner that could not leave a stopped channel, because it asks to come back, begins it anew", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  const channel = await alice.channel();
  await until("alice asks", () => channel.health().recoverable === true);
  const { after } = alice;
  // It waits so long for its way back.
  alice.after = (ms, run) => after(ms === 15_000 ? 0 : ms, run);
  const { code } = await assertRejects(() => channel.leave(), StaticError);
  assertEquals(code, "not_allowed");
  await recover(alice);
  await talk(alice, carol);
});

Deno.test("the only owner does not leave a stopped channel, also while it asks nobody to come back", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  // Before that is read it asks nobody.
  await (await carol.channel()).send("unread");
  await until("alice has it", () => channel.health().unread === 1);
  await sendBogus(bob);
  await allStopped(alice, carol);
  for (const successor of [undefined, carol.client.agentId]) {
    const { code } = await assertRejects(
      () => channel.leave({ ...(successor && { successor }) }),
      StaticError,
    );
    assertEquals(code, "not_allowed");
  }
  assertEquals(await read(channel, 1), ["unread"]);
  alice.clockOffsetMs += 61_000;
  await channel.recover();
  await talk(alice, carol);
});

Deno.test("an owner that leaves while its founding is written leaves the new generation", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  const channel = await alice.channel();
  await channel.promote(carol.client.agentId);
  await allAgree(alice, bob, carol);
  await sendBogus(bob);
  await allStopped(alice, carol);
  await until("recovery is offered", () => channel.health().recoverable === true);
  const [begun, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { store } = alice.agent.parts;
  const write = store.batch.bind(store);
  store.batch = async (changes) => {
    if (changes.some(({ id }) => id.startsWith("foundings/"))) {
      begun.resolve();
      await slow.promise;
    }
    await write(changes);
  };
  const recovering = channel.recover();
  await begun.promise;
  const leaving = channel.leave();
  slow.resolve();
  await Promise.all([recovering, leaving]);
  await until("carol is alone", async () => (await membersOf(carol)).join() === "carol");
  assertEquals(await issuesOf(carol, "void_leave"), []);
});

Deno.test("a channel without another owner than the blamed says so", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(alice);
  await allStopped(bob, carol);
  for (const actor of [bob, carol]) {
    const { action } = (await actor.channel()).health();
    assert(action?.includes("No owner is left"), action);
    await assertRejects(
      async () => await (await actor.channel()).recover(),
      StaticError,
      "No owner is left",
    );
  }
});

Deno.test("an owner that was rightly removed and calls that commit bad is refused by the relay and by every member", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await (await alice.inside()).commit(() => ({ owners: idsOf(alice, bob) }));
  await allAgree(alice, bob, carol, dave);
  let removal: NoticeBody<"DeliverCommit"> | undefined;
  bob.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverCommit") return [notice];
    removal = notice.body;
    return [];
  };
  bob.session.tampering.call = (operation, _body, forward) =>
    operation === "ClaimForFounding" ? Promise.resolve({ keyPackages: [] }) : forward();
  await (await alice.channel()).removeMember(bob.client.agentId);
  await allAgree(alice, carol, dave);
  await until("bob's relay has the commit", () => removal !== undefined);
  const inside = await bob.inside();
  const { channelId } = inside;
  const founding = removal && await foundingAgainst(inside, removal);
  assert(founding);
  const { agentId } = bob.client;
  await assertRejects(
    () => bob.session.call("FoundGeneration", founding),
    StaticError,
    "No such channel",
  );
  const entry = { ...founding, sequence: 900, epoch: 2 ** 32, sender: agentId, timeMs: 0 };
  for (const actor of [alice, carol, dave]) {
    actor.session.inject({ kind: "notice", operation: "DeliverFounding", body: entry });
    await until(
      `${actor.label} refuses`,
      async () => (await issuesOf(actor, "refused_recovery")).length > 0,
    );
    assertEquals((await actor.inside()).channelId, channelId);
  }
});

Deno.test("a founding that the relay made up is its lie: the real one is followed later, and what comes after it is read", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  let forged = 0;
  carol.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverFounding") return [notice];
    const { founding } = notice.body;
    const signature = flipped(founding.signature);
    // Of the generation that begins, and of the one that is.
    const lies = [founding.generation, 0].map((generation) => {
      forged++;
      return {
        ...notice,
        body: { ...notice.body, founding: { ...founding, generation, signature } },
      };
    });
    return [...lies, notice];
  };
  await recover(alice);
  await talk(alice, carol);
  assertEquals(forged, 2);
  const lies = await issuesOf(carol, "relay_lied");
  assert(lies.some((text) => text.includes("a false beginning of a new generation")), lies.join());
  assertEquals(await issuesOf(carol, "refused_recovery"), []);
});

Deno.test("a request that waits while its handler's agent restarts is handled in a later generation too", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  await sendBogus(bob);
  await allStopped(alice, carol);
  await recover(alice);
  await talk(alice, carol);
  await carol.stop();
  const sent = Promise.withResolvers<void>();
  alice.session.tampering.call = async (operation, _body, forward) => {
    const taken = await forward();
    if (operation === "SendMessage") sent.resolve();
    return taken;
  };
  const reply = (await alice.channel()).request("anybody there?", {
    to: carol.client.agentId,
    timeoutMs: 60_000,
  });
  await sent.promise;
  await carol.start();
  (await carol.channel()).serve(() => "yes");
  assertEquals((await reply).text(), "yes");
});

/** Where a process may die while a channel is recovered. */
const deaths = ["stopped", "before claiming", "before founding", "after founding"] as const;

for (const death of deaths) {
  Deno.test(`an owner that dies while it recovers goes on: ${death}`, async () => {
    await using stage = await Stage.open();
    const { alice, bob, carol } = await stage.trio();
    await sendBogus(bob);
    await allStopped(alice, carol);
    await until(
      "recovery is offered",
      async () => (await alice.channel()).health().recoverable === true,
    );
    const dying = Promise.withResolvers<void>();
    alice.session.tampering.call = async (operation, _body, forward) => {
      const at = {
        ClaimForFounding: "before claiming",
        FoundGeneration: "before founding",
      }[operation as string];
      if (at !== undefined && at === death) return await hang(dying);
      const reply = await forward();
      return operation === "FoundGeneration" && death === "after founding"
        ? await hang(dying)
        : reply;
    };
    if (death === "stopped") dying.resolve();
    else (await alice.channel()).recover().catch(() => {});
    await dying.promise;
    await alice.crash();
    if (death !== "after founding") {
      await allStopped(alice);
      alice.clockOffsetMs += 61_000;
      await (await alice.channel()).recover();
    }
    await talk(alice, carol);
    assertEquals((await carol.inside()).epoch, (await alice.inside()).epoch);
  });
}

function hang(reached: PromiseWithResolvers<void>): Promise<never> {
  reached.resolve();
  return new Promise(() => {});
}

Deno.test("a member that dies when the founding arrives, or right after it followed, is in the new generation", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave] = await fourMembers(stage);
  await (await bob.channel()).send("unread");
  await until("carol has it", async () => (await carol.channel()).health().unread === 1);
  await sendBogus(bob);
  await allStopped(alice, carol, dave);
  alice.clockOffsetMs += 61_000;
  const arrived = Promise.withResolvers<void>();
  carol.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverFounding") return [notice];
    arrived.resolve();
    return [];
  };
  await (await alice.channel()).recover();
  await arrived.promise;
  await carol.crash();
  await until("dave has followed", async () => (await issuesOf(dave, "recovered")).length === 1);
  await dave.crash();
  await until("carol has followed", async () => (await issuesOf(carol, "recovered")).length === 1);
  for (const actor of [alice, carol, dave]) {
    assertEquals(await read(await actor.channel(), 1), ["unread"]);
  }
  await talk(alice, carol, dave);
});

Deno.test("a member that was let in with one KeyPackage on both sides of a founding comes back into the new generation", async () => {
  await using stage = await Stage.open();
  const [alice, bob, carol, dave, erin] = await stage.channelOf(4);
  assert(alice && bob && carol && dave && erin);
  const welcomes: NoticeEnvelope[] = [];
  carol.session.tampering.notice = (notice) => {
    if (notice.operation !== "DeliverWelcome") return [notice];
    welcomes.push(notice);
    return [];
  };
  await sendGarbled(bob, [1]);
  await until("carol is answered", () => welcomes.length > 0);
  await until("dave is back", async () => await stateOf(dave) === "ok");
  withoutKeyPackages(alice, carol);
  await sendBogus(erin);
  await allStopped(alice, dave);
  alice.clockOffsetMs += 61_000;
  await (await alice.channel()).recover();
  await until("carol is answered there", () => welcomes.length > 1);
  carol.session.tampering = {};
  for (const welcome of welcomes) carol.session.inject(welcome);
  await talk(alice, carol, dave);
});

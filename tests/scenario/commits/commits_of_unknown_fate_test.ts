/**
 * A commit of ours whose fate is not known: it was on its way when the process died, or the relay
 * refuses one after the other. Its author stays in the channel, and is never the one whom nobody
 * can follow.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { RequestBody } from "../../../proto/mod.ts";
import { StaticError } from "../../../sdk/mod.ts";
import { createError, type Inside } from "../../../sdk/testing/agents.ts";
import type { Tampering } from "../../support/scenario/memory_session.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

type SendCommit = RequestBody<"SendCommit">;

async function commit(actor: Actor): Promise<void> {
  await (await actor.inside()).commit();
}

/** The process dies while this commit of its is on its way. Returns what the relay may take yet. */
async function crashIn(
  actor: Actor,
  act: (inside: Inside) => Promise<unknown>,
  tampering: (late: SendCommit) => Tampering,
): Promise<SendCommit> {
  const sent = Promise.withResolvers<SendCommit>();
  actor.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    sent.resolve(body as SendCommit); // cast: of this operation
    return Promise.reject(createError("transport_error", "It is on its way for long"));
  };
  const acting = act(await actor.inside()).catch(() => {});
  const late = await sent.promise;
  await actor.crash(tampering(late));
  await acting;
  return late;
}

/** Notes the commits that an agent sends. `refuse`: what the relay says instead of taking one. */
function watch(
  sent: SendCommit[],
  refuse: (count: number) => StaticError | undefined = () => undefined,
): Tampering {
  return {
    call: (operation, body, forward) => {
      if (operation !== "SendCommit") return forward();
      sent.push(body as SendCommit); // cast: of this operation
      const error = refuse(sent.length);
      return error === undefined ? forward() : Promise.reject(error);
    },
  };
}

async function isOk(actor: Actor, epoch: number): Promise<boolean> {
  const health = (await actor.channel()).health();
  return health.state === "ok" && health.epoch === epoch;
}

/** Whether an open commit is sent again after this wait: five seconds, more or less by half. */
function isOfOpen(ms: number): boolean {
  return ms >= 2_500 && ms <= 7_500;
}

async function issuesOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).health().issues.map(({ kind }) => kind);
}

/** By the clock alone it would be many hours, which are waited for in parts of six. */
function checkHealing(waits: readonly number[]): void {
  const hourMs = 60 * 60_000;
  const healing = waits.filter((ms) => ms > 0.9 * hourMs && ms <= 6 * hourMs);
  assert(healing.length > 1 && healing.every((ms) => ms < 2 * hourMs), waits.join());
}

Deno.test("a commit that was on its way when its agent crashed is sent again, the same bytes, and all follow it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const late = await crashIn(bob, (inside) => inside.commit(), () => watch(sent));
  await until("bob has made it", () => isOk(bob, late.epoch + 1));
  await allAgree(alice, bob);
  assertEquals(sent.map(({ commit }) => commit), [late.commit]);
  // The relay takes it once.
  assertEquals((await bob.session.call("SendCommit", late)).duplicate, true);
  await alice.manager.send(name, "still here");
  assertEquals(await read(await bob.channel(), 1), ["still here"]);
  assertEquals(await issuesOf(bob), []);
});

Deno.test("an agent that removed the last other member stays in the channel when the relay takes that after a crash", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await alice.channel();
  // After the crash the log is asked, and the commit is taken behind its answer.
  let isTaken = false;
  const takeAfterAnswer = (late: SendCommit): Tampering => ({
    call: async (operation, _body, forward) => {
      const reply = await forward();
      if (operation === "FindCommit" && !isTaken) {
        isTaken = true;
        await alice.session.call("SendCommit", late);
      }
      return reply;
    },
  });
  const { epoch } = await crashIn(
    alice,
    () => channel.removeMember(bob.client.agentId),
    takeAfterAnswer,
  );
  await until("alice has followed it", () => isOk(alice, epoch + 1));
  assert(isTaken);
  assertEquals((await alice.inside()).group.members().length, 1);
  assertEquals(await issuesOf(alice), []);
  // And the channel goes on.
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, carol);
});

Deno.test("a busy relay does not make an agent give up a commit that leaves nobody to let it in", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  // The first copy is lost on its way; of the second one the relay does not say what became of it.
  const answers = [
    createError("transport_error", "Lost"),
    createError("overloaded", "The log does not answer"),
  ];
  alice.session.tampering = watch(sent, (count) => answers[count - 1]);
  const channel = await alice.channel();
  const { agentId } = bob.client;
  const refused = await assertRejects(() => channel.removeMember(agentId), StaticError);
  const [first, second] = sent;
  assert(first !== undefined && second !== undefined);
  assertEquals([refused.code, sent.length, second.commit], ["overloaded", 2, first.commit]);
  await bob.session.call("ListMembers", { channelId: first.channelId }); // still a member
  await alice.session.call("SendCommit", first);
  alice.session.disconnect();
  await alice.session.connect();
  await until("alice has followed it", () => isOk(alice, first.epoch + 1));
  assertEquals((await alice.inside()).group.members().length, 1);
  await channel.removeMember(agentId).catch(() => {}); // nothing is left to do
  assertEquals(await issuesOf(alice), []);
});

Deno.test("an agent learns on the same connection that a busy relay took its last removal", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let sends = 0;
  alice.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "SendCommit" && sends++ < 2) {
      throw createError("overloaded", "The log does not answer");
    }
    return reply;
  };
  // Five seconds or so take none.
  alice.after = (ms, run) => stage.runtime.after(isOfOpen(ms) ? 0 : ms, run);
  const channel = await alice.channel();
  const { epoch } = channel.health();
  await assertRejects(
    () => channel.removeMember(bob.client.agentId),
    StaticError,
    "does not answer",
  );
  await until("alice has learnt of it", () => isOk(alice, epoch + 1));
  assertEquals([sends, await issuesOf(alice)], [3, []]);
});

Deno.test("a client that is closed while a commit is open comes to rest, and the next process makes it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  alice.session.tampering = watch([], () => createError("overloaded", "Try again later"));
  let resumed = 0;
  alice.after = (ms, run) => {
    return stage.runtime.after(ms, () => {
      if (isOfOpen(ms)) resumed++;
      run();
    });
  };
  const channel = await alice.channel();
  const { epoch } = channel.health();
  await assertRejects(() => channel.removeMember(bob.client.agentId), StaticError);
  await alice.restart();
  await until("alice has made it", () => isOk(alice, epoch + 1));
  assertEquals(resumed, 0);
});

Deno.test("however often others try meanwhile, an open commit is sent again by one of them at a time", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const waits: number[] = [];
  alice.after = (ms, run) => {
    if (isOfOpen(ms)) waits.push(ms);
    return stage.runtime.after(ms, run);
  };
  alice.session.tampering = watch([], () => createError("overloaded", "Try again later"));
  const channel = await alice.channel();
  const { epoch } = channel.health();
  for (let tries = 0; tries < 20; tries++) {
    await assertRejects(() => channel.removeMember(bob.client.agentId), StaticError);
  }
  assertEquals(waits.length, 1);
  alice.session.tampering = {};
  await commit(alice);
  assertEquals(channel.health().epoch, epoch + 2);
});

Deno.test("what is said in the next epoch settles an open commit first, and nobody is blamed", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  let finds = 0;
  alice.session.tampering.call = async (operation, _body, forward) => {
    if (operation === "FindCommit" && finds++ === 0) {
      throw createError("overloaded", "Try again later");
    }
    const reply = await forward();
    if (operation === "SendCommit") throw createError("transport_error", "Lost");
    return reply;
  };
  const { epoch } = (await alice.channel()).health();
  await assertRejects(() => commit(alice), StaticError, "Try again later");
  await until("bob has followed", () => isOk(bob, epoch + 1));
  await bob.manager.send(name, "in the next epoch");
  assertEquals(await read(await alice.channel(), 1), ["in the next epoch"]);
  assertEquals([await issuesOf(alice), (await alice.channel()).health().epoch], [[], epoch + 1]);
});

Deno.test("an agent that could not leave asks for its open commit again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const busy = watch(sent, () => createError("overloaded", "Try again later"));
  // They are over when the test says so.
  const waits: (() => void)[] = [];
  alice.after = (ms, run) => {
    if (!isOfOpen(ms)) return stage.runtime.after(ms, run);
    waits.push(run);
    return () => {};
  };
  alice.session.tampering = busy;
  const [channel, inside] = [await alice.channel(), await alice.inside()];
  const { epoch } = channel.health();
  await assertRejects(() => channel.removeMember(bob.client.agentId), StaticError);
  await inside.closeCommits();
  await assertRejects(() => commit(alice), StaticError, "leaving");
  const before = sent.length;
  assertEquals(waits.length, 1);
  waits.shift()?.();
  assertEquals(sent.length, before, "it was sent meanwhile");
  inside.reopenCommits();
  alice.session.tampering = {};
  await until("it is waited for again", () => waits.length > 0);
  waits.shift()?.();
  await until("alice has made it", () => isOk(alice, epoch + 1));
});

Deno.test("an agent leaves while its last removal is open, and the channel is closed when that is settled", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const calls: string[] = [];
  alice.session.tampering.call = (operation, _body, forward) => {
    calls.push(operation);
    const isFirst = calls.filter((call) => call === "SendCommit").length === 1;
    if (operation === "SendCommit" && isFirst) {
      return Promise.reject(createError("overloaded", "Try again later"));
    }
    return forward();
  };
  const channel = await alice.channel();
  await assertRejects(() => channel.removeMember(bob.client.agentId), StaticError);
  await channel.leave();
  assert(calls.includes("CloseChannel") && !calls.includes("LeaveChannel"), calls.join());
  // Another one has two members, and a relay that stays busy.
  const carol = await stage.actor("carol");
  await alice.manager.create(name);
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  alice.session.tampering = watch([], () => createError("overloaded", "Try again later"));
  const next = await alice.channel();
  await assertRejects(() => next.removeMember(carol.client.agentId), StaticError);
  const { agentId } = carol.client;
  // its successor would be made by a commit
  await assertRejects(() => next.leave(), StaticError, "Try again later");
  alice.session.tampering = {};
  await next.removeMember(agentId);
  await next.leave();
});

Deno.test("where others could let an agent in again, a busy relay makes it give up what it sends again, and it goes on", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const busy = (count: number): StaticError | undefined =>
    count > 1 ? undefined : createError("overloaded", "The relay cannot count this");
  const late = await crashIn(alice, (inside) => inside.commit(), () => watch(sent, busy));
  await until("it was refused", () => sent.length === 1);
  await (await alice.channel()).removeMember(bob.client.agentId);
  assertEquals(sent.map(({ epoch, removed }) => [epoch, removed.length]), [[late.epoch, 0], [
    late.epoch,
    1,
  ]]);
});

Deno.test("an agent leaves although a busy relay does not take the commit that it sends again", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const busy = (): StaticError => createError("overloaded", "Try again later");
  await crashIn(bob, (inside) => inside.commit(), () => watch(sent, busy));
  await until("it was refused", () => sent.length === 1);
  await (await bob.channel()).leave();
  await until(
    "alice has removed bob",
    async () => (await alice.inside()).group.members().length === 1,
  );
  assertEquals(sent.length, 1);
});

Deno.test("keys of a commit that is sent again are changed as soon after a start as those that the process found", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const waits: number[] = [];
  const late = await crashIn(bob, (inside) => inside.commit(), () => {
    bob.after = (ms, run) => {
      waits.push(ms);
      return stage.runtime.after(ms, run);
    };
    return {};
  });
  await until("bob has made it", () => isOk(bob, late.epoch + 1));
  checkHealing(waits);
});

Deno.test("the same where the log tells of it on a later connection", async () => {
  await using stage = await Stage.open();
  const { bob } = await stage.pair();
  const waits: number[] = [];
  let sends = 0;
  const { epoch } = await crashIn(bob, (inside) => inside.commit(), () => ({
    call: async (operation, _body, forward) => {
      if (operation !== "SendCommit") return await forward();
      if (++sends === 5) await forward();
      throw createError("transport_error", "Lost");
    },
  }));
  const inside = await bob.inside();
  await until("it was sent five times", () => sends === 5 && !inside.isCommitOfBefore);
  bob.after = (ms, run) => {
    waits.push(ms);
    return stage.runtime.after(ms, run);
  };
  bob.session.disconnect();
  await bob.session.connect();
  await until("bob has made it", () => isOk(bob, epoch + 1));
  checkHealing(waits);
});

Deno.test("a disk that fails while a commit is accepted is not called a lie of the relay", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const channel = await bob.channel();
  bob.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation === "SendCommit") void bob.diesAfter(0);
    return reply;
  };
  await assertRejects(() => commit(bob), StaticError, "Cannot write to the store");
  assertEquals(channel.health().issues.map(({ kind }) => kind), []);
  await bob.crash();
  await allAgree(alice, bob);
});

Deno.test("a relay that takes what is sent again and delivers another commit makes the agent join anew, and ends nothing", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const asked = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const late = await crashIn(bob, (inside) => inside.commit(), () => ({
    call: async (operation, body, forward) => {
      if (operation !== "SendCommit") return await forward();
      asked.resolve();
      await taken.promise;
      bob.session.tampering = {};
      const { epoch } = body as SendCommit; // cast: of this operation
      return { sequence: 99, epoch: epoch + 1, timeMs: 0, duplicate: false };
    },
  }));
  await asked.promise;
  const inside = await bob.inside();
  // The commit of alice is being followed when the answer comes, and is first.
  const accepting = Promise.withResolvers<void>();
  inside.beforeFollow(() => {
    taken.resolve();
    return accepting.promise;
  });
  inside.beforeAccept(async () => {
    accepting.resolve();
    await until("bob has followed alice", () => inside.epoch === late.epoch + 1);
  });
  await commit(alice);
  await until("bob is back", async () => (await issuesOf(bob)).includes("rejoined"));
  assert((await issuesOf(bob)).includes("relay_lied"));
  await allAgree(alice, bob);
});

Deno.test("an addition that was on its way when its agent crashed is not made later", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const carol = await stage.actor("carol");
  const keyPackage = await carol.client.generateKeyPackage();
  const sent: SendCommit[] = [];
  const channel = await alice.channel();
  const late = await crashIn(alice, () => channel.addMember(keyPackage), () => watch(sent));
  await until("alice is in step", () => isOk(alice, late.epoch));
  await commit(bob);
  await until("alice follows", () => isOk(alice, late.epoch + 1));
  assertEquals(sent, []);
});

Deno.test("an addition that is open when the agent connects again is not made later either", async () => {
  await using stage = await Stage.open();
  const { alice } = await stage.pair();
  const carol = await stage.actor("carol");
  const keyPackage = await carol.client.generateKeyPackage();
  const sent: SendCommit[] = [];
  let finds = 0;
  alice.session.tampering.call = async (operation, body, forward) => {
    if (operation === "SendCommit") {
      sent.push(body as SendCommit); // cast: of this operation
      alice.session.disconnect();
      void alice.session.connect();
      throw createError("transport_error", "Lost");
    }
    if (operation === "FindCommit" && finds++ === 0) {
      throw createError("overloaded", "Try again later");
    }
    return await forward();
  };
  const channel = await alice.channel();
  await assertRejects(() => channel.addMember(keyPackage), StaticError);
  await until("alice goes on", () => channel.health().state === "ok");
  await until("it is given up", async () => (await alice.inside()).openCommit === undefined);
  assertEquals([sent.length, (await alice.inside()).group.members().length], [1, 2]);
});

Deno.test("a log that is behind a member makes it use three keys for a change, and says so", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const { epoch } = await alice.inside();
  alice.session.tampering = watch(
    sent,
    () => createError("epoch_conflict", "Too late", { epoch: epoch - 1 }),
  );
  const error = await assertRejects(() => commit(alice), StaticError);
  assertEquals([error.code, error.retryable, sent.length], ["overloaded", true, 3]);
  assert(error.message.includes(`log is in epoch ${epoch - 1}`), error.message);
  alice.session.tampering = {};
  await commit(alice);
  await allAgree(alice, bob);
});

Deno.test("a relay that refuses a member's commits without end does not make it one that nobody can follow", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  alice.session.tampering = watch(sent, () => createError("storage_full", "No room"));
  const refusals = new Set<string>();
  let waitMs: number | undefined;
  for (let tries = 0; tries < 1100; tries++) {
    await commit(alice).catch((error: StaticError) => {
      refusals.add(error.code);
      waitMs = error.retryAfterMs;
    });
  }
  assertEquals([[...refusals], sent.length], [["storage_full", "overloaded"], 500]);
  assert(waitMs !== undefined && waitMs > 9 * 60_000 && waitMs <= 10 * 60_000, String(waitMs));
  // A new process may try once.
  await alice.crash();
  await commit(alice);
  await allAgree(alice, bob);
  // The next epoch has keys of its own.
  await commit(alice);
  await allAgree(alice, bob);
  assertEquals(await issuesOf(bob), []);
});

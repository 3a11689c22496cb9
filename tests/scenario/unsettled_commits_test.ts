/**
 * A commit of ours whose fate is not known: it was on its way when the process died, or the relay refuses one after the other. Its
 * author stays in the channel, and is never the one whom nobody can follow.
 */
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { RequestBody } from "../../proto/mod.ts";
import { StaticError } from "../../sdk/mod.ts";
import { createError, type LiveChannel } from "../../sdk/testing/agents.ts";
import type { Tampering } from "../support/scenario/memory_session.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

type SendCommit = RequestBody<"SendCommit">;

async function commit(actor: Actor): Promise<void> {
  await (await actor.live()).committer.commit(() => ({ change: {} }));
}

/** The process dies while this commit of its is on its way. Returns what the relay may take yet. */
async function crashIn(
  actor: Actor,
  act: (live: LiveChannel) => Promise<unknown>,
  tampering: (late: SendCommit) => Tampering,
): Promise<SendCommit> {
  const sent = Promise.withResolvers<SendCommit>();
  actor.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    sent.resolve(body as SendCommit); // cast: of this operation
    return Promise.reject(createError("transport_error", "It is on its way for long"));
  };
  const acting = act(await actor.live()).catch(() => {});
  const late = await sent.promise;
  await actor.crash(tampering(late));
  await acting;
  return late;
}

/** Notes the commits that an agent sends. `refuse`: what the relay says instead of taking one. */
function watch(sent: SendCommit[], refuse: (count: number) => StaticError | undefined = () => undefined): Tampering {
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

async function issuesOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).health().issues.map(({ kind }) => kind);
}

Deno.test("a commit that was on its way when its agent crashed is sent again, the same bytes, and all follow it", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const late = await crashIn(bob, ({ committer }) => committer.commit(() => ({ change: {} })), () => watch(sent));
  await until("bob has made it", () => isOk(bob, late.epoch + 1));
  await allAgree(alice, bob);
  assertEquals(sent.map(({ commit }) => commit), [late.commit]);
  // What is taken already is not taken twice.
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
  const { epoch } = await crashIn(alice, () => channel.removeMember(bob.client.agentId), takeAfterAnswer);
  await until("alice has followed it", () => isOk(alice, epoch + 1));
  assert(isTaken);
  assertEquals((await alice.live()).membership.group.members().length, 1);
  assertEquals(await issuesOf(alice), []);
  // And the channel goes on.
  const carol = await stage.actor("carol");
  await carol.manager.joinWithToken(name, await alice.manager.invite(name));
  await allAgree(alice, carol);
});

Deno.test("a busy relay does not make an agent give up a commit that may be on its way", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const busy = (count: number): StaticError | undefined =>
    count > 1 ? undefined : createError("overloaded", "Try again later");
  const late = await crashIn(alice, (live) => live.committer.commit(() => ({ change: {} })), () => watch(sent, busy));
  await until("it was refused", () => sent.length === 1);
  await until("alice is in step", () => isOk(alice, late.epoch));
  // The next change makes it first.
  await (await alice.channel()).removeMember(bob.client.agentId);
  assertEquals(sent.map(({ epoch }) => epoch), [late.epoch, late.epoch, late.epoch + 1]);
  assertEquals(sent[1]?.commit, late.commit);
  assertEquals((await alice.live()).membership.group.members().length, 1);
});

Deno.test("an agent that leaves gives up a commit that may be on its way", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const busy = (): StaticError => createError("overloaded", "Try again later");
  await crashIn(bob, (live) => live.committer.commit(() => ({ change: {} })), () => watch(sent, busy));
  await until("it was refused", () => sent.length === 1);
  bob.session.tampering = {};
  await (await bob.channel()).leave();
  await until("alice has removed bob", async () => (await alice.live()).membership.group.members().length === 1);
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

Deno.test("a log that is behind a member makes it use three keys for a change, and says so", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  const sent: SendCommit[] = [];
  const { epoch } = (await alice.live()).membership;
  alice.session.tampering = watch(sent, () => createError("epoch_conflict", "Too late", { epoch: epoch - 1 }));
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

/**
 * Commits of our own, which the relay does not deliver to us: where they stand in the log is known
 * after every restart.
 */
import { assertEquals } from "@std/assert";
import type { ChannelId } from "../../../proto/mod.ts";
import type { IssueKind, StaticError } from "../../../sdk/mod.ts";
import { createError, putLandmarks } from "../../../sdk/testing/agents.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../../support/scenario/stage.ts";

async function commit(actor: Actor): Promise<void> {
  await (await actor.inside()).commit();
}

async function issuesOf(actor: Actor): Promise<IssueKind[]> {
  return (await actor.channel()).health().issues.map(({ kind }) => kind);
}

Deno.test("a commit of ours that is taken while earlier progress waits for the disk is known after a restart", async () => {
  await using stage = await Stage.open();
  const { alice, bob, carol } = await stage.trio();
  // Writes wait until the agent is closed.
  alice.after = (ms, run) => stage.runtime.after(ms === 12 ? 60_000 : ms, run);
  const channel = await alice.channel();
  await channel.removeMember(carol.client.agentId);
  await bob.manager.send(name, "carol is out");
  await until("alice has it", () => channel.health().unread === 1);
  await commit(alice);
  await alice.restart();
  await commit(bob);
  await allAgree(alice, bob);
  assertEquals(await read(await alice.channel(), 1), ["carol is out"]);
  assertEquals(await issuesOf(alice), []);
});

Deno.test("a member that does not know where its own commit stands follows the next one", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  await bob.manager.send(name, "not read yet");
  await until("alice has it", async () => (await alice.channel()).health().unread === 1);
  await commit(alice);
  const { channelId } = await alice.inside();
  await alice.change((store) =>
    store.batch([putLandmarks(channelId, { ownCommits: [], endings: [] })])
  );
  await commit(bob);
  await allAgree(alice, bob);
  assertEquals(await issuesOf(alice), ["relay_lied"]);
  await alice.manager.send(name, "still here");
  assertEquals(await read(await bob.channel(), 1), ["still here"]);
});

interface Unknowing {
  readonly alice: Actor;
  readonly dave: Actor;
  /** Brings what the relay says of that commit, or loses it. */
  readonly answer: (lost?: StaticError) => void;
}

/** The relay takes the agent's next commit, and the answer is late. */
function answersLate({ session: { tampering } }: Actor): Unknowing["answer"] {
  const { promise, resolve } = Promise.withResolvers<StaticError | undefined>();
  let next: Promise<StaticError | undefined> | undefined = promise;
  tampering.call = async (operation, _body, forward) => {
    const mine = operation === "SendCommit" ? next : undefined;
    if (mine !== undefined) next = undefined;
    const reply = await forward();
    const lost = await mine;
    if (lost !== undefined) throw lost;
    return reply;
  };
  return resolve;
}

/** A newcomer whose adder has not heard that the relay took it. */
async function addedUnknowingly(stage: Stage): Promise<Unknowing> {
  const alice = await stage.actor("alice");
  await alice.manager.create(name);
  const answer = answersLate(alice);
  const dave = await stage.actor("dave");
  await dave.manager.joinWithToken(name, await alice.manager.invite(name));
  return { alice, dave, answer };
}

/** Everything that was delivered before is read, or waits for an answer. */
async function readIt(
  { session }: Actor,
  { channelId }: { readonly channelId: ChannelId },
): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await session.call("ListMembers", { channelId });
}

/** The newcomer leaves, and its adder has been told of it. Returns the end of its `leave()`. */
async function leavesAtOnce(alice: Actor, dave: Actor): Promise<Promise<void>[]> {
  const left = Promise.withResolvers<void>();
  alice.session.tampering.notice = (notice) => {
    if (notice.operation === "DeliverLeave") left.resolve();
    return [notice];
  };
  const leaving = (await dave.channel()).leave();
  await left.promise;
  await readIt(alice, await alice.inside());
  return [leaving];
}

Deno.test("a newcomer that leaves before its adder knows of its own commit is removed", async () => {
  await using stage = await Stage.open();
  const { alice, dave, answer } = await addedUnknowingly(stage);
  const inside = await alice.inside();
  const leaving = await leavesAtOnce(alice, dave);
  answer();
  await Promise.all(leaving);
  await until(
    "alice has removed dave",
    () => inside.epoch === 2 && inside.group.members().length === 1,
  );
  assertEquals(await issuesOf(alice), []);
});

Deno.test("the same, when that answer is lost, and a busy relay tells it of its commit later", async () => {
  await using stage = await Stage.open();
  const { alice, dave, answer } = await addedUnknowingly(stage);
  const inside = await alice.inside();
  const leaving = await leavesAtOnce(alice, dave);
  const { call } = alice.session.tampering;
  let asked = 0;
  alice.session.tampering.call = (operation, body, forward) => {
    if (operation !== "FindCommit" || asked++ > 1) {
      return call?.(operation, body, forward) ?? forward();
    }
    return Promise.reject(createError("overloaded", "The relay is busy"));
  };
  answer(createError("transport_error", "The answer was lost"));
  await Promise.all(leaving);
  await until(
    "alice has removed dave",
    () => inside.epoch === 2 && inside.group.members().length === 1,
  );
  assertEquals(await issuesOf(alice), []);
});

Deno.test("one that came back, and leaves before the member that let it in knows of its own commit, is removed", async () => {
  await using stage = await Stage.open();
  const { alice, bob } = await stage.pair();
  bob.session.tampering.notice = (notice) => notice.operation === "DeliverCommit" ? [] : [notice];
  await commit(alice);
  const answer = answersLate(alice);
  await alice.manager.send(name, "of an epoch that bob does not know");
  await until("bob is back", async () => (await issuesOf(bob)).includes("rejoined"));
  const inside = await alice.inside();
  const { epoch } = inside;
  const leaving = await leavesAtOnce(alice, bob);
  answer();
  await Promise.all(leaving);
  await until(
    "alice has removed bob",
    () => inside.epoch === epoch + 2 && inside.group.members().length === 1,
  );
  assertEquals(await issuesOf(alice), []);
});

Deno.test("a lapse of a newcomer that its adder does not know to be added yet is noted", async () => {
  await using stage = await Stage.open();
  const { alice, dave, answer } = await addedUnknowingly(stage);
  const inside = await alice.inside();
  const { channelId } = inside;
  const { agentId } = dave.client;
  const head = (await stage.world.engine.findChannel(channelId))?.head ?? 0;
  const body = { channelId, sequence: head + 1, epoch: 1, agentId, timeMs: 0 };
  alice.session.inject({ kind: "notice", operation: "DeliverLapse", body });
  await readIt(alice, inside);
  answer();
  await until("alice has noted it", () => inside.lapsed.includes(agentId));
});

/** Commits of our own, which the relay does not deliver to us: where they stand in the log is known after every restart. */
import { assertEquals } from "@std/assert";
import type { IssueKind } from "../../sdk/mod.ts";
import { putLandmarks } from "../../sdk/testing/agents.ts";
import { type Actor, allAgree, name, read, Stage, until } from "../support/scenario/stage.ts";

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
  await alice.change((store) => store.batch([putLandmarks(channelId, { ownCommits: [], endings: [] })]));
  await commit(bob);
  await allAgree(alice, bob);
  assertEquals(await issuesOf(alice), ["relay_lied"]);
  await alice.manager.send(name, "still here");
  assertEquals(await read(await bob.channel(), 1), ["still here"]);
});

/** Channels that are stopped at a commit, and begun anew. */
import { assertEquals } from "@std/assert";
import type { ReplyBody } from "../../../proto/mod.ts";
import { stateOf as stateOfEpoch } from "../../../sdk/testing/agents.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { idsOf, sendBogus, signedBy } from "./bad_commits.ts";
import { type Actor, allAgree, name, read, type Stage, until } from "./stage.ts";

export async function stateOf(actor: Actor): Promise<string> {
  return (await actor.channel()).health().state;
}

export async function issuesOf(actor: Actor, kind: string): Promise<string[]> {
  return (await actor.channel()).health().issues.filter((issue) => issue.kind === kind).map((
    { text },
  ) => text);
}

export async function allStopped(...actors: readonly Actor[]): Promise<void> {
  for (const actor of actors) {
    await until(`${actor.label} is stopped`, async () => await stateOf(actor) === "stopped");
  }
}

/** All of these are in the same generation again, and hear each other. */
export async function talk(...actors: readonly Actor[]): Promise<void> {
  await allAgree(...actors);
  for (const actor of actors) {
    await until(`${actor.label} is well`, async () => await stateOf(actor) === "ok");
  }
  for (const sender of actors) {
    await (await sender.channel()).send(`${sender.label} is here`);
    for (const reader of actors.filter((actor) => actor !== sender)) {
      assertEquals(await read(await reader.channel(), 1), [`${sender.label} is here`]);
    }
  }
}

/** Waits until it is offered: all others have asked. */
export async function recover(owner: Actor): Promise<void> {
  const channel = await owner.channel();
  await until("recovery is offered", () => channel.health().recoverable === true);
  await channel.recover();
}

/** The founder is given no KeyPackage of these. */
export function withoutKeyPackages(founder: Actor, ...of: readonly Actor[]): void {
  const ids = idsOf(...of);
  founder.session.tampering.call = async (operation, _body, forward) => {
    const reply = await forward();
    if (operation !== "ClaimForFounding") return reply;
    const { keyPackages } = reply as ReplyBody<"ClaimForFounding">; // cast: of this operation
    return { keyPackages: keyPackages.filter(({ agentId }) => !ids.includes(agentId)) };
  };
}

/** An owner begins the channel anew without the hostile member, while these are away. */
export async function recoverWithout(
  owner: Actor,
  hostile: Actor,
  ...away: readonly Actor[]
): Promise<void> {
  for (const actor of away) await actor.stop();
  withoutKeyPackages(owner, ...away);
  await sendBogus(hostile);
  await allStopped(owner);
  owner.clockOffsetMs += 61_000;
  await (await owner.channel()).recover();
}

export async function membersOf(actor: Actor): Promise<string[]> {
  return (await actor.channel()).members().filter(({ absent }) => !absent).map(({ identity }) =>
    identity
  ).toSorted();
}

export async function fourMembers(stage: Stage): Promise<[Actor, Actor, Actor, Actor]> {
  const [alice, bob, carol, dave] = await stage.channelOf(3);
  if (!alice || !bob || !carol || !dave) throw new Error("four actors were asked for");
  return [alice, bob, carol, dave];
}

/** A commit that members on these levels of the tree, seen from its sender, cannot follow. */
export async function sendGarbled(sender: Actor, levels: readonly number[]): Promise<void> {
  const hostile = await HostileMember.of(sender.agent, name);
  const { message, next } = hostile.garbledCommit(levels);
  await sender.session.call(
    "SendCommit",
    await signedBy(sender, message, { nextState: stateOfEpoch(next) }),
  );
}

/** The relay does not tell them who asks to come back. */
export function deafen(...actors: readonly Actor[]): void {
  for (const { session } of actors) {
    session.tampering.notice = (notice) =>
      notice.operation === "DeliverRejoinRequest" ? [] : [notice];
  }
}

/** Commits that an honest relay takes and that nobody, or not everybody, can follow. */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  binaryIdToBytes,
  commitStatement,
  generationOf,
  groupIdOf,
  type NoticeBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { type Agent, Inside, stateOf } from "../../../sdk/testing/agents.ts";
import { createPrivateMessage } from "../mls.ts";
import type { Actor } from "./stage.ts";

type Commit = RequestBody<"SendCommit">;

/** Signed as its sender would sign it, in the right state. */
export async function signedBy(
  actor: Actor,
  commit: Uint8Array,
  change: Partial<Commit> = {},
): Promise<Commit> {
  return signedCommit(actor.agent, await actor.inside(), commit, change);
}

/** A commit of random bytes. */
export async function sendBogus(actor: Actor, change: Partial<Commit> = {}): Promise<void> {
  const { name } = await actor.inside();
  await actor.session.call("SendCommit", await bogusCommit(actor.agent, name, change));
}

export async function bogusCommit(
  agent: Agent,
  name: string,
  change: Partial<Commit> = {},
): Promise<Commit> {
  const inside = await Inside.of(agent, name);
  const { channelId, epoch } = inside;
  const commit = createPrivateMessage({
    groupId: binaryIdToBytes(groupIdOf(channelId, generationOf(epoch))),
    epoch,
    contentType: 3,
    ciphertext: crypto.getRandomValues(new Uint8Array(300)),
  });
  return signedCommit(agent, inside, commit, change);
}

function signedCommit(
  { parts: { signatures, identity } }: Agent,
  { channelId, group }: Inside,
  commit: Uint8Array,
  change: Partial<Commit>,
): Commit {
  const body = {
    channelId,
    epoch: group.epoch,
    commit,
    added: [],
    removed: [],
    welcomes: [],
    answers: [],
    generation: generationOf(group.epoch),
    state: stateOf(group.current),
    nextState: crypto.getRandomValues(new Uint8Array(32)),
    ...change,
  };
  const statement = commitStatement({
    ...body,
    commitHash: sha256(commit),
    owners: body.owners?.agentIds,
  });
  return { ...body, signature: signatures.sign(identity.signingSeed, statement) };
}

/**
 * From now on the actor's next commit goes out changed, signed as it is then, and the actor
 * believes that it is taken.
 */
export function changeNext(actor: Actor, change: (commit: Commit) => Partial<Commit>): void {
  actor.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    actor.session.tampering = {};
    const sent = { ...body as Commit, ...change(body as Commit) }; // cast: of this operation
    const statement = commitStatement({
      ...sent,
      commitHash: sha256(sent.commit),
      owners: sent.owners?.agentIds,
    });
    return forward({ ...sent, signature: actor.sign(statement) });
  };
}

/**
 * The founding of an owner that calls a commit bad which it has not followed. Undefined when its
 * sender is not a member.
 */
export async function foundingAgainst(
  inside: Inside,
  commit: NoticeBody<"DeliverCommit">,
): Promise<RequestBody<"FoundGeneration"> | undefined> {
  const bad = inside.badCommitOf(commit, "it does not please me");
  return bad && await inside.foundingBecauseOf(bad);
}

/** One byte of the ciphertext of a commit or a Welcome is another. */
export function flipped(message: Uint8Array): Uint8Array {
  const changed = message.slice();
  changed[changed.length - 5] = (changed.at(-5) ?? 0) ^ 1;
  return changed;
}

export const idsOf = (...actors: readonly Actor[]): AgentId[] =>
  actors.map(({ client }) => client.agentId);

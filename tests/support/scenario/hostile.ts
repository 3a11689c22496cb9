/** Attacks of members with a modified client, beyond what an honest one can be made to do. */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  binaryIdFromBytes,
  commitStatement,
  type JoinRequestId,
  type NoticeBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { HostileMember } from "../../../sdk/testing/hostile_member.ts";
import { type Actor, name } from "./stage.ts";

/**
 * From now on the actor's commits declare no change to the relay, whatever they do, and are signed
 * so.
 */
export function declareNothing(actor: Actor): void {
  actor.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit") return forward();
    const { owners: _, ...sent } = body as RequestBody<"SendCommit">; // cast: of this operation
    const commit = { ...sent, added: [], removed: [], welcomes: [], answers: [] };
    const statement = commitStatement({
      ...commit,
      commitHash: sha256(commit.commit),
      owners: undefined,
    });
    return forward({ ...commit, signature: actor.sign(statement) });
  };
}

/**
 * The relay keeps commits from a member until it is told otherwise, so that this one loses step.
 */
export function withholdCommits(actor: Actor, isOver: () => boolean): void {
  actor.session.tampering.notice = (notice) =>
    notice.operation === "DeliverCommit" && !isOver() ? [] : [notice];
}

/**
 * The relay keeps commits from the victim, and gives so many of its requests to come back only to a
 * member that has made itself the owner. Returns how often that member has answered.
 */
export function usurp(victim: Actor, usurper: Actor, times: number): () => number {
  const lies = answerWith(
    victim,
    usurper,
    times,
    (hostile, keyPackage) => hostile.usurp(victim.client.agentId, keyPackage),
  );
  withholdCommits(victim, () => lies() === times);
  return lies;
}

/**
 * So many requests of the victim to come back are given to one member alone, which answers each
 * with a Welcome of its making.
 */
export function answerWith(
  victim: Actor,
  answerer: Actor,
  times: number,
  makeWelcome: (hostile: HostileMember, keyPackage: Uint8Array) => Uint8Array | Promise<Uint8Array>,
): () => number {
  let lies = 0;
  victim.session.tampering.call = async (operation, body, forward) => {
    if (operation !== "RequestRejoin" || lies === times) return await forward();
    lies++;
    // cast: of this operation
    const { keyPackage, channelId, generation } = body as RequestBody<"RequestRejoin">;
    const inside = await answerer.inside();
    const welcome: NoticeBody<"DeliverWelcome"> = {
      channelId,
      sequence: 900 + lies,
      joinedSequence: 900 + lies,
      epoch: inside.epoch + 1,
      sender: answerer.client.agentId,
      timeMs: Date.now(),
      welcome: await makeWelcome(await HostileMember.of(answerer.agent, name), keyPackage),
      name: inside.name,
      generation,
    };
    queueMicrotask(() =>
      victim.session.inject({ kind: "notice", operation: "DeliverWelcome", body: welcome })
    );
    const requestId = binaryIdFromBytes<JoinRequestId>(crypto.getRandomValues(new Uint8Array(16)));
    return { requestId, expiresAtMs: Date.now() + 60_000 };
  };
  return () => lies;
}

/**
 * The actor answers rejoins with the Welcome of another commit than the one that it sends. Returns
 * how often.
 */
export async function answerWrongly(actor: Actor): Promise<() => number> {
  const inside = await actor.inside();
  let other: Uint8Array | undefined;
  let answers = 0;
  inside.replacePrepare((change, prepare) => {
    if (change.rejoins !== undefined && change.rejoins.length > 0) other = prepare(change).welcome;
    return prepare(change);
  });
  actor.session.tampering.call = (operation, body, forward) => {
    if (operation !== "SendCommit" || other === undefined) return forward();
    const sent = body as RequestBody<"SendCommit">; // cast: of this operation
    const welcome = other;
    other = undefined;
    answers++;
    return forward({
      ...sent,
      welcomes: sent.welcomes.map(({ recipients }) => ({ recipients, welcome })),
    });
  };
  return () => answers;
}

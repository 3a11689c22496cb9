/**
 * A founding against a commit that this agent has followed: either the blamed spoiled it for the
 * founder alone, or the founder put the blamed out without cause. Nobody can tell which from the
 * commit, so both are told, with the one fact that can decide: a state that the founder itself has
 * signed since. Pure; it is asked before the group moves, and also where the founding leaves this
 * agent behind.
 */
import { type AgentId, equalBytes } from "../../../proto/mod.ts";
import type { DeliveredFounding } from "./following.ts";

export interface OwnPast {
  readonly self: AgentId;
  /** Our own state of an epoch, as far as it is kept. */
  readonly stateAt: (epoch: number) => Uint8Array | undefined;
  /** SHA-256 of the commit by which we left the base, if it is still known. */
  readonly commitHash: Uint8Array | undefined;
  /** The last epoch that the founder has confirmed, in the generation of the base. */
  readonly confirmed: number | undefined;
}

/**
 * Whether this agent has followed the named commit. One that the commit itself added has judged
 * nothing.
 */
export function hasFollowed(
  { founding, proof }: Pick<DeliveredFounding, "founding" | "proof">,
  past: OwnPast,
): boolean {
  const state = past.stateAt(founding.baseEpoch + 1);
  if (
    state === undefined || !equalBytes(state, proof.nextState) || proof.added.includes(past.self)
  ) return false;
  // A relay that helps the blamed may hold another commit with the same declared state for the
  // founder.
  return past.commitHash === undefined || equalBytes(past.commitHash, founding.badCommit);
}

/**
 * In words, for `health()`; undefined when there is nothing to say against the founding. Its
 * signatures were verified.
 */
export function unjustRecovery(
  { founding, proof, sender }: Pick<DeliveredFounding, "founding" | "proof" | "sender">,
  past: OwnPast,
): string | undefined {
  if (sender === past.self || !hasFollowed({ founding, proof }, past)) return undefined;
  const { generation, baseEpoch, blamed, without } = founding;
  const { confirmed } = past;
  const said = confirmed !== undefined && confirmed > baseEpoch
    ? ` ${sender} itself signed since that it was in epoch ${confirmed}, after that commit.`
    : "";
  // Into a later epoch an honest founder may have been let in; into this one only the commit leads.
  const isDecided = confirmed === baseEpoch + 1 && !proof.added.includes(sender);
  return `${sender} began generation ${generation} against a commit of ${blamed}. This agent followed that commit, and it kept ` +
    `the rules. Either ${blamed} spoiled the part for ${sender} alone, or ${sender} put ${blamed} out without cause (its ` +
    `program or directory may be damaged).${said}${
      isDecided ? ` So it could follow it: ${sender} did wrong.` : ""
    } ` +
    `Out: ${
      [blamed, ...without].join(", ")
    }. Ask both; an owner may remove the one that did wrong, and invite ${blamed} again`;
}

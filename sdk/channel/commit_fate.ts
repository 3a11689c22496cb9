/** The fate of a commit of ours, as the relay's log tells it. */
import { equalBytes } from "../../proto/mod.ts";
import { createError, type StaticError } from "../base/errors.ts";
import type { PreparedCommit } from "../mls/group.ts";
import type { Membership } from "./membership.ts";

/** The relay has it. */
export type Taken = { readonly sequence: number };
/** Another commit was first; the channel is at this epoch now. */
export type Conflict = { readonly conflict: number };

/** Asks the log whose commit ended the epoch; unknown when none did, also in a log that is behind it. Throws `StaticError`. */
export async function fateOf(
  prepared: PreparedCommit,
  membership: Pick<Membership, "findCommit">,
): Promise<Taken | Conflict | "unknown"> {
  const { commit, epoch } = await membership.findCommit(prepared.epoch);
  if (commit === undefined) return epoch <= prepared.epoch ? "unknown" : { conflict: epoch };
  return equalBytes(commit.commitHash, prepared.hash) ? { sequence: commit.sequence } : { conflict: epoch };
}

/** Nobody is left behind it that could let its author in: if it is taken, its author must be able to follow it. */
export function isLast({ next }: PreparedCommit): boolean {
  return next.tree.memberCount === 1;
}

export function logBehind(logEpoch: number, epoch: number): StaticError {
  const text =
    `Cannot change the channel: the relay's log is in epoch ${logEpoch}, and this agent is in epoch ${epoch}; ` +
    "try again later, or connect again";
  return createError("overloaded", text);
}

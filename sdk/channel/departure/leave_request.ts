/**
 * The statement by which this agent leaves: about its present leaf, so that members know which
 * membership is meant.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import type { RequestBody } from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import { leaveBody } from "./leave_body.ts";
import type { Membership } from "../group/membership.ts";
import type { RecoveryRunner } from "../runner/recovery_runner.ts";
import type { StoreAge } from "../runner/store_age.ts";

export interface LeaveParts {
  readonly membership: Membership;
  readonly recovery: Pick<RecoveryRunner, "presentLeaf" | "isLeafTold">;
  readonly storeAge: StoreAge;
}

/**
 * `isNamed`: the relay is told which membership is meant, and answers `state_conflict` when the
 * agent was brought in anew since: then its leaf is another one.
 */
export function leaveRequest(
  {
    membership: { channelId, groupId },
    recovery: { presentLeaf: leaf, isLeafTold: isTold },
    storeAge,
  }: LeaveParts,
  isNamed: boolean,
  deps: Parameters<typeof leaveBody>[1],
): RequestBody<"LeaveChannel"> {
  if (leaf.length === 0) {
    throw createError("mls_error", "Cannot leave: this agent is not in the channel's group");
  }
  const body = leaveBody({ channelId, groupId, leafHash: sha256(leaf) }, deps);
  // Where its membership began, if that is known.
  const joinedSequence = isNamed ? storeAge.joinedSequence({ isTold }) : undefined;
  return { ...body, joinedSequence };
}

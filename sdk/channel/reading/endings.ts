/**
 * Memberships and rights to speak that have ended, each with the last counter that was delivered
 * before the commit that ended it. A part of the log that is read again (after a restart, or
 * because the inbox was full) could get messages inserted that such a member sealed later: those
 * have higher counters.
 */
import { type AgentId, limits } from "../../../proto/mod.ts";

export interface MembershipEnding {
  readonly agentId: AgentId;
  /** The first epoch without it. */
  readonly epoch: number;
  /** Where the commit stands. */
  readonly sequence: number;
  /** Undefined until all entries before a commit of our own have been delivered. */
  readonly last: number | undefined;
}

/** In the order in which they happened. Frozen, or never changed in place: states share them. */
export type MembershipEndings = readonly MembershipEnding[];

/** The latest of them: a change of the policy may silence all members but one. */
const maxEndings = 2 * limits.membersPerChannel;

export const noEndings: MembershipEndings = Object.freeze([]);

export function withEndings(
  endings: MembershipEndings,
  more: MembershipEndings,
): MembershipEndings {
  return more.length === 0 ? endings : [...endings, ...more].slice(-maxEndings);
}

/** All entries before this one were delivered. The same list when that settles nothing. */
export function settleEndings(
  endings: MembershipEndings,
  sequence: number,
  lastOf: (ending: MembershipEnding) => number,
): MembershipEndings {
  if (endings.length === 0 || !endings.some((ending) => isOpen(ending, sequence))) return endings;
  return endings.map((each) => isOpen(each, sequence) ? { ...each, last: lastOf(each) } : each);
}

function isOpen(ending: MembershipEnding, sequence: number): boolean {
  return ending.last === undefined && ending.sequence < sequence;
}

/** Whether a message was sent after the end of the membership that its epoch belongs to. */
export function isAfterEnd(
  endings: MembershipEndings,
  sender: AgentId,
  { counter, epoch }: { readonly counter: number; readonly epoch: number },
): boolean {
  if (endings.length === 0) return false;
  const own = endings.find((ending) => ending.agentId === sender && epoch < ending.epoch);
  return own?.last !== undefined && counter > own.last;
}

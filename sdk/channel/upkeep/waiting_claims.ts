/**
 * Statements that agree with our own state. They change no verdict until somebody asks, so they
 * wait in memory: with n members n² signatures an epoch would be verified for nothing. Whatever
 * rests on a claim verifies it first. Only statements that an honest relay delivers of members that
 * agree may wait; others are verified when they come.
 *
 * A relay that makes claims up displaces no true one: those of a member wait behind each other. The
 * newest is looked at first, and only if nobody signed it the one before.
 */
import { type AgentId, equalBytes } from "../../../proto/mod.ts";
import {
  type ConfirmedEpoch,
  type EpochWord,
  type ForkFacts,
  type ForkState,
  laterHeard,
} from "./fork_watch.ts";

/** A statement that was not looked at yet. */
export interface UnverifiedWord {
  readonly agentId: AgentId;
  /** The key of the member's leaf when the statement came. */
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
}

export interface EpochClaim extends UnverifiedWord, EpochWord {
  /** When it came, by the local clock. */
  readonly atMs: number;
  /** When its epoch began, if that is known. */
  readonly begunMs: number | undefined;
  /** The claim agreed with us when it came, and was not verified then. */
  readonly waited: boolean;
  /** A claim about an earlier epoch by the same member. Nobody has verified that either. */
  readonly earlier?: EpochClaim | undefined;
}

/** The part of the state of confirmations that this is about; see there. */
interface WaitingClaims {
  readonly claims: Map<AgentId, EpochClaim>;
  readonly doubted: ReadonlySet<AgentId>;
  readonly states: ReadonlyMap<number, Uint8Array>;
  readonly forks: ForkState;
}

/** Claims of one member. With the last of them its newest is verified. */
export const longestWait = 8;
/**
 * How much later than by verified signatures a member may have been there. So a crash, which loses
 * what waits, makes nobody look gone.
 */
const longestGapMs = 24 * 60 * 60 * 1000;

/** Whether it is of a later epoch than all that the member said, and nothing speaks against it. */
export function agrees(
  { claims, states, forks }: WaitingClaims,
  { agentId, epoch, state }: EpochClaim,
): boolean {
  const ours = states.get(epoch);
  if (ours === undefined || !equalBytes(ours, state)) return false;
  if (forks.forks.has(agentId) || forks.strange.has(agentId) || forks.liars.has(agentId)) {
    return false;
  }
  const said = forks.said.get(agentId);
  const before = said && states.get(said.epoch);
  if (said !== undefined && before !== undefined && !equalBytes(said.state, before)) return false;
  return epoch > (claims.get(agentId)?.epoch ?? said?.epoch ?? -1);
}

/** Whether it is verified before somebody asks. */
export function isDue(
  { claims, forks, doubted }: WaitingClaims,
  { agentId, begunMs = 0 }: EpochClaim,
  { nowMs }: Pick<ForkFacts, "nowMs">,
): boolean {
  const heardMs = forks.heardMs.get(agentId) ?? begunMs;
  return doubted.has(agentId) || heardMs > nowMs || begunMs - heardMs > longestGapMs ||
    claimsBehind(claims.get(agentId)).length >= longestWait;
}

/** Before an earlier claim of its member. The cell that it came in is not kept in memory. */
export function wait({ claims, states }: WaitingClaims, claim: EpochClaim): void {
  const state = states.get(claim.epoch) ?? claim.state;
  const signature = claim.signature.slice();
  const earlier = claims.get(claim.agentId);
  claims.set(claim.agentId, { ...claim, state, signature, waited: true, earlier });
}

/** It, and those that wait behind it. */
export function claimsBehind(claim: EpochClaim | undefined): EpochClaim[] {
  const found: EpochClaim[] = [];
  for (let each = claim; each !== undefined; each = each.earlier) found.push(each);
  return found;
}

export function isSame(one: EpochClaim, other: EpochClaim): boolean {
  return one.epoch === other.epoch && equalBytes(one.state, other.state) &&
    equalBytes(one.signature, other.signature) && equalBytes(one.publicKey, other.publicKey);
}

/** Returns those that wait of these members, or of all. They wait no longer. */
export function takeClaims({ claims }: WaitingClaims, agentIds?: Iterable<AgentId>): EpochClaim[] {
  return Array.from(agentIds ?? [...claims.keys()]).flatMap((agentId) => {
    const claim = claims.get(agentId);
    claims.delete(agentId);
    return claim ?? [];
  });
}

/**
 * Our group is in this epoch now. Returns claims that do not agree any more, to be looked at like
 * others that differ, behind earlier ones of their members; those of agents that are gone are
 * forgotten.
 */
export function takeUnfit(
  { claims }: WaitingClaims,
  { epoch, state }: EpochWord,
  { isMember }: Pick<ForkFacts, "isMember">,
): EpochClaim[] {
  const isFit = (claim: EpochClaim): boolean =>
    claim.epoch < epoch || (claim.epoch === epoch && equalBytes(claim.state, state));
  return [...claims].flatMap(([agentId, newest]) => {
    if (isMember(agentId) && isFit(newest)) return [];
    claims.delete(agentId);
    if (!isMember(agentId)) return [];
    const all = claimsBehind(newest);
    const unfit = all.filter((each) => !isFit(each)).reverse();
    const fit = all.find(isFit);
    const others = unfit.map((each) => ({ ...each, waited: false, earlier: undefined }));
    return fit === undefined ? others : [fit, ...others];
  });
}

/** Returns the last epoch that a member confirmed. `claim`: one that waits, and that it signed. */
export function lastConfirmed(
  { confirmed }: ForkState,
  agentId: AgentId,
  claim: EpochClaim | undefined,
): ConfirmedEpoch | undefined {
  const known = confirmed.get(agentId);
  if (claim === undefined || claim.epoch <= (known?.epoch ?? -1)) return known;
  return { epoch: claim.epoch, atMs: claim.atMs };
}

/** Returns when a member was last there. `claim`: likewise. */
export function lastHeardMs(
  { heardMs }: ForkState,
  agentId: AgentId,
  { claim, nowMs }: { readonly claim: EpochClaim | undefined; readonly nowMs: number },
): number | undefined {
  const known = heardMs.get(agentId);
  return claim?.begunMs === undefined ? known : laterHeard(known, claim.begunMs, nowMs);
}

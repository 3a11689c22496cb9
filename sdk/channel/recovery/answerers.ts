/**
 * Which member is asked to let this agent back in, and how long to wait between requests. At first
 * anybody; after an answer that was worth nothing, members are named one by one, owners first, and
 * anybody again at the end of each round. A member whose answer was refused is not named again
 * while there are others.
 */
import type { AgentId } from "../../../proto/mod.ts";

const firstPauseMs = 1000;
const maxPauseMs = 60_000;
/**
 * Each refused answer cost the channel a commit, so an agent that nobody can let in asks rarely.
 */
const maxHopelessPauseMs = 60 * 60 * 1000;
/** Refused answers until rounds become rare. */
const manyRefusals = 8;

export interface Peer {
  readonly agentId: AgentId;
  readonly owner: boolean;
}

export interface Answerers {
  readonly refusedBy: readonly AgentId[];
  readonly refusals: number;
  /** Place in the round; 0 names nobody. */
  readonly place: number;
  readonly tries: number;
  /** An attempt came to nothing although members answered. */
  readonly isInVain: boolean;
}

/** `isNamed`: not anybody, from the first request on. */
export function newAnswerers(isNamed = false): Answerers {
  return { refusedBy: [], refusals: 0, place: isNamed ? 1 : 0, tries: 0, isInVain: false };
}

/** So many answers were refused that a new invite is likely to be the only way. */
export function isHopeless({ refusals }: Answerers): boolean {
  return refusals >= manyRefusals;
}

/**
 * The member that shall answer; undefined for anybody. `others` are those that this agent knows.
 */
export function nextAnswerer(
  answerers: Answerers,
  others: readonly Peer[],
): readonly [Answerers, AgentId | undefined] {
  // A refused answer may come after its attempt was over.
  const place = answerers.place === 0 && answerers.refusals > 0 ? 1 : answerers.place;
  const round = roundOf(answerers, others);
  return [{ ...answerers, place }, round[place % round.length]];
}

/** An answer led nowhere, and its commit is made. */
export function refusedBy(answerers: Answerers, by: AgentId): Answerers {
  const before = answerers.refusedBy.filter((agentId) => agentId !== by);
  return { ...answerers, refusedBy: [...before, by], refusals: answerers.refusals + 1 };
}

/**
 * An attempt is over; `isAnswered` when it was not silence. Returns how long to wait before the
 * next.
 */
export function attemptOver(
  answerers: Answerers,
  others: readonly Peer[],
  isAnswered: boolean,
): readonly [Answerers, number] {
  const { place, refusals, tries } = answerers;
  const isLast = place % roundOf(answerers, others).length === 0;
  const after: Answerers = {
    ...answerers,
    place: isAnswered || place > 0 ? place + 1 : place,
    tries: tries + 1,
    isInVain: answerers.isInVain || isAnswered,
  };
  const shortMs = Math.min(firstPauseMs * 2 ** tries, maxPauseMs);
  if (!isLast || !isHopeless(answerers)) return [after, shortMs];
  return [after, Math.min(maxPauseMs * 2 ** (refusals - manyRefusals + 1), maxHopelessPauseMs)];
}

function roundOf(
  { refusedBy }: Answerers,
  others: readonly Peer[],
): readonly (AgentId | undefined)[] {
  const trusted = others.filter(({ agentId }) => !refusedBy.includes(agentId));
  const named = [...trusted.filter(({ owner }) => owner), ...trusted.filter(({ owner }) => !owner)];
  return [undefined, ...named.map(({ agentId }) => agentId)];
}

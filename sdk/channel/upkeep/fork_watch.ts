/**
 * Whether members are in the same group as we are, by what they signed about epochs outside of an
 * epoch's keys. Two statements that differ show that the relay divided the channel, that a member
 * was let in with other keys, or that one of the two lies: both are named, and nothing else follows
 * from it. A message that opens is a statement too, because its signature covers the epoch's
 * context: a member that signed something else beside it was in another group of that epoch before,
 * or lies.
 */
import { type AgentId, equalBytes, generationOf } from "../../../proto/mod.ts";
import type { Fork } from "../events.ts";
import type { IssueKind } from "../issues.ts";

/** A member's signed word about an epoch. */
export interface EpochWord {
  readonly epoch: number;
  readonly state: Uint8Array;
}

export interface ConfirmedEpoch {
  readonly epoch: number;
  /** When this agent learned it, by the local clock. */
  readonly atMs: number;
}

/** When an epoch of ours began. */
export interface EpochBeginning {
  readonly epoch: number;
  /** When the epoch began, by the local clock. */
  readonly atMs: number;
}

/** The last statement of a member. */
export interface LastStatement {
  readonly confirmed: ConfirmedEpoch | undefined;
  /** The member's latest statement, whether it agrees or not. */
  readonly said: EpochWord | undefined;
  /** When a signature of it was last verified, by the local clock. */
  readonly heardMs: number | undefined;
}

/** A member that is connected, by the relay's word, and says nothing. */
export interface Silent {
  /** Which member. */
  readonly agentId: AgentId;
  /** The epoch that it confirmed last, if this agent knows of one. */
  readonly confirmedEpoch?: number;
  /** How long the member could have confirmed a later epoch. */
  readonly forMs: number;
}

/**
 * All that is known of what members signed. Plain data, and the functions of this file alone change
 * it.
 */
export interface ForkState {
  /** The latest statement of each member. */
  readonly said: Map<AgentId, EpochWord>;
  /** The last epoch of which a member's message opened. */
  readonly spoke: Map<AgentId, number>;
  readonly confirmed: Map<AgentId, ConfirmedEpoch>;
  readonly heardMs: Map<AgentId, number>;
  /** Statements of others about epochs that we were not in: the first signer of each state. */
  readonly unknown: Map<number, readonly (EpochWord & { readonly agentId: AgentId })[]>;
  /** The forks by the member whose statement differs. */
  readonly forks: Map<AgentId, Fork>;
  /** Members that are known to lie. */
  readonly liars: Set<AgentId>;
  /** Members that speak with our keys and signed another state, until they sign ours. */
  readonly strange: Set<AgentId>;
  /** Members that the relay called connected and unconfirmed, and when. */
  readonly present: Map<AgentId, number>;
  epoch: number;
  /** When our latest epochs began, the oldest first. */
  readonly begun: Map<number, number>;
  /** Since when others can confirm anything to us. */
  connectedMs: number;
  lostMs: number | undefined;
}

/** Knowledge of others at the moment of a step. */
export interface ForkFacts {
  /** The time by the local clock. */
  readonly nowMs: number;
  readonly self: AgentId;
  readonly isMember: (agentId: AgentId) => boolean;
  /** The epoch in which a member joined; 0 when that was before us. */
  readonly joinedEpoch: (agentId: AgentId) => number;
}

/** A conclusion, for `health()` and the program. */
export type ForkFinding =
  | {
    readonly type: "report";
    readonly kind: IssueKind;
    readonly text: string;
    readonly about?: AgentId;
  }
  | { readonly type: "forked"; readonly fork: Fork };

export interface ForkWatch {
  readonly forks: ForkState;
  readonly facts: ForkFacts;
  /** Our own state of an epoch, if it is known. */
  readonly states: ReadonlyMap<number, Uint8Array>;
  readonly findings: { readonly push: (...findings: ForkFinding[]) => unknown };
}

/** A member that is connected and confirms nothing for so long is reported. */
const silenceMs = 10 * 60_000;
/**
 * A connection that is back so soon was not away: else a relay could cut it again and again, and
 * nobody would seem silent.
 */
const awayMs = 60_000;
/** Our epochs of which it is known when they began. */
const maxEpochs = 256;
/**
 * How long the relay's word that a member is connected holds; an honest one says it every 5
 * minutes.
 */
const presenceMs = 15 * 60_000;
/** Forks that are kept, one for each member that differs. */
const maxForks = 64;
/** Epochs that we were not in, of which statements are kept to compare others with. */
const maxUnknown = 64;
/** Different states of one of them: two show a fork, and more are of liars. */
const maxStates = 4;

/** Restores the forks of a process that starts. `heard`, `liars` and `begun`: from before. */
export function restoreForks(
  heard: ReadonlyMap<AgentId, LastStatement>,
  liars: ReadonlySet<AgentId>,
  begun?: EpochBeginning,
): ForkState {
  const state: ForkState = {
    said: new Map(),
    spoke: new Map(),
    confirmed: new Map(),
    heardMs: new Map(),
    unknown: new Map(),
    forks: new Map(),
    liars: new Set(liars),
    strange: new Set(),
    present: new Map(),
    epoch: -1,
    begun: new Map(begun && [[begun.epoch, begun.atMs]]),
    connectedMs: 0,
    lostMs: undefined,
  };
  for (const [agentId, { confirmed, said, heardMs }] of heard) {
    if (confirmed !== undefined) state.confirmed.set(agentId, confirmed);
    if (said !== undefined) state.said.set(agentId, said);
    if (heardMs !== undefined) state.heardMs.set(agentId, heardMs);
  }
  return state;
}

/** The record to keep of each member. */
export function heardBy(
  { confirmed, said, heardMs }: ForkState,
): ReadonlyMap<AgentId, LastStatement> {
  const agentIds = new Set([...confirmed.keys(), ...said.keys(), ...heardMs.keys()]);
  return new Map(Array.from(agentIds, (agentId): [AgentId, LastStatement] => [agentId, {
    confirmed: confirmed.get(agentId),
    said: said.get(agentId),
    heardMs: heardMs.get(agentId),
  }]));
}

/**
 * Members whose latest statement is about a later epoch than ours. Of a later generation we hear in
 * another way.
 */
export function aheadOf({ said, epoch: own }: ForkState): AgentId[] {
  const isAhead = ({ epoch }: EpochWord): boolean =>
    epoch > own && generationOf(epoch) === generationOf(own);
  return [...said].flatMap(([agentId, each]) => isAhead(each) ? [agentId] : []);
}

/**
 * Whether this statement says nothing new: it was heard before, or its signer agrees with us about
 * a later epoch.
 */
export function knows(forks: ForkState, agentId: AgentId, { epoch, state }: EpochWord): boolean {
  const said = forks.said.get(agentId);
  return (said?.epoch === epoch && equalBytes(said.state, state)) ||
    (forks.confirmed.get(agentId)?.epoch ?? -1) > epoch;
}

/**
 * Members that are connected and have confirmed nothing for too long, although there was something
 * to confirm. `last`: what a member confirmed last.
 */
export function silentIn(
  forks: ForkState,
  facts: ForkFacts,
  last: (agentId: AgentId) => ConfirmedEpoch | undefined,
): Silent[] {
  const { nowMs, isMember } = facts;
  return [...forks.present].flatMap(([agentId, toldMs]) => {
    const confirmed = last(agentId);
    const sinceMs = Math.max(
      behindMs(forks, facts, { agentId, confirmed }),
      forks.connectedMs,
      confirmed?.atMs ?? 0,
    );
    const forMs = nowMs - sinceMs;
    if (forMs < silenceMs || nowMs - toldMs > presenceMs || !isMember(agentId)) return [];
    return [{ agentId, ...(confirmed && { confirmedEpoch: confirmed.epoch }), forMs }];
  });
}

/**
 * When the first epoch began that a member could have confirmed and has not; never, if there is
 * none.
 */
function behindMs(
  { begun }: ForkState,
  { joinedEpoch }: ForkFacts,
  { agentId, confirmed }: {
    readonly agentId: AgentId;
    readonly confirmed: ConfirmedEpoch | undefined;
  },
): number {
  const first = confirmed === undefined ? joinedEpoch(agentId) : confirmed.epoch + 1;
  for (const [epoch, begunMs] of begun) if (epoch >= first) return begunMs;
  return Infinity;
}

/** A signature of a member was verified that is not older than this. */
export function heardOf(
  { forks, facts: { nowMs } }: ForkWatch,
  agentId: AgentId,
  atMs: number = nowMs,
): void {
  forks.heardMs.set(agentId, laterHeard(forks.heardMs.get(agentId), atMs, nowMs));
}

/** The later of two times at which a member was heard of. */
export function laterHeard(knownMs: number | undefined, atMs: number, nowMs: number): number {
  // A time in the future is of a clock that was wrong.
  return knownMs === undefined || knownMs > nowMs ? atMs : Math.max(atMs, knownMs);
}

/**
 * We joined anew at this epoch, maybe in another group: what others did in the one before says
 * nothing about this one.
 */
export function restartForks({ spoke, strange, confirmed, begun }: ForkState, epoch: number): void {
  spoke.clear();
  strange.clear();
  for (const each of begun.keys()) if (each >= epoch) begun.delete(each);
  for (const [agentId, each] of confirmed) if (each.epoch >= epoch) confirmed.delete(agentId);
}

/** Others can confirm only while we are connected. */
export function connection(forks: ForkState, isOnline: boolean, nowMs: number): void {
  if (!isOnline) forks.lostMs ??= nowMs;
  else if (forks.connectedMs === 0 || nowMs - (forks.lostMs ?? nowMs) > awayMs) {
    forks.connectedMs = nowMs;
  }
  if (isOnline) forks.lostMs = undefined;
}

/** We are in this epoch now; what those that are gone said does not matter any more. */
export function entered(watch: ForkWatch, epoch: number): void {
  const { forks, facts: { nowMs, isMember } } = watch;
  forks.epoch = epoch;
  // A time in the future was written by a clock that was wrong.
  forks.begun.set(epoch, Math.min(forks.begun.get(epoch) ?? nowMs, nowMs));
  const [oldest] = forks.begun.keys();
  if (forks.begun.size > maxEpochs && oldest !== undefined) forks.begun.delete(oldest);
  const { said, spoke, confirmed, heardMs, liars, strange } = forks;
  for (const known of [said, spoke, confirmed, heardMs, forks.forks, liars, strange]) {
    for (const agentId of known.keys()) if (!isMember(agentId)) known.delete(agentId);
  }
  for (const [agentId, each] of said) if (each.epoch === epoch) judge(watch, agentId, each);
}

/** A statement whose signature is a member's. */
export function statement(watch: ForkWatch, agentId: AgentId, said: EpochWord): void {
  const { forks } = watch;
  if (knows(forks, agentId, said)) return;
  // A relay may have kept it back since then, or repeats an old one.
  const begunMs = forks.begun.get(said.epoch);
  const isLater = said.epoch > (forks.said.get(agentId)?.epoch ?? -1);
  if (begunMs !== undefined && isLater) {
    heardOf(watch, agentId, Math.min(begunMs, watch.facts.nowMs));
  }
  if (contradicts(forks, agentId, said)) {
    lied(watch, agentId, `${agentId} signed two different states of epoch ${said.epoch}`);
  }
  noteSaid(forks, agentId, said);
  judge(watch, agentId, said);
}

/** Returns whether the signer said otherwise about the same epoch. */
export function contradicts({ said }: ForkState, agentId: AgentId, word: EpochWord): boolean {
  const before = said.get(agentId);
  return before?.epoch === word.epoch && !equalBytes(before.state, word.state);
}

function noteSaid({ said }: ForkState, agentId: AgentId, { epoch, state }: EpochWord): void {
  if (epoch >= (said.get(agentId)?.epoch ?? -1)) said.set(agentId, { epoch, state });
}

/**
 * A statement whose signature is a member's, and that agreed with us when it came. It counts as of
 * then.
 */
export function agreed(
  watch: ForkWatch,
  agentId: AgentId,
  { atMs, begunMs, ...said }: EpochWord & {
    readonly atMs: number;
    /** When its epoch began. */
    readonly begunMs: number | undefined;
  },
): void {
  const { forks } = watch;
  // It may not have waited.
  if (contradicts(forks, agentId, said)) return statement(watch, agentId, said);
  if (begunMs !== undefined) heardOf(watch, agentId, begunMs);
  noteSaid(forks, agentId, said);
  agree(watch, agentId, { epoch: said.epoch, atMs });
}

/** A message or commit of a member opened with our keys of this epoch. */
export function spokeIn(watch: ForkWatch, agentId: AgentId, epoch: number): void {
  const { forks } = watch;
  heardOf(watch, agentId);
  if (epoch < (forks.spoke.get(agentId) ?? 0)) return;
  forks.spoke.set(agentId, epoch);
  confirm(watch, agentId, { epoch, atMs: watch.facts.nowMs });
  const said = forks.said.get(agentId);
  if (said?.epoch === epoch) judge(watch, agentId, said);
}

/** The relay says that these are connected, and that it has no confirmation of theirs. */
export function unconfirmed(
  { forks, facts: { self, nowMs } }: ForkWatch,
  agentIds: readonly AgentId[],
): void {
  for (const agentId of agentIds) if (agentId !== self) forks.present.set(agentId, nowMs);
}

function judge(watch: ForkWatch, agentId: AgentId, said: EpochWord): void {
  const { forks, states, facts: { self, nowMs } } = watch;
  const ours = states.get(said.epoch);
  if (ours === undefined) return compare(watch, agentId, said);
  if (equalBytes(ours, said.state)) agree(watch, agentId, { epoch: said.epoch, atMs: nowMs });
  else if (forks.spoke.get(agentId) === said.epoch) speaksStrangely(watch, agentId, said);
  else differs(watch, agentId, { epoch: said.epoch, signers: [self, agentId] });
}

function agree(watch: ForkWatch, agentId: AgentId, confirmed: ConfirmedEpoch): void {
  const { forks } = watch;
  forks.strange.delete(agentId);
  // The same statement again is not news.
  if (forks.confirmed.get(agentId)?.epoch !== confirmed.epoch) confirm(watch, agentId, confirmed);
}

/**
 * With what others said about an epoch that we were not in. A liar's word is compared with
 * nobody's.
 */
function compare(watch: ForkWatch, agentId: AgentId, said: EpochWord): void {
  const { epoch, liars, unknown } = watch.forks;
  // About one that we have not reached, we judge when we are there.
  if (said.epoch > epoch || liars.has(agentId)) return;
  const known = unknown.get(said.epoch) ?? [];
  const same = known.find(({ state }) => equalBytes(state, said.state));
  const before = same?.agentId === agentId ? known.slice(0, known.indexOf(same)) : known;
  const other = before.find((each) => each !== same && each.agentId !== agentId);
  if (other !== undefined) {
    differs(watch, agentId, { epoch: said.epoch, signers: [other.agentId, agentId] });
  }
  if (same === undefined && known.length < maxStates) {
    unknown.set(said.epoch, [...known, { ...said, agentId }]);
  }
  const [oldest] = unknown.keys();
  if (unknown.size > maxUnknown && oldest !== undefined) unknown.delete(oldest);
}

function confirm(
  { forks: { confirmed, forks } }: Pick<ForkWatch, "forks">,
  agentId: AgentId,
  now: ConfirmedEpoch,
): void {
  const known = confirmed.get(agentId);
  if (known !== undefined && known.epoch > now.epoch) return;
  confirmed.set(agentId, now);
  const fork = forks.get(agentId);
  // The member agrees about a later epoch: should it differ again, that is news.
  if (fork !== undefined && fork.epoch < now.epoch) forks.delete(agentId);
}

/**
 * The member is in our group now, so we are not divided from it. It may have signed the other state
 * honestly: a relay can let an agent into two groups, one after the other, that both have an epoch
 * of this number.
 */
function speaksStrangely(
  { forks, findings }: ForkWatch,
  agentId: AgentId,
  { epoch }: EpochWord,
): void {
  forks.forks.delete(agentId);
  if (forks.strange.has(agentId) || forks.liars.has(agentId)) return;
  forks.strange.add(agentId);
  const text =
    `${agentId} speaks under the keys of epoch ${epoch} and signed another state of it: the relay let it ` +
    "into another group before, or it lies";
  findings.push({ type: "report", kind: "forked", text, about: agentId });
}

/**
 * Told once for a member, until it agrees again. Of one that is known to lie, or speaks with our
 * keys, nothing follows.
 */
function differs(
  { forks, facts: { self }, findings }: ForkWatch,
  agentId: AgentId,
  fork: Fork,
): void {
  if (forks.strange.has(agentId) || fork.signers.some((signer) => forks.liars.has(signer))) return;
  if (forks.liars.has(agentId)) return;
  const known = forks.forks.has(agentId);
  if (!known && forks.forks.size >= maxForks) return;
  forks.forks.set(agentId, fork);
  if (known) return;
  const [first, second] = fork.signers;
  const who = first === self ? "This agent" : first;
  const text =
    `${who} and ${second} confirm different states of epoch ${fork.epoch}: the relay has divided the channel, one of ` +
    "them was let in with other keys, or one of them lies. Compare fingerprints with them outside of Static";
  findings.push({ type: "report", kind: "forked", text, about: agentId }, { type: "forked", fork });
}

function lied(watch: ForkWatch, agentId: AgentId, what: string): void {
  const { forks: { forks, liars, unknown, said }, states, findings } = watch;
  for (const [other, { signers }] of forks) if (signers.includes(agentId)) forks.delete(other);
  if (liars.has(agentId)) return;
  liars.add(agentId);
  const text = `${what}: it lies, or its key is used twice. An owner may remove it`;
  findings.push({ type: "report", kind: "member_lied", text, about: agentId });
  for (const [epoch, known] of unknown) {
    unknown.set(
      epoch,
      known.filter((each) => each.agentId !== agentId),
    );
  }
  // Others were compared with it, and not with each other.
  for (const [other, each] of said) if (!states.has(each.epoch)) compare(watch, other, each);
}

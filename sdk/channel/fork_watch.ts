/**
 * Whether members are in the same group as we are, by what they signed about epochs outside of an epoch's keys. Two statements
 * that differ show that the relay divided the channel, that a member was let in with other keys, or that one of the two lies:
 * both are named, and nothing else follows from it. A message that opens is a statement too, because its signature covers the
 * epoch's context: a member that signed something else beside it was in another group of that epoch before, or lies.
 */
import { type AgentId, equalBytes, generationOf } from "../../proto/mod.ts";
import type { ChannelEventBody, Fork } from "./events.ts";
import type { IssueKind } from "./issues.ts";

/** A member's signed word about an epoch. */
export interface Said {
  readonly epoch: number;
  readonly state: Uint8Array;
}

export interface Confirmed {
  readonly epoch: number;
  /** When this agent learned it, by the local clock. */
  readonly atMs: number;
}

/** The last statement of a member. */
export interface Heard {
  readonly confirmed: Confirmed | undefined;
  /** Its latest statement, whether it agrees or not. */
  readonly said: Said | undefined;
  /** When a signature of it was last verified, by the local clock. */
  readonly heardMs: number | undefined;
}

/** A member that is connected, by the relay's word, and says nothing. */
export interface Silent {
  /** Which member. */
  readonly agentId: AgentId;
  /** The epoch that it confirmed last, if this agent knows of one. */
  readonly confirmedEpoch?: number;
  /** For how long it could have confirmed a later one. */
  readonly forMs: number;
}

export interface ForkWatchParts {
  /** From before a restart. */
  readonly heard: ReadonlyMap<AgentId, Heard>;
  /** Members that were found out before a restart. */
  readonly liars: ReadonlySet<AgentId>;
  readonly agentId: AgentId;
  readonly nowMs: () => number;
  /** Our own state of an epoch, if it is known. */
  readonly stateAt: (epoch: number) => Uint8Array | undefined;
  /** The epoch in which a member joined; 0 when that was before us. */
  readonly joinedEpoch: (agentId: AgentId) => number;
  readonly report: (kind: IssueKind, text: string, about: AgentId) => void;
  readonly tell: (event: ChannelEventBody) => void;
}

/** A member that is connected and confirms nothing for so long is reported. */
const silenceMs = 10 * 60_000;
/** A connection that is back so soon was not away: else a relay could cut it again and again, and nobody would seem silent. */
const awayMs = 60_000;
/** Our epochs of which it is known when they began. */
const maxEpochs = 256;
/** How long the relay's word that a member is connected holds; an honest one says it every 5 minutes. */
const presenceMs = 15 * 60_000;
/** Forks that are kept, one for each member that differs. */
const maxForks = 64;
/** Epochs that we were not in, of which statements are kept to compare others with. */
const maxUnknown = 64;
/** Different states of one of them: two show a fork, and more are of liars. */
const maxStates = 4;

export class ForkWatch {
  readonly #parts: ForkWatchParts;
  /** The latest statement of each member. */
  readonly #said = new Map<AgentId, Said>();
  /** The last epoch of which a member's message opened. */
  readonly #spoke = new Map<AgentId, number>();
  readonly #confirmed = new Map<AgentId, Confirmed>();
  readonly #heardMs = new Map<AgentId, number>();
  /** Statements of others about epochs that we were not in: the first signer of each state. */
  readonly #unknown = new Map<number, (Said & { readonly agentId: AgentId })[]>();
  /** By the member whose statement differs. */
  readonly #forks = new Map<AgentId, Fork>();
  readonly #liars: Set<AgentId>;
  /** Members that speak with our keys and signed another state, until they sign ours. */
  readonly #strange = new Set<AgentId>();
  /** Members that the relay called connected and unconfirmed, and when. */
  readonly #present = new Map<AgentId, number>();
  #epoch = -1;
  /** When our latest epochs began, the oldest first. */
  readonly #begun = new Map<number, number>();
  /** Since when others can confirm anything to us. */
  #connectedMs = 0;
  #lostMs: number | undefined;

  constructor(parts: ForkWatchParts) {
    this.#parts = parts;
    this.#liars = new Set(parts.liars);
    for (const [agentId, { confirmed, said, heardMs }] of parts.heard) {
      if (confirmed !== undefined) this.#confirmed.set(agentId, confirmed);
      if (said !== undefined) this.#said.set(agentId, said);
      if (heardMs !== undefined) this.#heardMs.set(agentId, heardMs);
    }
  }

  /** The record to keep of each member. */
  get heard(): ReadonlyMap<AgentId, Heard> {
    const agentIds = new Set([...this.#confirmed.keys(), ...this.#said.keys(), ...this.#heardMs.keys()]);
    return new Map(Array.from(agentIds, (agentId): [AgentId, Heard] => [agentId, {
      confirmed: this.#confirmed.get(agentId),
      said: this.#said.get(agentId),
      heardMs: this.#heardMs.get(agentId),
    }]));
  }

  /** Members that are known to lie. */
  get liars(): ReadonlySet<AgentId> {
    return this.#liars;
  }

  get forks(): readonly Fork[] {
    return [...this.#forks.values()];
  }

  confirmedOf(agentId: AgentId): Confirmed | undefined {
    return this.#confirmed.get(agentId);
  }

  /** When a member was there, by a signature of it that was verified. */
  lastHeardMs(agentId: AgentId): number | undefined {
    return this.#heardMs.get(agentId);
  }

  /** A signature of a member was verified that is not older than this. */
  heardOf(agentId: AgentId, atMs: number = this.#parts.nowMs()): void {
    const knownMs = this.#heardMs.get(agentId) ?? 0;
    // A time in the future is of a clock that was wrong.
    this.#heardMs.set(agentId, knownMs > this.#parts.nowMs() ? atMs : Math.max(atMs, knownMs));
  }

  /** Members whose latest statement is about a later epoch than ours. Of a later generation we hear in another way. */
  get ahead(): AgentId[] {
    const isAhead = ({ epoch }: Said): boolean =>
      epoch > this.#epoch && generationOf(epoch) === generationOf(this.#epoch);
    return [...this.#said].flatMap(([agentId, said]) => isAhead(said) ? [agentId] : []);
  }

  /** We joined anew at this epoch, maybe in another group: what others did in the one before says nothing about this one. */
  restart(epoch: number): void {
    this.#spoke.clear();
    this.#strange.clear();
    for (const [agentId, confirmed] of this.#confirmed) if (confirmed.epoch >= epoch) this.#confirmed.delete(agentId);
  }

  /** Others can confirm only while we are connected. */
  connection(online: boolean): void {
    const nowMs = this.#parts.nowMs();
    if (!online) this.#lostMs ??= nowMs;
    else if (this.#connectedMs === 0 || nowMs - (this.#lostMs ?? nowMs) > awayMs) this.#connectedMs = nowMs;
    if (online) this.#lostMs = undefined;
  }

  /** We are in this epoch now; what those that are gone said does not matter any more. */
  moved(epoch: number, isMember: (agentId: AgentId) => boolean): void {
    this.#epoch = epoch;
    this.#begun.set(epoch, this.#parts.nowMs());
    const [oldest] = this.#begun.keys();
    if (this.#begun.size > maxEpochs && oldest !== undefined) this.#begun.delete(oldest);
    const byMember = [this.#said, this.#spoke, this.#confirmed, this.#heardMs, this.#forks, this.#liars, this.#strange];
    for (const known of byMember) {
      for (const agentId of known.keys()) if (!isMember(agentId)) known.delete(agentId);
    }
    for (const [agentId, said] of this.#said) if (said.epoch === epoch) this.#judge(agentId, said);
  }

  /** Whether this statement says nothing new: it was heard before, or its signer agrees with us about a later epoch. */
  knows(agentId: AgentId, { epoch, state }: Said): boolean {
    const said = this.#said.get(agentId);
    return (said?.epoch === epoch && equalBytes(said.state, state)) ||
      (this.#confirmed.get(agentId)?.epoch ?? -1) > epoch;
  }

  /** A statement whose signature is a member's. */
  statement(agentId: AgentId, said: Said): void {
    if (this.knows(agentId, said)) return;
    const before = this.#said.get(agentId);
    // A relay may have kept it back since then, or repeats an old one.
    const begunMs = this.#begun.get(said.epoch);
    if (begunMs !== undefined && said.epoch > (before?.epoch ?? -1)) this.heardOf(agentId, begunMs);
    if (before?.epoch === said.epoch && !equalBytes(before.state, said.state)) {
      this.#lied(agentId, `${agentId} signed two different states of epoch ${said.epoch}`);
    }
    if (before === undefined || said.epoch >= before.epoch) this.#said.set(agentId, said);
    this.#judge(agentId, said);
  }

  /** A message or commit of a member opened with our keys of this epoch. */
  spoke(agentId: AgentId, epoch: number): void {
    this.heardOf(agentId);
    if (epoch < (this.#spoke.get(agentId) ?? 0)) return;
    this.#spoke.set(agentId, epoch);
    this.#confirm(agentId, epoch);
    const said = this.#said.get(agentId);
    if (said?.epoch === epoch) this.#judge(agentId, said);
  }

  /** The relay says that these are connected, and that it has no confirmation of theirs. */
  unconfirmed(agentIds: readonly AgentId[]): void {
    const nowMs = this.#parts.nowMs();
    for (const agentId of agentIds) if (agentId !== this.#parts.agentId) this.#present.set(agentId, nowMs);
  }

  /** Members that are connected and have confirmed nothing for too long, although there was something to confirm. */
  silent(isMember: (agentId: AgentId) => boolean): Silent[] {
    const nowMs = this.#parts.nowMs();
    return [...this.#present].flatMap(([agentId, toldMs]) => {
      const confirmed = this.#confirmed.get(agentId);
      const sinceMs = Math.max(this.#behindMs(agentId), this.#connectedMs, confirmed?.atMs ?? 0);
      const forMs = nowMs - sinceMs;
      if (forMs < silenceMs || nowMs - toldMs > presenceMs || !isMember(agentId)) return [];
      return [{ agentId, ...(confirmed && { confirmedEpoch: confirmed.epoch }), forMs }];
    });
  }

  /** When the first epoch began that a member could have confirmed and has not; never, if there is none. */
  #behindMs(agentId: AgentId): number {
    const confirmed = this.#confirmed.get(agentId)?.epoch;
    const first = confirmed === undefined ? this.#parts.joinedEpoch(agentId) : confirmed + 1;
    for (const [epoch, begunMs] of this.#begun) if (epoch >= first) return begunMs;
    return Infinity;
  }

  #judge(agentId: AgentId, said: Said): void {
    const { agentId: self, stateAt } = this.#parts;
    const ours = stateAt(said.epoch);
    if (ours === undefined) return this.#compare(agentId, said);
    if (equalBytes(ours, said.state)) {
      this.#strange.delete(agentId);
      // The same statement again is not news.
      if (this.#confirmed.get(agentId)?.epoch !== said.epoch) this.#confirm(agentId, said.epoch);
    } else if (this.#spoke.get(agentId) === said.epoch) this.#speaksStrangely(agentId, said);
    else this.#fork(agentId, { epoch: said.epoch, signers: [self, agentId] });
  }

  /** With what others said about an epoch that we were not in. A liar's word is compared with nobody's. */
  #compare(agentId: AgentId, said: Said): void {
    // About one that we have not reached, we judge when we are there.
    if (said.epoch > this.#epoch || this.#liars.has(agentId)) return;
    const known = this.#unknown.get(said.epoch) ?? [];
    const same = known.find(({ state }) => equalBytes(state, said.state));
    const before = same?.agentId === agentId ? known.slice(0, known.indexOf(same)) : known;
    const other = before.find((each) => each !== same && each.agentId !== agentId);
    if (other !== undefined) this.#fork(agentId, { epoch: said.epoch, signers: [other.agentId, agentId] });
    if (same === undefined && known.length < maxStates) this.#unknown.set(said.epoch, [...known, { ...said, agentId }]);
    const [oldest] = this.#unknown.keys();
    if (this.#unknown.size > maxUnknown && oldest !== undefined) this.#unknown.delete(oldest);
  }

  #confirm(agentId: AgentId, epoch: number): void {
    const known = this.#confirmed.get(agentId);
    if (known !== undefined && known.epoch > epoch) return;
    this.#confirmed.set(agentId, { epoch, atMs: this.#parts.nowMs() });
    const fork = this.#forks.get(agentId);
    // It agrees about a later epoch: should it differ again, that is news.
    if (fork !== undefined && fork.epoch < epoch) this.#forks.delete(agentId);
  }

  /**
   * It is in our group now, so we are not divided from it. It may have signed the other state honestly: a relay can let an agent
   * into two groups, one after the other, that both have an epoch of this number.
   */
  #speaksStrangely(agentId: AgentId, { epoch }: Said): void {
    this.#forks.delete(agentId);
    if (this.#strange.has(agentId) || this.#liars.has(agentId)) return;
    this.#strange.add(agentId);
    const text =
      `${agentId} speaks under the keys of epoch ${epoch} and signed another state of it: the relay let it ` +
      "into another group before, or it lies";
    this.#parts.report("forked", text, agentId);
  }

  /** Told once for a member, until it agrees again. Of one that is known to lie, or speaks with our keys, nothing follows. */
  #fork(agentId: AgentId, fork: Fork): void {
    if (this.#strange.has(agentId) || fork.signers.some((signer) => this.#liars.has(signer))) return;
    if (this.#liars.has(agentId)) return;
    const known = this.#forks.has(agentId);
    if (!known && this.#forks.size >= maxForks) return;
    this.#forks.set(agentId, fork);
    if (known) return;
    const [first, second] = fork.signers;
    const who = first === this.#parts.agentId ? "This agent" : first;
    this.#parts.report(
      "forked",
      `${who} and ${second} confirm different states of epoch ${fork.epoch}: the relay has divided the channel, one of ` +
        "them was let in with other keys, or one of them lies. Compare fingerprints with them outside of Static",
      agentId,
    );
    this.#parts.tell({ type: "forked", ...fork });
  }

  #lied(agentId: AgentId, what: string): void {
    for (const [other, { signers }] of this.#forks) if (signers.includes(agentId)) this.#forks.delete(other);
    if (this.#liars.has(agentId)) return;
    this.#liars.add(agentId);
    this.#parts.report("member_lied", `${what}: it lies, or its key is used twice. An owner may remove it`, agentId);
    for (const [epoch, known] of this.#unknown) {
      this.#unknown.set(epoch, known.filter((each) => each.agentId !== agentId));
    }
    // Others were compared with it, and not with each other.
    for (const [other, said] of this.#said) {
      if (this.#parts.stateAt(said.epoch) === undefined) this.#compare(other, said);
    }
  }
}

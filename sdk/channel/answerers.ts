/**
 * Which member is asked to let this agent back in, and how long to wait between requests. At first anybody; after an answer that
 * was worth nothing, members are named one by one, owners first, and anybody again at the end of each round. A member whose
 * answer was refused is not named again while there are others.
 */
import type { AgentId } from "../../proto/mod.ts";
import type { Member } from "../mls/members.ts";

const firstPauseMs = 1000;
const maxPauseMs = 60_000;
/** Each refused answer cost the channel a commit, so an agent that nobody can let in asks rarely. */
const maxHopelessPauseMs = 60 * 60 * 1000;
/** Refused answers until rounds become rare. */
const manyRefusals = 8;

export class Answerers {
  readonly #refusedBy = new Set<AgentId>();
  #refusals = 0;
  /** Place in the round; 0 names nobody. */
  #place: number;
  #tries = 0;
  #inVain = false;

  /** `named`: not anybody, from the first request on. */
  constructor(named = false) {
    this.#place = named ? 1 : 0;
  }

  /** An attempt came to nothing although members answered. */
  get areInVain(): boolean {
    return this.#inVain || this.#refusals > 0;
  }

  /** So many answers were refused that a new invite is likely to be the only way. */
  get isHopeless(): boolean {
    return this.#refusals >= manyRefusals;
  }

  /** The member that shall answer; undefined for anybody. `others` are those that this agent knows. */
  next(others: readonly Member[]): AgentId | undefined {
    // A refused answer may come after its attempt was over.
    if (this.#place === 0 && this.#refusals > 0) this.#place = 1;
    const round = this.#round(others);
    return round[this.#place % round.length];
  }

  /** An answer led nowhere, and its commit is made. */
  refused(by: AgentId): void {
    this.#refusedBy.add(by);
    this.#refusals++;
  }

  /** An attempt is over. Returns how long to wait before the next; `answered` when it was not silence. */
  pass(others: readonly Member[], answered: boolean): number {
    const round = this.#round(others).length;
    const isLast = this.#place % round === 0;
    if (answered || this.#place > 0) this.#place++;
    this.#inVain ||= answered;
    const shortMs = Math.min(firstPauseMs * 2 ** this.#tries++, maxPauseMs);
    if (!isLast || !this.isHopeless) return shortMs;
    return Math.min(maxPauseMs * 2 ** (this.#refusals - manyRefusals + 1), maxHopelessPauseMs);
  }

  #round(others: readonly Member[]): (AgentId | undefined)[] {
    const trusted = others.filter(({ agentId }) => !this.#refusedBy.has(agentId));
    const named = [...trusted.filter(({ owner }) => owner), ...trusted.filter(({ owner }) => !owner)];
    return [undefined, ...named.map(({ agentId }) => agentId)];
  }
}

/**
 * The number of logins that a relay takes: as many as half a core does, so that those who are
 * connected are served while a fleet comes back. A login costs milliseconds, most of them in QUIC
 * and TLS, which have been spent already when it is counted here. So a refusal says when to come
 * again.
 *
 * 1. Logins come from a bucket: rate = half a core ÷ the time of a login. That is measured while
 *    many come, of the whole process: a relay that is busy otherwise takes fewer.
 * 2. An agent that finds the bucket empty gets the next free place in a queue of the same rate, and
 *    is told when its turn is. Nothing waits here, and nobody holds anything for it.
 * 3. One that comes before its turn keeps its place: asking often makes nobody wait longer. One
 *    that comes after it may take the last tenth of the bucket, as members of channels may.
 * 4. The queue is two minutes long. More agents are told two minutes.
 * 5. While others were refused, an account has its part of the logins of two seconds, and no more:
 *    one whose agents come again and again must not keep out everybody else.
 */
import { type AccountId, type AgentId, RecentMap } from "../../../proto/mod.ts";

export interface LoginsDeps {
  readonly elapsedMs: () => number;
  /** Processor time of this process; not given: nobody is refused. */
  readonly cpuMs?: (() => number) | undefined;
}

/** A part of a second. */
const coreMs = 500;
/** Measured with QUIC on an idle machine, and the least and most that is believed. */
const [usualMs, leastMs, mostMs] = [2.8, 1.4, 11];
/** Logins of so long may come at once. */
const burstSeconds = 2;
const reservedShare = 0.1;
const longestMs = 120_000;
const sampleMs = 1_000;
/** So many logins in a sample are worth believing it. */
const leastLogins = 20;
const newestPart = 0.2;
const maxPlaces = 100_000;

/** An agent that comes, and whose it is. */
export interface NewLogin {
  readonly agentId: AgentId;
  readonly account: AccountId;
  /** The agent is a member of a channel. */
  readonly isMember: boolean;
}

/** The logins of an account in two seconds. */
interface LoginCount {
  taken: number;
  isRefused: boolean;
}

interface LoadSample {
  readonly atMs: number;
  readonly cpuMs: number;
  logins: number;
}

export class Logins {
  readonly #deps: LoginsDeps;
  /** A login takes so long. */
  loginMs = usualMs;
  #left: number;
  #filledMs: number;
  #sample: LoadSample | undefined;
  #nextTurnMs = -Infinity;
  readonly #turns = new RecentMap<AgentId, number>();
  /**
   * Counts of accounts whose agents came in these two seconds; `#countsBefore` has those before.
   */
  #counts = new Map<AccountId, LoginCount>();
  #countsBefore: ReadonlyMap<AccountId, LoginCount> = new Map();
  #countedMs = -Infinity;

  constructor(deps: LoginsDeps) {
    this.#deps = deps;
    this.#left = this.#burst;
    this.#filledMs = deps.elapsedMs();
  }

  /** Agents whose turn has not come. */
  get waiting(): number {
    const waitMs = this.#nextTurnMs - this.#deps.elapsedMs();
    return Math.max(0, Math.round(waitMs * this.#perMs));
  }

  /** Whether it matters who comes. */
  get isScarce(): boolean {
    this.#fill();
    return this.#left < 1 + this.#reserve;
  }

  /** Takes a login; returns after how many milliseconds to come again if there is none. */
  take({ agentId, account, isMember }: NewLogin): number | undefined {
    if (this.#deps.cpuMs === undefined) return undefined;
    const nowMs = this.#fill();
    const count = this.#countOf(account, nowMs);
    const turnMs = this.#turns.get(agentId);
    const isDue = turnMs !== undefined && turnMs <= nowMs;
    const isFree = this.#left >= (isMember || isDue ? 1 : 1 + this.#reserve);
    if (isFree && !this.#hadItsPart(account, count)) {
      this.#turns.delete(agentId);
      this.#left--;
      count.taken++;
      this.#measure(nowMs);
      return undefined;
    }
    count.isRefused = true;
    if (turnMs !== undefined && !isDue) return Math.ceil(turnMs - nowMs);
    return this.#queue(agentId, nowMs);
  }

  #countOf(account: AccountId, nowMs: number): LoginCount {
    const passedMs = nowMs - this.#countedMs;
    if (passedMs >= burstSeconds * 1_000) {
      this.#countsBefore = passedMs < 2 * burstSeconds * 1_000 ? this.#counts : new Map();
      this.#counts = new Map();
      this.#countedMs = nowMs;
    }
    const count = this.#counts.get(account) ?? { taken: 0, isRefused: false };
    this.#counts.set(account, count);
    return count;
  }

  /** The part of each is the same, and only counts while somebody else did not get any. */
  #hadItsPart(account: AccountId, { taken }: LoginCount): boolean {
    const accounts = Math.max(this.#counts.size, this.#countsBefore.size);
    if (taken < this.#burst / accounts) return false;
    return [this.#counts, this.#countsBefore].some((counts) =>
      counts.entries().some(([other, { isRefused }]) => isRefused && other !== account)
    );
  }

  #queue(agentId: AgentId, nowMs: number): number {
    const turnMs = Math.max(this.#nextTurnMs, nowMs) + 1 / this.#perMs;
    if (turnMs - nowMs > longestMs) return longestMs;
    this.#nextTurnMs = turnMs;
    this.#turns.set(agentId, turnMs);
    const [oldest] = this.#turns.keys();
    if (this.#turns.size > maxPlaces && oldest !== undefined) this.#turns.delete(oldest);
    return Math.ceil(turnMs - nowMs);
  }

  get #perMs(): number {
    return coreMs / 1_000 / this.loginMs;
  }

  get #burst(): number {
    return this.#perMs * 1_000 * burstSeconds;
  }

  get #reserve(): number {
    return this.#burst * reservedShare;
  }

  #fill(): number {
    const nowMs = this.#deps.elapsedMs();
    this.#left = Math.min(this.#burst, this.#left + (nowMs - this.#filledMs) * this.#perMs);
    this.#filledMs = nowMs;
    return nowMs;
  }

  #measure(nowMs: number): void {
    const cpuMs = this.#deps.cpuMs?.() ?? 0;
    const sample = this.#sample ??= { atMs: nowMs, cpuMs, logins: 0 };
    if (nowMs - sample.atMs >= sampleMs) {
      const isRush = sample.logins >= leastLogins && nowMs - sample.atMs < 2 * sampleMs;
      const each = Math.min(mostMs, Math.max(leastMs, (cpuMs - sample.cpuMs) / sample.logins));
      if (isRush) this.loginMs += newestPart * (each - this.loginMs);
      this.#sample = { atMs: nowMs, cpuMs, logins: 0 };
    }
    if (this.#sample !== undefined) this.#sample.logins++;
  }
}

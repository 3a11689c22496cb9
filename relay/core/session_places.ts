/**
 * The places for sessions. An account, an address and a key have a share each: when that of an account or an address is
 * used up, an idle session of typed calls among its own gives way. When places run out, a newcomer takes one of the
 * account that has most: of its sessions, idle ones of typed calls go first, then those that read nothing. The last
 * places are for agents that are members of a channel: others can wait, they cannot.
 */
import type { AccountId, KeyId } from "../../proto/mod.ts";
import { isGuest } from "./authorization.ts";
import type { CoreConfig } from "./config.ts";
import { keyOf, keyShareOf } from "./key_share.ts";
import type { EndReason } from "./link.ts";
import type { Agent } from "./agent.ts";
import type { Session } from "./session.ts";

/** Of all places, those for members only. */
const reservedShare = 0.1;
/** A session of typed calls without a request for this long, and without a subscription, lies idle. */
const idleMs = 5_000;
const retryAfterMs = 5_000;

export type Admitted = { readonly refused: EndReason } | { readonly evicted: Session | undefined };

export interface Arrival {
  readonly isMember: boolean;
  /** The agent's own, until now. */
  readonly older: Session | undefined;
  readonly nowMs: number;
}

export class SessionPlaces {
  readonly #config: CoreConfig;
  readonly #sessions = new Set<Session>();
  readonly #accounts = new Map<AccountId, Set<Session>>();
  readonly #addresses = new Map<string, Set<Session>>();
  readonly #keys = new Map<KeyId, number>();

  constructor(config: CoreConfig) {
    this.#config = config;
  }

  /** Whether it matters that a newcomer is a member of a channel. */
  get isCrowded(): boolean {
    return this.#sessions.size >= this.#openPlaces;
  }

  /**
   * Counts a session that has an agent from now on, unless it is refused; the one that is evicted is for the caller to end. So
   * is the older session of the same agent, whose place it takes: it stays when the new one is refused.
   */
  admit(session: Session, agent: Agent, { isMember, older, nowMs }: Arrival): Admitted {
    if (older !== undefined) this.leave(older);
    const admitted = this.#admit(session, agent, isMember || older !== undefined, nowMs);
    if ("refused" in admitted && older?.agent !== undefined) this.#enter(older, older.agent);
    return admitted;
  }

  #admit(session: Session, agent: Agent, isMember: boolean, nowMs: number): Admitted {
    const { sessionsPerAccount, sessionsPerAddress, sessionsPerGuest, maxSessions } = this.#config;
    const { account } = agent;
    const key = keyOf(agent);
    const perKey = isGuest(agent) ? sessionsPerGuest : keyShareOf(sessionsPerAccount);
    if (key !== undefined && (this.#keys.get(key) ?? 0) >= perKey) {
      return refused(`This ${isGuest(agent) ? "guest pass" : "key"} has ${perKey} sessions; end some first`);
    }
    const ofAccount = this.#accounts.get(account) ?? new Set();
    const ofAddress = this.#addresses.get(session.link.remoteAddress) ?? new Set();
    const count = ofAccount.size;
    let evicted: Session | undefined;
    if (count >= sessionsPerAccount) {
      evicted = idleOne(ofAccount, nowMs);
      if (evicted === undefined) return refused(`This account has ${sessionsPerAccount} sessions; end some first`);
    }
    if (ofAddress.size >= sessionsPerAddress && !(evicted !== undefined && ofAddress.has(evicted))) {
      // Of its own account: another's must not be pushed out by sharing an address.
      evicted = evicted === undefined ? idleOne(ofAccount.intersection(ofAddress), nowMs) : undefined;
      if (evicted === undefined) return refused(`This address has ${sessionsPerAddress} sessions; end some first`);
    }
    const places = isMember ? maxSessions : this.#openPlaces;
    if (this.#sessions.size >= places) evicted ??= this.#victim(count, nowMs);
    if (this.#sessions.size >= places && evicted === undefined) {
      return { refused: { code: "overloaded", message: "The relay has no place for one more session", retryAfterMs } };
    }
    if (evicted !== undefined) this.leave(evicted);
    this.#enter(session, agent);
    return { evicted };
  }

  #enter(session: Session, agent: Agent): void {
    this.#sessions.add(session);
    const sessions = this.#accounts.get(agent.account) ?? new Set();
    this.#accounts.set(agent.account, sessions.add(session));
    const neighbours = this.#addresses.get(session.link.remoteAddress) ?? new Set();
    this.#addresses.set(session.link.remoteAddress, neighbours.add(session));
    const key = keyOf(agent);
    if (key !== undefined) change(this.#keys, key, 1);
  }

  /** Of a session that was not admitted nothing is known. */
  leave(session: Session): void {
    if (!this.#sessions.delete(session) || session.agent === undefined) return;
    const { account } = session.agent;
    const sessions = this.#accounts.get(account);
    sessions?.delete(session);
    if (sessions?.size === 0) this.#accounts.delete(account);
    const neighbours = this.#addresses.get(session.link.remoteAddress);
    neighbours?.delete(session);
    if (neighbours?.size === 0) this.#addresses.delete(session.link.remoteAddress);
    const key = keyOf(session.agent);
    if (key !== undefined) change(this.#keys, key, -1);
  }

  get #openPlaces(): number {
    return Math.ceil(this.#config.maxSessions * (1 - reservedShare));
  }

  /**
   * Of the account that has most, if that is more than the newcomer's, which then has one more. Among its own sessions the
   * least useful goes: if the rank came first, an account could shield a hoard by subscribing, at the expense of others.
   */
  #victim(newcomers: number, nowMs: number): Session | undefined {
    let most = newcomers + 2;
    for (const { size } of this.#accounts.values()) most = Math.max(most, size);
    let victim: { readonly session: Session; readonly rank: number } | undefined;
    for (const sessions of this.#accounts.values()) {
      if (sessions.size < most) continue;
      for (const session of sessions) {
        const rank = rankOf(session, nowMs);
        if (victim === undefined || rank > victim.rank) victim = { session, rank };
      }
    }
    return victim?.session;
  }
}

/** The one that lies idle for longest. */
function idleOne(sessions: ReadonlySet<Session>, nowMs: number): Session | undefined {
  let idle: Session | undefined;
  for (const session of sessions) {
    if (rankOf(session, nowMs) < 2) continue;
    if (idle === undefined || session.lastRequestMs < idle.lastRequestMs) idle = session;
  }
  return idle;
}

/** The higher, the sooner it goes. */
function rankOf({ link, subscriptions, lastRequestMs }: Session, nowMs: number): number {
  if (subscriptions.size > 0) return 0;
  return link.transport === "typed" && nowMs - lastRequestMs >= idleMs ? 2 : 1;
}

function refused(message: string): Admitted {
  return { refused: { code: "rate_limited", message, retryAfterMs } };
}

function change<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count <= 0) counts.delete(key);
  else counts.set(key, count);
}

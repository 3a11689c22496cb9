/**
 * The places for sessions. They change hands by the rule of `server/limits/`: a party is an
 * account, which weighs more with a larger plan, and only its only session is safe for a while. So
 * an account that hoards gives way at once, and nobody pushes out somebody that has less. An
 * account and a key have a ceiling each. The last places are for agents that are members of a
 * channel: others can wait, they cannot.
 *
 * The visitors of an account are a party beside it, of half its weight and with half its ceiling,
 * which takes no place of the account's own agents. Among them the same rule decides once more
 * (`visitor_places.ts`).
 */
import { type KeyId, RecentMap } from "../../../proto/mod.ts";
import { type Newcomer, type Place, Places, type PlaceUse } from "../../../server/limits/mod.ts";
import { type ConnectedAgent, isGuest } from "./agent.ts";
import type { CoreConfig } from "../config.ts";
import type { EndReason } from "../client_link.ts";
import type { PlaceDeps } from "../limits/place_deps.ts";
import { rankOf } from "../limits/plans.ts";
import type { Session } from "./session.ts";
import { keyOf, keyPart, partOf, partyOf, visitorsPart } from "../limits/shares.ts";
import { VisitorPlaces } from "./visitor_places.ts";

export const minimumMs = 60_000;
/** The part of all places that is for members only. */
export const reservedShare = 0.1;
/**
 * A session of typed calls without a request for this long, and without a subscription, lies idle.
 */
export const idleMs = 5_000;
const ceilingRetryMs = 5_000;

export type SessionAdmission = { readonly refused: EndReason } | {
  readonly evicted: Session | undefined;
};

export interface ArrivingSession {
  readonly isMember: boolean;
  /** The agent's own, until now. */
  readonly older: Session | undefined;
}

export class SessionPlaces {
  readonly #config: CoreConfig;
  readonly #deps: PlaceDeps;
  readonly #places: Places<Session>;
  readonly #visitors: VisitorPlaces;
  readonly #held = new Map<Session, Place<Session>>();
  readonly #keys = new Map<KeyId, number>();
  /**
   * Sessions of typed calls that read nothing and do not lie idle yet, with the time of their last
   * request.
   */
  readonly #awake = new RecentMap<Session, number>();

  constructor(config: CoreConfig, deps: PlaceDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#places = new Places({
      total: config.maxSessions,
      minimumMs,
      safe: "only",
      random: deps.random,
    });
    this.#visitors = new VisitorPlaces(config, deps, minimumMs);
  }

  /** Whether it matters that a newcomer is a member of a channel. */
  get isCrowded(): boolean {
    return this.#places.size >= this.#config.maxSessions - this.#reserved;
  }

  /**
   * Counts a session that has an agent from now on, unless it is refused; the one that is evicted
   * is for the caller to end. So is the older session of the same agent, whose place it takes: it
   * stays when the new one is refused.
   */
  admit(
    session: Session,
    agent: ConnectedAgent,
    { isMember, older }: ArrivingSession,
  ): SessionAdmission {
    const nowMs = this.#deps.nowMs();
    this.#putToRest(nowMs);
    const ceiling = agent.visitor === undefined
      ? this.#ceilingOf(agent, older?.agent)
      : this.#ceilingOfVisitors(session, agent, older?.agent);
    if (ceiling !== undefined && "refused" in ceiling) return ceiling;
    const newcomer = { ...newcomerOf(session, agent), leaves: isMember ? 0 : this.#reserved };
    const evicted = ceiling?.evicted ??
      (older === undefined ? this.#displacedBy(newcomer, nowMs) : undefined);
    const left = [older, evicted].filter((gone) => gone !== undefined);
    for (const gone of left) this.leave(gone);
    const entered = this.#places.enter(
      left.length > 0 ? { ...newcomer, leaves: 0 } : newcomer,
      nowMs,
    );
    if (entered.kind === "refused") {
      const { retryAfterMs } = entered;
      return {
        refused: {
          code: "overloaded",
          message: "The relay has no place for one more session",
          retryAfterMs,
        },
      };
    }
    this.#held.set(session, entered.place);
    this.#visitors.enter(session, agent);
    change(this.#keys, keyOf(agent), 1);
    this.used(session);
    return { evicted };
  }

  /**
   * The session has asked for something, or does not read what it read. Nothing is known of a
   * session that was not admitted.
   */
  used(session: Session): void {
    const standing = session.subscriptions.size > 0 ? "kept" : "plain";
    if (!this.#stand(session, standing)) return;
    if (standing === "plain" && session.link.transport === "typed") {
      this.#awake.set(session, this.#deps.nowMs());
    } else this.#awake.delete(session);
  }

  leave(session: Session): void {
    const place = this.#held.get(session);
    if (place === undefined) return;
    this.#held.delete(session);
    this.#awake.delete(session);
    this.#places.leave(place, "finished", this.#deps.nowMs());
    this.#visitors.leave(session);
    if (session.agent !== undefined) change(this.#keys, keyOf(session.agent), -1);
  }

  get #reserved(): number {
    return Math.floor(this.#config.maxSessions * reservedShare);
  }

  /**
   * Undefined while there is room below the ceilings; at that of an account the longest of its idle
   * sessions gives way.
   */
  #ceilingOf(
    agent: ConnectedAgent,
    older: ConnectedAgent | undefined,
  ): SessionAdmission | undefined {
    const { sessionsPerAccount, sessionsPerGuest } = this.#config;
    const { account } = agent;
    const key = keyOf(agent);
    const perKey = isGuest(agent) ? sessionsPerGuest : partOf(sessionsPerAccount, keyPart);
    const isSameKey = older !== undefined && keyOf(older) === key;
    if (key !== undefined && (this.#keys.get(key) ?? 0) - Number(isSameKey) >= perKey) {
      return refused(
        `This ${isGuest(agent) ? "guest pass" : "key"} has ${perKey} sessions; end some first`,
      );
    }
    const isSameParty = older !== undefined && partyOf(older) === account;
    if (this.#places.heldBy(account) - Number(isSameParty) < sessionsPerAccount) return undefined;
    const evicted = this.#places.firstOf(account, "idle")?.holder;
    return evicted === undefined
      ? refused(`This account has ${sessionsPerAccount} sessions; end some first`)
      : { evicted };
  }

  /** One that takes the place of an older one of the same account's needs no other. */
  #ceilingOfVisitors(
    session: Session,
    agent: ConnectedAgent,
    older: ConnectedAgent | undefined,
  ): SessionAdmission | undefined {
    if (older !== undefined && partyOf(older) === partyOf(agent)) return undefined;
    const verdict = this.#visitors.judge(session, agent);
    if (verdict.kind === "in") return verdict.displaced && { evicted: verdict.displaced.holder };
    const message = `The visitors of this account have ${this.#visitors.total} sessions; try later`;
    return refused(message, verdict.retryAfterMs);
  }

  /** Undefined as well when it is refused. */
  #displacedBy(newcomer: Newcomer<Session>, nowMs: number): Session | undefined {
    const verdict = this.#places.judge(newcomer, nowMs);
    return verdict.kind === "in" && verdict.displaced
      ? this.#visitors.costliest(verdict.displaced.holder)
      : undefined;
  }

  #putToRest(nowMs: number): void {
    for (const session of this.#awake.keys()) {
      if (nowMs - (this.#awake.get(session) ?? nowMs) < idleMs) return;
      this.#awake.delete(session);
      this.#stand(session, "idle");
    }
  }

  /** Returns whether it has a place. */
  #stand(session: Session, standing: PlaceUse): boolean {
    const place = this.#held.get(session);
    if (place === undefined) return false;
    this.#places.stand(place, standing, this.#deps.nowMs());
    this.#visitors.stand(session, standing);
    return true;
  }
}

function newcomerOf(session: Session, agent: ConnectedAgent): Newcomer<Session> {
  const { weight, isPaying } = rankOf(agent.plan);
  const newcomer = { party: partyOf(agent), holder: session, standing: "plain", isPaying } as const;
  if (agent.visitor === undefined) return { ...newcomer, weight };
  return { ...newcomer, weight: visitorsPart * weight, spares: agent.account };
}

function refused(message: string, retryAfterMs = ceilingRetryMs): SessionAdmission {
  return { refused: { code: "rate_limited", message, retryAfterMs } };
}

function change(counts: Map<KeyId, number>, key: KeyId | undefined, by: number): void {
  if (key === undefined) return;
  const count = (counts.get(key) ?? 0) + by;
  if (count <= 0) counts.delete(key);
  else counts.set(key, count);
}

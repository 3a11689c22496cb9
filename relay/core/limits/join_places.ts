/**
 * The places for requests that wait for an answer: so many of all, of a channel, and for an inviter
 * over all channels, because an agent that connects is sent all of them. They change hands by the
 * rule of `server/limits/`; a party is the asker's account, whatever its plan, or one visitor of
 * it. A request that is in one of these circles is in all of its own.
 */
import type { AccountId, AgentId, ChannelId, JoinRequestId } from "../../../proto/mod.ts";
import { type Place, Places } from "../../../server/limits/mod.ts";
import type { CoreConfig } from "../config.ts";
import type { PlaceDeps } from "./place_deps.ts";
import { askerOf } from "./shares.ts";

/** A request, as far as it matters for its places. */
export interface JoinPlaceRequest {
  readonly kind: "join" | "rejoin";
  readonly requestId: JoinRequestId;
  /** The asker's. */
  readonly account: AccountId;
  readonly visitor?: string | undefined;
  readonly channelId: ChannelId;
  readonly inviter?: AgentId;
}

/** An inviter that runs answers within seconds. */
export const joinMinimumMs = 10_000;

export type JoinPlaceVerdict =
  | { readonly kind: "in"; readonly displaced: readonly JoinRequestId[] }
  | { readonly kind: "refused"; readonly retryAfterMs: number };

/** `unfinished`: nobody has answered. */
export type JoinOutcome = "finished" | "unfinished";

type JoinCircle = Places<JoinRequestId>;

interface JoinCirclePlace {
  readonly name: string;
  readonly circle: JoinCircle;
  readonly place: Place<JoinRequestId>;
}

const all = "all";

export class JoinPlaces {
  readonly #config: CoreConfig;
  readonly #deps: PlaceDeps;
  readonly #all: JoinCircle;
  readonly #circles = new Map<string, JoinCircle>();
  readonly #held = new Map<JoinRequestId, readonly JoinCirclePlace[]>();

  constructor(config: CoreConfig, deps: PlaceDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#all = this.#create(config.joinRequestsInAll);
    this.#circles.set(all, this.#all);
  }

  get size(): number {
    return this.#all.size;
  }

  countOf(asker: Pick<JoinPlaceRequest, "account" | "visitor">): number {
    return this.#all.heldBy(askerOf(asker));
  }

  /**
   * Gives the request a place. Requests that it displaces hold nothing any more. It takes over the
   * places of `instead`, unless it is refused.
   */
  enter(request: JoinPlaceRequest, instead?: JoinRequestId): JoinPlaceVerdict {
    const nowMs = this.#deps.nowMs();
    const { requestId: holder } = request;
    const newcomer = { party: askerOf(request), holder, standing: "unfinished" } as const;
    const before = instead === undefined ? [] : this.#held.get(instead) ?? [];
    const circles = this.#circlesOf(request);
    const others = circles.filter(({ name }) => before.every((held) => held.name !== name));
    const verdicts = others.map(({ circle }) => circle.judge(newcomer, nowMs));
    const waits = verdicts.flatMap((verdict) =>
      verdict.kind === "refused" ? [verdict.retryAfterMs] : []
    );
    if (waits.length > 0) return { kind: "refused", retryAfterMs: Math.max(...waits) };
    if (instead !== undefined) this.leave(instead, "finished");
    const displaced: JoinRequestId[] = [];
    const held: JoinCirclePlace[] = [];
    for (const { name, circle } of circles) {
      const entered = circle.enter(newcomer, nowMs);
      if (entered.kind === "refused") {
        throw new Error(`A request that was promised a place in ${name} has none`);
      }
      held.push({ name, circle, place: entered.place });
      this.#circles.set(name, circle);
      if (entered.displaced === undefined) continue;
      displaced.push(entered.displaced.holder);
      this.leave(entered.displaced.holder, "unfinished");
    }
    this.#held.set(holder, held);
    return { kind: "in", displaced };
  }

  leave(requestId: JoinRequestId, outcome: JoinOutcome): void {
    for (const { name, circle, place } of this.#held.get(requestId) ?? []) {
      circle.leave(place, outcome, this.#deps.nowMs());
      if (circle.size === 0 && circle !== this.#all) this.#circles.delete(name);
    }
    this.#held.delete(requestId);
  }

  #circlesOf(
    { kind, channelId, inviter }: JoinPlaceRequest,
  ): readonly Pick<JoinCirclePlace, "name" | "circle">[] {
    const { joinRequestsPerChannel, joinRequestsPerInviter } = this.#config;
    // Agents that want to come back do not wait with strangers.
    const ofChannel = this.#circle(`${kind} ${channelId}`, joinRequestsPerChannel);
    const ofAll = { name: all, circle: this.#all };
    if (inviter === undefined) return [ofAll, ofChannel];
    return [ofAll, ofChannel, this.#circle(`inviter ${inviter}`, joinRequestsPerInviter)];
  }

  #circle(name: string, total: number): Pick<JoinCirclePlace, "name" | "circle"> {
    return { name, circle: this.#circles.get(name) ?? this.#create(total) };
  }

  #create(total: number): JoinCircle {
    return new Places({ total, minimumMs: joinMinimumMs, random: this.#deps.random });
  }
}

/**
 * The places of visitors among each other: those of one account have half of the sessions that it
 * has itself. They change hands by the rule of `server/limits/`; a party is one visitor.
 */
import type { AccountId } from "../../../proto/mod.ts";
import {
  type Place,
  Places,
  type PlaceUse,
  type PlaceVerdict,
} from "../../../server/limits/mod.ts";
import type { ConnectedAgent } from "./agent.ts";
import type { CoreConfig } from "../config.ts";
import type { PlaceDeps } from "../limits/place_deps.ts";
import type { Session } from "./session.ts";
import { partOf, visitorsPart } from "../limits/shares.ts";

type VisitorCircle = Places<Session>;

interface VisitorCirclePlace {
  readonly account: AccountId;
  readonly circle: VisitorCircle;
  readonly place: Place<Session>;
}

export class VisitorPlaces {
  readonly total: number;
  readonly #deps: PlaceDeps;
  readonly #minimumMs: number;
  /** The circles of accounts that have visitors now. */
  readonly #circles = new Map<AccountId, VisitorCircle>();
  readonly #held = new Map<Session, VisitorCirclePlace>();

  constructor({ sessionsPerAccount }: CoreConfig, deps: PlaceDeps, minimumMs: number) {
    this.total = partOf(sessionsPerAccount, visitorsPart);
    this.#deps = deps;
    this.#minimumMs = minimumMs;
  }

  /** Returns what would become of it. Nothing changes. */
  judge(session: Session, { account, visitor: party = "" }: ConnectedAgent): PlaceVerdict<Session> {
    return this.#circle(account).judge(
      { party, holder: session, standing: "plain" },
      this.#deps.nowMs(),
    );
  }

  /**
   * Returns the visitor that makes room where this one would have to: of those that hold most of
   * its account's.
   */
  costliest(session: Session): Session {
    const circled = this.#held.get(session);
    const anybody = { party: "", holder: session, standing: "plain", leaves: this.total } as const;
    const verdict = circled?.circle.judge(anybody, this.#deps.nowMs());
    return verdict?.kind === "in" && verdict.displaced !== undefined
      ? verdict.displaced.holder
      : session;
  }

  /** Does nothing for an agent that is no visitor. Call it when there is a place. */
  enter(session: Session, { account, visitor: party }: ConnectedAgent): void {
    if (party === undefined) return;
    const circle = this.#circle(account);
    const entered = circle.enter({ party, holder: session, standing: "plain" }, this.#deps.nowMs());
    if (entered.kind === "refused") throw new Error("A visitor that was promised a place has none");
    this.#circles.set(account, circle);
    this.#held.set(session, { account, circle, place: entered.place });
  }

  stand(session: Session, standing: PlaceUse): void {
    const circled = this.#held.get(session);
    circled?.circle.stand(circled.place, standing, this.#deps.nowMs());
  }

  leave(session: Session): void {
    const circled = this.#held.get(session);
    if (circled === undefined) return;
    const { account, circle, place } = circled;
    this.#held.delete(session);
    circle.leave(place, "finished", this.#deps.nowMs());
    if (circle.size === 0) this.#circles.delete(account);
  }

  #circle(account: AccountId): VisitorCircle {
    const [total, minimumMs, { random }] = [this.total, this.#minimumMs, this.#deps];
    return this.#circles.get(account) ?? new Places({ total, minimumMs, safe: "only", random });
  }
}

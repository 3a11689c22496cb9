/** All that one party holds: an address, a network or an account. */

/**
 * Use of a place at the moment. `unfinished`: it waits for the client, which has begun something. `idle`: it waits for the
 * client, which has finished everything. `busy`: it waits for us, and is nobody's victim. `plain` and `kept` are sessions: one without
 * and one with a subscription.
 */
export type Standing = "unfinished" | "idle" | "busy" | "plain" | "kept";

export interface Place<Holder> {
  readonly party: string;
  readonly holder: Holder;
  readonly enteredAtMs: number;
  readonly standing: Standing;
  /** Since when it stands like this; a session always since it came. */
  readonly sinceMs: number;
}

const sessions: ReadonlySet<Standing> = new Set(["plain", "kept"]);

export function isSession(standing: Standing): boolean {
  return sessions.has(standing);
}

/** The first one goes first. */
const displaceable = ["unfinished", "idle", "plain", "kept"] as const;

export interface Rank {
  readonly weight: number;
  readonly isPaying: boolean;
}

export class Party<Holder> {
  readonly key: string;
  rank: Rank;
  /** Changes with everything that it holds. */
  version = 0;
  held = 0;
  /** By time, the longest first. */
  readonly #places: Record<(typeof displaceable)[number], Place<Holder>[]> = {
    unfinished: [],
    idle: [],
    plain: [],
    kept: [],
  };

  constructor(key: string, rank: Rank) {
    this.key = key;
    this.rank = rank;
  }

  add(place: Place<Holder>): void {
    this.version++;
    this.held++;
    if (place.standing === "busy") return;
    const places = this.#places[place.standing];
    let index = places.length;
    while (index > 0 && (places[index - 1]?.sinceMs ?? 0) > place.sinceMs) index--;
    places.splice(index, 0, place);
  }

  remove(place: Place<Holder>): void {
    this.version++;
    this.held--;
    if (place.standing === "busy") return;
    const places = this.#places[place.standing];
    places.splice(places.indexOf(place), 1);
  }

  /** The costliest for the least, of those that stand like this for long enough. */
  victim(untilMs: number): Place<Holder> | undefined {
    for (const standing of displaceable) {
      const places = this.#places[standing];
      const victim = isSession(standing) ? places.findLast(({ sinceMs }) => sinceMs <= untilMs) : places[0];
      if (victim !== undefined && victim.sinceMs <= untilMs) return victim;
    }
    return undefined;
  }

  /** Of what waits for its turn. */
  get longestUnfinished(): Place<Holder> | undefined {
    return this.#places.unfinished[0];
  }

  /** The time of the longest that could go, or Infinity. */
  get earliestMs(): number {
    return Math.min(...displaceable.map((standing) => this.#places[standing][0]?.sinceMs ?? Infinity));
  }
}

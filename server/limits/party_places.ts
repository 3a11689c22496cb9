/** All that one party holds: an address, a network or an account. */

/**
 * Use of a place at the moment. `unfinished`: it waits for the client, which has begun something;
 * one that does not read its answer is like that too. `idle`: it waits for the client, which has
 * finished everything. `busy`: it waits for us, and is nobody's victim. `plain` and `kept` are
 * sessions: one without and one with a subscription.
 */
export type PlaceUse = "unfinished" | "idle" | "busy" | "plain" | "kept";

/** Changes with its use. */
export interface Place<Holder> {
  readonly party: string;
  readonly holder: Holder;
  readonly enteredAtMs: number;
  readonly standing: PlaceUse;
  /** Since when it stands like this; a session, also an idle one, always since it came. */
  readonly sinceMs: number;
  /** In which it has its turn, if it waits for one. */
  readonly round: number;
}

export type Seat<Holder> = { -readonly [Key in keyof Place<Holder>]: Place<Holder>[Key] };

export function isSession(standing: PlaceUse): boolean {
  return standing === "plain" || standing === "kept";
}

export type DisplaceableUse = Exclude<PlaceUse, "busy">;

export interface Rank {
  readonly weight: number;
  readonly isPaying: boolean;
}

export class Party<Holder> {
  readonly key: string;
  rank: Rank;
  /** Changes with everything that it holds. */
  version = 0;
  /** All of them, in the order in which they came. */
  readonly #held = new Set<Place<Holder>>();
  /** Places by time, the longest first. */
  readonly #places: Record<DisplaceableUse, Place<Holder>[]> = {
    unfinished: [],
    idle: [],
    plain: [],
    kept: [],
  };

  constructor(key: string, rank: Rank) {
    this.key = key;
    this.rank = rank;
  }

  get held(): number {
    return this.#held.size;
  }

  add(place: Place<Holder>): void {
    this.#held.add(place);
    this.#line(place);
  }

  /** `change` is how it stands now. */
  stand(place: Seat<Holder>, change: Pick<Place<Holder>, "standing" | "sinceMs">): void {
    this.#unline(place);
    Object.assign(place, change);
    this.#line(place);
  }

  remove(place: Place<Holder>): void {
    this.#held.delete(place);
    this.#unline(place);
  }

  #line(place: Place<Holder>): void {
    this.version++;
    if (place.standing === "busy") return;
    const places = this.#places[place.standing];
    let index = places.length;
    while (index > 0 && (places[index - 1]?.sinceMs ?? 0) > place.sinceMs) index--;
    places.splice(index, 0, place);
  }

  #unline(place: Place<Holder>): void {
    this.version++;
    if (place.standing === "busy") return;
    const places = this.#places[place.standing];
    places.splice(places.indexOf(place), 1);
  }

  /**
   * The costliest for the least, of those that came so long ago: all that they have done since then
   * keeps none of them. Something that was begun after that may be about to end, and goes after the
   * idle ones.
   */
  victim(nowMs: number, minimumMs: number): Place<Holder> | undefined {
    const { unfinished, idle, plain, kept } = this.#places;
    const isRipe = ({ enteredAtMs }: Place<Holder>): boolean => enteredAtMs + minimumMs <= nowMs;
    const [slowest] = unfinished;
    if (slowest !== undefined && slowest.sinceMs + minimumMs <= nowMs) return slowest;
    const [first] = this.#held;
    if (first === undefined || !isRipe(first)) return undefined;
    return idle.find(isRipe) ?? unfinished.find(isRipe) ?? plain.findLast(isRipe) ??
      kept.findLast(isRipe);
  }

  /** Returns the place that was held the longest, of those that stand like this. */
  first(standing: DisplaceableUse): Place<Holder> | undefined {
    return this.#places[standing][0];
  }

  /** When the first came of those that could go; Infinity when there is none. */
  get earliestMs(): number {
    for (const { standing, enteredAtMs } of this.#held) if (standing !== "busy") return enteredAtMs;
    return Infinity;
  }
}

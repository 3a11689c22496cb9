/**
 * A bounded number of places, and one rule of fairness for when they are full: somebody new displaces the holder that costs most for
 * least.
 *
 * Each place belongs to a party: an address, an IPv6 network, or an account. A party's score is what it holds and what it has left
 * unfinished lately, divided by its weight. As long as there are places, everybody enters. When there are none, the party with the
 * highest score gives one up, unless the newcomer's own score, this place included, were higher still: then only one of its own may go.
 * Free accounts make room for paying ones until they hold a quarter, and never the other way round.
 *
 * A place is safe for a minimum of time when it is its party's only one, or when its party has left nothing unfinished. So somebody that
 * means it gets in and has the time to show it, and a crowd that only comes and goes loses its places to others.
 *
 * There are no clocks, timers or sockets in here. The time that is given must never go back.
 */
import { Failures } from "./failures.ts";
import { Heap } from "./heap.ts";
import { isSession, Party, type Place, type Rank, type Standing } from "./party_places.ts";

export interface PlacesOptions {
  readonly total: number;
  /** How long a place is safe. */
  readonly minimumMs: number;
  /** In [0, 1): spreads those that come again. */
  readonly random: () => number;
}

export interface Newcomer<Holder> extends Partial<Rank> {
  readonly party: string;
  readonly holder: Holder;
  readonly standing: Standing;
}

export type Entered<Holder> =
  | { readonly kind: "in"; readonly place: Place<Holder>; readonly displaced?: Place<Holder> }
  | { readonly kind: "refused"; readonly retryAfterMs: number };

/** Of all places: what free accounts keep beside paying ones. */
const freeShare = 0.25;

/** A party with a place that may go. Its score may have become less since. */
interface Ready<Holder> {
  readonly party: Party<Holder>;
  readonly version: number;
  readonly score: number;
  /** Of equal scores the least goes first. */
  readonly tie: number;
}

/** A party whose first place may go at this time. */
interface Safe<Holder> {
  readonly party: Party<Holder>;
  readonly version: number;
  readonly untilMs: number;
}

export class Places<Holder> {
  readonly #options: PlacesOptions;
  readonly #parties = new Map<string, Party<Holder>>();
  readonly #failures = new Failures();
  readonly #held = new Set<Place<Holder>>();
  #freeHeld = 0;
  /** Parties that are in no heap as they are now. Nothing is sorted while there are places. */
  readonly #changed = new Set<Party<Holder>>();
  readonly #ready = { free: new Heap<Ready<Holder>>(goesBefore), paying: new Heap<Ready<Holder>>(goesBefore) };
  readonly #safe = new Heap<Safe<Holder>>((a, b) => a.untilMs < b.untilMs);

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  heldBy(party: string): number {
    return this.#parties.get(party)?.held ?? 0;
  }

  /** The one that is displaced holds nothing any more: it is for the caller to end it. */
  enter(newcomer: Newcomer<Holder>, nowMs: number): Entered<Holder> {
    if (this.#held.size < this.#options.total) return { kind: "in", place: this.#add(newcomer, nowMs) };
    this.#sort(nowMs);
    const displaced = this.#victimOf(newcomer, nowMs);
    if (displaced === undefined) return { kind: "refused", retryAfterMs: this.#retryAfterMs(nowMs) };
    this.leave(displaced, displaced.standing === "unfinished" ? "unfinished" : "finished", nowMs);
    return { kind: "in", place: this.#add(newcomer, nowMs), displaced };
  }

  /** Returns the place as it stands now; one that is held no more stays as it is. */
  stand(place: Place<Holder>, standing: Standing, nowMs: number): Place<Holder> {
    const party = this.#parties.get(place.party);
    if (party === undefined || place.standing === standing || !this.#held.delete(place)) return place;
    const changed = { ...place, standing, sinceMs: isSession(standing) ? place.enteredAtMs : nowMs };
    party.remove(place);
    party.add(changed);
    this.#held.add(changed);
    this.#changed.add(party);
    return changed;
  }

  /** Does nothing for one that is held no more. */
  leave(place: Place<Holder>, outcome: "finished" | "unfinished", nowMs: number): void {
    const party = this.#parties.get(place.party);
    if (party === undefined || !this.#held.delete(place)) return;
    if (outcome === "unfinished") this.#failures.add(place.party, nowMs);
    party.remove(place);
    if (!party.rank.isPaying) this.#freeHeld--;
    this.#changed.add(party);
    if (party.held > 0) return;
    this.#parties.delete(party.key);
    this.#changed.delete(party);
  }

  /** Takes out the one whose turn it is: of the lowest score, and of those the longest. Meant for some hundred at most. */
  next(nowMs: number): Place<Holder> | undefined {
    let best: { readonly place: Place<Holder>; readonly score: number } | undefined;
    for (const party of this.#parties.values()) {
      const place = party.longestUnfinished;
      if (place === undefined) continue;
      const score = this.#scoreOf(party, nowMs);
      const isEarlier = best === undefined || score < best.score ||
        (score === best.score && place.sinceMs < best.place.sinceMs);
      if (isEarlier) best = { place, score };
    }
    if (best !== undefined) this.leave(best.place, "finished", nowMs);
    return best?.place;
  }

  #add({ party: key, holder, standing, weight = 1, isPaying = false }: Newcomer<Holder>, nowMs: number): Place<Holder> {
    const party = this.#parties.get(key) ?? new Party<Holder>(key, { weight, isPaying });
    const place = { party: key, holder, enteredAtMs: nowMs, standing, sinceMs: nowMs };
    this.#parties.set(key, party);
    this.#rank(party, { weight, isPaying });
    party.add(place);
    this.#held.add(place);
    this.#changed.add(party);
    if (!isPaying) this.#freeHeld++;
    return place;
  }

  /** An account may have another plan than when it came. */
  #rank(party: Party<Holder>, rank: Rank): void {
    if (party.rank.isPaying !== rank.isPaying) this.#freeHeld += rank.isPaying ? -party.held : party.held;
    party.rank = rank;
  }

  #victimOf({ party: key, weight = 1, isPaying = false }: Newcomer<Holder>, nowMs: number): Place<Holder> | undefined {
    if (isPaying && this.#freeHeld > freeShare * this.#options.total) {
      const free = this.#highest(this.#ready.free, nowMs);
      if (free !== undefined) return free.victim;
    }
    const highest = this.#highest(isPaying ? this.#ready.paying : this.#ready.free, nowMs);
    const own = this.#parties.get(key);
    const failures = this.#failures.of(key, nowMs);
    // One that leaves things unfinished must be below by a place more: attackers would keep all places young, and so safe, by taking
    // them in turn.
    const score = (this.heldBy(key) + (failures < 1 ? 1 : 2) + failures) / weight;
    if (highest !== undefined && (highest.party === own || score <= highest.score)) return highest.victim;
    return own === undefined ? undefined : this.#victimIn(own, nowMs);
  }

  /** Of the parties that have something to give up. */
  #highest(
    ready: Heap<Ready<Holder>>,
    nowMs: number,
  ): { readonly party: Party<Holder>; readonly score: number; readonly victim: Place<Holder> } | undefined {
    for (let first = ready.first; first !== undefined; first = ready.first) {
      const { party } = first;
      const victim = isCurrent(first) ? this.#victimIn(party, nowMs) : undefined;
      const score = this.#scoreOf(party, nowMs);
      if (victim !== undefined && score === first.score) return { party, score, victim };
      ready.pop();
      // Its failures are partly forgotten, or a place of it is safe because of that.
      if (victim !== undefined) ready.push({ ...first, score });
      else if (isCurrent(first)) this.#file(party, nowMs);
    }
    return undefined;
  }

  #victimIn(party: Party<Holder>, nowMs: number): Place<Holder> | undefined {
    const isSafe = party.held === 1 || this.#failures.of(party.key, nowMs) < 1;
    return party.victim(isSafe ? nowMs - this.#options.minimumMs : nowMs);
  }

  #scoreOf({ key, held, rank }: Party<Holder>, nowMs: number): number {
    return (held + this.#failures.of(key, nowMs)) / rank.weight;
  }

  #retryAfterMs(nowMs: number): number {
    const { minimumMs, random } = this.#options;
    const waitMs = this.#safe.first === undefined ? minimumMs : Math.max(1, this.#safe.first.untilMs - nowMs);
    return Math.ceil(waitMs * (1 + random()));
  }

  /** Puts everybody where it belongs now. */
  #sort(nowMs: number): void {
    for (const party of this.#changed) this.#file(party, nowMs);
    this.#changed.clear();
    for (let first = this.#safe.first; first !== undefined; first = this.#safe.first) {
      if (isCurrent(first) && first.untilMs > nowMs) break;
      this.#safe.pop();
      if (isCurrent(first)) this.#file(first.party, nowMs);
    }
    this.#tidy(this.#ready.free);
    this.#tidy(this.#ready.paying);
    this.#tidy(this.#safe);
  }

  #file(party: Party<Holder>, nowMs: number): void {
    const { version, rank } = party;
    const victim = this.#victimIn(party, nowMs);
    if (victim === undefined) {
      const untilMs = party.earliestMs + this.#options.minimumMs;
      if (untilMs < Infinity) this.#safe.push({ party, version, untilMs });
      return;
    }
    const score = this.#scoreOf(party, nowMs);
    const tie = isSession(victim.standing) ? -victim.sinceMs : victim.sinceMs;
    this.#ready[rank.isPaying ? "paying" : "free"].push({ party, version, score, tie });
  }

  /** Entries of parties that have changed are left behind in heaps until they come up, or are too many. */
  #tidy<Entry extends Ready<Holder> | Safe<Holder>>(heap: Heap<Entry>): void {
    const unsortedAtMost = 64;
    if (heap.size > 2 * this.#parties.size + unsortedAtMost) heap.keep(isCurrent);
  }
}

function isCurrent<Holder>({ party, version }: Ready<Holder> | Safe<Holder>): boolean {
  return party.version === version;
}

function goesBefore<Holder>(a: Ready<Holder>, b: Ready<Holder>): boolean {
  return a.score > b.score || (a.score === b.score && a.tie < b.tie);
}

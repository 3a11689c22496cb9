/**
 * A bounded number of places, and one rule of fairness for when they are full: somebody new
 * displaces the holder that costs most for least.
 *
 * Each place belongs to a party: an address, an IPv6 network, or an account. A party's score is
 * what it holds and what it has left unfinished lately, divided by its weight. As long as there are
 * places, everybody enters. When there are none:
 *
 * - The party with the highest score gives one up, unless the newcomer's own score, this place
 *   included, were higher still. Then only one of its own may go. A party that holds nothing gets
 *   its first place from one like it, free or paying, in any case: many with large weights and few
 *   places each could keep it out. A newcomer that often leaves things unfinished must be lower by
 *   one place more.
 * - A place is safe for a minimum of time from when it was taken, if it is its party's only one or
 *   its party finishes what it begins. So somebody that means it has the time to show it. It is not
 *   safe from a newcomer like that if its party's score is more than four times the newcomer's and
 *   that of all others whose places may go: such a crowd could stay young for ever.
 * - Free accounts make room for paying ones, safe or not, as long as they hold more than a quarter;
 *   as long as they hold less, paying accounts with a higher score make room for them.
 * - Inside a party, things that have been unfinished for longer than the minimum go first, the
 *   slowest before others; then idle places, then things begun since, then sessions without a
 *   subscription, then those with one, the youngest first.
 *
 * A place that is displaced while it is unfinished counts as left unfinished. There are no clocks,
 * timers or sockets in here.
 */
import { Failures } from "./failures.ts";
import { Heap } from "./heap.ts";
import {
  type DisplaceableUse,
  isSession,
  Party,
  type Place,
  type PlaceUse,
  type Rank,
  type Seat,
} from "./party_places.ts";

export interface PlacesOptions {
  readonly total: number;
  /** How long a place is safe. */
  readonly minimumMs: number;
  /**
   * Which places are: a party's only one, or, unless this says so, also each of a party that
   * finishes what it begins.
   */
  readonly safe?: "only";
  /** In [0, 1): spreads those that come again. */
  readonly random: () => number;
}

export interface Newcomer<Holder> extends Partial<Rank> {
  readonly party: string;
  readonly holder: Holder;
  readonly standing: PlaceUse;
  /** Free places that it leaves to others. */
  readonly leaves?: number;
  /** A party that loses nothing for it. */
  readonly spares?: string;
}

interface PlaceRefusal {
  readonly kind: "refused";
  readonly retryAfterMs: number;
}

/** Without a place that is displaced there is a free one. */
export type PlaceVerdict<Holder> =
  | { readonly kind: "in"; readonly displaced?: Place<Holder> }
  | PlaceRefusal;
export type PlaceOutcome<Holder> =
  | PlaceVerdict<Holder> & { readonly kind: "in"; readonly place: Place<Holder> }
  | PlaceRefusal;

/** The part of all places that free accounts keep beside paying ones. */
const freeShare = 0.25;
/** Things left unfinished that anybody may have, with bad luck. */
const forgivenFailures = 2;
/** A party with so many times what others have keeps nothing from newcomers by being young. */
const crowdFactor = 4;

/** Entries that are of no use any more, and wait in a list to come up. */
const leftAtMost = 64;

type PlaceKind = "free" | "paying";

/** A party with a place that may go. Its score may have become less since. */
interface ListedParty<Holder> {
  readonly party: Party<Holder>;
  readonly version: number;
  readonly score: number;
  /** Decides between equal scores: the least goes first. */
  readonly tie: number;
}

/** A party whose first place may go at this time. */
interface SafeParty<Holder> {
  readonly party: Party<Holder>;
  readonly version: number;
  readonly untilMs: number;
}

/** A place that waits for its turn. Its party may have left more unfinished since. */
interface PlaceTurn<Holder> {
  readonly place: Place<Holder>;
  readonly round: number;
}

interface DisplacementCandidate<Holder> {
  readonly party: Party<Holder>;
  readonly score: number;
  readonly victim: Place<Holder>;
}

/**
 * Parties by score: those that have something that may go now, and all that have something that
 * could.
 */
class PartyLists<Holder> {
  readonly ready = new Heap<ListedParty<Holder>>(goesBefore);
  readonly all = new Heap<ListedParty<Holder>>(goesBefore);
}

export class Places<Holder> {
  readonly #options: PlacesOptions;
  readonly #parties = new Map<string, Party<Holder>>();
  readonly #failures = new Failures();
  readonly #held = new Map<Place<Holder>, Seat<Holder>>();
  #freeHeld = 0;
  /** Those that may wait for their turns, for callers that ask for the next. */
  #turns: Heap<PlaceTurn<Holder>> | undefined;
  /** Grows by one while as many have had their turns as there are parties. */
  #round = 0;
  /** Parties that are in no list as they are now. Nothing is sorted while there are places. */
  readonly #changed = new Set<Party<Holder>>();
  readonly #lists = { free: new PartyLists<Holder>(), paying: new PartyLists<Holder>() };
  readonly #safe = new Heap<SafeParty<Holder>>((a, b) => a.untilMs < b.untilMs);

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#held.size;
  }

  heldBy(party: string): number {
    return this.#parties.get(party)?.held ?? 0;
  }

  /** Returns the place of a party that was held the longest, of those that stand like this. */
  firstOf(party: string, standing: DisplaceableUse): Place<Holder> | undefined {
    return this.#parties.get(party)?.first(standing);
  }

  /** The one that is displaced holds nothing any more: it is for the caller to end it. */
  enter(newcomer: Newcomer<Holder>, nowMs: number): PlaceOutcome<Holder> {
    const verdict = this.judge(newcomer, nowMs);
    if (verdict.kind === "refused") return verdict;
    const { displaced } = verdict;
    if (displaced !== undefined) {
      this.leave(displaced, displaced.standing === "unfinished" ? "unfinished" : "finished", nowMs);
    }
    return { ...verdict, place: this.#add(newcomer, nowMs) };
  }

  /** Returns what `enter` would do. Nothing changes. */
  judge(newcomer: Newcomer<Holder>, nowMs: number): PlaceVerdict<Holder> {
    const { total } = this.#options;
    const { leaves = 0, party, spares } = newcomer;
    if (this.#held.size < total - leaves) return { kind: "in" };
    this.#sort(nowMs);
    const victim = this.#victimOf(newcomer, nowMs);
    const displaced = victim !== undefined && victim.party === spares
      ? this.#ownVictim(party, nowMs)
      : victim;
    if (displaced !== undefined) return { kind: "in", displaced };
    return { kind: "refused", retryAfterMs: this.#retryAfterMs(newcomer, nowMs) };
  }

  /** Does nothing for one that is held no more. */
  stand(place: Place<Holder>, standing: PlaceUse, nowMs: number): void {
    const [party, seat] = [this.#parties.get(place.party), this.#held.get(place)];
    if (party === undefined || seat === undefined || seat.standing === standing) return;
    const isOfSession = isSession(standing) || isSession(seat.standing);
    party.stand(seat, { standing, sinceMs: isOfSession ? seat.enteredAtMs : nowMs });
    this.#changed.add(party);
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

  /** A place was given back in good time, and was good for nothing. */
  blame(party: string, nowMs: number): void {
    this.#failures.add(party, nowMs);
    const holding = this.#parties.get(party);
    if (holding === undefined) return;
    holding.version++;
    this.#changed.add(holding);
  }

  /**
   * Takes out the one whose turn it is. Parties take turns by weight, and one that has left things
   * unfinished waits some rounds longer. So nobody waits for ever, however many come again and
   * again.
   */
  next(nowMs: number): Place<Holder> | undefined {
    const turns = this.#turns ??= this.#lineUp(nowMs);
    for (let first = turns.pop(); first !== undefined; first = turns.pop()) {
      const { place } = first;
      if (!this.#waits(place)) continue;
      const turn = this.#turnOf(place, nowMs);
      if (turn.round > first.round) turns.push(turn);
      else {
        this.#round += 1 / this.#parties.size;
        this.leave(place, "finished", nowMs);
        return place;
      }
    }
    return undefined;
  }

  #lineUp(nowMs: number): Heap<PlaceTurn<Holder>> {
    const turns = new Heap<PlaceTurn<Holder>>(comesBefore);
    for (const place of this.#held.keys()) turns.push(this.#turnOf(place, nowMs));
    return turns;
  }

  #turnOf(place: Place<Holder>, nowMs: number): PlaceTurn<Holder> {
    const weight = this.#parties.get(place.party)?.rank.weight ?? 1;
    return { place, round: place.round + this.#failures.of(place.party, nowMs) / weight };
  }

  #waits(place: Place<Holder>): boolean {
    return place.standing === "unfinished" && this.#held.has(place);
  }

  #add(
    { party: key, holder, standing, weight = 1, isPaying = false }: Newcomer<Holder>,
    nowMs: number,
  ): Place<Holder> {
    if (!(weight > 0)) throw new RangeError(`A party's weight is above 0, not ${weight}`);
    const party = this.#parties.get(key) ?? new Party<Holder>(key, { weight, isPaying });
    const round = this.#round + party.held / weight;
    const seat = { party: key, holder, enteredAtMs: nowMs, standing, sinceMs: nowMs, round };
    this.#parties.set(key, party);
    this.#rank(party, { weight, isPaying });
    party.add(seat);
    this.#held.set(seat, seat);
    this.#changed.add(party);
    if (!isPaying) this.#freeHeld++;
    this.#turns?.push(this.#turnOf(seat, nowMs));
    if ((this.#turns?.size ?? 0) > 2 * this.#held.size + leftAtMost) {
      this.#turns?.keep(({ place }) => this.#waits(place));
    }
    return seat;
  }

  /** An account may have another plan than when it came. */
  #rank(party: Party<Holder>, rank: Rank): void {
    if (party.rank.isPaying !== rank.isPaying) {
      this.#freeHeld += rank.isPaying ? -party.held : party.held;
    }
    party.rank = rank;
  }

  #victimOf(
    { party: key, weight = 1, isPaying = false }: Newcomer<Holder>,
    nowMs: number,
  ): Place<Holder> | undefined {
    const freeWanted = freeShare * this.#options.total;
    if (isPaying && this.#freeHeld > freeWanted) {
      const free = this.#highest(["free"], "all", nowMs);
      if (free !== undefined) return free.victim;
    }
    const kinds: readonly PlaceKind[] = isPaying
      ? ["paying"]
      : this.#freeHeld < freeWanted
      ? ["free", "paying"]
      : ["free"];
    const own = this.#parties.get(key);
    const failures = this.#failures.of(key, nowMs);
    const isReliable = failures <= forgivenFailures;
    // Without the place more, attackers would keep all places young, and so safe, by taking them in
    // turn.
    const score = (this.heldBy(key) + (isReliable ? 1 : 2) + failures) / weight;
    const ripe = this.#highest(kinds, "ready", nowMs);
    const crowd = isReliable ? this.#highest(kinds, "all", nowMs) : undefined;
    const isCrowd = crowd !== undefined &&
      crowd.score > crowdFactor * Math.max(score, ripe?.score ?? 0);
    if (isCrowd && crowd.party !== own) return crowd.victim;
    if (ripe === undefined || ripe.party === own) return this.#ownVictim(key, nowMs);
    // A party of endless weight, with a score of 0, is above this too.
    const isFirst = own === undefined && isReliable && ripe.score > 0 &&
      ripe.party.rank.isPaying === isPaying;
    if (isFirst || score <= ripe.score) return ripe.victim;
    return this.#ownVictim(key, nowMs);
  }

  /** A party must not end what it has begun itself a moment ago. */
  #ownVictim(key: string, nowMs: number): Place<Holder> | undefined {
    return this.#parties.get(key)?.victim(nowMs, this.#options.minimumMs);
  }

  /** Returns the candidate with the highest score, of the parties of these kinds in this list. */
  #highest(
    kinds: readonly PlaceKind[],
    list: "ready" | "all",
    nowMs: number,
  ): DisplacementCandidate<Holder> | undefined {
    let highest: DisplacementCandidate<Holder> | undefined;
    for (const kind of kinds) {
      const candidate = this.#first(this.#lists[kind][list], list, nowMs);
      if (candidate !== undefined && !(highest !== undefined && candidate.score <= highest.score)) {
        highest = candidate;
      }
    }
    return highest;
  }

  #first(
    heap: Heap<ListedParty<Holder>>,
    list: "ready" | "all",
    nowMs: number,
  ): DisplacementCandidate<Holder> | undefined {
    for (let first = heap.first; first !== undefined; first = heap.first) {
      const { party } = first;
      const victim = isCurrent(first) ? this.#victimIn(party, list, nowMs) : undefined;
      if (victim === undefined) {
        heap.pop();
        // The party is safe now, because its failures are partly forgotten.
        if (isCurrent(first)) this.#guard(party);
        continue;
      }
      const listed = this.#listed(party, victim, nowMs);
      if (listed.score === first.score && listed.tie === first.tie) {
        return { party, score: listed.score, victim };
      }
      heap.pop();
      heap.push(listed);
    }
    return undefined;
  }

  #victimIn(party: Party<Holder>, list: "ready" | "all", nowMs: number): Place<Holder> | undefined {
    const { safe, minimumMs } = this.#options;
    const isReliable = safe !== "only" && this.#failures.of(party.key, nowMs) <= forgivenFailures;
    const isSafe = list === "ready" && (party.held === 1 || isReliable);
    return party.victim(nowMs, isSafe ? minimumMs : 0);
  }

  #scoreOf({ key, held, rank }: Party<Holder>, nowMs: number): number {
    return (held + this.#failures.of(key, nowMs)) / rank.weight;
  }

  /**
   * Until the first place is safe no more; if places may go and this one is refused for its own
   * score, the minimum.
   */
  #retryAfterMs({ isPaying = false }: Newcomer<Holder>, nowMs: number): number {
    const { minimumMs, random } = this.#options;
    const isAnyReady = this.#highest([isPaying ? "paying" : "free"], "ready", nowMs) !== undefined;
    const untilMs = isAnyReady ? undefined : this.#safe.first?.untilMs;
    const waitMs = untilMs === undefined ? minimumMs : Math.max(1, untilMs - nowMs);
    return Math.ceil(waitMs * (1 + random()));
  }

  /** Puts everybody where it belongs now. */
  #sort(nowMs: number): void {
    for (const party of this.#changed) this.#list(party, nowMs);
    this.#changed.clear();
    for (let first = this.#safe.first; first !== undefined; first = this.#safe.first) {
      if (isCurrent(first) && first.untilMs > nowMs) break;
      this.#safe.pop();
      if (isCurrent(first)) this.#listReady(first.party, nowMs);
    }
    for (const { ready, all } of Object.values(this.#lists)) {
      for (const heap of [ready, all]) this.#tidy(heap);
    }
    this.#tidy(this.#safe);
  }

  #list(party: Party<Holder>, nowMs: number): void {
    const victim = this.#victimIn(party, "all", nowMs);
    if (victim === undefined) return;
    this.#listsOf(party).all.push(this.#listed(party, victim, nowMs));
    this.#listReady(party, nowMs);
  }

  #listReady(party: Party<Holder>, nowMs: number): void {
    const victim = this.#victimIn(party, "ready", nowMs);
    if (victim === undefined) this.#guard(party);
    else this.#listsOf(party).ready.push(this.#listed(party, victim, nowMs));
  }

  #guard(party: Party<Holder>): void {
    const untilMs = party.earliestMs + this.#options.minimumMs;
    if (untilMs < Infinity) this.#safe.push({ party, version: party.version, untilMs });
  }

  #listsOf({ rank }: Party<Holder>): PartyLists<Holder> {
    return this.#lists[rank.isPaying ? "paying" : "free"];
  }

  #listed(
    party: Party<Holder>,
    { standing, sinceMs }: Place<Holder>,
    nowMs: number,
  ): ListedParty<Holder> {
    const tie = isSession(standing) ? -sinceMs : sinceMs;
    return { party, version: party.version, score: this.#scoreOf(party, nowMs), tie };
  }

  /**
   * Entries of parties that have changed are left behind in lists until they come up, or are too
   * many.
   */
  #tidy<Entry extends ListedParty<Holder> | SafeParty<Holder>>(heap: Heap<Entry>): void {
    if (heap.size > 2 * this.#parties.size + leftAtMost) heap.keep(isCurrent);
  }
}

function isCurrent<Holder>({ party, version }: ListedParty<Holder> | SafeParty<Holder>): boolean {
  return party.version === version;
}

function goesBefore<Holder>(a: ListedParty<Holder>, b: ListedParty<Holder>): boolean {
  return a.score > b.score || (a.score === b.score && a.tie < b.tie);
}

function comesBefore<Holder>(a: PlaceTurn<Holder>, b: PlaceTurn<Holder>): boolean {
  return a.round < b.round || (a.round === b.round && a.place.sinceMs < b.place.sinceMs);
}

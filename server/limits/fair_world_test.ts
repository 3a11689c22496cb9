/**
 * Small worlds: every order of events, judged by a plain reading of the rule that walks over
 * everything.
 */
import { assert, assertEquals } from "@std/assert";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { type Place, Places, type PlaceUse } from "./mod.ts";

const minimumMs = 100;
const total = 3;
const orderOfStandings: readonly PlaceUse[] = ["unfinished", "idle", "plain", "kept"];
const ranks: Readonly<Record<string, { readonly weight: number; readonly isPaying: boolean }>> = {
  a: { weight: 1, isPaying: false },
  b: { weight: 1, isPaying: false },
  company: { weight: 2, isPaying: true },
  members: { weight: 4, isPaying: false },
};

class Plain {
  readonly held = new Set<Place<number>>();
  readonly #failures = new Map<string, { readonly count: number; readonly atMs: number }>();

  of(party: string): readonly Place<number>[] {
    return [...this.held].filter((place) => place.party === party);
  }

  failuresOf(party: string, nowMs: number): number {
    const { count, atMs } = this.#failures.get(party) ?? { count: 0, atMs: nowMs };
    const left = count * 0.5 ** (Math.floor((nowMs - atMs) / 10_000) * 10_000 / 600_000);
    return left < 0.5 ? 0 : left;
  }

  leave(place: Place<number>, isUnfinished: boolean, nowMs: number): void {
    this.held.delete(place);
    if (!isUnfinished) return;
    const count = Math.min(16, this.failuresOf(place.party, nowMs) + 1);
    this.#failures.set(place.party, { count, atMs: nowMs });
  }

  /** Those of a party that may go first. They are more than one when nothing tells them apart. */
  firstOf(party: string, nowMs: number, minimum: number): readonly Place<number>[] {
    const isRipe = (atMs: number): boolean => atMs + minimum <= nowMs;
    const able = this.of(party).filter(({ standing, enteredAtMs }) =>
      standing !== "busy" && isRipe(enteredAtMs)
    );
    const turnOf = ({ standing, sinceMs }: Place<number>): number => {
      const isBegun = standing === "unfinished" && !isRipe(sinceMs);
      return isBegun ? orderOfStandings.indexOf("idle") + 0.5 : orderOfStandings.indexOf(standing);
    };
    return bestOf(bestOf(able, turnOf), tieOf);
  }

  /** Everybody that may rightly be displaced by a newcomer of this party. */
  victimsOf(party: string, nowMs: number): readonly Place<number>[] {
    const isPaying = ranks[party]?.isPaying === true;
    const free = [...this.held].filter((place) => ranks[place.party]?.isPaying === false).length;
    if (isPaying && free > total / 4) {
      const { victims } = this.#highest([false], nowMs, () => 0);
      if (victims.length > 0) return victims;
    }
    const kinds = isPaying ? [true] : free < total / 4 ? [false, true] : [false];
    const score = this.#score(party, nowMs, this.#isReliable(party, nowMs) ? 1 : 2);
    const ripe = this.#highest(kinds, nowMs, (each) => this.#minimumOf(each, nowMs));
    const crowd = this.#highest(kinds, nowMs, () => 0);
    if (this.#isReliable(party, nowMs) && crowd.score > 4 * Math.max(score, ripe.score)) {
      const others = crowd.victims.filter((place) => place.party !== party);
      if (others.length > 0) return others;
    }
    const isFirst = this.of(party).length === 0 && this.#isReliable(party, nowMs) && ripe.score > 0;
    const others = ripe.victims.filter((place) =>
      place.party !== party &&
      (score <= ripe.score || (isFirst && ranks[place.party]?.isPaying === isPaying))
    );
    return others.length > 0 ? others : this.firstOf(party, nowMs, minimumMs);
  }

  #isReliable(party: string, nowMs: number): boolean {
    return this.failuresOf(party, nowMs) <= 2;
  }

  #minimumOf(party: string, nowMs: number): number {
    return this.of(party).length === 1 || this.#isReliable(party, nowMs) ? minimumMs : 0;
  }

  #highest(
    kinds: readonly boolean[],
    nowMs: number,
    minimumOf: (party: string) => number,
  ): { readonly score: number; readonly victims: readonly Place<number>[] } {
    const firstOf = (party: string): readonly Place<number>[] =>
      this.firstOf(party, nowMs, minimumOf(party));
    const parties = Object.keys(ranks).filter((party) =>
      kinds.includes(ranks[party]?.isPaying === true) && firstOf(party).length > 0
    );
    const score = Math.max(0, ...parties.map((party) => this.#score(party, nowMs)));
    const worst = parties.filter((party) => this.#score(party, nowMs) === score);
    return { score, victims: bestOf(worst.flatMap(firstOf), tieOf) };
  }

  #score(party: string, nowMs: number, more = 0): number {
    return (this.of(party).length + more + this.failuresOf(party, nowMs)) /
      (ranks[party]?.weight ?? 1);
  }
}

function tieOf({ standing, sinceMs }: Place<number>): number {
  return standing === "plain" || standing === "kept" ? -sinceMs : sinceMs;
}

function bestOf<Item>(items: readonly Item[], cost: (item: Item) => number): readonly Item[] {
  const least = Math.min(...items.map(cost));
  return items.filter((item) => cost(item) === least);
}

type Event =
  | { readonly kind: "enter"; readonly party: string; readonly standing: PlaceUse }
  | { readonly kind: "stand"; readonly from: PlaceUse; readonly to: PlaceUse }
  | { readonly kind: "leave"; readonly party: string; readonly outcome: "finished" | "unfinished" }
  | { readonly kind: "wait"; readonly ms: number };

const events: readonly Event[] = [
  { kind: "enter", party: "a", standing: "unfinished" },
  { kind: "enter", party: "a", standing: "plain" },
  { kind: "enter", party: "b", standing: "unfinished" },
  { kind: "enter", party: "company", standing: "kept" },
  { kind: "stand", from: "unfinished", to: "idle" },
  { kind: "stand", from: "idle", to: "unfinished" },
  { kind: "stand", from: "plain", to: "busy" },
  { kind: "leave", party: "a", outcome: "unfinished" },
  { kind: "leave", party: "b", outcome: "finished" },
  { kind: "wait", ms: minimumMs / 2 },
  { kind: "wait", ms: minimumMs },
  { kind: "enter", party: "members", standing: "kept" },
];

/** Plays a sequence of events in both, and compares all that can be seen of them. */
function play(sequence: readonly Event[]): void {
  const places = new Places<number>({ total, minimumMs, random: () => 0 });
  const plain = new Plain();
  let nowMs = 1_000;
  for (const [index, event] of sequence.entries()) {
    if (event.kind === "wait") {
      nowMs += event.ms;
    } else if (event.kind === "enter") {
      enter(event.party, event.standing, index);
    } else if (event.kind === "stand") {
      const place = [...plain.held].find(({ standing }) => standing === event.from);
      if (place === undefined) continue;
      places.stand(place, event.to, nowMs);
    } else {
      const [place] = plain.of(event.party);
      if (place === undefined) continue;
      places.leave(place, event.outcome, nowMs);
      plain.leave(place, event.outcome === "unfinished", nowMs);
    }
    assertEquals(places.size, plain.held.size);
    for (const party of Object.keys(ranks)) {
      assertEquals(places.heldBy(party), plain.of(party).length);
    }
  }

  function enter(party: string, standing: PlaceUse, holder: number): void {
    const victims = plain.held.size < total ? undefined : plain.victimsOf(party, nowMs);
    const entered = places.enter({ party, holder, standing, ...ranks[party] }, nowMs);
    const story = (): string =>
      `${JSON.stringify(sequence)}: ${JSON.stringify(entered)}, not ${JSON.stringify(victims)}`;
    if (entered.kind === "refused") {
      assert(victims?.length === 0, story());
      assert(entered.retryAfterMs > 0 && entered.retryAfterMs <= minimumMs, story());
      return;
    }
    const { displaced, place } = entered;
    assert(
      victims === undefined
        ? displaced === undefined
        : displaced !== undefined && victims.includes(displaced),
      story(),
    );
    if (displaced !== undefined) plain.leave(displaced, displaced.standing === "unfinished", nowMs);
    plain.held.add(place);
  }
}

Deno.test("places are given and taken by the rule, in every order of events", () => {
  const depth = inCampaign ? 5 : 3;
  // Full from the start: with free places nothing is decided.
  const beginnings: readonly (readonly number[])[] = [
    [0, 0, 2],
    [0, 2, 3],
    [1, 1, 3],
    [0, 6, 0, 0, 2],
    [3, 3, 0],
    [1, 9, 1, 2],
    [11, 11, 11],
  ];
  let sequences = 0;
  const extend = (sequence: readonly Event[], left: number): void => {
    if (left === 0) {
      sequences++;
      return play(sequence);
    }
    for (const event of events) extend([...sequence, event], left - 1);
  };
  for (const beginning of beginnings) {
    extend(beginning.flatMap((index) => events[index] ?? []), depth);
  }
  tried(`${sequences.toLocaleString("en")} orders of events`);
});

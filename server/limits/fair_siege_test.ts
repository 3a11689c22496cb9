/**
 * Sieges in simulated time: attackers that hold places with unfinished work, and honest newcomers
 * beside them.
 */
import { assert, assertEquals } from "@std/assert";
import { Heap } from "./heap.ts";
import { type Place, Places } from "./mod.ts";

const minimumMs = 3_000;

interface Siege {
  readonly places: number;
  readonly addresses: number;
  /** Attempts of all attackers in a second. */
  readonly perSecond: number;
  /** How long an honest newcomer needs. */
  readonly loginMs: number;
  /** Agents behind one address that come within a second, and come again when they are refused. */
  readonly office?: number;
  readonly seconds: number;
  /**
   * How attackers hold each of their places: until its time is up, unless this says something else.
   */
  readonly holdMs?: number;
  readonly outcome?: "finished" | "unfinished";
}

interface Outcome {
  readonly tried: number;
  readonly failed: number;
  /** When the last agent of the office was in, in seconds. */
  readonly officeSeconds: number;
  readonly officeIn: number;
}

/** A generator of numbers in [0, 1) that begins the same each time. */
function createRandom(): () => number {
  let state = 44;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Honest newcomers of ever new addresses come twice a second. */
function besiege(
  {
    places: total,
    addresses,
    perSecond,
    loginMs,
    office = 0,
    seconds,
    holdMs = 15_000,
    outcome: left = "unfinished",
  }: Siege,
): Outcome {
  const random = createRandom();
  const places = new Places<() => void>({ total, minimumMs, random });
  const agenda = new Heap<{ readonly atMs: number; readonly act: (nowMs: number) => void }>((
    a,
    b,
  ) => a.atMs < b.atMs);
  const [warmUpMs, endMs] = [20_000, seconds * 1_000];
  const at = (atMs: number, act: (nowMs: number) => void): void => agenda.push({ atMs, act });
  const outcome = { tried: 0, failed: 0, officeSeconds: 0, officeIn: 0 };

  const attack = (party: string, nowMs: number): void => {
    const entered = places.enter({ party, holder: () => {}, standing: "unfinished" }, nowMs);
    if (entered.kind === "in") {
      entered.displaced?.holder();
      at(nowMs + holdMs, (lateMs) => places.leave(entered.place, left, lateMs));
    }
    at(
      nowMs + 1_000 * addresses / perSecond * (0.9 + 0.2 * random()),
      (nextMs) => attack(party, nextMs),
    );
  };
  const login = (
    party: string,
    nowMs: number,
    done: (isIn: boolean, atMs: number) => void,
  ): void => {
    let isDisplaced = false;
    const entered = places.enter({
      party,
      holder: () => isDisplaced = true,
      standing: "unfinished",
    }, nowMs);
    if (entered.kind === "refused") return done(false, nowMs);
    const { place, displaced }: { place: Place<() => void>; displaced?: Place<() => void> } =
      entered;
    displaced?.holder();
    at(nowMs + loginMs, (endedMs) => {
      places.leave(place, "finished", endedMs);
      done(!isDisplaced, endedMs);
    });
  };
  const newcomer = (count: number, nowMs: number): void => {
    const isCounted = nowMs > warmUpMs && nowMs < endMs - loginMs;
    login(`newcomer ${count}`, nowMs, (isIn) => {
      outcome.tried += isCounted ? 1 : 0;
      outcome.failed += isCounted && !isIn ? 1 : 0;
    });
    at(nowMs + 1_000 * random(), (nextMs) => newcomer(count + 1, nextMs));
  };
  const agent = (nowMs: number): void =>
    login("office", nowMs, (isIn, endedMs) => {
      if (!isIn) return at(endedMs + 500 + 1_000 * random(), agent);
      outcome.officeIn++;
      outcome.officeSeconds = (endedMs - warmUpMs) / 1_000;
    });

  for (let index = 0; index < addresses; index++) {
    at(1_000 * random(), (nowMs) => attack(`attacker ${index}`, nowMs));
  }
  for (let index = 0; index < office; index++) at(warmUpMs + 1_000 * random(), agent);
  at(0, (nowMs) => newcomer(0, nowMs));
  for (let next = agenda.pop(); next !== undefined && next.atMs < endMs; next = agenda.pop()) {
    next.act(next.atMs);
  }
  return outcome;
}

for (
  const [addresses, perSecond] of [[4, 200], [18, 540], [200, 1_000], [1_000, 1_000], [
    1_000,
    3_000,
  ]] as const
) {
  Deno.test(`no newcomer fails beside ${addresses} addresses that ask ${perSecond} times a second and finish nothing`, () => {
    for (const loginMs of [500, 2_500]) {
      const { tried, failed } = besiege({
        places: 1_000,
        addresses,
        perSecond,
        loginMs,
        seconds: 40,
      });
      assert(tried > 25);
      assertEquals(failed, 0);
    }
  });
}

Deno.test("an office of 500 agents with one address is in within a minute beside 200 attackers", () => {
  const siege = {
    places: 1_000,
    addresses: 200,
    perSecond: 1_000,
    loginMs: 500,
    office: 500,
    seconds: 90,
  };
  const { officeIn, officeSeconds, failed } = besiege(siege);
  assertEquals([officeIn, failed], [500, 0]);
  assert(officeSeconds < 60, `the last one was in after ${officeSeconds} s`);
});

Deno.test("no newcomer fails beside addresses that finish everything, and come again before they may be displaced", () => {
  for (const addresses of [1, 4, 200]) {
    const { tried, failed } = besiege({
      ...{ places: 1_000, addresses, perSecond: 1_300, loginMs: 500, seconds: 40 },
      ...{ holdMs: 2_900, outcome: "finished" },
    });
    assert(tried > 25);
    assertEquals(failed, 0);
  }
});

Deno.test("no newcomer fails beside addresses that leave before they may be displaced, and come again", () => {
  const { tried, failed } = besiege({
    ...{ places: 1_000, addresses: 1_200, perSecond: 2_700, loginMs: 500, seconds: 40 },
    ...{ holdMs: 2_900, outcome: "unfinished" },
  });
  assert(tried > 25);
  assertEquals(failed, 0);
});

Deno.test("one more newcomer costs little among ten thousand parties that have all failed at the same time", () => {
  const total = 10_000;
  const places = new Places<number>({ total, minimumMs, random: () => 0 });
  const newcomers = 20_000;
  for (let count = 0; count < total; count++) {
    for (let time = 0; time < 3; time++) places.blame(`${count}`, 0);
  }
  for (let count = 0; count < total; count++) {
    places.enter({ party: `${count}`, holder: count, standing: "unfinished" }, 0);
  }
  const startedAt = performance.now();
  for (let count = 0; count < newcomers; count++) {
    places.enter({ party: `n${count}`, holder: count, standing: "unfinished" }, minimumMs + count);
  }
  const eachUs = 1_000 * (performance.now() - startedAt) / newcomers;
  assertEquals(places.size, total);
  assert(eachUs < 1_000, `${eachUs} µs each`);
});

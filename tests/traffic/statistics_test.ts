import { assert, assertEquals } from "@std/assert";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { rankRows } from "./features.ts";
import { type LabelledStretch, separateGaps, separateUnits } from "./separation.ts";
import { areaUnderCurve, fitLine, kolmogorovSmirnov, momentsOf } from "./statistics.ts";

const uniform = (random: Random): number => random.below(1_000_000) / 1_000_000;
const normal = (random: Random): number =>
  Math.sqrt(-2 * Math.log(1 - uniform(random))) * Math.cos(2 * Math.PI * uniform(random));

Deno.test("kolmogorovSmirnov() agrees with worked examples", () => {
  assertEquals(kolmogorovSmirnov([1, 2, 3, 4], [5, 6, 7, 8]).distance, 1);
  assertEquals(kolmogorovSmirnov([1, 2, 2, 3], [1, 2, 2, 3]), { distance: 0, p: 1 });
  assertEquals(kolmogorovSmirnov([1, 2, 3, 4], [1, 2, 3, 10]).distance, 0.25);
  // Two samples of 100 at a distance of 0.20: p is 0.031 by the formula of Stephens (1970).
  const half = Array.from({ length: 100 }, (_, i) => i);
  const { distance, p } = kolmogorovSmirnov(half, half.map((value) => value + 20));
  assertEquals(Math.round(distance * 100), 20);
  assert(Math.abs(p - 0.0314) < 0.002, `${p}`);
});

Deno.test("areaUnderCurve() counts pairs, ties by half", () => {
  assertEquals(areaUnderCurve([3, 4], [1, 2]), 1);
  assertEquals(areaUnderCurve([1, 2], [3, 4]), 0);
  assertEquals(areaUnderCurve([1, 1], [1, 1]), 0.5);
  assertEquals(areaUnderCurve([2], [1, 2, 3, 4]), 0.375);
});

Deno.test("fitLine() finds the direction in which two groups differ, and no other", () => {
  const random = createRandom(seedFromEnvironment());
  const group = (shift: number): number[][] =>
    Array.from({ length: 500 }, () => [normal(random) + shift, 5 * normal(random)]);
  const line = fitLine([group(-1), group(1)].map((rows) => momentsOf(rows, 2)))([false, true]);
  assert(
    line([1, 0]) > line([-1, 0]) && Math.abs(line([0, 1])) < 0.2 * line([1, 0]),
    `seed ${random.seed}`,
  );
});

/**
 * Four sessions that differ by themselves, in rounds that differ too, one of each round in the
 * second state.
 */
function simulate(
  random: Random,
  rounds: number,
  make: (positive: boolean) => number,
): LabelledStretch[] {
  const peculiar = [0, 1, 2, 3].map(() => 3 * uniform(random));
  const stretches = Array.from({ length: rounds }, (_, round) => {
    const noise = 0.3 * uniform(random);
    const [first, second] = [0, 1, 2, 3].map((session) => ({ session, key: uniform(random) }))
      .sort((a, b) => a.key - b.key).map(({ session }) => session);
    return [first ?? 0, second ?? 1].map((session, i) => {
      const rows = Array.from({ length: 30 }, () => {
        return [make(i === 1) * (1 + noise), normal(random) + (peculiar[session] ?? 0)];
      });
      return {
        session,
        round,
        slot: session,
        positive: i === 1,
        gaps: rows.map(([gap = 0]) => gap),
        rows,
      };
    });
  }).flat();
  const ranked = rankRows(stretches);
  return stretches.map((stretch, i) => ({ ...stretch, rows: ranked[i] ?? [] }));
}

Deno.test("the same distribution is not told apart, a shift of half a deviation and a wider spread are", () => {
  const random = createRandom(seedFromEnvironment());
  const check = (
    make: (positive: boolean) => number,
  ): { p: number; auc: number; error: number; chance: number } => {
    const stretches = simulate(random, 40, make);
    const { value, error, chance } = separateUnits(stretches, random);
    return { p: separateGaps(stretches, random).p, auc: value, error, chance };
  };
  const same = check(() => normal(random));
  const text = (found: typeof same): string => JSON.stringify({ ...found, seed: random.seed });
  assert(
    Math.abs(same.auc - 0.5) < 6 * same.error && same.error < 0.05 && same.p > 1e-7,
    text(same),
  );
  const shifted = check((positive) => normal(random) + (positive ? 0.5 : 0));
  assert(shifted.auc > 0.56 && shifted.p < 1e-4 && shifted.chance < 0.05, text(shifted));
  const wider = check((positive) => normal(random) * (positive ? 2 : 1));
  assert(wider.auc > 0.56 && wider.p < 1e-4 && wider.chance < 0.05, text(wider));
});

Deno.test("what is peculiar to a session is not mistaken for its state", () => {
  const random = createRandom(seedFromEnvironment());
  const areas = Array.from(
    { length: 20 },
    () => separateUnits(simulate(random, 10, () => normal(random)), random),
  );
  const average = areas.reduce((sum, { value }) => sum + value, 0) / areas.length;
  assert(Math.abs(average - 0.5) < 0.05, `on average ${average}, seed ${random.seed}`);
});

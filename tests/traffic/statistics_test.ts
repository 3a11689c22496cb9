import { assert, assertEquals } from "@std/assert";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { areaUnderCurve, crossValidatedAuc, kolmogorovSmirnov, type Sample } from "./statistics.ts";

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
  assertEquals(areaUnderCurve([3, 4], [1, 2]).value, 1);
  assertEquals(areaUnderCurve([1, 2], [3, 4]).value, 0);
  assertEquals(areaUnderCurve([1, 1], [1, 1]).value, 0.5);
  assertEquals(areaUnderCurve([2], [1, 2, 3, 4]).value, 0.375);
});

Deno.test("the same distribution is not told apart, a shift of a quarter deviation and a wider spread are", () => {
  const random = createRandom(seedFromEnvironment());
  const draw = (make: () => number, positive: boolean): Sample[] =>
    Array.from({ length: 1_500 }, (_, i) => ({ features: [make(), uniform(random)], positive, block: i % 5 }));
  const judge = (make: () => number): { auc: number; p: number } => {
    const [plain, other] = [draw(() => normal(random), false), draw(make, true)];
    const { p } = kolmogorovSmirnov(plain.map((s) => s.features[0] ?? 0), other.map((s) => s.features[0] ?? 0));
    return { auc: crossValidatedAuc([...plain, ...other]).value, p };
  };
  const same = judge(() => normal(random));
  assert(Math.abs(same.auc - 0.5) < 0.06 && same.p > 1e-6, JSON.stringify({ ...same, seed: random.seed }));
  const shifted = judge(() => normal(random) + 0.25);
  assert(shifted.auc > 0.53 && shifted.p < 1e-3, JSON.stringify({ ...shifted, seed: random.seed }));
  const wider = judge(() => 2 * normal(random));
  assert(wider.auc > 0.6 && wider.p < 1e-6, JSON.stringify({ ...wider, seed: random.seed }));
});

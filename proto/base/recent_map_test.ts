import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { RecentMap } from "./recent_map.ts";

Deno.test("a recent map does what a plain map does whose keys are deleted and set again at every use", () => {
  const random = createRandom(seedFromEnvironment());
  const [ours, plain] = [new RecentMap<number, number>(), new Map<number, number>()];
  for (let step = 0; step < 5_000; step++) {
    const key = random.below(12);
    if (random.chance(0.3)) {
      assertEquals(ours.delete(key), plain.delete(key), `seed ${random.seed}`);
    } else {
      ours.set(key, step);
      plain.delete(key);
      plain.set(key, step);
    }
    assertEquals([ours.size, ours.has(key), ours.get(key)], [
      plain.size,
      plain.has(key),
      plain.get(key),
    ]);
    assertEquals([...ours.keys()], [...plain.keys()], `seed ${random.seed}, step ${step}`);
  }
});

Deno.test("keys may be deleted while they are walked over: the present one, one before it and one after it", () => {
  const map = new RecentMap<string, number>();
  for (const key of ["a", "b", "c", "d", "e"]) map.set(key, 0);
  const met: string[] = [];
  for (const key of map.keys()) {
    met.push(key);
    if (key === "c") { for (const gone of ["a", "c", "d"]) assert(map.delete(gone)); }
  }
  assertEquals(met, ["a", "b", "c", "e"]);
  assertEquals([...map.keys()], ["b", "e"]);
});

Deno.test("a busy key costs the same among ten thousand others as among ten", () => {
  const cost = (others: number): number => {
    const map = new RecentMap<number, number>();
    for (let key = 0; key <= others; key++) map.set(key, 0);
    const rounds = Array.from({ length: 5 }, () => {
      const started = performance.now();
      for (let use = 0; use < 4_000; use++) {
        map.set(1, use);
        map.set(2, use);
      }
      return performance.now() - started;
    });
    return Math.min(...rounds);
  };
  const [few, many] = [cost(10), cost(10_000)];
  // With a plain map it is two hundred times as much.
  assert(many < 30 * few + 5, `${few} ms among ten, ${many} ms among ten thousand`);
});

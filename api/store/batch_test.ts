import { assert, assertEquals, assertRejects } from "@std/assert";
import { createBatchedLookup } from "./batch.ts";

/** A loader that returns when told to, and shows its calls. */
function createLoader(): {
  asked: (readonly string[])[];
  answer: () => void;
  load: (keys: readonly string[]) => Promise<Map<string, string>>;
} {
  const asked: (readonly string[])[] = [];
  const pending: (() => void)[] = [];
  return {
    asked,
    answer: () => pending.shift()?.(),
    load: (keys) => {
      asked.push(keys);
      return new Promise((resolve) => {
        pending.push(() =>
          resolve(
            new Map(keys.filter((key) => key !== "absent").map((key) => [key, `value of ${key}`])),
          )
        );
      });
    },
  };
}

const turn = (): Promise<void> => Promise.resolve().then(() => {});

Deno.test("lookups that arrive together are one query; each gets its own answer", async () => {
  const { asked, answer, load } = createLoader();
  const find = createBatchedLookup(load);
  const all = Promise.all(["a", "b", "a", "absent"].map(find));
  await turn();
  assertEquals(asked, [["a", "b", "absent"]]);
  answer();
  assertEquals(await all, ["value of a", "value of b", "value of a", undefined]);
});

Deno.test("a lookup never joins a query that has left; at most two are on their way and the rest gathers", async () => {
  const { asked, answer, load } = createLoader();
  const find = createBatchedLookup(load);
  const all: Promise<string | undefined>[] = [];
  for (const key of ["a", "a", "b", "c", "a"]) {
    all.push(find(key));
    await turn();
  }
  assertEquals(asked, [["a"], ["a"]]);
  answer();
  await all[0];
  await turn();
  assertEquals(asked, [["a"], ["a"], ["b", "c", "a"]]);
  answer();
  answer();
  assertEquals(await Promise.all(all), ["a", "a", "b", "c", "a"].map((key) => `value of ${key}`));
});

Deno.test("a database that is away costs nobody its deadline twice: a failed query takes along who waited long behind it", async () => {
  const failures: (() => void)[] = [];
  const clock = { nowMs: 0 };
  const load = (): Promise<Map<string, string>> =>
    new Promise((_, reject) => failures.push(() => reject(new Error("no answer within 1500 ms"))));
  const find = createBatchedLookup(load, () => clock.nowMs);
  const outcomes: string[] = [];
  for (
    const [atMs, key] of [[0, "a"], [100, "b"], [200, "waits long"], [
      1200,
      "waits little",
    ]] as const
  ) {
    clock.nowMs = atMs;
    find(key).catch(() => outcomes.push(key));
    await turn();
  }
  clock.nowMs = 1500;
  failures[0]?.();
  for (let i = 0; i < 10; i++) await turn();
  assertEquals([outcomes, failures.length], [["a", "waits long"], 3]);
  failures.forEach((fail) => fail());
});

Deno.test("a failed query fails its own lookups only, and the next ones are tried", async () => {
  let failing = true;
  const find = createBatchedLookup((keys: readonly string[]) =>
    failing
      ? Promise.reject(new Error("down"))
      : Promise.resolve(new Map(keys.map((key) => [key, key])))
  );
  const first = find("a");
  await assertRejects(() => first, Error, "down");
  failing = false;
  assertEquals(await find("b"), "b");
});

Deno.test("ten thousand lookups at once are all answered, in batches of bounded size", async () => {
  const sizes: number[] = [];
  const find = createBatchedLookup((keys: readonly number[]) => {
    sizes.push(keys.length);
    return Promise.resolve(new Map(keys.map((key) => [key, key])));
  });
  const answers = await Promise.all(Array.from({ length: 10_000 }, (_, i) => find(i)));
  assert(answers.every((value, i) => value === i));
  assertEquals(Math.max(...sizes), 500);
});

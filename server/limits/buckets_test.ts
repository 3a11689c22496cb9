import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { AddressBuckets, Bucket, Buckets, takeOfAll } from "./buckets.ts";

const day = 24 * 60 * 60 * 1_000;

Deno.test("a bucket gives its burst at once, then its rate, and never more than its burst after a rest", () => {
  const bucket = new Bucket({ burst: 3, perSecond: 2 });
  const taken = (nowMs: number): number => {
    let count = 0;
    while (bucket.take(nowMs) === undefined) count++;
    return count;
  };
  assertEquals([0, 499, 500, 2_000, day, day].map(taken), [3, 0, 1, 3, 3, 0]);
});

Deno.test("a bucket takes all or nothing, and a refusal says when there is enough", () => {
  const bucket = new Bucket({ burst: 10, perSecond: 3 });
  assertEquals(bucket.take(0, 8), undefined);
  const waitMs = bucket.take(0, 4) ?? 0;
  assertEquals([waitMs, bucket.spent(0)], [667, 8]);
  assert(bucket.take(waitMs - 1, 4) !== undefined);
  assertEquals(bucket.take(waitMs, 4), undefined);
});

Deno.test("the time that a refusal tells is enough, at any rate and at any time", () => {
  const random = createRandom(seedFromEnvironment());
  for (let i = 0; i < 2_000; i++) {
    const bucket = new Bucket({
      burst: 1 + random.below(50),
      perSecond: (1 + random.below(1_000)) / 3_600,
    });
    let nowMs = 1_700_000_000_000 + random.below(1_000_000_000);
    for (let j = 0; j < 20; j++) {
      const amount = 1 + random.below(60);
      const waitMs = bucket.take(nowMs, amount);
      if (waitMs === undefined) continue;
      nowMs += waitMs;
      assertEquals(bucket.take(nowMs, amount), undefined, `seed ${random.seed}, run ${i}`);
    }
  }
});

Deno.test("an amount above the burst needs a full bucket and leaves a debt", () => {
  const bucket = new Bucket({ burst: 10, perSecond: 1 });
  bucket.take(0);
  assertEquals(bucket.take(0, 25), 1_000);
  assertEquals(bucket.take(1_000, 25), undefined);
  assertEquals([bucket.take(1_000), bucket.take(1_000, 0)], [16_000, undefined]);
  assertEquals(bucket.take(17_000), undefined);
});

Deno.test("what is given back may be taken again, and never makes more than the burst", () => {
  const bucket = new Bucket({ burst: 3, perSecond: 1 });
  for (let i = 0; i < 3; i++) bucket.take(0);
  bucket.giveBack();
  assertEquals([bucket.take(0), bucket.take(0)], [undefined, 1_000]);
  bucket.giveBack(100);
  assertEquals(Array.from({ length: 4 }, () => bucket.take(0)), [
    undefined,
    undefined,
    undefined,
    1_000,
  ]);
});

Deno.test("what is drawn is taken in any case and must come back first", () => {
  const bucket = new Bucket({ burst: 2, perSecond: 1 });
  bucket.draw(0, 5);
  assertEquals([bucket.take(0), bucket.take(4_000)], [4_000, undefined]);
});

Deno.test("a clock that is set back takes nothing away and locks nobody out", () => {
  const bucket = new Bucket({ burst: 3, perSecond: 1 });
  bucket.take(day);
  assertEquals([bucket.take(0), bucket.take(0)], [undefined, undefined]);
  assertEquals(bucket.take(0), 1_000);
  assertEquals(bucket.take(1_000), undefined);
});

Deno.test("a bucket goes on at its new rate when the rate changes", () => {
  const bucket = new Bucket({ burst: 2, perSecond: 1 });
  bucket.take(0, 2);
  bucket.rate = { burst: 10, perSecond: 5 };
  assertEquals([bucket.take(0, 8), bucket.take(0)], [undefined, 200]);
});

Deno.test("no second sees more than burst + rate, whatever the times of arrival", () => {
  const random = createRandom(seedFromEnvironment());
  const [burst, perSecond] = [20, 20];
  const buckets = new Buckets({ burst, perSecond });
  const admitted: number[] = [];
  let nowMs = 1_000_000;
  for (let i = 0; i < 5_000; i++) {
    nowMs += random.below(60);
    if (buckets.take("a", nowMs) === undefined) admitted.push(nowMs);
  }
  for (const start of admitted) {
    const inSecond = admitted.filter((at) => at >= start && at < start + 1_000).length;
    assert(inSecond <= burst + perSecond, `seed ${random.seed}: ${inSecond} in a second`);
  }
});

Deno.test("Buckets count each key for itself, and tell what remains and when all of it is back", () => {
  const buckets = new Buckets({ burst: 2, perSecond: 1 });
  assertEquals(buckets.look("a", 0), { remaining: 2, fullInMs: 0 });
  assertEquals([buckets.take("a", 0), buckets.take("a", 0), buckets.take("a", 0)], [
    undefined,
    undefined,
    1_000,
  ]);
  assertEquals([buckets.take("b", 0), buckets.waitMs("c", 0)], [undefined, undefined]);
  assertEquals(buckets.waitMs("a", 500), 500);
  assertEquals(buckets.look("a", 500), { remaining: 0, fullInMs: 1_500 });
  buckets.giveBack("a", 500);
  buckets.giveBack("unknown", 500);
  assertEquals([buckets.look("a", 500), buckets.size], [{ remaining: 1, fullInMs: 500 }, 2]);
  buckets.giveBack("a", 500);
  assertEquals(buckets.size, 1);
});

Deno.test("Buckets forget the keys that are full again, and look at few of them in each call", () => {
  const buckets = new Buckets({ burst: 1, perSecond: 1 });
  for (let i = 0; i < 1_000; i++) buckets.take(`early ${i}`, 0);
  assertEquals(buckets.size, 1_000);
  for (let i = 0; i < 400; i++) buckets.take(`late ${i}`, 1_000);
  assertEquals(buckets.size, 400);
});

Deno.test("Buckets that remember as many keys as they may forget the one that was unused for longest", () => {
  const buckets = new Buckets({ burst: 1, perSecond: 1 / 3_600 });
  buckets.take("busy", 0);
  for (let i = 0; i < 100_000; i++) {
    buckets.take(`key ${i}`, i);
    if (i % 1_000 === 0) assert(buckets.take("busy", i) !== undefined);
  }
  assertEquals(buckets.size, 100_000);
  assertEquals(buckets.waitMs("key 0", 100_000), undefined);
  assert(buckets.waitMs("key 99999", 100_000) !== undefined, "a recent one");
  assert(buckets.waitMs("busy", 100_000) !== undefined, "one that is refused all the time");
});

Deno.test("takeOfAll() takes of every bucket, or of none and returns the longest wait", () => {
  const [wide, narrow] = [
    new Bucket({ burst: 3, perSecond: 1 }),
    new Bucket({ burst: 2, perSecond: 0.5 }),
  ];
  assertEquals([takeOfAll([wide, narrow], 0, 2), takeOfAll([], 0)], [undefined, undefined]);
  assertEquals(takeOfAll([wide, narrow], 0, 2), 4_000);
  assertEquals([wide.spent(0), narrow.spent(0)], [2, 2]);
  assertEquals(takeOfAll([wide, narrow], 4_000, 2), undefined);
});

Deno.test("AddressBuckets give a /56 four times what one of its /64 has, and take of both or of neither", () => {
  const buckets = new AddressBuckets({ burst: 3, perSecond: 1 });
  const take = (subnet: number): boolean =>
    buckets.take(`2001:db8:0:${subnet.toString(16)}::1`, 0) === undefined;
  assertEquals([take(0), take(0), take(0), take(0)], [true, true, true, false]);
  assertEquals(Array.from({ length: 20 }, (_, i) => take(i + 1)).filter(Boolean).length, 9);
  assertEquals(buckets.look("2001:db8:0:20::1", 0), { remaining: 0, fullInMs: 3_000 });
  assertEquals(take(256), true);
  // Those that the network refused took nothing of their prefix: all three are there when the
  // network has room again.
  assertEquals([buckets.take("2001:db8:0:20::1", 12_000, 3), buckets.take("192.0.2.1", 0, 3)], [
    undefined,
    undefined,
  ]);
  assertEquals(buckets.take("::ffff:192.0.2.1", 0), 1_000);
  buckets.giveBack("2001:db8:0:20::9", 12_000, 3);
  assertEquals(buckets.look("2001:db8:0:20::1", 12_000), { remaining: 3, fullInMs: 0 });
});

import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { createAddressLimiter, createRateLimiter } from "./rate_limit.ts";

Deno.test("a limiter allows exactly its limit at once and refills evenly", () => {
  const clock = { now: 0 };
  const limiter = createRateLimiter("test", { limit: 3, windowMs: 3000 }, () => clock.now);
  const allowed = (): boolean => limiter.take("a").allowed;
  assertEquals([allowed(), allowed(), allowed(), allowed()], [true, true, true, false]);
  assertEquals(limiter.take("b").allowed, true);
  clock.now = 999;
  assertEquals(allowed(), false);
  clock.now = 1000;
  assertEquals([allowed(), allowed()], [true, false]);
  clock.now = 1_000_000;
  assertEquals([allowed(), allowed(), allowed(), allowed()], [true, true, true, false]);
});

Deno.test("a refusal says when the next one is allowed, and it is", () => {
  const clock = { now: 0 };
  const limiter = createRateLimiter("test", { limit: 2, windowMs: 1000 }, () => clock.now);
  for (let i = 0; i < 2; i++) limiter.take("a");
  const { resetMs, remaining } = limiter.take("a");
  assertEquals([resetMs, remaining], [500, 0]);
  clock.now = resetMs - 1;
  assert(!limiter.take("a").allowed);
  clock.now = resetMs;
  assert(limiter.take("a").allowed);
});

Deno.test("a refund gives one back and never more than the limit", () => {
  const limiter = createRateLimiter("test", { limit: 2, windowMs: 1000 }, () => 0);
  for (let i = 0; i < 5; i++) {
    assert(limiter.take("a").allowed);
    limiter.refund("a");
  }
  for (let i = 0; i < 5; i++) limiter.refund("a");
  assertEquals([limiter.take("a"), limiter.take("a"), limiter.take("a")].map(({ allowed }) => allowed), [
    true,
    true,
    false,
  ]);
});

Deno.test("no window ever sees more than limit + refill, whatever the arrival times, also with a clock that steps back", () => {
  const random = createRandom(seedFromEnvironment());
  const clock = { now: 1_000_000 };
  const [limit, windowMs] = [20, 1000];
  const limiter = createRateLimiter("test", { limit, windowMs }, () => clock.now);
  const admitted: number[] = [];
  for (let i = 0; i < 5000; i++) {
    clock.now += random.chance(0.05) ? -random.below(30) : random.below(60);
    if (limiter.take("a").allowed) admitted.push(clock.now);
  }
  const sorted = admitted.sort((a, b) => a - b);
  for (const start of sorted) {
    const inWindow = sorted.filter((at) => at >= start && at < start + windowMs).length;
    assert(inWindow <= 2 * limit + 2, `seed ${random.seed}: ${inWindow} in one window`);
  }
});

Deno.test("the number of subjects is bounded", () => {
  const limiter = createRateLimiter("test", { limit: 1, windowMs: 1000 }, () => 0);
  limiter.take("first");
  for (let i = 0; i < 100_000; i++) limiter.take(`subject-${i}`);
  assert(limiter.take("first").allowed, "the oldest subject was forgotten");
  assert(!limiter.take("subject-99999").allowed, "a recent one was not");
});

Deno.test("an IPv6 network of /56 gets four times what one of its /64 gets, and other addresses stay as they are", () => {
  const limiter = createAddressLimiter("test", { limit: 3, windowMs: 3000 }, () => 0);
  const take = (subnet: number): boolean => limiter.take(`2001:db8:0:${subnet.toString(16)}::/64`).allowed;
  assertEquals([take(0), take(0), take(0), take(0)], [true, true, true, false]);
  const others = Array.from({ length: 20 }, (_, i) => take(i + 1));
  assertEquals(others.filter(Boolean).length, 9);
  limiter.refund("2001:db8:0:1::/64");
  assertEquals([take(1), take(2)], [true, false]);
  assertEquals(limiter.take("2001:db8:0:100::/64").allowed, true);
});

import { assert, assertEquals } from "@std/assert";
import { createAddressLimiter, createRateLimiter } from "./rate_limit.ts";

Deno.test("a decision says how much is left and when all is back; a refusal when the next one is allowed, and it is", () => {
  const clock = { now: 0 };
  const limit = { limit: 2, windowMs: 1000 };
  const limiter = createRateLimiter("test", limit, () => clock.now);
  assertEquals(limiter.take("a"), {
    allowed: true,
    policy: "test",
    ...limit,
    remaining: 1,
    resetMs: 500,
  });
  assertEquals(limiter.take("a"), {
    allowed: true,
    policy: "test",
    ...limit,
    remaining: 0,
    resetMs: 1000,
  });
  assertEquals(limiter.take("a"), {
    allowed: false,
    policy: "test",
    ...limit,
    remaining: 0,
    resetMs: 500,
  });
  clock.now = 499;
  assert(!limiter.take("a").allowed);
  clock.now = 500;
  assert(limiter.take("a").allowed);
  assert(limiter.take("b").allowed);
});

Deno.test("what is kept for others is refused, with the time until there is more than that, and they may take it", () => {
  const clock = { now: 0 };
  const limiter = createRateLimiter("test", { limit: 10, windowMs: 60_000 }, () => clock.now);
  const taken = Array.from({ length: 7 }, () => limiter.take("a", 5).allowed);
  assertEquals(taken.filter(Boolean).length, 5);
  assertEquals(limiter.take("a", 5).resetMs, 6000);
  for (let i = 0; i < 3; i++) assert(limiter.take("a").allowed);
  assertEquals(limiter.take("a", 5).resetMs, 24_000);
  limiter.refund("a");
  assertEquals(limiter.take("a", 5).resetMs, 18_000);
  clock.now = 18_000;
  assertEquals([
    limiter.take("a", 5).allowed,
    limiter.take("a", 5).allowed,
    limiter.take("a").allowed,
  ], [
    true,
    false,
    true,
  ]);
});

Deno.test("client addresses have their own, and an IPv6 network of /56 four times what one of its /64 has", () => {
  const limiter = createAddressLimiter("test", { limit: 3, windowMs: 3000 }, () => 0);
  const take = (subnet: number): boolean =>
    limiter.take(`2001:db8:0:${subnet.toString(16)}::/64`).allowed;
  assertEquals([take(0), take(0), take(0), take(0)], [true, true, true, false]);
  assertEquals(Array.from({ length: 20 }, (_, i) => take(i + 1)).filter(Boolean).length, 9);
  limiter.refund("2001:db8:0:1::/64");
  assertEquals([take(1), take(2)], [true, false]);
  assert(limiter.take("192.0.2.1").allowed);
});

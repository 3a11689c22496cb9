import { assertEquals, assertRejects } from "@std/assert";
import { type AttemptVerdict, createAttempts } from "./attempts.ts";
import { Fault } from "./fault.ts";
import { createAddressLimiter, createRateLimiter, type RateLimiter } from "./rate_limit.ts";

type Work = PromiseWithResolvers<{ isGood: boolean; value: string }>;

/** Works under way are settled by the test, in its order. */
function createScene(
  limit: number,
  create: (
    policy: string,
    rate: { limit: number; windowMs: number },
    clock: () => number,
  ) => RateLimiter = createRateLimiter,
): { works: Work[]; attempt(client?: string): Promise<AttemptVerdict<string>> } {
  const attempts = createAttempts(create("failures", { limit, windowMs: 60_000 }, () => 0));
  const works: Work[] = [];
  return {
    works,
    attempt: (client = "a") =>
      attempts(client).judge(() => {
        const work: Work = Promise.withResolvers();
        works.push(work);
        return work.promise;
      }),
  };
}

async function settle(work: Work | undefined, isGood: boolean): Promise<void> {
  work?.resolve({ isGood, value: "" });
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

Deno.test("good attempts above the limit wait for those under way and are all let in", async () => {
  const { works, attempt } = createScene(3);
  const all = Array.from({ length: 20 }, () => attempt());
  assertEquals(works.length, 3);
  for (let i = 0; i < 20; i++) {
    await settle(works[i], true);
    assertEquals(works.length, Math.min(20, i + 4));
  }
  assertEquals((await Promise.all(all)).map(({ outcome }) => outcome), Array(20).fill("judged"));
});

Deno.test("bad attempts in parallel get no more than the limit, and none waits for ever", async () => {
  const { works, attempt } = createScene(3);
  const all = Array.from({ length: 20 }, () => attempt());
  for (let i = 0; i < 3; i++) await settle(works[i], false);
  const outcomes = (await Promise.all(all)).map(({ outcome }) => outcome);
  assertEquals([works.length, outcomes.filter((outcome) => outcome === "limited").length], [3, 17]);
  assertEquals((await attempt()).outcome, "limited");
});

Deno.test("good attempts of several addresses of one IPv6 network wait for each other", async () => {
  const { works, attempt } = createScene(1, createAddressLimiter);
  const all = ["2001:db8::1", "2001:db8::2", "2001:db8::3"].map(attempt);
  for (let i = 0; i < 3; i++) await settle(works[i], true);
  assertEquals((await Promise.all(all)).map(({ outcome }) => outcome), Array(3).fill("judged"));
});

Deno.test("one client's attempts under way do not hold another's", async () => {
  const { works, attempt } = createScene(1);
  void attempt("a");
  const other = attempt("b");
  await settle(works[1], false);
  assertEquals((await other).outcome, "judged");
});

Deno.test("an outage is given back; a queue that the client's own crowd has filled is not", async () => {
  const { works, attempt } = createScene(1);
  for (const [isCallersOwn, left] of [[false, "judged"], [true, "limited"]] as const) {
    const failing = attempt();
    works.at(-1)?.reject(new Fault("overloaded", "try again", { isCallersOwn }));
    await assertRejects(() => failing, Fault);
    const next = attempt();
    await settle(works.at(-1), true);
    assertEquals((await next).outcome, left);
  }
});

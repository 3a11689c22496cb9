import { assertEquals } from "@std/assert";
import { after, every, within } from "./timers.ts";

Deno.test("after() runs once, and not when it was cancelled", async () => {
  const ran: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = after(0, () => ran.push("cancelled"));
  cancel();
  after(1, () => {
    ran.push("once");
    resolve();
  });
  await promise;
  assertEquals(ran, ["once"]);
});

Deno.test("after() waits for longer than a timer of the runtime can", async () => {
  const ran: string[] = [];
  const cancel = [2 ** 31, 1e15, Infinity].map((ms) => after(ms, () => ran.push(`after ${ms} ms`)));
  // wait: a timer beyond its range ends within a millisecond
  await new Promise<void>((resolve) => after(20, resolve));
  for (const each of cancel) each();
  assertEquals(ran, []);
});

Deno.test("every() begins no run before the last one has ended", async () => {
  const { promise: third, resolve: thirdBegan } = Promise.withResolvers<void>();
  let [running, most, runs] = [0, 0, 0];
  const stop = every(1, async () => {
    most = Math.max(most, ++running);
    // Three turns of the timer pass in this time.
    await new Promise<void>((resolve) => after(3, resolve));
    running--;
    if (++runs === 3) thirdBegan();
  });
  await third;
  stop();
  assertEquals(most, 1);
});

Deno.test("every() reports a run that failed to whoever guards the process, and begins the next", async () => {
  const { promise: second, resolve: secondBegan } = Promise.withResolvers<void>();
  const told: unknown[] = [];
  const guard = (event: ErrorEvent): void => {
    event.preventDefault();
    told.push(event.error);
  };
  globalThis.addEventListener("error", guard);
  const failure = new Error("this run failed");
  let runs = 0;
  const stop = every(1, () => {
    if (++runs === 1) return Promise.reject(failure);
    secondBegan();
    return Promise.resolve();
  });
  await second;
  stop();
  globalThis.removeEventListener("error", guard);
  assertEquals(told, [failure]);
});

Deno.test("within() says whether work was done in time", async () => {
  assertEquals(await within(1_000, Promise.resolve()), true);
  assertEquals(await within(0, new Promise(() => {})), false);
});

import { assert, assertEquals } from "@std/assert";
import { SharedTimer } from "./shared_timer.ts";

function waitOn(timer: SharedTimer, ms: number): Promise<number> {
  const fromMs = performance.now();
  return new Promise((resolve) => timer.after(ms, () => resolve(performance.now() - fromMs)));
}

Deno.test("waits that share a timer end in their order, never early", async () => {
  const timer = new SharedTimer();
  const ended: number[] = [];
  const waits = [700, 10, 350].map(async (ms) => {
    const tookMs = await waitOn(timer, ms);
    ended.push(ms);
    assert(tookMs >= ms, `${ms} ms ended after ${tookMs}`);
  });
  await Promise.all(waits);
  assertEquals(ended, [10, 350, 700]);
});

Deno.test("a wait that is cancelled does not run, not even by another one that ends in the same moment", async () => {
  const timer = new SharedTimer();
  let ran = 0;
  const cancels: (() => void)[] = [];
  const both = (): void => {
    ran++;
    for (const cancel of cancels) cancel();
  };
  cancels.push(timer.after(1, both), timer.after(1, both));
  await waitOn(timer, 600);
  assertEquals(ran, 1);
});

Deno.test("a wait beyond what setTimeout takes does not end at once", async () => {
  const timer = new SharedTimer();
  let ran = 0;
  const cancel = timer.after(3_000_000_000, () => ran++);
  await waitOn(timer, 1);
  assertEquals(ran, 0);
  cancel();
});

Deno.test("waits that were cancelled do not keep a process alive, and waits that were not do", async () => {
  const module = new URL("./shared_timer.ts", import.meta.url);
  const run = async (code: string): Promise<{ readonly text: string; readonly ms: number }> => {
    const fromMs = performance.now();
    const args = [
      "eval",
      "--no-check",
      `const { SharedTimer } = await import("${module}"); const timer = new SharedTimer(); ${code}`,
    ];
    const { stdout, success } = await new Deno.Command(Deno.execPath(), { args }).output();
    assert(success);
    return { text: new TextDecoder().decode(stdout).trim(), ms: performance.now() - fromMs };
  };
  const cancelled = await run(`timer.after(120_000, () => {})(); console.log("over")`);
  assertEquals(cancelled.text, "over");
  assert(cancelled.ms < 100_000);
  const kept = await run(
    `timer.after(120_000, () => {})(); timer.after(500, () => console.log("ran"))`,
  );
  assertEquals(kept.text, "ran");
});

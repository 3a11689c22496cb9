import { assertEquals } from "@std/assert";
import { createRateLimiter } from "./rate_limit.ts";
import { createResets, type Resets } from "./resets.ts";

interface Scene {
  readonly resets: Resets;
  /** In the order in which they were worked on, each until the test settles it. */
  readonly works: { readonly email: string; readonly settle: PromiseWithResolvers<boolean> }[];
  readonly dropped: string[];
}

function createScene({ places = 3, mails = 2 } = {}): Scene {
  const [works, dropped]: [Scene["works"], string[]] = [[], []];
  const resets = createResets({
    places,
    elapsedMs: () => 0,
    askReset: (email) => {
      const settle = Promise.withResolvers<boolean>();
      works.push({ email, settle });
      return settle.promise;
    },
    mailClients: createRateLimiter("mail", { limit: mails, windowMs: 3_600_000 }, () => 0),
    onDropped: (reason) => dropped.push(reason),
  });
  return { resets, works, dropped };
}

async function settle({ works }: Scene, isSent: boolean | Error): Promise<void> {
  const work = works.at(-1)?.settle;
  if (isSent instanceof Error) work?.reject(isSent);
  else work?.resolve(isSent);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

Deno.test("requests for a reset are worked on one at a time, in turn between clients, and a client that floods drops its own", async () => {
  const scene = createScene();
  const { resets, works, dropped } = scene;
  for (const email of ["a1", "a2", "a3", "a4", "a5", "a6"]) resets.ask({ email, address: "192.0.2.1" });
  resets.ask({ email: "b1", address: "192.0.2.2" });
  assertEquals([works.length, dropped], [1, ["too many wait", "too many wait", "too many wait"]]);
  for (let i = 0; i < 4; i++) await settle(scene, false);
  assertEquals(works.map(({ email }) => email), ["a1", "b1", "a5", "a6"]);
});

Deno.test("a client pays for mails that are sent, not for requests, and a failure stops nobody else's", async () => {
  const scene = createScene({ places: 20 });
  const { resets, works, dropped } = scene;
  const outcomes = [false, new Error("no database"), false, true, false, true];
  for (let i = 0; i < 8; i++) resets.ask({ email: `a${i}`, address: "192.0.2.1" });
  for (const outcome of outcomes) await settle(scene, outcome);
  assertEquals([works.length, dropped], [6, [
    "failed",
    "too many mails of its client",
    "too many mails of its client",
  ]]);
  resets.ask({ email: "b", address: "192.0.2.2" });
  assertEquals(works.at(-1)?.email, "b");
});

Deno.test("stop() waits for the one under way and drops the others", async () => {
  const scene = createScene();
  const { resets, works, dropped } = scene;
  for (const email of ["a1", "a2", "a3"]) resets.ask({ email, address: "192.0.2.1" });
  const stopped = resets.stop();
  await settle(scene, true);
  await stopped;
  assertEquals([works.length, dropped], [1, ["the service stops", "the service stops"]]);
});

import { assertEquals } from "@std/assert";
import { createRateLimiter } from "./rate_limit.ts";
import { createResets, type Resets } from "./resets.ts";

interface Scene {
  readonly resets: Resets;
  /** In the order in which they were worked on, each until the test settles it. */
  readonly works: { readonly email: string; readonly settle: PromiseWithResolvers<void> }[];
  readonly dropped: string[];
}

function createScene({ places = 3, requests = 20 } = {}): Scene {
  const [works, dropped]: [Scene["works"], string[]] = [[], []];
  const resets = createResets({
    places,
    elapsedMs: () => 0,
    askReset: (email) => {
      const settle = Promise.withResolvers<void>();
      works.push({ email, settle });
      return settle.promise;
    },
    clients: createRateLimiter("resets", { limit: requests, windowMs: 3_600_000 }, () => 0),
    onDropped: (reason) => dropped.push(reason),
  });
  return { resets, works, dropped };
}

async function settle({ works }: Scene, failure?: Error): Promise<void> {
  const work = works.at(-1)?.settle;
  if (failure === undefined) work?.resolve();
  else work?.reject(failure);
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

Deno.test("requests for a reset are worked on one at a time, in turn between clients, and a client that floods drops its own", async () => {
  const scene = createScene();
  const { resets, works, dropped } = scene;
  for (const email of ["a1", "a2", "a3", "a4", "a5", "a6"]) {
    resets.ask({ email, address: "192.0.2.1" });
  }
  resets.ask({ email: "b1", address: "192.0.2.2" });
  assertEquals([works.length, dropped], [1, ["too many wait", "too many wait", "too many wait"]]);
  for (let i = 0; i < 4; i++) await settle(scene);
  assertEquals(works.map(({ email }) => email), ["a1", "b1", "a5", "a6"]);
});

Deno.test("a client pays for requests, whatever comes of them, and a failure stops nobody else's", async () => {
  const scene = createScene({ places: 20, requests: 4 });
  const { resets, works, dropped } = scene;
  for (let i = 0; i < 6; i++) resets.ask({ email: `a${i}`, address: "192.0.2.1" });
  assertEquals(dropped, Array(2).fill("too many of its client"));
  for (const outcome of [undefined, new Error("no database"), undefined, undefined]) {
    await settle(scene, outcome);
  }
  assertEquals([works.length, dropped.slice(2)], [4, ["failed"]]);
  resets.ask({ email: "a7", address: "192.0.2.1" });
  resets.ask({ email: "b", address: "192.0.2.2" });
  assertEquals([works.length, works.at(-1)?.email], [5, "b"]);
});

Deno.test("stop() waits for the one under way and drops the others", async () => {
  const scene = createScene();
  const { resets, works, dropped } = scene;
  for (const email of ["a1", "a2", "a3"]) resets.ask({ email, address: "192.0.2.1" });
  const stopped = resets.stop();
  await settle(scene);
  await stopped;
  assertEquals([works.length, dropped], [1, ["the service stops", "the service stops"]]);
});

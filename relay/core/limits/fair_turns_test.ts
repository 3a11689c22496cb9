/** Turns between accounts, the budget of each, and how many entries of one are under way. */
import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { parseAccountId } from "../../../proto/mod.ts";
import { AppendGate } from "./append_gate.ts";
import { FairTurns } from "./fair_turns.ts";
import { Actor } from "../testing/actors.ts";
import { refused, worldTest } from "../testing/scene.ts";
import { accountOf } from "../testing/world.ts";

/** Turns that the test takes by hand. */
function byHand(turnCost = 10, shareCost = 2): { turns: FairTurns; next: () => Promise<void> } {
  const soon: (() => void)[] = [];
  const turns = new FairTurns({ soon: (run) => soon.push(run), turnCost, shareCost });
  const next = async (): Promise<void> => {
    for (const run of soon.splice(0)) run();
    await undefined;
    await undefined;
  };
  return { turns, next };
}

Deno.test("who is alone waits only when a turn is full, and nothing is reordered", async () => {
  const { turns, next } = byHand();
  const begun: number[] = [];
  for (let i = 0; i < 25; i++) {
    const turn = turns.take("a", 1);
    if (turn === undefined) begun.push(i);
    else void turn.then(() => begun.push(i));
  }
  assertEquals([begun.length, turns.waiting], [10, 15]);
  await next();
  assertEquals(begun.length, 20);
  await next();
  assertEquals(begun, Array.from({ length: 25 }, (_, i) => i));
});

Deno.test("who has had nothing of a turn begins at once, although others have filled it", () => {
  const { turns } = byHand();
  for (let i = 0; i < 1_000; i++) void turns.take(i % 2 === 0 ? "noisy" : "loud", 1);
  assertEquals(turns.take("quiet", 1), undefined);
  // Once, and only what is small.
  assertEquals(turns.take("quiet", 1) instanceof Promise, true);
  assertEquals(turns.take("greedy", 6) instanceof Promise, true);
  const begun = ["b", "c", "d", "e", "f", "g"].filter((account) =>
    turns.take(account, 1) === undefined
  );
  assertEquals(begun, ["b", "c", "d", "e"]);
});

Deno.test("while several ask a turn is short, and again long when one has been alone for a while", async () => {
  const soon: (() => void)[] = [];
  const turns = new FairTurns({
    soon: (run) => soon.push(run),
    turnCost: 10,
    sharedTurnCost: 2,
    shareCost: 2,
  });
  const begunBy = async (account: string): Promise<number> => {
    let begun = 0;
    for (let i = 0; i < 20; i++) if (turns.take(account, 1) === undefined) begun++;
    while (turns.waiting > 0) soon.splice(0).forEach((run) => run());
    await undefined;
    soon.splice(0).forEach((run) => run());
    return begun;
  };
  assertEquals(await begunBy("a"), 10);
  assertEquals(await begunBy("b"), 2);
  assertEquals(await begunBy("a"), 2);
  for (let i = 0; i < 20; i++) await begunBy("a");
  assertEquals(await begunBy("a"), 10);
});

Deno.test("work that asks for more turns while it begins waits behind its account's others, and loses nothing", async () => {
  const { turns, next } = byHand(4, 2);
  const begun: string[] = [];
  void turns.take("a", 4);
  turns.run("a", 1, () => {
    begun.push("first");
    turns.run("a", 1, () => begun.push("third"));
  });
  turns.run("a", 1, () => begun.push("second"));
  for (let turn = 0; turn < 3; turn++) await next();
  assertEquals([begun, turns.waiting], [["first", "second", "third"], 0]);
});

Deno.test("who asks little begins in the next turn, however much others have waiting", async () => {
  const { turns, next } = byHand();
  turns.take("quiet", 1);
  const begun: string[] = [];
  const take = (account: string, cost: number): void => {
    const turn = turns.take(account, cost);
    if (turn === undefined) begun.push(account);
    else void turn.then(() => begun.push(account));
  };
  for (let i = 0; i < 1_000; i++) take(i % 2 === 0 ? "noisy" : "loud", 1);
  take("quiet", 1);
  begun.length = 0;
  await next();
  assertEquals(begun.includes("quiet"), true);
  assertEquals(begun.length, 11);
});

Deno.test("something large has its turn after some rounds, and holds up nobody", async () => {
  const { turns, next } = byHand();
  turns.take("filler", 10);
  const begun: string[] = [];
  void turns.take("large", 9)?.then(() => begun.push("large"));
  for (let i = 0; i < 30; i++) void turns.take("small", 1)?.then(() => begun.push("small"));
  for (let turn = 0; turn < 4; turn++) await next();
  assertGreater(begun.indexOf("large"), 5);
  assertLess(begun.indexOf("large"), 20);
});

Deno.test("one account has a bounded number of entries under way, and another passes at once", async () => {
  const [noisy, quiet] = [1, 2].map((number) => parseAccountId(accountOf(number)));
  if (noisy === undefined || quiet === undefined) throw new Error("two accounts");
  const gate = new AppendGate();
  const [begun, held]: [number[], (() => void)[]] = [[], []];
  const appends = Array.from({ length: 300 }, (_, i) =>
    gate.pass(noisy, () => {
      begun.push(i);
      return new Promise<void>((resolve) => held.push(resolve));
    }));
  assertEquals(begun.length, 256);
  await gate.pass(quiet, () => Promise.resolve());
  for (let i = 0; i < 300; i++) {
    held[i]?.();
    await appends[i];
  }
  assertEquals(begun, Array.from({ length: 300 }, (_, i) => i));
});

worldTest(
  "an account that asks for too much work is told when to come again, and its messages go on",
  async (world) => {
    const alice = await Actor.connect(world, 1);
    const channelId = await alice.createChannel();
    const upload = (number: number): Promise<unknown> =>
      alice.client.call("UploadKeyPackage", {
        keyPackages: [alice.keyPackage(number)],
        replace: false,
      });
    let number = 0;
    while (await upload(number).then(() => true, () => false)) number++;
    assertLess(number, 20);
    const { body } = await refused("rate_limited", upload(number));
    await alice.send(channelId, 0, 1);
    await (await Actor.connect(world, 2)).createChannel();
    assertEquals(world.meter.requestsOverBudget, 2);
    await world.time.advance(body.retryAfterMs ?? 0);
    await upload(number);
  },
  { config: { accountWorkMs: 10, accountWorkMsPerSecond: 1 } },
);

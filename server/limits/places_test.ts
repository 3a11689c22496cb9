import { assert, assertEquals } from "@std/assert";
import { type Newcomer, type Place, Places } from "./mod.ts";

const minimumMs = 3_000;

/** A world of few places with simulated time. */
class World {
  readonly places: Places<number>;
  nowMs = 0;
  #guests = 0;

  constructor(total: number) {
    this.places = new Places({ total, minimumMs, random: () => 0 });
  }

  wait(ms: number): void {
    this.nowMs += ms;
  }

  try(party: string, given: Partial<Newcomer<number>> = {}): ReturnType<Places<number>["enter"]> {
    return this.places.enter({ party, holder: ++this.#guests, standing: "unfinished", ...given }, this.nowMs);
  }

  enter(party: string, given: Partial<Newcomer<number>> = {}): Place<number> {
    const entered = this.try(party, given);
    assert(entered.kind === "in", `${party} was refused`);
    return entered.place;
  }

  /** The party that lost a place, or how long to wait. */
  displacedBy(party: string, given: Partial<Newcomer<number>> = {}): string | number | undefined {
    const entered = this.try(party, given);
    return entered.kind === "in" ? entered.displaced?.party : entered.retryAfterMs;
  }

  fail(party: string, times: number): void {
    for (let time = 0; time < times; time++) this.places.leave(this.enter(party), "unfinished", this.nowMs);
  }
}

Deno.test("everybody enters while there are places, and the party with most gives one up when there are none", () => {
  const world = new World(4);
  for (const party of ["a", "a", "a", "b"]) world.enter(party);
  world.wait(minimumMs);
  assertEquals(world.displacedBy("c"), "a");
  assertEquals([world.places.size, world.places.heldBy("a")], [4, 2]);
});

Deno.test("a newcomer is safe for the minimum of time, and others learn when to come again", () => {
  const world = new World(2);
  world.enter("a");
  world.wait(1_000);
  world.enter("b");
  assertEquals(world.displacedBy("c"), minimumMs - 1_000);
  world.wait(minimumMs - 1_000);
  assertEquals(world.displacedBy("c"), "a");
});

Deno.test("a crowd that leaves things unfinished is safe with one place only", () => {
  const world = new World(3);
  world.fail("crowd", 2);
  for (const party of ["crowd", "crowd", "honest"]) world.enter(party);
  assertEquals(world.displacedBy("newcomer"), "crowd");
  assertEquals(world.displacedBy("another"), minimumMs);
});

Deno.test("nobody gains by coming more often: the party above all others loses only its own", () => {
  const world = new World(4);
  for (const party of ["a", "a", "a", "b"]) world.enter(party);
  world.wait(minimumMs);
  assertEquals(world.displacedBy("a"), "a");
  assertEquals(world.places.heldBy("b"), 1);
});

Deno.test("failures are half forgotten in ten minutes", () => {
  const world = new World(2);
  world.fail("a", 3);
  world.enter("a");
  world.enter("b");
  world.wait(minimumMs);
  assertEquals(world.displacedBy("c"), "a");
  world.wait(60 * 60_000);
  assertEquals(world.displacedBy("a"), "b");
});

Deno.test("inside a party the unfinished go first, then the idle, then sessions without a subscription, the youngest first", () => {
  const world = new World(6);
  const kept = world.enter("a", { standing: "kept" });
  world.wait(1);
  const older = world.enter("a", { standing: "plain" });
  world.wait(1);
  const younger = world.enter("a", { standing: "plain" });
  const busy = world.enter("a", { standing: "busy" });
  const idle = world.enter("a", { standing: "idle" });
  const unfinished = world.enter("a");
  world.wait(minimumMs);
  const order = Array.from({ length: 5 }, (_, index) => {
    const entered = world.try(`n${index}`);
    assert(entered.kind === "in");
    return entered.displaced;
  });
  assertEquals(order, [unfinished, idle, younger, older, kept]);
  // Our own work is nobody's victim, and those that came now are safe.
  assertEquals([world.displacedBy("n9"), busy.standing], [minimumMs, "busy"]);
});

Deno.test("free accounts make room for paying ones until they hold a quarter, and never the other way round", () => {
  const world = new World(8);
  const paying = { standing: "kept", isPaying: true, weight: 8 } as const;
  for (let count = 0; count < 6; count++) {
    world.enter(`free${count}`, { standing: "kept" });
    world.wait(1);
  }
  for (let count = 0; count < 2; count++) world.enter("company", paying);
  world.wait(minimumMs);
  const lost = Array.from({ length: 4 }, () => world.displacedBy("company", paying));
  assertEquals(lost, ["free5", "free4", "free3", "free2"]);
  assertEquals([world.places.heldBy("company"), world.places.size], [6, 8]);
  world.wait(minimumMs);
  assertEquals(world.displacedBy("company", paying), "company");
  assertEquals(world.displacedBy("free9", { standing: "kept" }), "free1");
});

Deno.test("the lowest score has the next turn, and of equal ones the longest", () => {
  const world = new World(10);
  for (const party of ["a", "a", "a", "b", "c"]) {
    world.enter(party);
    world.wait(1);
  }
  const turns = Array.from({ length: 6 }, () => world.places.next(world.nowMs)?.party);
  assertEquals(turns, ["b", "c", "a", "a", "a", undefined]);
});

Deno.test("a place that is held no more can be left again, and stands as it did", () => {
  const world = new World(1);
  const first = world.enter("a");
  world.wait(minimumMs);
  assertEquals(world.displacedBy("b"), "a");
  world.places.leave(first, "unfinished", world.nowMs);
  assertEquals([world.places.stand(first, "busy", world.nowMs), world.places.size], [first, 1]);
});

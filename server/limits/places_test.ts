import { assert, assertEquals, assertThrows } from "@std/assert";
import { type Newcomer, type Place, Places, type PlacesOptions } from "./mod.ts";

const minimumMs = 3_000;

/** A world of few places with simulated time. */
class World {
  readonly places: Places<number>;
  nowMs = 0;
  #guests = 0;

  constructor(total: number, options: Pick<PlacesOptions, "safe"> = {}) {
    this.places = new Places({ total, minimumMs, random: () => 0, ...options });
  }

  wait(ms: number): void {
    this.nowMs += ms;
  }

  try(party: string, given: Partial<Newcomer<number>> = {}): ReturnType<Places<number>["enter"]> {
    return this.places.enter(
      { party, holder: ++this.#guests, standing: "unfinished", ...given },
      this.nowMs,
    );
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
    for (let time = 0; time < times; time++) {
      this.places.leave(this.enter(party), "unfinished", this.nowMs);
    }
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

Deno.test("a crowd that leaves things unfinished is safe from nobody but its own kind, and there with one place", () => {
  const world = new World(3);
  for (const party of ["crowd", "other"]) world.fail(party, 3);
  for (const party of ["crowd", "crowd", "honest"]) world.enter(party);
  assertEquals(["a", "b", "c"].map((party) => world.displacedBy(party)), [
    "crowd",
    "crowd",
    minimumMs,
  ]);
  const alone = new World(1);
  for (const party of ["crowd", "other"]) alone.fail(party, 3);
  alone.enter("crowd");
  assertEquals(alone.displacedBy("other"), minimumMs);
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

Deno.test("free accounts make room for paying ones until they hold a quarter", () => {
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

Deno.test("paying accounts make room for free ones until these hold a quarter, unless they stay within their weight", () => {
  const paying = { standing: "kept", isPaying: true, weight: 2 } as const;
  const world = new World(8);
  for (let count = 0; count < 6; count++) world.enter("large", paying);
  for (let count = 0; count < 2; count++) world.enter("small", paying);
  world.wait(minimumMs);
  const lost = ["free1", "free2", "free3"].map((party) =>
    world.displacedBy(party, { standing: "kept" })
  );
  assertEquals(lost, ["large", "large", minimumMs]);
  assertEquals(world.places.heldBy("small"), 2);
});

Deno.test("where only an only place is safe, the party with most gives one up at once", () => {
  const world = new World(3, { safe: "only" });
  for (const party of ["a", "a", "b"]) world.enter(party, { standing: "plain" });
  const newcomer = { party: "c", holder: 0, standing: "plain" } as const;
  assertEquals([world.places.judge(newcomer, world.nowMs).kind, world.places.heldBy("a")], [
    "in",
    2,
  ]);
  assertEquals(world.displacedBy("c", { standing: "plain" }), "a");
  assertEquals(world.displacedBy("d", { standing: "plain" }), minimumMs);
  const refused = { kind: "refused", retryAfterMs: minimumMs } as const;
  assertEquals(world.places.judge({ ...newcomer, party: "d" }, world.nowMs), refused);
});

Deno.test("a party that is spared loses nothing, and then only a place of the newcomer's own party may go", () => {
  const world = new World(4);
  for (const party of ["owner", "owner", "owner", "visitors"]) world.enter(party);
  assertEquals(world.displacedBy("visitors", { spares: "owner" }), minimumMs);
  world.wait(minimumMs);
  assertEquals(world.displacedBy("visitors", { spares: "owner" }), "visitors");
  assertEquals(world.displacedBy("visitors"), "owner");
});

Deno.test("a newcomer that leaves free places to others enters as if they were taken", () => {
  const world = new World(3);
  world.enter("a");
  world.enter("b");
  assertEquals(world.displacedBy("c", { leaves: 1 }), minimumMs);
  world.wait(minimumMs);
  assertEquals([world.displacedBy("c", { leaves: 1 }), world.places.size], ["a", 2]);
  assertEquals(world.displacedBy("a"), undefined);
});

Deno.test("a session that lies idle is as old as it was", () => {
  const world = new World(1);
  const session = world.enter("a", { standing: "plain" });
  world.wait(minimumMs);
  assertEquals(world.places.firstOf("a", "idle"), undefined);
  world.places.stand(session, "idle", world.nowMs);
  assertEquals(world.places.firstOf("a", "idle"), session);
  assertEquals(world.displacedBy("b"), "a");
});

Deno.test("parties take turns, and a crowd of one waits behind everybody that has fewer", () => {
  const world = new World(10);
  for (const party of ["a", "a", "a", "b", "c"]) {
    world.enter(party);
    world.wait(1);
  }
  assertEquals([1, 2].map(() => world.places.next(world.nowMs)?.party), ["a", "b"]);
  world.enter("d");
  const turns = Array.from({ length: 5 }, () => world.places.next(world.nowMs)?.party);
  assertEquals(turns, ["c", "d", "a", "a", undefined]);
});

Deno.test("one that comes for the first time passes a crowd whose attempts have failed, turn after turn", () => {
  const world = new World(100);
  const crowd = Array.from({ length: 60 }, (_, i) => `guesser ${i}`);
  for (const guesser of crowd) {
    for (let failed = 0; failed < 4; failed++) world.places.blame(guesser, world.nowMs);
    world.enter(guesser);
  }
  for (let turn = 0; turn < 100; turn++) {
    world.wait(5);
    world.enter(`newcomer ${turn}`);
    assertEquals(world.places.next(world.nowMs)?.party, `newcomer ${turn}`);
  }
});

Deno.test("a party with many that wait has its turns, although others come again and again with one each", () => {
  const world = new World(100);
  for (let i = 0; i < 10; i++) world.enter("office");
  const others = Array.from({ length: 8 }, (_, i) => `other ${i}`);
  for (const other of others) world.enter(other);
  for (let turn = 0; turn < 10 * (others.length + 1); turn++) {
    world.wait(5);
    const party = world.places.next(world.nowMs)?.party ?? "";
    if (party !== "office") world.enter(party);
  }
  assertEquals(world.places.heldBy("office"), 0);
});

Deno.test("a place that is held no more can be left again, and counts no more", () => {
  const world = new World(1);
  const first = world.enter("a");
  world.wait(minimumMs);
  assertEquals(world.displacedBy("b"), "a");
  world.places.leave(first, "unfinished", world.nowMs);
  world.places.stand(first, "busy", world.nowMs);
  assertEquals([first.standing, world.places.size, world.places.heldBy("b")], ["unfinished", 1, 1]);
});

Deno.test("nobody keeps places from others by using them: the minimum counts from when they came", () => {
  const world = new World(3);
  const held = ["a", "a", "b"].map((party) => world.enter(party));
  for (let turn = 0; turn < 4; turn++) {
    world.wait(minimumMs / 2);
    for (const place of held) {
      world.places.stand(place, turn % 2 === 0 ? "idle" : "unfinished", world.nowMs);
    }
  }
  assertEquals(world.displacedBy("c"), "a");
});

Deno.test("something that has just begun goes after the idle ones, and something slow before them", () => {
  for (const [begunMs, first] of [[0, "begun"], [minimumMs, "idle"]] as const) {
    const world = new World(2);
    const begun = world.enter("a", { standing: "idle" });
    const idle = world.enter("a", { standing: "idle" });
    world.wait(begunMs);
    world.places.stand(begun, "unfinished", world.nowMs);
    world.wait(minimumMs - begunMs);
    const entered = world.try("b");
    assert(entered.kind === "in");
    assertEquals(entered.displaced, first === "begun" ? begun : idle);
  }
});

Deno.test("a crowd that finishes everything and is always young keeps nothing from newcomers", () => {
  const world = new World(20);
  for (let count = 0; count < 19; count++) world.enter("crowd");
  world.enter("b");
  assertEquals([world.displacedBy("c"), world.places.heldBy("b")], ["crowd", 1]);
});

Deno.test("a party does not end what it has just begun itself", () => {
  const world = new World(3);
  world.fail("office", 5);
  for (const party of ["office", "office", "b"]) world.enter(party);
  assertEquals(world.displacedBy("office"), minimumMs);
  world.wait(minimumMs);
  assertEquals(world.displacedBy("office"), "office");
});

Deno.test("a party that is to blame has its turn after the others, and makes room for them", () => {
  const world = new World(3);
  for (const party of ["a", "guesser", "b"]) world.enter(party);
  world.places.blame("guesser", world.nowMs);
  world.wait(minimumMs);
  assertEquals(world.displacedBy("c"), "guesser");
  world.places.blame("a", world.nowMs);
  assertEquals([1, 2, 3].map(() => world.places.next(world.nowMs)?.party), ["b", "c", "a"]);
});

Deno.test("a place whose minimum ends at a fraction of a moment is safe no more at that moment", () => {
  const world = new World(1);
  world.wait(812.745);
  world.enter("a");
  world.nowMs = 3_812.745;
  assertEquals(world.displacedBy("b"), "a");
});

Deno.test("a party's weight is above 0", () => {
  for (const weight of [0, -1, NaN]) {
    assertThrows(() => new World(1).enter("a", { weight }), RangeError, "above 0");
  }
});

import { assert, assertEquals } from "@std/assert";
import type { EndReason } from "./core/client_link.ts";
import { type Stranger, Strangers } from "./strangers.ts";

/** Strangers of addresses in simulated time. */
class World {
  readonly strangers: Strangers;
  readonly ended: [string, EndReason["code"]][] = [];
  #nowMs = 0;

  constructor(total: number) {
    this.strangers = new Strangers(total, () => this.#nowMs);
  }

  wait(ms: number): void {
    this.#nowMs += ms;
  }

  admit(address: string): Stranger | { readonly refused: EndReason } {
    return this.strangers.admit(address, ({ code }) => this.ended.push([address, code]));
  }

  enter(address: string): Stranger {
    const stranger = this.admit(address);
    assert(!("refused" in stranger), `${address} was refused`);
    return stranger;
  }
}

Deno.test("a newcomer takes the place of a crowd that does not authenticate, and the crowd learns why", () => {
  const world = new World(18);
  for (let count = 0; count < 18; count++) world.enter("192.0.2.1");
  world.wait(3_000);
  world.enter("198.51.100.7");
  assertEquals(world.ended, [["192.0.2.1", "overloaded"]]);
  assertEquals([world.strangers.size, world.strangers.refused], [18, 1]);
});

Deno.test("a newcomer has three seconds to authenticate, and others learn when to come again", () => {
  const world = new World(1);
  world.enter("192.0.2.1");
  world.wait(1_000);
  const second = world.admit("198.51.100.7");
  assert("refused" in second);
  const { code, retryAfterMs = 0 } = second.refused;
  assert(
    code === "overloaded" && retryAfterMs >= 2_000 && retryAfterMs <= 4_000,
    `${code} ${retryAfterMs}`,
  );
  assertEquals(world.ended, []);
});

Deno.test("a login that the relay broke off itself is not blamed on its address", () => {
  const world = new World(4);
  for (let count = 0; count < 3; count++) {
    world.enter("192.0.2.1").gone({ code: "relay_draining", message: "The relay stops" });
    world.enter("203.0.113.9").gone({ code: "auth_failed", message: "No such key" });
  }
  for (let count = 0; count < 2; count++) world.enter("192.0.2.1");
  for (let count = 0; count < 2; count++) world.enter("203.0.113.9");
  world.wait(1);
  world.enter("198.51.100.7");
  assertEquals(world.ended, [["203.0.113.9", "overloaded"]]);
});

Deno.test("an address that authenticates keeps its crowd; one whose logins break off does not", () => {
  const world = new World(4);
  for (let count = 0; count < 3; count++) world.enter("192.0.2.1").known();
  for (let count = 0; count < 3; count++) world.enter("203.0.113.9").gone(undefined);
  for (let count = 0; count < 2; count++) world.enter("192.0.2.1");
  for (let count = 0; count < 2; count++) world.enter("203.0.113.9");
  world.wait(1);
  world.enter("198.51.100.7");
  assertEquals(world.ended, [["203.0.113.9", "overloaded"]]);
});

Deno.test("a network of IPv6 is one party", () => {
  const world = new World(3);
  for (const network of [1, 2]) world.enter(`2001:db8:0:${network}::1`);
  world.enter("192.0.2.1");
  world.wait(3_000);
  world.enter("198.51.100.7");
  assertEquals(world.ended, [["2001:db8:0:1::1", "overloaded"]]);
});

import { assert, assertEquals } from "@std/assert";
import {
  type ConnectionLimits,
  Connections,
  socketsFor,
  type TrackedConnection,
} from "./connections.ts";

const minimumMs = 3;
const local = "203.0.113.1";

/** A port with a few places, in simulated time. Sockets close at once. */
class Port {
  readonly ended: string[] = [];
  readonly #connections: Connections;
  #nowMs = 0;

  constructor(limits: Partial<ConnectionLimits> = {}) {
    const usual = {
      connections: 3,
      minimumMs,
      headMs: 10,
      idleMs: 100,
      requestMs: 50,
      isProxy: () => false,
    };
    const clock = { nowMs: () => this.#nowMs, random: () => 0 };
    this.#connections = new Connections({ ...usual, ...limits }, clock);
  }

  get size(): number {
    return this.#connections.size;
  }

  try(name: string, peer = "192.0.2.1"): TrackedConnection | undefined {
    const connection = this.#connections.open({ peer, local }, (why) => {
      this.ended.push(`${name} ${why}`);
      connection?.closed();
    });
    return connection;
  }

  open(name: string, peer?: string): TrackedConnection {
    const connection = this.try(name, peer);
    assert(connection !== undefined, `${name} was refused`);
    return connection;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
    this.#connections.tick();
  }
}

Deno.test("a head, a pause and a request each have their time", () => {
  const port = new Port();
  port.open("silent");
  const idle = port.open("idle");
  port.open("busy").begin("body");
  idle.begin("work")("over");
  port.pass(11);
  assertEquals(port.ended, ["silent late"]);
  port.pass(40);
  assertEquals(port.ended, ["silent late", "busy late"]);
  port.pass(50);
  assertEquals(port.ended, ["silent late", "busy late", "idle late"]);
});

Deno.test("four addresses that hold all places with unfinished bodies keep no newcomer out", () => {
  const port = new Port({ connections: 8 });
  for (let place = 0; place < 8; place++) {
    port.open(`attacker ${place}`, `192.0.2.${place % 4}`).begin("body");
  }
  assertEquals(port.try("too early", "198.51.100.1"), undefined);
  port.pass(minimumMs);
  for (let count = 0; count < 20; count++) {
    const newcomer = port.open(`newcomer ${count}`, `198.51.100.${count}`);
    const reach = newcomer.begin("body");
    // An attacker comes back at once.
    port.try(`again ${count}`, `192.0.2.${count % 4}`)?.begin("body");
    port.pass(1);
    reach("work");
    reach("over");
    newcomer.closed();
  }
  assertEquals(port.ended.filter((ended) => ended.startsWith("newcomer")), []);
});

Deno.test("those that hold places with requests that they do finish keep no newcomer out either", () => {
  const port = new Port({ connections: 4 });
  const held = [0, 1, 2, 3].map((place) => port.open(`attacker ${place}`, `192.0.2.${place % 2}`));
  for (let turn = 0; turn < 10; turn++) {
    for (const connection of held) connection.begin("work")("over");
    port.pass(1);
  }
  port.open("newcomer", "198.51.100.1");
  assertEquals(port.ended.length, 1);
});

Deno.test("a request that we work on is nobody's victim, and one whose answer is not read is the first", () => {
  const port = new Port();
  const [working, unread, idle] = ["working", "unread", "idle"].map((name) =>
    port.open(name).begin("work")
  );
  idle?.("over");
  unread?.("answer");
  port.pass(minimumMs);
  for (const newcomer of [1, 2]) port.open(`${newcomer}`, `198.51.100.${newcomer}`);
  assertEquals(port.ended, ["unread displaced", "idle displaced"]);
  assertEquals(port.try("3", "198.51.100.3"), undefined);
  // It goes on, and never back.
  working?.("over");
  working?.("work");
  port.open("3", "198.51.100.3");
  assertEquals(port.ended.at(-1), "working displaced");
});

Deno.test("IPv6 clients of one network are one party", () => {
  const port = new Port();
  port.open("other", "2001:db8:1::1");
  for (const host of [1, 2]) port.open(`${host}`, `2001:db8::${host}:0:0:0:1`);
  port.pass(minimumMs);
  port.open("newcomer", "2001:db8:2::1");
  assertEquals(port.ended, ["1 displaced"]);
});

Deno.test("a listed proxy and this machine itself lose no place to strangers, only the slowest to their own", () => {
  for (const peer of ["192.0.2.80", local]) {
    const port = new Port({ isProxy: (address) => address === "192.0.2.80" });
    const [slow, quick] = [port.open("slow", peer), port.open("quick", peer)];
    slow.begin("body");
    port.open("stranger", "198.51.100.1");
    port.pass(minimumMs);
    quick.begin("body");
    port.open("another stranger", "198.51.100.2");
    assertEquals(port.ended, ["stranger displaced"]);
    port.pass(minimumMs);
    port.open("more", peer);
    port.open("still more", peer);
    assertEquals(port.ended.slice(1), ["another stranger displaced", "slow displaced"]);
  }
});

Deno.test("sockets that are being closed are bounded too", () => {
  const clock = { nowMs: () => performance.now(), random: () => 0 };
  const limits = {
    connections: 8,
    minimumMs: 0,
    headMs: 10,
    idleMs: 10,
    requestMs: 10,
    isProxy: () => false,
  };
  const connections = new Connections(limits, clock);
  let host = 0;
  const open = (): TrackedConnection | undefined =>
    connections.open({ peer: `192.0.2.${host++}`, local }, () => {});
  const opened = Array.from({ length: 10 }, open);
  // The ninth made the first one go, which still holds its socket; so there was no room for the
  // tenth.
  assertEquals([opened.filter((one) => one !== undefined).length, connections.size], [
    socketsFor(8),
    8,
  ]);
  opened[0]?.closed();
  opened[0]?.closed();
  assertEquals([open() !== undefined, open(), connections.size], [true, undefined, 8]);
});

Deno.test("connections that close without a request are held against nobody", () => {
  const port = new Port({ connections: 5 });
  const browser = "198.51.100.1";
  for (let spare = 0; spare < 6; spare++) port.open("spare", browser).closed();
  for (const name of ["a", "b"]) port.open(name, browser).begin("work")("over");
  for (const name of ["c", "d", "e"]) port.open(name, "192.0.2.1").begin("body");
  port.pass(minimumMs);
  port.open("newcomer", "203.0.113.7");
  assertEquals(port.ended, ["c displaced"]);
});

Deno.test("a neighbour of a listed proxy has neither its weight nor its places", () => {
  const proxy = "2001:db8::1";
  const port = new Port({ connections: 3, isProxy: (peer) => peer === proxy });
  for (const name of ["a", "b"]) port.open(name, "2001:db8::2").begin("body");
  port.open("proxy", proxy).begin("body");
  port.pass(minimumMs);
  port.open("newcomer", "203.0.113.7");
  port.open("another", "203.0.113.8");
  assertEquals(port.ended, ["a displaced", "b displaced"]);
});

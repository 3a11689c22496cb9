// Budgets of requests that nobody vouched for, counted by address and for all addresses together.
// Time is simulated.
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { Peer } from "../../tests/support/http2/peer.ts";
import {
  code,
  flag,
  getBlock,
  headers,
  ping,
  postBlock,
  rstStream,
} from "../../tests/support/http2/wire.ts";
import { defaultBudgets } from "./budgets.ts";
import type { Handler } from "./handler.ts";
import { PeerBudgets } from "./peer_budgets.ts";
import { SessionSockets } from "./socket_places.ts";

const calm = (last: number): string => `GOAWAY ${last} ENHANCE_YOUR_CALM`;
const hang: Handler = (request) => new Promise((_, reject) => request.onAbort(reject));
const eight = new Uint8Array(8);

/** Several connections of one address, or of several. */
class Town {
  readonly clock = { nowMs: 0 };
  readonly peers: PeerBudgets;

  constructor(budgets: Partial<typeof defaultBudgets> = {}) {
    this.peers = new PeerBudgets({ ...defaultBudgets, ...budgets }, () => this.clock.nowMs);
  }

  connect(address: string, handler: Handler = hang, stranger = true): Peer {
    return Peer.connected({
      handler,
      stranger,
      shared: { peer: this.peers.of(address), clock: this.clock },
    });
  }
}

Deno.test("a stranger's rapid reset ends its connection after 200, and all its strangers with it", async () => {
  const town = new Town();
  const [one, other] = [town.connect("192.0.2.1"), town.connect("192.0.2.1")];
  let id = 1;
  for (; !one.ended && id < 20_000; id += 2) {
    one.send(headers(id, getBlock), rstStream(id, code.CANCEL));
    if (id % 90 === 1) await one.settled();
  }
  assertLessOrEqual(id, 2 * 201 + 1);
  assertEquals((await one.conversation()).at(-1), calm(id - 2));
  other.send(headers(1, getBlock));
  assertEquals(await other.conversation(), [calm(0)]);
  assertEquals(town.peers.stats().offences, 1);
});

Deno.test("a reset more costs the same on every connection of an address", async () => {
  const town = new Town();
  const peers = Array.from({ length: 50 }, () => town.connect("192.0.2.1"));
  let reset = 0;
  for (let id = 1; id < 100 && !peers.every((peer) => peer.ended); id += 2) {
    for (const peer of peers) {
      if (peer.ended) continue;
      peer.send(headers(id, getBlock), rstStream(id, code.CANCEL));
      await peer.settled();
      reset++;
    }
  }
  assertLessOrEqual(reset, 201 + peers.length);
  assert(peers.every((peer) => peer.ended));
});

Deno.test("an offender's new sockets are refused for a while, those of others are not", () => {
  const town = new Town();
  const peer = town.peers.of("192.0.2.1");
  assert(town.peers.of("192.0.2.1").admitsSocket());
  peer.offend();
  assert(!town.peers.of("192.0.2.1").admitsSocket());
  assert(!town.peers.of("::ffff:192.0.2.1").admitsSocket());
  assert(town.peers.of("192.0.2.2").admitsSocket());
  town.clock.nowMs += defaultBudgets.offenderMs;
  assert(town.peers.of("192.0.2.1").admitsSocket());
});

Deno.test("an offence does not touch connections of its address that were vouched for", async () => {
  const town = new Town();
  const member = town.connect("192.0.2.1", () => ({ status: 200 }), false);
  member.send(headers(1, getBlock));
  town.peers.of("192.0.2.1").offend();
  member.send(headers(3, getBlock));
  assertEquals(await member.conversation(), ["HEADERS 1 END_STREAM", "HEADERS 3 END_STREAM"]);
});

Deno.test("calls of strangers above their rate are answered with 429, and end the connection when they go on", async () => {
  const budgets = {
    strangerCalls: { burst: 10, perSecond: 1 },
    strangerResets: { burst: 5, perSecond: 1 },
  };
  const town = new Town(budgets);
  const peer = town.connect("192.0.2.1", () => ({ status: 200 }));
  for (let id = 1; id <= 25; id += 2) peer.send(headers(id, getBlock));
  const answers = await peer.settled();
  const statuses = answers.map((answer) => peer.fields(answer)[":status"]);
  assertEquals(statuses, [...new Array(10).fill("200"), "429", "429", "429"]);
  for (let id = 27; id <= 33; id += 2) peer.send(headers(id, getBlock));
  assertEquals((await peer.conversation()).at(-1), calm(31));
  assertEquals(town.peers.stats().refusedCalls, 6);
});

Deno.test("calls of a member are not counted, however many strangers of its address were refused", async () => {
  const town = new Town({ strangerCalls: { burst: 1, perSecond: 1 } });
  const [stranger, member] = [
    town.connect("192.0.2.1"),
    town.connect("192.0.2.1", () => ({ status: 200 }), false),
  ];
  stranger.send(headers(1, getBlock), headers(3, getBlock));
  for (let id = 1; id < 2_000; id += 2) member.send(headers(id, getBlock));
  assert((await member.settled()).every((answer) => member.fields(answer)[":status"] === "200"));
});

Deno.test("unfinished calls of eight addresses, as many as each may have, leave the next stranger its call", async () => {
  const town = new Town({ strangerHandlers: 64 });
  for (let address = 1; address <= 8; address++) {
    const peer = town.connect(`198.51.100.${address}`);
    for (let id = 1; id <= 127 && peer.requests.length === (id - 1) / 2; id += 2) {
      peer.send(headers(id, postBlock, flag.END_HEADERS));
    }
    await peer.settled();
  }
  const honest = town.connect("203.0.113.1", () => ({ status: 200 }));
  honest.send(headers(1, getBlock));
  assertEquals(honest.fields((await honest.settled())[0] ?? fail())[":status"], "200");
});

Deno.test("forty addresses below their own limits leave the next one its part", async () => {
  const town = new Town();
  const peers = Array.from(
    { length: 40 },
    (_, i) => town.connect(`198.51.100.${i}`, () => ({ status: 200 })),
  );
  let id = 1;
  for (let second = 0; second < 4; second++) {
    let served = 0;
    for (let i = 0; i < 50; i++, id += 2) {
      for (const peer of peers) if (!peer.ended) peer.send(headers(id, getBlock));
    }
    for (const peer of peers) {
      const heads = (await peer.settled()).filter(({ type }) => type === 1);
      served += heads.filter((head) => peer.fields(head)[":status"] === "200").length;
    }
    assertLessOrEqual(served, defaultBudgets.strangerCallsInAll);
    const honest = town.connect(`203.0.113.${second}`, () => ({ status: 200 }));
    honest.send(headers(1, getBlock));
    assertEquals(honest.fields((await honest.settled())[0] ?? fail())[":status"], "200");
    town.clock.nowMs += 1_000;
  }
});

Deno.test("control frames of strangers are counted for their address", () => {
  const town = new Town();
  const peers = Array.from({ length: 10 }, () => town.connect("192.0.2.1"));
  let sent = 0;
  for (; sent < 100_000 && !peers.every((peer) => peer.ended); sent++) {
    peers[sent % peers.length]?.send(ping(eight));
  }
  assertLessOrEqual(sent, 8_000 + 20 * peers.length);
});

Deno.test("a stranger's call that does not end is reset after a minute, one that was vouched for is not", async () => {
  const town = new Town();
  const stranger = town.connect("192.0.2.1");
  const vouched = town.connect("192.0.2.1", (request) => {
    request.vouch(new SessionSockets());
    return hang(request);
  });
  for (const peer of [stranger, vouched]) {
    peer.send(headers(1, postBlock, flag.END_HEADERS));
    for (let minute = 0; minute < 3; minute++) {
      peer.wait(20);
      peer.send(ping(eight));
    }
    peer.wait(2);
  }
  assert((await stranger.conversation()).includes("RST_STREAM 1 CANCEL"));
  assert(!(await vouched.conversation()).includes("RST_STREAM 1 CANCEL"));
  assertEquals(town.peers.handlers, 0);
});

function fail(): never {
  throw new Error("nothing came");
}

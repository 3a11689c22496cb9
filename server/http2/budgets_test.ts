// Budgets of a peer: when it is stopped, and what must not stop an honest one. Time is simulated.
import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { Peer } from "../../tests/support/http2/peer.ts";
import {
  block,
  bytes,
  code,
  continuation,
  data,
  flag,
  frame,
  getBlock,
  getFields,
  headers,
  ping,
  postBlock,
  preface,
  priority,
  rstStream,
  settings,
  settingsAck,
  windowUpdate,
} from "../../tests/support/http2/wire.ts";
import type { Handler } from "./handler.ts";

const open = flag.END_HEADERS;
const eight = new Uint8Array(8);
const calm = (last = 0): string => `GOAWAY ${last} ENHANCE_YOUR_CALM`;
const hang: Handler = () => new Promise<never>(() => {});
async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield await Promise.resolve(new Uint8Array(4_096));
}
const stream: Handler = () => ({ status: 200, body: endless() });

for (
  const [what, flood] of [
    ["PING", ping(eight)],
    ["PING acknowledgements", ping(eight, flag.ACK)],
    ["SETTINGS", settings()],
    ["SETTINGS acknowledgements", settingsAck],
    ["PRIORITY", priority(1, 0)],
    ["WINDOW_UPDATE", windowUpdate(0, 1)],
    ["unknown frames", frame(0xfe, 0, 0)],
  ] as const
) {
  Deno.test(`a flood of ${what} ends the connection`, async () => {
    const peer = Peer.connected();
    let sent = 0;
    for (; !peer.ended && sent < 10_000; sent++) peer.send(flood);
    assertLessOrEqual(sent, 4_002);
    assertEquals((await peer.conversation()).at(-1), calm());
  });

  Deno.test(`a little ${what} every second is no flood`, async () => {
    const peer = Peer.connected();
    for (let second = 0; second < 250; second++) {
      for (let i = 0; i < 20; i++) peer.send(flood);
      peer.wait(1);
    }
    assert(!(await peer.conversation()).includes(calm()));
  });
}

Deno.test("window updates and pings that go with data are no flood", async () => {
  const peer = Peer.connected({ handler: stream });
  peer.send(headers(1, getBlock));
  for (let i = 0; i < 20_000; i++) {
    peer.send(windowUpdate(1, 4_096), windowUpdate(0, 4_096), ping(eight));
    if (i % 100 === 0) await peer.settled();
  }
  assert(!peer.ended);
});

Deno.test("a flood of empty DATA ends the connection; empty DATA that ends a stream is none", async () => {
  const peer = Peer.connected({ handler: hang });
  peer.send(headers(1, postBlock, open));
  let sent = 0;
  for (; !peer.ended && sent < 1_000; sent++) peer.send(data(1, bytes()));
  assertEquals(sent, 201);
  assertEquals(await peer.conversation(), [calm(1)]);

  const honest = Peer.connected();
  for (let id = 1; id < 1_000; id += 2) {
    honest.send(headers(id, postBlock, open), data(id, bytes(), flag.END_STREAM));
    await honest.settled();
  }
  assert(!honest.ended);
});

Deno.test("a header block of too many CONTINUATION frames ends the connection", async () => {
  const peer = Peer.connected();
  peer.send(headers(1, getBlock, flag.END_STREAM));
  let sent = 0;
  for (; !peer.ended && sent < 1_000; sent++) peer.send(continuation(1, bytes()));
  assertEquals(sent, 16);
  assertEquals(await peer.conversation(), [calm()]);
});

Deno.test("a header block of too many bytes ends the connection before it is decoded", async () => {
  const peer = Peer.connected();
  peer.send(headers(1, new Uint8Array(16_384), 0));
  for (let i = 0; i < 7; i++) peer.send(continuation(1, new Uint8Array(16_384)));
  assert(!peer.ended);
  peer.send(continuation(1, bytes(0)));
  assertEquals(await peer.conversation(), [calm()]);
});

Deno.test("a header list above its limit is answered with 431, and the connection goes on", async () => {
  const peer = Peer.connected({ budgets: { headerListBytes: 1_000 } });
  peer.send(
    headers(1, block(...getFields, ["x-long", "a".repeat(900)])),
    headers(3, postBlock, open),
  );
  peer.send(
    headers(5, block(...getFields, ["x-long", "a".repeat(900)]), open),
    data(3, bytes(1), flag.END_STREAM),
  );
  const answers = await peer.settled();
  const statuses = answers.filter(({ type }) => type === 1).map((
    answer,
  ) => [answer.streamId, peer.fields(answer)[":status"]]);
  assertEquals(statuses, [[1, "431"], [5, "431"], [3, "200"]]);
  assertEquals(peer.requests.length, 1);
});

Deno.test("metadata of three times the limit is an error of its call, and the connection goes on", async () => {
  const peer = Peer.connected();
  const large = block(...getFields, ["x-long", "a".repeat(98_000)]);
  peer.send(headers(1, large.slice(0, 16_384), flag.END_STREAM));
  for (let at = 16_384; at < large.length; at += 16_384) {
    const rest = large.slice(at, at + 16_384);
    peer.send(continuation(1, rest, at + 16_384 >= large.length ? flag.END_HEADERS : 0));
  }
  peer.send(headers(3, getBlock));
  const answers = await peer.settled();
  assertEquals(answers.map((answer) => peer.fields(answer)[":status"]), ["431", "200"]);
});

Deno.test("a small block that expands far above the limit costs no more than the limit (HPACK bomb)", async () => {
  const peer = Peer.connected();
  const big = block(["x".repeat(3_000), "y"]);
  big[0] = 0x40; // into the dynamic table, where one byte repeats it
  const bomb = new Uint8Array(10_000).fill(0xbe);
  peer.send(headers(1, big), headers(3, bomb));
  const [first, second] = await peer.settled();
  assertEquals(first?.type, 3); // malformed: no pseudo-headers
  assert(second !== undefined);
  assertEquals(peer.fields(second), { ":status": "431" });
});

Deno.test("rapid reset ends the connection", async () => {
  const peer = Peer.connected({ handler: hang });
  let id = 1;
  for (; !peer.ended && id < 20_000; id += 2) {
    peer.send(headers(id, getBlock), rstStream(id, code.CANCEL));
  }
  // Streams are refused while 1,024 handlers run on; either way it ends at the budget of resets.
  assertLessOrEqual(id, 2 * 5_001 + 1);
  assertEquals((await peer.conversation()).at(-1), calm(id - 2));
});

Deno.test("making the server reset streams is counted like resetting them", () => {
  const peer = Peer.connected({ handler: hang });
  let id = 1;
  for (; !peer.ended && id < 20_000; id += 2) {
    peer.send(headers(id, postBlock, open), windowUpdate(id, 0));
  }
  assertLessOrEqual(id, 2 * 5_001 + 1);
});

Deno.test("cancelling 300 calls at once, every few seconds, is no rapid reset", async () => {
  const peer = Peer.connected({
    handler: (request) => new Promise((_, reject) => request.onAbort(reject)),
  });
  let id = 1;
  for (let round = 0; round < 20; round++) {
    const ids = Array.from({ length: 300 }, () => id += 2);
    peer.send(...ids.map((each) => headers(each, getBlock)));
    peer.send(...ids.map((each) => rstStream(each, code.CANCEL)));
    await peer.settled();
    peer.wait(3);
  }
  assert(!peer.ended);
  assertEquals(peer.requests.length, 6_000);
  assertEquals(peer.connection.unfinishedHandlers, 0);
});

Deno.test("handlers that do not finish bound what a client can start, also when it resets its streams", async () => {
  const peer = Peer.connected({ handler: hang, budgets: { unfinishedHandlers: 10 } });
  for (let id = 1; id <= 39; id += 2) peer.send(headers(id, getBlock), rstStream(id, code.CANCEL));
  assertEquals(peer.requests.length, 10);
  assertEquals((await peer.conversation()).length, 10);
});

Deno.test("a client that makes us write and does not read is cut off", () => {
  const peer = Peer.connected({ budgets: { queuedBytes: 5_000 } });
  peer.acceptedBytes = 0;
  let sent = 0;
  for (; !peer.ended && sent < 10_000; sent++) {
    peer.send(ping(eight));
    peer.read();
  }
  assertLessOrEqual(sent, 5_000 / 17 + 1);
});

Deno.test("a client that does not introduce itself is cut off", async () => {
  for (
    const [sent, expected] of [[[], "PROTOCOL_ERROR"], [
      [preface, settings()],
      "SETTINGS_TIMEOUT",
    ]] as const
  ) {
    const peer = new Peer();
    peer.send(...sent);
    peer.wait(9);
    assert(!peer.ended);
    peer.wait(1);
    assertEquals((await peer.conversation()).at(-1), `GOAWAY 0 ${expected}`);
    assert(peer.ended && !peer.destroyed);
    peer.wait(3);
    assert(peer.destroyed);
  }
});

Deno.test("a header block that is never finished ends the connection", async () => {
  const peer = Peer.connected();
  peer.send(headers(1, getBlock, flag.END_STREAM));
  peer.wait(11);
  assertEquals((await peer.conversation()).at(-1), calm());
});

Deno.test("a peer that answers PING stays, one that does not is lost", async () => {
  const peer = Peer.connected({ handler: hang });
  peer.send(headers(1, postBlock, open));
  for (let round = 0; round < 5; round++) {
    peer.wait(32);
    assertEquals(await peer.conversation(), ["PING"]);
    peer.send(ping(new TextEncoder().encode("aliveyet"), flag.ACK));
  }
  peer.wait(32);
  assertEquals(await peer.conversation(), ["PING"]);
  peer.wait(16);
  assert(peer.destroyed);
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("an idle connection is told to go away and ends; a busy or active one is not", async () => {
  const keepAlive = { keepAliveIntervalMs: 10_000_000 };
  const idle = Peer.connected({ budgets: keepAlive });
  idle.wait(300);
  assertEquals(await idle.conversation(), ["GOAWAY 2147483647 NO_ERROR", "PING"]);
  idle.wait(1);
  assertEquals(await idle.conversation(), ["GOAWAY 0 NO_ERROR"]);
  assert(idle.ended);

  const busy = Peer.connected({ handler: hang, budgets: keepAlive });
  busy.send(headers(1, getBlock));
  busy.wait(1_000);
  assertEquals(await busy.conversation(), []);

  const active = Peer.connected({ budgets: keepAlive });
  for (let id = 1; id < 21; id += 2) {
    active.send(headers(id, getBlock));
    await active.settled();
    active.wait(200);
  }
  assert(!active.ended);
});

Deno.test("graceful shutdown serves what is on its way, refuses what comes after, and ends with the last stream", async () => {
  const peer = Peer.connected();
  peer.send(headers(1, postBlock, open));
  peer.connection.shutdown();
  assertEquals(await peer.conversation(), ["GOAWAY 2147483647 NO_ERROR", "PING"]);
  peer.send(headers(3, postBlock, open)); // crossed our first GOAWAY
  peer.send(ping(new TextEncoder().encode("shutdown"), flag.ACK));
  assertEquals(await peer.conversation(), ["GOAWAY 3 NO_ERROR"]);
  peer.send(headers(5, postBlock, open), data(5, bytes(1), flag.END_STREAM)); // too late, ignored
  peer.send(data(1, bytes(1), flag.END_STREAM));
  assertEquals(await peer.conversation(), ["HEADERS 1 END_STREAM"]);
  assert(!peer.ended);
  peer.send(data(3, bytes(1), flag.END_STREAM));
  assertEquals(await peer.conversation(), ["HEADERS 3 END_STREAM"]);
  assert(peer.ended);
  assertEquals(peer.requests.length, 2);
});

Deno.test("graceful shutdown does not wait for a peer that ignores it, nor for streams that never end", async () => {
  const peer = Peer.connected({ handler: hang });
  peer.send(headers(1, postBlock, open));
  peer.connection.shutdown();
  await peer.settled();
  peer.wait(2);
  assertEquals(await peer.conversation(), ["GOAWAY 1 NO_ERROR"]);
  peer.wait(30);
  assertEquals((await peer.conversation()).filter((line) => line !== "PING"), [
    "RST_STREAM 1 CANCEL",
  ]);
  assert(peer.ended);
});

Deno.test("a response that the client gives no window for is reset after a while, others are not", async () => {
  const peer = Peer.connected({ handler: stream, budgets: { keepAliveIntervalMs: 10_000_000 } });
  peer.send(headers(1, getBlock), headers(3, getBlock), windowUpdate(0, 10_000_000));
  await peer.settled();
  for (let minute = 0; minute < 6; minute++) {
    peer.send(windowUpdate(3, 5_000));
    await peer.settled();
    peer.wait(60);
  }
  assertEquals(await peer.conversation(), ["RST_STREAM 1 CANCEL"]);
  assertEquals(peer.connection.openStreams, 1);
});

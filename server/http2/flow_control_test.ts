// Flow control and back-pressure, both ways (RFC 9113 §§ 5.2, 6.9).
import { assert, assertEquals, assertRejects } from "@std/assert";
import { Peer } from "../../tests/support/http2/peer.ts";
import {
  bytes,
  code,
  concat,
  data,
  flag,
  getBlock,
  headers,
  ping,
  postBlock,
  rstStream,
  settings,
  windowUpdate,
} from "../../tests/support/http2/wire.ts";
import type { Handler, ServerRequest, ServerResponse } from "./handler.ts";
import { StreamAborted } from "./stream_aborted.ts";

const open = flag.END_HEADERS;
const [maxFrameSize, initialWindow] = [5, 4];

/** Responds with `total` chunks of `size` bytes and counts how many were asked for. */
function countingBody(total: number, size: number): { handler: Handler; pulled: () => number } {
  let pulled = 0;
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (; pulled < total;) {
      pulled++;
      yield await Promise.resolve(new Uint8Array(size));
    }
  }
  return { handler: () => ({ status: 200, body: chunks() }), pulled: () => pulled };
}

const body = (size: number): Handler => () => ({ status: 200, body: new Uint8Array(size) });

/** A handler that keeps its requests open and unread. */
function keeper(): { handler: Handler; requests: ServerRequest[] } {
  const requests: ServerRequest[] = [];
  return {
    requests,
    handler: (request) => {
      requests.push(request);
      return new Promise<never>(() => {});
    },
  };
}

Deno.test("a response sends no more than the stream's window and continues with WINDOW_UPDATE", async () => {
  const peer = Peer.connected({ handler: body(10) });
  peer.send(settings([initialWindow, 4]), headers(1, getBlock));
  assertEquals(await peer.conversation(), ["SETTINGS ACK", "HEADERS 1", "DATA 1 4"]);
  peer.send(windowUpdate(1, 5));
  assertEquals(await peer.conversation(), ["DATA 1 5"]);
  peer.send(windowUpdate(1, 1));
  assertEquals(await peer.conversation(), ["DATA 1 1 END_STREAM"]);
});

Deno.test("a window of 0 stops all bodies, a larger initial window starts them, a negative one must be paid off", async () => {
  const peer = Peer.connected({ handler: body(6) });
  peer.send(settings([initialWindow, 0]), headers(1, getBlock));
  assertEquals(await peer.conversation(), ["SETTINGS ACK", "HEADERS 1"]);
  peer.send(settings([initialWindow, 3]));
  assertEquals(await peer.conversation(), ["DATA 1 3", "SETTINGS ACK"]);
  peer.send(settings([initialWindow, 1]), windowUpdate(1, 2));
  assertEquals(await peer.conversation(), ["SETTINGS ACK"]);
  peer.send(windowUpdate(1, 1));
  assertEquals(await peer.conversation(), ["DATA 1 1"]);
});

Deno.test("of several values for one setting the last counts", async () => {
  const peer = Peer.connected({ handler: body(6) });
  peer.send(settings([initialWindow, 100], [initialWindow, 2]), headers(1, getBlock));
  assertEquals(await peer.conversation(), ["SETTINGS ACK", "HEADERS 1", "DATA 1 2"]);
});

Deno.test("streams share the connection's window in turn", async () => {
  const peer = Peer.connected({ handler: body(60_000) });
  peer.send(
    settings([initialWindow, 1_000_000]),
    headers(1, getBlock),
    headers(3, getBlock),
    headers(5, getBlock),
  );
  const first = await peer.conversation();
  assertEquals(first.filter((line) => line.startsWith("DATA")), [
    "DATA 1 16384",
    "DATA 1 16384",
    "DATA 1 16384",
    "DATA 1 10848 END_STREAM",
    "DATA 3 5535",
  ]);
  peer.send(windowUpdate(0, 16_384 * 4));
  assertEquals(await peer.conversation(), [
    "DATA 3 16384",
    "DATA 5 16384",
    "DATA 3 16384",
    "DATA 5 16384",
  ]);
});

Deno.test("a stalled stream does not hold up the others", async () => {
  const peer = Peer.connected({ handler: body(100) });
  peer.send(
    settings([initialWindow, 0]),
    headers(1, getBlock),
    headers(3, getBlock),
    windowUpdate(3, 100),
  );
  assertEquals((await peer.conversation()).at(-1), "DATA 3 100 END_STREAM");
});

Deno.test("frames are as long as the peer's MAX_FRAME_SIZE allows", async () => {
  const peer = Peer.connected({ handler: body(50_000) });
  peer.send(settings([maxFrameSize, 30_000]), headers(1, getBlock));
  assertEquals((await peer.conversation()).slice(2), ["DATA 1 30000", "DATA 1 20000 END_STREAM"]);
});

Deno.test("frames are never so long that one stream holds up the others, whatever the peer allows", async () => {
  const peer = Peer.connected({ handler: body(50_000) });
  peer.send(settings([maxFrameSize, 16_777_215]), headers(1, getBlock));
  assertEquals((await peer.conversation()).slice(2), ["DATA 1 32768", "DATA 1 17232 END_STREAM"]);
});

Deno.test("response headers longer than a frame are continued, with nothing in between", async () => {
  const peer = Peer.connected({
    handler: () => ({ status: 200, headers: [["x-long", "\xe9".repeat(40_000)]] }),
  });
  peer.send(headers(1, getBlock));
  assertEquals(await peer.conversation(), [
    "HEADERS 1 END_STREAM",
    "CONTINUATION 1",
    "CONTINUATION 1",
  ]);
});

Deno.test("a body is not asked for more than the peer takes", async () => {
  const { handler, pulled } = countingBody(1_000, 10_000);
  const peer = Peer.connected({ handler });
  peer.send(headers(1, getBlock));
  await peer.settled();
  assertEquals(pulled(), 7); // 65,535 bytes of window: six chunks are gone, the seventh waits.
  peer.send(windowUpdate(1, 10_000), windowUpdate(0, 10_000));
  await peer.settled();
  assertEquals(pulled(), 8);
});

Deno.test("a body is not asked for more than the socket takes", async () => {
  const { handler, pulled } = countingBody(1_000, 10_000);
  const peer = Peer.connected({ handler });
  peer.acceptedBytes = 30_000;
  peer.send(
    settings([initialWindow, 10_000_000]),
    windowUpdate(0, 10_000_000),
    headers(1, getBlock),
  );
  for (let turn = 0; turn < 5; turn++) await peer.settled();
  const before = pulled();
  assert(before < 20, `asked for ${before} chunks`);
  for (let turn = 0; turn < 5; turn++) await peer.settled();
  assertEquals(pulled(), before);
  peer.drain();
  await peer.settled();
  assert(pulled() > before);
});

Deno.test("a request is granted window as its handler reads, and only then", async () => {
  const { handler, requests } = keeper();
  const peer = Peer.connected({
    handler,
    budgets: { streamWindowBytes: 20_000, connectionWindowBytes: 65_535 },
  });
  peer.send(
    headers(1, postBlock, open),
    data(1, new Uint8Array(10_000)),
    data(1, new Uint8Array(10_000)),
  );
  assertEquals(await peer.conversation(), []);
  assertEquals(peer.connection.receivedBytes, 20_000);
  const [request] = requests;
  const chunk = await request?.body.next();
  assertEquals(chunk?.value?.length, 20_000);
  assertEquals(await peer.conversation(), ["WINDOW_UPDATE 1 20000"]);
  peer.send(data(1, new Uint8Array(14_000)));
  await request?.body.next();
  assertEquals(await peer.conversation(), ["WINDOW_UPDATE 0 34000", "WINDOW_UPDATE 1 14000"]);
});

Deno.test("DATA above the stream's window is FLOW_CONTROL_ERROR of the stream", async () => {
  const peer = Peer.connected({ ...keeper(), budgets: { streamWindowBytes: 20_000 } });
  peer.send(
    headers(1, postBlock, open),
    data(1, new Uint8Array(16_000)),
    data(1, new Uint8Array(4_001)),
    ping(new Uint8Array(8)),
  );
  assertEquals(await peer.conversation(), ["RST_STREAM 1 FLOW_CONTROL_ERROR", "PING ACK"]);
});

Deno.test("DATA above the connection's window is a connection error", async () => {
  const peer = Peer.connected({ ...keeper(), budgets: { connectionWindowBytes: 65_535 } });
  peer.send(
    headers(1, postBlock, open),
    ...Array.from({ length: 5 }, () => data(1, new Uint8Array(16_000))),
  );
  assertEquals(await peer.conversation(), ["GOAWAY 1 FLOW_CONTROL_ERROR"]);
});

Deno.test("padding is given back at once", async () => {
  const { handler, requests } = keeper();
  const peer = Peer.connected({
    handler,
    budgets: { streamWindowBytes: 400, connectionWindowBytes: 65_535 },
  });
  peer.send(
    headers(1, postBlock, open),
    data(1, concat(bytes(200, 1), new Uint8Array(200)), flag.PADDED),
  );
  assertEquals(await peer.conversation(), ["WINDOW_UPDATE 1 201"]);
  assertEquals((await requests[0]?.body.next())?.value, bytes(1));
});

Deno.test("bytes that nobody will read are given back to the connection", async () => {
  const peer = Peer.connected({ ...keeper(), budgets: { connectionWindowBytes: 65_535 } });
  for (let id = 1; id < 200; id += 2) {
    peer.send(
      headers(id, postBlock, open),
      data(id, new Uint8Array(16_000)),
      rstStream(id, code.CANCEL),
    );
  }
  const granted = (await peer.conversation()).filter((line) => line.startsWith("WINDOW_UPDATE 0"));
  assertEquals(granted.length, 33);
  assertEquals(peer.connection.receivedBytes, 0);
});

Deno.test("a handler that stops reading gets no more, and the client no more window for that stream", async () => {
  const peer = Peer.connected({
    budgets: { streamWindowBytes: 20_000, connectionWindowBytes: 65_535 },
    handler: async ({ body }) => {
      await body.return?.();
      return await new Promise<never>(() => {});
    },
  });
  peer.send(
    headers(1, postBlock, open),
    data(1, new Uint8Array(16_000)),
    data(1, new Uint8Array(4_000)),
  );
  peer.send(headers(3, postBlock, open), data(3, new Uint8Array(16_000)));
  assertEquals(await peer.conversation(), ["WINDOW_UPDATE 0 36000"]);
});

Deno.test("a cancelled request fails its readers, calls its listeners and stops its response", async () => {
  const seen: string[] = [];
  const peer = Peer.connected({
    handler: (request) => {
      request.onAbort((reason) => seen.push(`abort: ${reason.message}`));
      async function* echo(): AsyncGenerator<Uint8Array> {
        try {
          for await (const chunk of request.body) yield chunk;
        } catch (error) {
          seen.push(`body: ${error instanceof StreamAborted ? error.code : error}`);
          throw error;
        }
      }
      return { status: 200, body: echo() };
    },
  });
  peer.send(headers(1, postBlock, open), data(1, bytes(1)));
  assertEquals(await peer.conversation(), ["HEADERS 1", "DATA 1 1"]);
  peer.send(rstStream(1, code.CANCEL));
  assertEquals(await peer.conversation(), []);
  assertEquals(seen, ["abort: The client reset the stream (cancel)", "body: 8"]);
  assertEquals([peer.connection.openStreams, peer.connection.unfinishedHandlers], [0, 0]);
  assertEquals(peer.faults, []);
});

Deno.test("a lost connection aborts every stream", async () => {
  const { handler, requests } = keeper();
  const peer = Peer.connected({ handler });
  peer.send(headers(1, postBlock, open), headers(3, postBlock, open));
  const reads = requests.map(({ body }) => body.next());
  peer.connection.closed();
  for (const read of reads) await assertRejects(() => read, StreamAborted, "lost");
  assertEquals(peer.connection.openStreams, 0);
});

Deno.test("reading on after the response is complete is an error, not a short body", async () => {
  const requests: ServerRequest[] = [];
  const peer = Peer.connected({
    handler: (request) => {
      requests.push(request);
      return { status: 200 };
    },
  });
  peer.send(headers(1, postBlock, open), data(1, bytes(1)));
  await peer.settled();
  await assertRejects(
    async () => await requests[0]?.body.next(),
    StreamAborted,
    "already complete",
  );
});

Deno.test("a handler that throws is answered with 500 and reported", async () => {
  const peer = Peer.connected({ handler: () => Promise.reject(new Error("boom")) });
  peer.send(headers(1, getBlock));
  const [answer] = await peer.settled();
  assert(answer !== undefined);
  assertEquals(peer.fields(answer), { ":status": "500" });
  assertEquals(peer.faults.map(String), ["Error: boom"]);
  assertEquals(peer.connection.unfinishedHandlers, 0);
});

Deno.test("a body that throws resets its stream with INTERNAL_ERROR", async () => {
  const failing: AsyncIterable<Uint8Array> = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("boom")) }),
  };
  const peer = Peer.connected({ handler: () => ({ status: 200, body: failing }) });
  peer.send(headers(1, getBlock), headers(3, getBlock));
  assertEquals((await peer.conversation()).slice(2), [
    "RST_STREAM 1 INTERNAL_ERROR",
    "RST_STREAM 3 INTERNAL_ERROR",
  ]);
});

Deno.test("no mistake of a handler reaches beyond its own stream", async () => {
  // cast: mistakes that types forbid, made by code that has none
  const wrong = (response: unknown): Handler => () => response as ServerResponse;
  const iterable = (iterator: unknown): unknown => ({
    status: 200,
    body: { [Symbol.asyncIterator]: () => iterator },
  });
  const next = (): Promise<unknown> => Promise.resolve({ done: false, value: "text" });
  const thrower = (): never => {
    throw new Error("boom");
  };
  for (
    const [mistake, expected] of [
      [undefined, "HEADERS 1 END_STREAM"],
      [{ status: 99 }, "HEADERS 1 END_STREAM"],
      [{ status: 200, headers: 7 }, "HEADERS 1 END_STREAM"],
      [iterable({ next }), "RST_STREAM 1 INTERNAL_ERROR"],
      [iterable({ next: thrower }), "RST_STREAM 1 INTERNAL_ERROR"],
      [iterable({ next, throw: thrower }), "RST_STREAM 1 INTERNAL_ERROR"],
      [{ status: 200, body: 7 }, "HEADERS 1 END_STREAM"],
      [{ status: 200, trailers: [["bad name", ""]] }, "RST_STREAM 1 INTERNAL_ERROR"],
    ] as const
  ) {
    const peer = Peer.connected({ handler: wrong(mistake) });
    peer.send(headers(1, getBlock), ping(new Uint8Array(8)));
    assert(
      (await peer.conversation()).includes(expected),
      `${JSON.stringify(mistake)} did not end with ${expected}`,
    );
    assertEquals([peer.faults.length, peer.ended, peer.connection.openStreams], [1, false, 0]);
  }
  const stuck = Peer.connected({
    handler: wrong(
      iterable({ next: () => new Promise(() => {}), throw: thrower, return: thrower }),
    ),
  });
  stuck.send(headers(1, getBlock));
  await stuck.settled();
  stuck.connection.closed();
});

Deno.test("a response cannot be split by a header that its handler took from a request", async () => {
  const peer = Peer.connected({
    handler: () => ({ status: 200, headers: [["x-good", "1"], ["x-bad", "a\r\nset-cookie: b"]] }),
  });
  peer.send(headers(1, getBlock));
  const [first] = await peer.settled();
  peer.send(headers(3, getBlock));
  const [second] = await peer.settled();
  assert(first !== undefined && second !== undefined);
  assertEquals([peer.fields(first), peer.fields(second)], [{ ":status": "500" }, {
    ":status": "500",
  }]);
});

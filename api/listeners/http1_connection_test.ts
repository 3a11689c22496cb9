import { connect as connectTcp, type Socket } from "node:net";
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { eventually } from "../../tests/support/mod.ts";
import { type ConnectionLimits, patience, type RequestStage } from "./connections.ts";
import { Http1Connection } from "./http1_connection.ts";
import type { HttpHandler, HttpListener } from "./listener.ts";
import { listenPlain } from "./plain.ts";

const deadlineMs = 300;

interface Served extends AsyncDisposable {
  readonly listener: HttpListener;
  readonly port: number;
}

async function serve(
  handler: HttpHandler,
  limits: Partial<ConnectionLimits> = {},
  maxBodyBytes = 100,
): Promise<Served> {
  const listener = await listenPlain({
    host: "127.0.0.1",
    port: 0,
    handler,
    limits: { connections: 100, ...patience, isProxy: () => false, ...limits },
    maxBodyBytes,
  });
  const close = (): Promise<void> => listener.close(deadlineMs);
  return { listener, port: Number(new URL(listener.url).port), [Symbol.asyncDispose]: close };
}

const echo: HttpHandler = async (request) =>
  new Response(`${request.method} ${new URL(request.url).pathname} ${await request.text()}.`);

/**
 * Sends the parts one by one, each after what it waits for has come, and returns all that the
 * service sends until it closes.
 */
async function talk(
  port: number,
  parts: readonly (string | { readonly awaits: string })[],
): Promise<string> {
  using socket = await Deno.connect({ hostname: "127.0.0.1", port });
  socket.setNoDelay();
  const [decoder, buffer] = [new TextDecoder(), new Uint8Array(4096)];
  let text = "";
  const more = async (): Promise<boolean> => {
    const length = await socket.read(buffer).catch(() => null);
    text += length === null ? "" : decoder.decode(buffer.subarray(0, length));
    return length !== null;
  };
  for (const part of parts) {
    if (typeof part === "string") await writeAll(socket, new TextEncoder().encode(part));
    else while (!text.includes(part.awaits) && await more());
  }
  while (await more());
  return text;
}

async function writeAll(socket: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await socket.write(bytes.subarray(sent));
}

/** Of all answers in a row. */
function bodiesOf(text: string): string[] {
  return [...text.matchAll(/\r\n\r\n([^\r]*?\.)(?=HTTP|$)/g)].map(([, body = ""]) => body);
}

const last = "GET /last HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

Deno.test("requests that come together are answered in their order, with bodies of every kind", async () => {
  await using served = await serve(echo);
  const text = await talk(served.port, [
    "POST /1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" +
    "POST /2 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-Trailer: a\r\n\r\n" +
    `PUT /3 HTTP/1.1\r\nHost: a\r\n\r\n${last}`,
  ]);
  assertEquals(bodiesOf(text), ["POST /1 abc.", "POST /2 abcde.", "PUT /3 .", "GET /last ."]);
  assertEquals(text.match(/connection: close/g)?.length, 1);
});

Deno.test("an answer does not wait until its client has confirmed the one before it", async () => {
  await using served = await serve(echo);
  using socket = await Deno.connect({ hostname: "127.0.0.1", port: served.port });
  const [requests, buffer] = ["GET /1 HTTP/1.1\r\nHost: a\r\n\r\n".repeat(3), new Uint8Array(4096)];
  const roundMs = async (): Promise<number> => {
    const startMs = performance.now();
    await writeAll(socket, new TextEncoder().encode(requests));
    for (let text = ""; text.split("GET /1 .").length < 4;) {
      text += new TextDecoder().decode(buffer.subarray(0, await socket.read(buffer) ?? 0));
    }
    return performance.now() - startMs;
  };
  const rounds: number[] = [];
  for (let round = 0; round < 21; round++) rounds.push(await roundMs());
  // Systems confirm after 40 ms, but for the first few.
  assertLess(rounds.toSorted((a, b) => a - b)[10] ?? Infinity, 35);
});

Deno.test("a request is the same when it comes byte by byte", async () => {
  await using served = await serve(echo);
  const whole =
    `POST /1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n${last}`;
  const bytes = [...whole];
  assertEquals(bodiesOf(await talk(served.port, bytes)), ["POST /1 abc.", "GET /last ."]);
});

Deno.test("a client that waits for 100 is told to go on, and one that does not is not", async () => {
  await using served = await serve(echo);
  const post =
    "POST /1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n";
  const waited = await talk(served.port, [post, { awaits: "100 Continue\r\n\r\n" }, "abc"]);
  assertMatch(waited, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n[^]*POST \/1 abc\.$/);
  assertMatch(await talk(served.port, [`${post}abc`]), /^HTTP\/1\.1 200 OK\r\n/);
});

Deno.test("a body above the limit is not read; its request is answered, and its connection ends", async () => {
  const lengths: number[] = [];
  await using served = await serve(async (request) => {
    lengths.push((await request.bytes()).length);
    return new Response(null, { status: 413 });
  });
  const chunks = "Transfer-Encoding: chunked\r\n\r\n40\r\n" + "a".repeat(64) + "\r\n40\r\n";
  for (const rest of ["Content-Length: 101\r\n\r\n", chunks]) {
    const text = await talk(served.port, [`POST / HTTP/1.1\r\nHost: a\r\n${rest}`]);
    assertMatch(text, /^HTTP\/1\.1 413 Content Too Large\r\n/);
    assertStringIncludes(text, "connection: close");
  }
  // The app knows the first by its header, and the second by its length.
  assertEquals(lengths, [0, 101]);
});

Deno.test("malformed chunks and a head without end are refused in the shape of every refusal", async () => {
  let asked = 0;
  await using served = await serve(() => {
    asked++;
    return new Response();
  });
  const chunked = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  const malformed = [
    `${chunked}x\r\n`,
    `${chunked}1;a=b\r\n`,
    `${chunked}3\r\nabcd\r\n`,
    `${chunked}0\r\n${"X: a\r\n".repeat(40)}`,
    `${chunked}0\r\nX: a\nGET / HTTP/1.1\r\n`,
    `${chunked}${"1".repeat(2_000)}`,
    `GET / HTTP/1.1\r\nHost: a\r\nX: ${"a".repeat(17_000)}`,
    "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a:99999\r\n\r\n",
  ];
  for (const sent of malformed) {
    const text = await talk(served.port, [sent]);
    assertMatch(
      text,
      /^HTTP\/1\.1 400 Bad Request\r\n[^]*"code":"invalid_request","request_id":"/,
      sent.slice(0, 80),
    );
  }
  assertEquals(asked, 0);
});

Deno.test("answers keep their headers, cookies apart; those without a body have none", async () => {
  const headers: [string, string][] = [["set-cookie", "a=1"], ["set-cookie", "b=2"], [
    "x-a",
    "\xe9",
  ]];
  await using served = await serve(({ method, url }) => {
    const { pathname } = new URL(url);
    if (method === "HEAD") return new Response("body", { headers: { "content-length": "4" } });
    return pathname === "/204"
      ? new Response(null, { status: 204 })
      : new Response("body", { headers });
  });
  const one = (line: string): Promise<string> =>
    talk(served.port, [`${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`]);
  const text = await one("GET /");
  for (
    const line of ["set-cookie: a=1\r\n", "set-cookie: b=2\r\n", "content-length: 4\r\n", "date: "]
  ) {
    assertStringIncludes(text, line);
  }
  assert(text.endsWith("\r\n\r\nbody"));
  const head = await one("HEAD /");
  assert(head.includes("content-length: 4\r\n") && head.endsWith("\r\n\r\n"), head);
  const empty = await one("GET /204");
  assert(!empty.includes("content-length") && empty.endsWith("\r\n\r\n"), empty);
});

Deno.test("a handler that throws is answered 500, and the next client is served", async () => {
  let calls = 0;
  await using served = await serve(() => {
    if (calls++ === 0) throw new Error("a fault of ours");
    return new Response("well.");
  });
  assertMatch(await talk(served.port, [last]), /^HTTP\/1\.1 500 Internal Server Error\r\n/);
  assertEquals(bodiesOf(await talk(served.port, [last])), ["well."]);
});

Deno.test("a client whose body does not come is told that it is late, and asks nothing of the app", async () => {
  let asked = 0;
  await using served = await serve(() => {
    asked++;
    return new Response();
  }, { requestMs: 100 });
  const text = await talk(served.port, [
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\na",
  ]);
  assertMatch(text, /^HTTP\/1\.1 408 Request Timeout\r\n/);
  assertEquals(asked, 0);
});

Deno.test("connections that are closed for their unfinished bodies leave nothing in memory", async () => {
  const read: HttpHandler = async ({ body }) => {
    for await (const _ of body ?? []);
    return new Response();
  };
  const places = 50;
  await using served = await serve(read, { connections: places, minimumMs: 0, requestMs: 600_000 });
  const hold = (index: number): Promise<Socket> => {
    const { promise, resolve } = Promise.withResolvers<Socket>();
    const socket = connectTcp({
      host: "127.0.0.1",
      port: served.port,
      localAddress: `127.0.1.${index % 200 + 1}`,
    });
    socket.on("error", () => {});
    socket.resume();
    socket.write(
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\n{",
      () => resolve(socket),
    );
    return promise;
  };
  const before = Deno.memoryUsage().external;
  const sockets: Socket[] = [];
  using _ = { [Symbol.dispose]: () => sockets.forEach((socket) => socket.destroy()) };
  for (let index = 0; index < 400; index++) sockets.push(await hold(index));
  await eventually(
    { what: "all but those with places closed" },
    () => Promise.resolve(sockets.filter(({ closed }) => closed).length),
    (count) => count >= 400 - places,
  );
  assertLess(Deno.memoryUsage().external - before, 8 * 2 ** 20);
});

Deno.test("a client that sends all of a large body before it reads is told that it is too large", async () => {
  await using served = await serve(() => new Response(null, { status: 413 }));
  const body = "a".repeat(16 * 2 ** 20);
  for (const head of [`Content-Length: ${body.length}`, "X : a"]) {
    const text = await talk(served.port, [`POST / HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`, body]);
    assertMatch(text, /^HTTP\/1\.1 4(13|00) /);
  }
});

Deno.test("a body in chunks of one byte takes no more memory than another", async () => {
  const length = 50_000;
  await using served = await serve(
    async (request) => new Response(`${(await request.bytes()).length}.`),
    {},
    length,
  );
  const before = Deno.memoryUsage().external;
  let peak = before;
  const sampler = setInterval(() => peak = Math.max(peak, Deno.memoryUsage().external), 1);
  using _ = { [Symbol.dispose]: () => clearInterval(sampler) };
  const head =
    "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
  const text = await talk(served.port, [`${head}${"1\r\na\r\n".repeat(length)}0\r\n\r\n`]);
  assertEquals(bodiesOf(text), [`${length}.`]);
  // It took 30 MiB when each byte kept the piece in which it came.
  assertLess(peak - before, 4 * 2 ** 20);
});

Deno.test("two Cookie headers are one list of cookies", async () => {
  await using served = await serve(({ headers }) =>
    new Response(`${headers.get("cookie")}, ${headers.get("x-a")}.`)
  );
  const text = await talk(served.port, [
    last.replace("\r\n", "\r\nCookie: a=1\r\nX-A: 1\r\ncookie: b=2\r\nX-A: 2\r\n"),
  ]);
  assertEquals(bodiesOf(text), ["a=1; b=2, 1, 2."]);
});

Deno.test("a request that waits behind another is not begun when its connection is closed in between", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  using client = await Deno.connect({ hostname: "127.0.0.1", port: listener.addr.port });
  let asked = 0;
  const answer = (): Response => {
    asked++;
    return new Response();
  };
  const connection = new Http1Connection(await listener.accept(), { answer, maxBodyBytes: 0 });
  await client.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(2)));
  const reach = (stage: RequestStage): void =>
    stage === "over" ? queueMicrotask(() => connection.stop()) : undefined;
  await connection.serve({ begin: () => reach });
  assertEquals(asked, 1);
});

Deno.test("a large answer that its client does not read is kept once", async () => {
  const large = new Uint8Array(8 * 2 ** 20);
  await using served = await serve(({ url }) =>
    new Response(url.endsWith("/large") ? large : "small.")
  );
  const before = Deno.memoryUsage().external;
  const sockets: Deno.Conn[] = [];
  using _ = { [Symbol.dispose]: () => sockets.forEach((socket) => socket.close()) };
  for (let index = 0; index < 10; index++) {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port: served.port });
    sockets.push(socket);
    await writeAll(socket, new TextEncoder().encode("GET /large HTTP/1.1\r\nHost: a\r\n\r\n"));
    assertEquals(await socket.read(new Uint8Array(12)), 12);
  }
  assertEquals(bodiesOf(await talk(served.port, [last])), ["small."]);
  assertLess(Deno.memoryUsage().external - before, 15 * large.length);
});

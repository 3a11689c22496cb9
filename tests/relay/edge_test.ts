// The relay's ports as a whole: health, browsers' rules, renewed certificates, draining, cover,
// slow readers, the proxy.
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { createClient, type Transport } from "@connectrpc/connect";
import { concatBytes } from "@noble/hashes/utils.js";
import { Relay as RelayService } from "../../proto/wire/grpc.ts";
import { type ChannelId, limits } from "../../proto/mod.ts";
import { createCertificate } from "../support/mod.ts";
import { type Relay, TestAgent } from "../support/relay/agent.ts";
import { CellClient } from "../support/relay/cell_client.ts";
import {
  certificateHash,
  connectTransport,
  openQuic,
  openWebTransport,
  quicCarrier,
} from "../support/relay/deno_clients.ts";
import { startProxyProcess } from "../support/relay/proxy_process.ts";
import { CallFailed, type RelayClient } from "../support/relay/relay_client.ts";
import { startTestRelay, testOrigin, type TestRelay } from "../support/relay/test_relay.ts";
import { TypedClient } from "../support/relay/typed_client.ts";

function quic(relay: TestRelay): Relay {
  return { open: () => openQuic(relay.edge.quicPort, relay.certificate.cert), origin: testOrigin };
}

const patienceMs = 60_000;

async function until(done: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + patienceMs;
  while (!await done()) {
    assert(performance.now() < deadline, `not ${what} after ${patienceMs} ms`);
    // wait: for another process or the network, with a deadline
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

Deno.test("GET /health says ok, and that it drains", async () => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const base = `https://localhost:${relay.edge.grpcPort}`;
  const health = await http.fetch(`${base}/health`);
  assertEquals([health.status, await health.json()], [200, { status: "ok" }]);
  const post = await http.fetch(`${base}/health`, { method: "POST" });
  assertEquals([post.status, await post.text()], [405, ""]);
  const other = await http.fetch(`${base}/nothing`);
  assertEquals([other.status, await other.text()], [404, ""]);
  await relay.edge.drain();
  const draining = await http.fetch(`${base}/health`);
  assertEquals([draining.status, await draining.json()], [503, { status: "draining" }]);
});

Deno.test("scripts of allowed origins may call, others may not", async () => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const preflight = async (origin: string): Promise<Response> => {
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type,static-session",
    };
    const url = `https://localhost:${relay.edge.grpcPort}/static.relay.v1.Relay/Ping`;
    const response = await http.fetch(url, { method: "OPTIONS", headers });
    await response.body?.cancel();
    return response;
  };
  const allowed = await preflight("http://127.0.0.1:8000");
  assertEquals(allowed.headers.get("access-control-allow-origin"), "http://127.0.0.1:8000");
  assert(
    allowed.headers.get("access-control-allow-headers")?.toLowerCase().includes("static-session"),
  );
  assertEquals((await preflight("https://evil.example")).status, 403);
});

Deno.test("WebTransport works with Deno's client too, and says goodbye", async () => {
  await using relay = await startTestRelay();
  const hash = await certificateHash(relay.certificate.cert);
  const agent = await TestAgent.connect({
    open: () => openWebTransport(relay.edge.quicPort, hash),
    origin: testOrigin,
  });
  const channelId = await agent.createChannel();
  await agent.send(channelId, 0);
  await agent.client.call("EndSession", {});
  await agent.client.ended;
  await until(() => relay.edge.stats().quic.connections === 0, "closed");
});

/** A field as a QPACK literal (RFC 9204 section 4.5.6), without Huffman. */
function literal([name, value]: readonly [string, string]): Uint8Array {
  const [nameBytes, valueBytes] = [new TextEncoder().encode(name), new TextEncoder().encode(value)];
  const nameLength = nameBytes.length < 7
    ? [0x20 | nameBytes.length]
    : [0x27, nameBytes.length - 7];
  return concatBytes(
    Uint8Array.from(nameLength),
    nameBytes,
    Uint8Array.of(valueBytes.length),
    valueBytes,
  );
}

/** The status of a request's response. */
async function requestStatus(
  conn: Deno.QuicConn,
  fields: Readonly<Record<string, string>>,
): Promise<number> {
  const block = concatBytes(Uint8Array.of(0, 0), ...Object.entries(fields).map(literal));
  const stream = await conn.createBidirectionalStream();
  const writer = stream.writable.getWriter();
  await writer.write(
    concatBytes(Uint8Array.of(0x01, 0x40 | (block.length >> 8), block.length & 0xff), block),
  );
  const { value } = await stream.readable.getReader().read();
  // A frame's head, then a block that has nothing but the status, by its place in the static table.
  const status = [...value ?? []].slice(4).join();
  return { "217": 200, "219": 404, "255,4": 400, "255,5": 403 }[status] ?? 0;
}

Deno.test("a WebTransport session needs an allowed origin and the right request, and a connection has one", async () => {
  await using relay = await startTestRelay();
  const connect = (): Promise<Deno.QuicConn> =>
    Deno.connectQuic<false>({
      hostname: "localhost",
      port: relay.edge.quicPort,
      alpnProtocols: ["h3"],
      caCerts: [relay.certificate.cert],
    });
  const good = {
    ":method": "CONNECT",
    ":protocol": "webtransport",
    ":scheme": "https",
    ":authority": "localhost",
    ":path": "/",
    "origin": "http://127.0.0.1:8000",
  };
  const wrong = await connect();
  assertEquals(await requestStatus(wrong, { ...good, ":method": "GET" }), 404);
  assertEquals(await requestStatus(wrong, { ...good, ":protocol": "websocket" }), 404);
  assertEquals(await requestStatus(wrong, { ...good, ":path": "/other" }), 404);
  wrong.close();
  const conn = await connect();
  assertEquals(await requestStatus(conn, { ...good, ":scheme": "http" }), 400);
  assertEquals(await requestStatus(conn, { ...good, "origin": "https://evil.example" }), 403);
  assertEquals(await requestStatus(conn, good), 200);
  assertEquals(await requestStatus(conn, good), 400);
  conn.close();
});

Deno.test("a renewed certificate serves both ports without a restart, and open sessions go on", async () => {
  await using relay = await startTestRelay();
  const agent = await TestAgent.connect(quic(relay));
  const renewed = await createCertificate();
  relay.edge.setCertificate(renewed);
  using http = connectTransport(relay.edge.grpcPort, renewed.cert);
  await createClient(RelayService, http.transport).ping({});
  const other = await openQuic(relay.edge.quicPort, renewed.cert);
  await other.call("Ping", {});
  other.close();
  await assertRejects(() => openQuic(relay.edge.quicPort, relay.certificate.cert), Error);
  using old = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  await assertRejects(() => createClient(RelayService, old.transport).ping({}), Error);
  await agent.client.call("Ping", {});
  agent.client.close();
});

Deno.test("draining tells every session why, refuses new ones, and ends", async () => {
  await using relay = await startTestRelay({ drainMs: 100 });
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const cells = await TestAgent.connect(quic(relay));
  const typed = await TestAgent.connect({
    open: () => Promise.resolve(new TypedClient(http.transport)),
    origin: testOrigin,
  });
  await relay.edge.drain();
  assertEquals([await cells.client.ended, await typed.client.ended], [
    "relay_draining",
    "relay_draining",
  ]);
  const [told] = await cells.client.notices.first("SessionEnding", 1);
  assertGreater(told?.retryAfterMs ?? 0, 0);
  await assertRejects(
    () => openQuic(relay.edge.quicPort, relay.certificate.cert),
    Error,
    "refused",
  );
  const late = await assertRejects(() => new TypedClient(http.transport).call("Ping", {}), Error);
  assert(/relay_draining/.test(late.message), late.message);
});

Deno.test("cover comes at every tick, carries nothing, and is counted", async () => {
  await using relay = await startTestRelay();
  const client = await openQuic(relay.edge.quicPort, relay.certificate.cert);
  const agent = new TestAgent(quic(relay), client, crypto.randomUUID());
  await agent.authenticate();
  const { mode } = await client.call("ConfigureCover", {
    mode: "constant",
    intervalMs: limits.minCoverIntervalMs,
  });
  assertEquals(mode, "constant");
  await until(() => client.counts.coverCells >= 20, "covered");
  await client.call("EndSession", {});
  await client.ended;
  assertGreater(relay.counted.cover, 20 * 2048 - 1);
  assertGreater(relay.counted.padding, 0);
});

/** Passes on what it is given until it is told to stop, and goes on later. */
class Tap {
  readonly #opened = Promise.withResolvers<void>();
  #open = true;

  stop(): void {
    this.#open = false;
  }

  resume(): void {
    this.#open = true;
    this.#opened.resolve();
  }

  async *through<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
    for await (const item of items) {
      if (!this.#open) await this.#opened.promise;
      yield item;
    }
  }
}

/**
 * Alice sends more than anything on the way can hold to Bob, who has stopped reading; he resumes
 * later.
 */
async function stopReading(
  relay: TestRelay,
  open: (tap: Tap) => Promise<RelayClient>,
): Promise<void> {
  const messages = 30;
  const tap = new Tap();
  const alice = await TestAgent.connect(quic(relay));
  const bob = await TestAgent.connect({ open: () => open(tap), origin: testOrigin });
  const channelId = await alice.createChannel();
  const { sequence } = await alice.client.call(
    "SendCommit",
    alice.commit(channelId, 0, { added: [bob.agentId] }),
  );
  await bob.client.notices.first("DeliverWelcome", 1);
  await bob.acknowledge(channelId, sequence);
  await bob.subscribe(channelId, { windowBytes: limits.windowBytes });
  tap.stop();
  for (let i = 0; i < messages; i++) {
    await alice.client.call("SendMessage", alice.message(channelId, 1, 400_000));
  }
  await until(() => relay.meter.slowReaders > 0, "cut off");
  await alice.client.call("Ping", {});
  tap.resume();
  await bob.client.ended;
  assertEquals(await readOn(bob, channelId, messages), messages);
  for (const { client } of [alice, bob]) client.close();
}

/**
 * Comes back for what was not read, as often as it takes: on a busy machine an honest reader may be
 * slow, too.
 */
async function readOn(bob: TestAgent, channelId: ChannelId, messages: number): Promise<number> {
  const read = new Set<number>();
  await until(async () => {
    await bob.reconnect();
    if (read.size > 0) await bob.acknowledge(channelId, Math.max(...read));
    await bob.subscribe(channelId, { windowBytes: limits.windowBytes, tag: 2 });
    let over = false;
    void bob.client.ended.then(() => over = true);
    const delivered = (): number[] =>
      bob.client.notices.of("DeliverMessage").map(({ sequence }) => sequence);
    await until(() => over || read.size + delivered().length >= messages, "read");
    for (const sequence of delivered()) read.add(sequence);
    return read.size >= messages;
  }, "read on");
  return read.size;
}

Deno.test("a reader that stops is cut off with slow_reader, and others notice nothing: QUIC", async () => {
  await using relay = await startTestRelay({ slowReaderMs: 1_000 });
  await stopReading(relay, async (tap) => {
    const carrier = await quicCarrier(relay.edge.quicPort, relay.certificate.cert);
    return new CellClient({ ...carrier, chunks: tap.through(carrier.chunks) });
  });
});

Deno.test("a reader that stops is cut off with slow_reader, and others notice nothing: Deliver over HTTP/2", async () => {
  await using relay = await startTestRelay({ slowReaderMs: 1_000 });
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  await stopReading(relay, (tap) => {
    const { unary, stream } = http.transport;
    const tapped: Transport = {
      unary,
      stream: async (...args) => {
        const response = await stream(...args);
        return { ...response, message: tap.through(response.message) };
      },
    };
    return Promise.resolve(new TypedClient(tapped));
  });
});

Deno.test("the proxy covers typed sessions on the network, reads its certificate again, and reports a lost relay", async () => {
  const relay = await startTestRelay();
  await using proxy = await startProxyProcess({
    quicPort: relay.edge.quicPort,
    ca: relay.certificate.cert,
  });
  using http = connectTransport(proxy.port, proxy.certificate.cert);
  const open = (): Promise<TypedClient> => Promise.resolve(new TypedClient(http.transport));
  const agent = await TestAgent.connect({ open, origin: testOrigin });
  await agent.client.call("ConfigureCover", {
    mode: "constant",
    intervalMs: limits.minCoverIntervalMs,
  });
  const health = await http.fetch(`https://localhost:${proxy.port}/health`);
  assertEquals(await health.json(), { status: "ok" });

  const renewed = await createCertificate();
  await proxy.reload(renewed);
  await until(async () => {
    using fresh = connectTransport(proxy.port, renewed.cert);
    return await createClient(RelayService, fresh.transport).ping({}).then(() => true, () => false);
  }, "reloaded");
  await agent.client.call("Ping", {});

  await relay[Symbol.asyncDispose]();
  assertGreater(relay.counted.cover, 0);
  assertEquals(await agent.client.ended, "relay_draining");
  const failed = await assertRejects(() => new TypedClient(http.transport).call("Ping", {}), Error);
  assert(/connection_error/.test(failed.message), failed.message);
});

Deno.test("what is too large has one code, with a session and without, and a compressed call is told what is served", async () => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const open = (): Promise<RelayClient> => Promise.resolve(new TypedClient(http.transport));
  const agent = await TestAgent.connect({ open, origin: testOrigin });
  const channelId = await agent.createChannel();
  const huge = { ...agent.message(channelId, 0), ciphertext: new Uint8Array(3 * 2 ** 20) };
  const stranger = await open();
  const token = "x".repeat(100_000);
  const tooLarge: readonly (() => Promise<unknown>)[] = [
    () => agent.client.call("SendMessage", huge),
    () => stranger.call("Authenticate", agent.answer(new Uint8Array(32), token)),
  ];
  for (const call of tooLarge) {
    assertEquals((await assertRejects(call, CallFailed)).code, "payload_too_large");
  }
  agent.client.close();

  const url = `https://localhost:${relay.edge.grpcPort}/static.relay.v1.Relay/Ping`;
  const headers = { "content-type": "application/proto", "content-encoding": "gzip" };
  const answer = await http.fetch(url, { method: "POST", headers, body: new Uint8Array(20) });
  const { code } = await answer.json();
  assertEquals([answer.status, code, answer.headers.get("accept-encoding")], [
    501,
    "unimplemented",
    "identity",
  ]);
});

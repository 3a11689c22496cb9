// Whatever arrives on a port, only the connection that brought it ends: an honest session goes on
// beside it, the relay reports no fault, and its memory stays bounded.
import { assert, assertEquals, assertLess } from "@std/assert";
import {
  CellPacker,
  createCoverCell,
  encodeCbor,
  encodeRequest,
  limits,
  protocolVersion,
} from "../../proto/mod.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { TestAgent } from "../support/relay/agent.ts";
import { connectTransport, openQuic } from "../support/relay/deno_clients.ts";
import { DoomedRelay } from "./doomed_relay.ts";
import { startTestRelay, testOrigin, type TestRelay } from "../support/relay/test_relay.ts";

const rounds = inCampaign ? 300 : 2;

/** A stranger's knowledge of a relay. */
interface Target {
  readonly edge: { readonly quicPort: number; readonly grpcPort: number };
  readonly certificate: { readonly cert: string };
}

async function withHonestAgent(
  run: (relay: TestRelay, random: Random) => Promise<void>,
): Promise<void> {
  await using relay = await startTestRelay();
  await besideHonestAgent(relay, testOrigin, (random) => run(relay, random));
}

/** An honest agent that must never notice anything. */
async function besideHonestAgent(
  relay: Target,
  origin: string,
  run: (random: Random) => Promise<void>,
): Promise<void> {
  const random = createRandom(seedFromEnvironment());
  const open = (): ReturnType<typeof openQuic> =>
    openQuic(relay.edge.quicPort, relay.certificate.cert);
  const honest = await TestAgent.connect({ open, origin });
  const channelId = await honest.createChannel();
  const stop = new AbortController();
  const working = (async () => {
    let sent = 0;
    while (!stop.signal.aborted) {
      await honest.send(channelId, 0);
      sent++;
    }
    return sent;
  })();
  try {
    await run(random);
    tried(`${rounds} rounds of garbage`);
  } catch (error) {
    throw new Error(`seed ${random.seed}`, { cause: error });
  } finally {
    stop.abort();
    assert(await working > 0);
    honest.client.close();
  }
}

async function connect(relay: Target, alpn: string): Promise<Deno.QuicConn> {
  const conn = await Deno.connectQuic<false>({
    hostname: "localhost",
    port: relay.edge.quicPort,
    alpnProtocols: [alpn],
    caCerts: [relay.certificate.cert],
  });
  conn.closed.catch(() => {});
  return conn;
}

/**
 * Writes until the peer has had enough, then waits for its verdict: the code with which it closed
 * the connection.
 */
async function verdict(conn: Deno.QuicConn, bytes: readonly Uint8Array[]): Promise<number> {
  const stream = await conn.createBidirectionalStream();
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => {});
  stream.readable.cancel().catch(() => {});
  try {
    for (const part of bytes) await writer.write(part);
    await writer.close();
  } catch {
    // Closed while we were writing.
  }
  return (await conn.closed).closeCode;
}

function cellsOf(...envelopes: readonly Uint8Array[]): Uint8Array[] {
  const packer = new CellPacker(limits.cellBytes);
  for (const envelope of envelopes) packer.push("control", envelope);
  const cells: Uint8Array[] = [];
  for (let cell = packer.next(); cell !== undefined; cell = packer.next()) cells.push(cell);
  return cells;
}

Deno.test("garbage on the QUIC port ends its own connection only", async () => {
  await withHonestAgent(async (relay, random) => {
    const request = encodeRequest(1, "GetChallenge", { versions: [protocolVersion], features: [] });
    const badVersion = encodeCbor(new Map([[1, 9], [2, 1], [3, 1], [4, 1]]));
    const inputs: readonly (() => Uint8Array[])[] = [
      () => [random.bytes(1 + random.below(20_000))],
      () => [random.bytes(3)], // a cut cell
      () => cellsOf(request).map((cell) => cell.subarray(0, random.below(cell.length))),
      () => cellsOf(random.bytes(1 + random.below(200))),
      () => cellsOf(badVersion),
      () => cellsOf(request.subarray(0, 5)),
      // oversize before authentication
      () => cellsOf(new Uint8Array(limits.handshakeEnvelopeBytes + 1).fill(0xa0)),
      () => [new Uint8Array(limits.cellBytes).fill(0xff)],
      () => [createCoverCell(limits.cellBytes), random.bytes(5_000)],
      () => [], // a stream that ends before it began
      () => [...cellsOf(request), random.bytes(10_000)], // goes on before the size is settled
    ];
    for (let round = 0; round < rounds; round++) {
      const codes = inputs.map(async (input) =>
        await verdict(await connect(relay, "static-relay/1"), input())
      );
      const closed = await Promise.all(codes);
      assert(
        closed.every((code) => code === 0 || (code >= 0x101 && code <= 0x152)),
        `codes ${closed}`,
      );
    }
    assertEquals(relay.edge.stats().quic.refused, 0);
  });
});

Deno.test("garbage in HTTP/3 ends its own connection only", async () => {
  await withHonestAgent(async (relay, random) => {
    const headers = (length: number, block: Uint8Array): Uint8Array =>
      Uint8Array.of(0x01, length, ...block);
    const inputs: readonly (() => Uint8Array[])[] = [
      () => [random.bytes(1 + random.below(5_000))],
      () => [headers(3, Uint8Array.of(0, 0, 0xff))], // an index that does not end
      () => [headers(5, Uint8Array.of(0x05, 0, 0x80, 0x81, 0x82))], // a dynamic table
      () => [headers(2, Uint8Array.of(0, 0))], // no field at all
      // a header block of a megabyte
      () => [Uint8Array.of(0x01, 0x80, 0x10, 0, 0), random.bytes(2_000)],
      () => [Uint8Array.of(0x00, 0x04, 1, 2, 3, 4)], // data before headers
      // a session stream without a session
      () => [Uint8Array.of(0x40, 0x41, 0x20), random.bytes(4_096)],
      () => [
        Uint8Array.of(0x21, 0xbf, 0xff, 0xff, 0xff),
        ...Array.from({ length: 40 }, () => random.bytes(4_000)),
      ],
      () => [headers(4, Uint8Array.of(0, 0, 0xd1, 0xc1))], // GET /
    ];
    for (let round = 0; round < rounds; round++) {
      await Promise.all(inputs.map(async (input) => {
        const conn = await connect(relay, "h3");
        const control = (await conn.createUnidirectionalStream()).getWriter();
        control.closed.catch(() => {});
        await control.write(random.chance(0.5) ? Uint8Array.of(0, 4, 0) : random.bytes(100)).catch(
          () => {},
        );
        const closed = verdict(conn, input()).then(() => {}, () => {});
        // A request that was answered leaves its connection open; its client is the one to go.
        const patience = Promise.withResolvers<void>();
        const timer = setTimeout(patience.resolve, 300);
        await Promise.race([closed, patience.promise]);
        clearTimeout(timer);
        conn.close();
      }));
    }
  });
});

Deno.test("garbage on the gRPC port ends its own connection or call only", async () => {
  await withHonestAgent(async (relay, random) => {
    using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
    const service = `https://localhost:${relay.edge.grpcPort}/static.relay.v1.Relay/`;
    const types = [
      "application/proto",
      "application/json",
      "application/grpc",
      "application/grpc-web+proto",
      "text/css",
    ];
    const methods = [
      "GetChallenge",
      "Authenticate",
      "SendMessage",
      "CellUp",
      "CellDown",
      "Session",
      "Deliver",
      "Nothing",
    ];
    for (let round = 0; round < rounds; round++) {
      await Promise.all(methods.map(async (method) => {
        const response = await http.fetch(service + method, {
          method: "POST",
          headers: {
            "content-type": random.pick(types),
            "static-session": random.pick(["", "AAAA", "x".repeat(43)]),
          },
          body: random.bytes(random.below(60_000)),
        }).catch(() => new Response(""));
        // A server that answers before it has read everything resets the stream; Deno's client may
        // then lose the answer.
        const body = await response.text().catch(() => "");
        assert(!/internal/.test(body), `${method}: ${response.status} ${body}`);
      }));
      await garbageOverTls(relay, random);
    }
    const { status, body } = await http.fetch(`https://localhost:${relay.edge.grpcPort}/health`);
    await body?.cancel();
    assertEquals(status, 200);
  });
});

/** Bytes that are no HTTP, with and without TLS around them. */
async function garbageOverTls(relay: TestRelay, random: Random): Promise<void> {
  const address = { hostname: "localhost", port: relay.edge.grpcPort };
  const plain = await Deno.connect(address);
  await plain.write(random.bytes(2_000)).catch(() => {});
  plain.close();
  for (const alpnProtocols of [["h2"], ["http/1.1"]]) {
    const tls = await Deno.connectTls({
      ...address,
      caCerts: [relay.certificate.cert],
      alpnProtocols,
    });
    const start = random.chance(0.5)
      ? new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n")
      : new Uint8Array(0);
    await tls.write(new Uint8Array([...start, ...random.bytes(2_000)])).catch(() => {});
    tls.close();
  }
}

Deno.test("strangers who send much and read nothing cost bounded memory", async () => {
  await using server = await DoomedRelay.create();
  const relay: Target = { edge: server, certificate: server.certificate };
  await besideHonestAgent(relay, `quic://localhost:${server.quicPort}`, async (random) => {
    using http = connectTransport(server.grpcPort, server.certificate.cert);
    const large = random.bytes(2 * 1024 * 1024);
    const before = server.memoryBytes();
    const grpcFlood = Promise.all(Array.from({ length: 40 }, async () => {
      const url = `https://localhost:${server.grpcPort}/static.relay.v1.Relay/SendMessage`;
      const headers = { "content-type": "application/proto" };
      const response = await http.fetch(url, { method: "POST", headers, body: large }).catch(() =>
        undefined
      );
      await response?.body?.cancel();
      return response?.status;
    }));
    const quicFlood = Promise.all(Array.from({ length: 20 }, async () => {
      const conn = await connect(relay, "static-relay/1");
      await conn.createBidirectionalStream().then((stream) =>
        stream.writable.getWriter().write(random.bytes(1))
      );
      // Streams that nobody asked for, as much as the relay takes.
      for (let i = 0; i < 8; i++) {
        const writer = (await conn.createUnidirectionalStream()).getWriter();
        writer.closed.catch(() => {});
        await writer.write(large.subarray(0, 500_000)).catch(() => {});
      }
      return conn;
    }));
    const statuses = await grpcFlood;
    assert(
      statuses.every((status) => status === undefined || (status >= 400 && status < 500)),
      `statuses ${statuses}`,
    );
    for (const conn of await quicFlood) conn.close();
    const grown = (server.memoryBytes() - before) / 2 ** 20;
    // 160 MB were sent.
    assertLess(grown, 100, `${Math.round(grown)} MiB more`);
  });
});

Deno.test("an error that says what is wrong reaches a typed client, and nothing internal does", async () => {
  await using relay = await startTestRelay();
  using http = connectTransport(relay.edge.grpcPort, relay.certificate.cert);
  const url = `https://localhost:${relay.edge.grpcPort}/static.relay.v1.Relay/CreateChannel`;
  const body = JSON.stringify({ name: "not a name", nonce: "" });
  const response = await http.fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  const answer = await response.json();
  assertEquals([response.status, answer.code], [401, "unauthenticated"]);
  assert(/static-session/.test(answer.message), answer.message);
});

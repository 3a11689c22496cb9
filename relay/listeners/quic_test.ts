import { assert, assertEquals, assertLess, assertRejects } from "@std/assert";
import { CellPacker, CellReader, errorCodes, limits } from "../../proto/mod.ts";
import {
  createCertificate,
  createRandom,
  eventually,
  seedFromEnvironment,
} from "../../tests/support/mod.ts";
import { inCampaign } from "../../tests/support/campaign.ts";
import type { ClientLink, CoreSession } from "../core/client_link.ts";
import { defaultQuicLimits, listenQuic, type QuicLimits, type QuicListener } from "./quic.ts";
import { quicOptions } from "./quic_options.ts";

const certificate = await createCertificate();

/**
 * A core that answers every envelope with itself, and ends the session when told so by its first
 * byte.
 */
function openEcho(link: ClientLink): CoreSession {
  return {
    receive: (envelope) => {
      if (envelope[0] === 0xee) link.end({ code: "session_replaced", message: "as asked" });
      else link.send("data", envelope.slice());
      return undefined;
    },
    rider: () => undefined,
    writable: () => {},
    closed: () => {},
  };
}

async function withListener(
  run: (listener: QuicListener) => Promise<void>,
  { change = {}, open = openEcho }: {
    change?: Partial<QuicLimits>;
    open?: (link: ClientLink) => CoreSession;
  } = {},
): Promise<void> {
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const listener = await listenQuic({
    host: {
      open,
      cellBytes: limits.cellBytes,
      idleTimeoutMs: 60_000,
      lowWaterBytes: 65_536,
      flushMs: 1_000,
      nowMs: () => performance.now(),
      after: (ms, act) => {
        const timer = setTimeout(() => {
          timers.delete(timer);
          act();
        }, ms);
        timers.add(timer);
        return () => {
          timers.delete(timer);
          clearTimeout(timer);
        };
      },
      random: Math.random,
      countBytes: () => {},
    },
    hostname: "::",
    port: 0,
    certificate,
    limits: { ...defaultQuicLimits, ...change },
    allowsOrigin: (origin) => origin === "https://app.example",
    onFault: (error) => {
      throw error;
    },
  });
  try {
    await run(listener);
  } finally {
    listener.close();
    for (const timer of timers) clearTimeout(timer);
  }
}

function connect(
  port: number,
  options: { hostname?: string; ca?: string; alpn?: string } = {},
): Promise<Deno.QuicConn> {
  return Deno.connectQuic<false>({
    hostname: options.hostname ?? "localhost",
    serverName: "localhost",
    port,
    alpnProtocols: [options.alpn ?? "static-relay/1"],
    caCerts: [options.ca ?? certificate.cert],
  });
}

/** One envelope there and back. */
async function echo(
  stream: Deno.QuicBidirectionalStream,
  envelope: Uint8Array,
): Promise<Uint8Array> {
  const packer = new CellPacker(limits.cellBytes);
  packer.push("data", envelope);
  const writer = stream.writable.getWriter();
  for (let cell = packer.next(); cell !== undefined; cell = packer.next()) await writer.write(cell);
  writer.releaseLock();
  const cells = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  const reader = stream.readable.getReader();
  let answer: Uint8Array | undefined;
  while (answer === undefined) {
    const { value } = await reader.read();
    assert(value !== undefined, "the stream ended");
    cells.read(value, (bytes) => answer = bytes.slice());
  }
  reader.releaseLock();
  return answer;
}

Deno.test("a session runs over QUIC, by IPv4 and by IPv6, on one port", async () => {
  await withListener(async ({ port, stats }) => {
    const random = createRandom(seedFromEnvironment());
    for (const hostname of ["127.0.0.1", "::1"]) {
      const conn = await connect(port, { hostname });
      const stream = await conn.createBidirectionalStream();
      for (const length of [1, 5000, 16_000]) {
        const envelope = random.bytes(length);
        envelope[0] = 1;
        assertEquals(await echo(stream, envelope), envelope);
      }
      conn.close();
    }
    assertEquals(stats().refused, 0);
  });
});

Deno.test("a second stream is refused, and the first goes on", async () => {
  await withListener(async ({ port }) => {
    const conn = await connect(port);
    const first = await conn.createBidirectionalStream();
    await echo(first, Uint8Array.of(1));
    for (let i = 0; i < 10; i++) {
      const second = await conn.createBidirectionalStream({ waitUntilAvailable: true });
      const writer = second.writable.getWriter();
      writer.closed.catch(() => {});
      await writer.write(new Uint8Array(10));
      const refused = await second.readable.getReader().read().then(({ done }) => done, () => true);
      assertEquals(refused, true);
      await writer.abort().catch(() => {});
    }
    assertEquals(await echo(first, Uint8Array.of(2)), Uint8Array.of(2));
    conn.close();
  });
});

Deno.test("the last cells arrive, then the connection closes with the code of the reason", async () => {
  await withListener(async ({ port }) => {
    const conn = await connect(port);
    const stream = await conn.createBidirectionalStream();
    const writer = stream.writable.getWriter();
    const packer = new CellPacker(limits.cellBytes);
    packer.push("data", new Uint8Array(9000).fill(1));
    packer.push("data", Uint8Array.of(0xee));
    for (let cell = packer.next(); cell !== undefined; cell = packer.next()) {
      await writer.write(cell);
    }
    let bytes = 0;
    for await (const chunk of stream.readable) bytes += chunk.length;
    assertEquals(bytes, 3 * limits.cellBytes);
    await writer.close();
    assertEquals({ ...await conn.closed }, {
      closeCode: errorCodes.session_replaced.close,
      reason: "session_replaced",
    });
  });
});

Deno.test("bytes that are no cells close their own connection and nothing else", async () => {
  await withListener(async ({ port }) => {
    const honest = await connect(port);
    const stream = await honest.createBidirectionalStream();
    await echo(stream, Uint8Array.of(1));
    const garbage = await connect(port);
    const writer = (await garbage.createBidirectionalStream()).writable.getWriter();
    writer.closed.catch(() => {});
    await writer.write(new Uint8Array(5000).fill(0xff));
    assertEquals((await garbage.closed).closeCode, errorCodes.protocol_error.close);
    assertEquals(await echo(stream, Uint8Array.of(2)), Uint8Array.of(2));
    honest.close();
  });
});

Deno.test("a connection whose stream was reset does not stay", async () => {
  await withListener(async ({ port }) => {
    const conn = await connect(port);
    const stream = await conn.createBidirectionalStream();
    await echo(stream, Uint8Array.of(1));
    const writer = stream.writable.getWriter();
    writer.closed.catch(() => {});
    await writer.abort(new Error("reset")).catch(() => {});
    await stream.readable.cancel().catch(() => {});
    const { closeCode } = await conn.closed;
    assert(
      closeCode === 0 || closeCode === errorCodes.transport_error.close,
      `closed with ${closeCode}`,
    );
  });
});

Deno.test("there are only so many connections that have not authenticated", async () => {
  const links: ClientLink[] = [];
  const open = (link: ClientLink): CoreSession => {
    links.push(link);
    return openEcho(link);
  };
  await withListener(async ({ port, stats }) => {
    const [first] = await Promise.all([connect(port), connect(port)]);
    await echo(await first.createBidirectionalStream(), Uint8Array.of(1));
    const third = await connect(port);
    assertEquals((await third.closed).closeCode, errorCodes.overloaded.close);
    assertEquals(stats().refused, 1);
    links[0]?.authenticated(
      "3f8e4f6e-5a3c-4b51-9d3e-2a1f0c9b8a77" as Parameters<ClientLink["authenticated"]>[0],
    );
    const fourth = await connect(port);
    assertEquals(
      await echo(await fourth.createBidirectionalStream(), Uint8Array.of(4)),
      Uint8Array.of(4),
    );
  }, { change: { strangers: 2 }, open });
});

Deno.test("a connection that opens no session is closed", async () => {
  await withListener(async ({ port }) => {
    const conn = await connect(port);
    assertEquals((await conn.closed).closeCode, errorCodes.auth_failed.close);
    const http3 = await connect(port, { alpn: "h3" });
    assertEquals((await http3.closed).closeCode, 0x100);
  }, { change: { openingMs: 50 } });
});

for (const calmHandshakes of [64, 0]) {
  const when = calmHandshakes === 0 ? ", also while many handshakes are under way" : "";
  Deno.test(`a renewed certificate serves new connections while old ones go on${when}`, () =>
    withListener(servesRenewedCertificate, { change: { calmHandshakes } }));
}

async function servesRenewedCertificate({ port, setCertificate }: QuicListener): Promise<void> {
  const old = await connect(port);
  const stream = await old.createBidirectionalStream();
  await echo(stream, Uint8Array.of(1));
  for (let i = 0; i < 3; i++) {
    const renewed = await createCertificate();
    setCertificate(renewed);
    // The first is taken by the listener of the certificate before.
    for (let again = 0; again < 3; again++) {
      const conn = await connect(port, { ca: renewed.cert });
      const answer = await echo(await conn.createBidirectionalStream(), Uint8Array.of(3));
      assertEquals(answer, Uint8Array.of(3));
      conn.close();
    }
  }
  await assertRejects(() => connect(port), Error);
  assertEquals(await echo(stream, Uint8Array.of(2)), Uint8Array.of(2));
  old.close();
}

Deno.test("while draining new connections are refused at once and open ones go on", async () => {
  await withListener(async ({ port, refuse }) => {
    const conn = await connect(port);
    const stream = await conn.createBidirectionalStream();
    await echo(stream, Uint8Array.of(1));
    refuse();
    await assertRejects(() => connect(port), Error, "refused");
    assertEquals(await echo(stream, Uint8Array.of(2)), Uint8Array.of(2));
    conn.close();
  });
});

/** The first packet of a client whose server never answers. */
async function firstPacket(): Promise<Uint8Array> {
  const silent = Deno.listenDatagram({ hostname: "127.0.0.1", port: 0, transport: "udp" });
  const { port } = silent.addr as Deno.NetAddr; // cast: of a UDP socket
  const endpoint = new Deno.QuicEndpoint({ hostname: "127.0.0.1", port: 0 });
  const alpnProtocols = ["static-relay/1"];
  const connecting = Deno.connectQuic<false>({
    hostname: "127.0.0.1",
    port,
    serverName: "localhost",
    alpnProtocols,
    endpoint,
  });
  const given = connecting.then(() => {}, () => {});
  const [packet] = await silent.receive();
  endpoint.close();
  await given;
  silent.close();
  return packet;
}

Deno.test("a first packet without a follow-up holds its place for a moment only", () =>
  withListener(async (listener) => {
    const { port } = listener;
    const outcome = async (): Promise<string> => {
      const options = {
        hostname: "localhost",
        port,
        alpnProtocols: ["static-relay/1"],
        caCerts: [certificate.cert],
      };
      return await Deno.connectQuic<false>(options).then((conn) => {
        conn.close();
        return "served";
      }, () => "refused");
    };
    const sender = Deno.listenDatagram({ hostname: "127.0.0.1", port: 0, transport: "udp" });
    await sender.send(await firstPacket(), { transport: "udp", hostname: "127.0.0.1", port });
    for (const wanted of ["refused", "served"]) {
      await eventually({ what: wanted }, outcome, (seen) => seen === wanted);
    }
    sender.close();
  }, { change: { handshakes: 1, handshakeMs: 1_000 } }));

/** Carries datagrams of one client to a port and back until it is closed. */
function openWay(port: number): Disposable & { readonly port: number } {
  const sockets = [0, 0].map(() =>
    Deno.listenDatagram({ hostname: "127.0.0.1", port: 0, transport: "udp" })
  );
  const [front, back] = sockets;
  if (front === undefined || back === undefined) throw new Error("two sockets were opened");
  let client: Deno.Addr | undefined;
  const carry = async (from: Deno.DatagramConn, send: (bytes: Uint8Array) => Promise<unknown>) => {
    for await (const [bytes, sender] of from) {
      if (from === front) client = sender;
      await send(bytes);
    }
  };
  const relay: Deno.NetAddr = { transport: "udp", hostname: "127.0.0.1", port };
  void carry(front, (bytes) => back.send(bytes, relay)).catch(() => {});
  void carry(back, async (bytes) => client && await front.send(bytes, client)).catch(() => {});
  const close = (): void => sockets.forEach((socket) => socket.close());
  // cast: of a UDP socket
  return { port: (front.addr as Deno.NetAddr).port, [Symbol.dispose]: close };
}

if (inCampaign) {
  Deno.test("who vanishes is forgotten sooner if it came while many handshakes were under way", () =>
    withListener(async (listener) => {
      const way = openWay(listener.port);
      const conn = await connect(way.port);
      conn.closed.catch(() => {});
      await echo(await conn.createBidirectionalStream(), Uint8Array.of(1));
      way[Symbol.dispose]();
      const vanishedMs = performance.now();
      await eventually(
        { what: "nobody is connected" },
        () => Promise.resolve(listener.stats().connections),
        (count) => count === 0,
      );
      assertLess(performance.now() - vanishedMs, quicOptions.maxIdleTimeout / 2);
    }, { change: { calmHandshakes: 0 } }));
}

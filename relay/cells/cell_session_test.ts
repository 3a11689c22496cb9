import { assert, assertEquals } from "@std/assert";
import {
  type AccountId,
  CellPacker,
  CellReader,
  CoverBudget,
  createCoverCell,
  decodeRelayEnvelope,
  type Lane,
  limits,
  parseAccountId,
} from "../../proto/mod.ts";
import { createRandom, seedFromEnvironment, SimulatedClock } from "../../tests/support/mod.ts";
import type { ClientLink, CoreSession, EndReason } from "../core/client_link.ts";
import { CellSession } from "./cell_session.ts";

const account: AccountId = parseAccountId("3f8e4f6e-5a3c-4b51-9d3e-2a1f0c9b8a77");

/** A session over a scripted core and a peer that reads cells. */
class Bench {
  readonly clock = new SimulatedClock();
  readonly received: Uint8Array[] = [];
  readonly peer: { lane: Lane; envelope: Uint8Array }[] = [];
  readonly peerReader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.envelopeBytes,
  });
  readonly closes: (EndReason | undefined)[] = [];
  readonly counted: { padding: number; cover: number }[] = [];
  readonly calls: string[] = [];
  readonly session: CellSession;
  link!: ClientLink;
  /** The core's answer to `receive`. */
  busy: Promise<void> | undefined;
  blocked: PromiseWithResolvers<void> | undefined;
  onReceive: (envelope: Uint8Array) => void = () => {};
  rider: (room: number) => Uint8Array | undefined = () => undefined;

  constructor({ refuse, budget }: { refuse?: EndReason; budget?: CoverBudget } = {}) {
    const core: CoreSession = {
      receive: (envelope) => {
        this.received.push(envelope.slice());
        this.onReceive(envelope);
        return this.busy;
      },
      rider: (room) => this.rider(room),
      writable: () => void this.calls.push("writable"),
      closed: () => void this.calls.push("closed"),
    };
    const open = (link: ClientLink): CoreSession => {
      this.link = link;
      if (refuse !== undefined) link.end(refuse);
      return core;
    };
    this.session = new CellSession({
      open,
      cellBytes: 2048,
      idleTimeoutMs: 60_000,
      lowWaterBytes: 10_000,
      flushMs: 2_000,
      nowMs: this.clock.nowMs,
      after: this.clock.after,
      random: () => 0.5,
      countBytes: (_, bytes) => void this.counted.push(bytes),
      ...(budget &&
        { spendCover: (account, bytes) => budget.spend(account, bytes, this.clock.nowMs()) }),
    }, {
      transport: "quic",
      remoteAddress: "127.0.0.1",
      write: async (cells) => {
        const copy = cells.slice();
        await this.blocked?.promise;
        this.peerReader.read(
          copy,
          (envelope, lane) => this.peer.push({ envelope: envelope.slice(), lane }),
        );
      },
      authenticated: () => void this.calls.push("authenticated"),
      close: (reason) => void this.closes.push(reason),
    });
  }

  /** Cells that carry these envelopes. */
  cells(cellBytes: number, ...envelopes: Uint8Array[]): Uint8Array {
    const packer = new CellPacker(cellBytes);
    const cells: number[] = [];
    for (const envelope of envelopes) {
      packer.push("data", envelope);
      for (let cell = packer.next(); cell !== undefined; cell = packer.next()) cells.push(...cell);
    }
    return Uint8Array.from(cells);
  }
}

Deno.test("envelopes pass both ways, however the bytes are cut", async () => {
  const bench = new Bench();
  const random = createRandom(seedFromEnvironment());
  const envelopes = [1, 4000, 9000, 3, 16_384].map((length) => random.bytes(length));
  const bytes = bench.cells(limits.cellBytes, ...envelopes);
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + random.below(9000);
    assertEquals(bench.session.receive(bytes.subarray(at, end)), undefined);
    at = end;
  }
  assertEquals(bench.received, envelopes, `seed ${random.seed}`);
  bench.link.send("control", Uint8Array.of(1, 2));
  await bench.clock.settle();
  assertEquals(bench.peer, [{ lane: "control", envelope: Uint8Array.of(1, 2) }]);
});

Deno.test("after the challenge both directions have the relay's cell size", async () => {
  const bench = new Bench();
  bench.onReceive = () => {
    bench.link.send("control", Uint8Array.of(7));
    bench.link.challenged();
    bench.onReceive = () => {};
  };
  bench.session.receive(bench.cells(4096, Uint8Array.of(1)));
  bench.session.receive(bench.cells(2048, Uint8Array.of(2), Uint8Array.of(3)));
  assertEquals(bench.received.map(([byte]) => byte), [1, 2, 3]);
  await bench.clock.settle();
  bench.peerReader.configure({ cellBytes: 2048, maxEnvelopeBytes: 100 });
  bench.link.send("control", Uint8Array.of(8));
  await bench.clock.settle();
  assertEquals(bench.peer.map(({ envelope: [byte] }) => byte), [7, 8]);
});

Deno.test("a peer that goes on before the cell size is settled loses its session", async () => {
  const bench = new Bench();
  bench.session.receive(Uint8Array.of(...bench.cells(4096, Uint8Array.of(1)), 0, 0, 0));
  bench.link.challenged();
  await bench.clock.settle();
  assertEquals(bench.closes.map((reason) => reason?.code), ["protocol_error"]);
});

Deno.test("envelopes are small before authentication, and full-sized after it", async () => {
  const large = new Uint8Array(limits.handshakeEnvelopeBytes + 1).fill(1);
  const early = new Bench();
  early.session.receive(early.cells(4096, large));
  await early.clock.settle();
  assertEquals(early.closes.map((reason) => reason?.code), ["payload_too_large"]);
  const late = new Bench();
  late.link.authenticated(account);
  assertEquals(late.calls, ["authenticated"]);
  late.session.receive(late.cells(4096, large));
  assertEquals(late.received, [large]);
});

Deno.test("a core that is busy is given nothing more, and no byte is lost", async () => {
  const bench = new Bench();
  const { promise, resolve } = Promise.withResolvers<void>();
  bench.busy = promise;
  const waiting = bench.session.receive(
    bench.cells(4096, ...[1, 2, 3].map((byte) => new Uint8Array(4000).fill(byte))),
  );
  assert(waiting !== undefined);
  await bench.clock.settle();
  assertEquals(bench.received.length, 1);
  bench.busy = undefined;
  resolve();
  await waiting;
  assertEquals(bench.received.map(([byte]) => byte), [1, 2, 3]);
});

Deno.test("writable() comes once when what is pending falls below the low mark", async () => {
  const bench = new Bench();
  bench.blocked = Promise.withResolvers();
  for (let i = 0; i < 30; i++) bench.link.send("data", new Uint8Array(4000));
  await bench.clock.settle();
  assertEquals(bench.link.pendingBytes, 30 * 4004);
  assertEquals(bench.calls, []);
  bench.blocked.resolve();
  bench.blocked = undefined;
  await bench.clock.settle();
  assertEquals(bench.link.pendingBytes, 0);
  assertEquals(bench.calls, ["writable"]);
  bench.link.send("data", new Uint8Array(100));
  await bench.clock.settle();
  assertEquals(bench.calls, ["writable"]);
});

Deno.test("end() writes what is pending first, then closes with its reason, once", async () => {
  const bench = new Bench();
  const reason = { code: "session_replaced", message: "another one" } as const;
  bench.link.send("control", Uint8Array.of(9));
  bench.link.end(reason);
  bench.link.end(undefined);
  bench.link.send("control", Uint8Array.of(10));
  bench.session.receive(bench.cells(4096, Uint8Array.of(1)));
  await bench.clock.settle();
  assertEquals(bench.peer.map(({ envelope: [byte] }) => byte), [9]);
  assertEquals(bench.closes, [reason]);
  assertEquals(bench.calls, ["closed"]);
  assertEquals(bench.received, []);
  bench.session.lost();
  assertEquals(bench.calls, ["closed"]);
  assertEquals(bench.clock.timers, 0);
});

Deno.test("a peer that does not read cannot hold an ending session for long", async () => {
  const bench = new Bench();
  bench.blocked = Promise.withResolvers();
  bench.link.send("control", Uint8Array.of(9));
  bench.link.end(undefined);
  await bench.clock.advance(1_999);
  assertEquals(bench.closes, []);
  await bench.clock.advance(1);
  assertEquals(bench.closes, [undefined]);
  bench.blocked.resolve();
  await bench.clock.settle();
});

Deno.test("a refused link is closed with the core's reason", async () => {
  const reason = { code: "overloaded", message: "later", retryAfterMs: 1000 } as const;
  const bench = new Bench({ refuse: reason });
  await bench.clock.settle();
  assertEquals(bench.closes, [reason]);
  assertEquals(bench.calls, ["closed"]);
});

Deno.test("silence ends a session, cover keeps it", async () => {
  const bench = new Bench();
  for (let i = 0; i < 5; i++) {
    await bench.clock.advance(50_000);
    bench.session.receive(createCoverCell(limits.cellBytes));
  }
  assertEquals(bench.closes, []);
  await bench.clock.advance(62_000);
  assertEquals(bench.closes.map((reason) => reason?.code), ["transport_error"]);
  const [told] = bench.peer.map(({ envelope }) => decodeRelayEnvelope(envelope));
  assert(
    told?.kind === "notice" && told.operation === "SessionEnding" &&
      told.body.code === "transport_error",
  );
});

Deno.test("random bytes never throw and end only as typed errors", async () => {
  const random = createRandom(seedFromEnvironment());
  const codes = new Set<string | undefined>();
  for (let round = 0; round < 200; round++) {
    const bench = new Bench();
    if (random.chance(0.5)) bench.link.authenticated(account);
    for (let i = 0; i < 4; i++) bench.session.receive(random.bytes(random.below(9000)));
    await bench.clock.settle();
    for (const reason of bench.closes) codes.add(reason?.code);
  }
  assertEquals(
    [...codes].filter((code) => code !== "protocol_error" && code !== "payload_too_large"),
    [],
  );
  assert(codes.size > 0);
});

Deno.test("fill and cover of both directions are counted for the account, each byte once", async () => {
  const bench = new Bench();
  bench.session.receive(createCoverCell(4096));
  bench.link.authenticated(account);
  bench.session.receive(bench.cells(4096, new Uint8Array(1000)));
  bench.link.send("data", new Uint8Array(2000));
  bench.link.configureCover("constant", 10_000);
  await bench.clock.advance(55_000);
  bench.session.lost();
  const total = bench.counted.reduce((a, b) => ({
    padding: a.padding + b.padding,
    cover: a.cover + b.cover,
  }));
  // Five ticks, of which the first carried the envelope.
  const downCover = 4 * 4096;
  assertEquals(total, { padding: 4093 - 1004 + (4093 - 2004), cover: 4096 + downCover });
});

Deno.test("a used-up budget stops cover and says so; messages go on, and cover comes back with the next day", async () => {
  const budget = new CoverBudget({ bytes: 10 * 4096, period: "day" });
  const [bench, other] = [new Bench({ budget }), new Bench({ budget })];
  bench.link.authenticated(account);
  bench.link.configureCover("constant", 1_000);
  for (let i = 0; i < 4; i++) bench.session.receive(createCoverCell(4096));
  await bench.clock.advance(30_000);
  const { cells, coverCells } = bench.peerReader.counts;
  assertEquals([cells, coverCells], [7, 6], "six cells of cover downwards, and the notice");
  const notices = (): unknown[] => bench.peer.map(({ envelope }) => decodeRelayEnvelope(envelope));
  const [notice] = notices();
  const untilMs = 86_400_000;
  const message = "The budget for cover traffic is used up; messages go on without it";
  assertEquals(notice, { kind: "notice", operation: "CoverStopped", body: { message, untilMs } });
  bench.link.send("data", new Uint8Array(100));
  await bench.clock.advance(2_000);
  assertEquals(bench.peer.length, 2);

  other.link.authenticated(account);
  other.link.configureCover("poisson", 1_000);
  await other.clock.advance(30_000);
  assertEquals(
    [other.peerReader.counts.coverCells, other.peer.length],
    [0, 1],
    "another session of the account",
  );

  while (bench.clock.nowMs() < untilMs) {
    assertEquals(bench.peerReader.counts.coverCells, 6);
    bench.session.receive(bench.cells(4096, new Uint8Array(1)));
    await bench.clock.advance(59_000);
  }
  await bench.clock.advance(10_000);
  assert(bench.peerReader.counts.coverCells > 6);
  bench.session.lost();
  other.session.lost();
});

Deno.test("a write that fails closes the session and nothing else", async () => {
  const bench = new Bench();
  bench.blocked = Promise.withResolvers();
  bench.link.send("data", new Uint8Array(2000));
  await bench.clock.settle();
  bench.blocked.reject(new Error("stream reset"));
  await bench.clock.settle();
  assertEquals(bench.closes.map((reason) => reason?.code), ["transport_error"]);
  assertEquals(bench.calls, ["closed"]);
});

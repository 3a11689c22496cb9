import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRandom, seedFromEnvironment, SimulatedClock } from "../../tests/support/mod.ts";
import { cellHeaderBytes, CellReader, riderPrefixBytes, writeRider } from "./cell.ts";
import { CellSender, type CellSenderOptions } from "./cell_sender.ts";
import { encodeNotice } from "./envelope.ts";
import { WireError } from "../base/errors.ts";
import { parseAgentId, parseChannelId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";

const cellBytes = limits.minCellBytes;

/** A sender on simulated time; what it wrote, and what its peer reads. */
class Bench {
  readonly clock = new SimulatedClock(0);
  readonly cells: { readonly atMs: number; readonly cell: Uint8Array }[] = [];
  readonly heard: string[] = [];
  readonly reader = new CellReader({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
  readonly sender: CellSender;

  constructor(options: Partial<CellSenderOptions> = {}) {
    const random = createRandom(7);
    this.sender = new CellSender({
      cellBytes,
      write: (bytes, size) => {
        for (let at = 0; at < bytes.length; at += size) {
          this.cells.push({ atMs: this.clock.nowMs(), cell: bytes.slice(at, at + size) });
        }
        this.reader.read(bytes, (envelope) => this.heard.push(new TextDecoder().decode(envelope)));
        return Promise.resolve();
      },
      after: this.clock.after,
      nowMs: this.clock.nowMs,
      random: () => random.below(1000) / 1000,
      ...options,
    });
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Hands out each of these once, when there is room for it. */
function handOut(...texts: readonly string[]): (room: number) => Uint8Array | undefined {
  const waiting = texts.map(bytes);
  return (room) =>
    waiting[0] !== undefined && waiting[0].length <= room ? waiting.shift() : undefined;
}

Deno.test("riders go behind what a cell carries, as many as fit, and arrive in order", async () => {
  const bench = new Bench({ rider: handOut("one", "two") });
  bench.sender.push("data", bytes("content"));
  await bench.clock.settle();
  assertEquals(bench.heard, ["content", "one", "two"]);
  assertEquals(bench.cells.length, 1);
});

Deno.test("a rider without a cell that leaves anyway does not leave", async () => {
  const bench = new Bench({ rider: handOut("waits") });
  await bench.clock.advance(60_000);
  assertEquals([bench.cells.length, bench.heard.length, bench.sender.pendingBytes], [0, 0, 0]);
  assert(await bench.sender.flush(1_000), "nothing is waited for");
});

Deno.test("a cell that is full, and one that ends in the middle of an envelope, carries no rider", async () => {
  const bench = new Bench({ rider: handOut("rider") });
  const content = 2 * (cellBytes - cellHeaderBytes) - 4;
  bench.sender.push("data", new Uint8Array(content).fill(65));
  await bench.clock.settle();
  assertEquals(bench.heard.map(({ length }) => length), [content]);
  bench.sender.push("control", bytes("a"));
  await bench.clock.settle();
  assertEquals(bench.heard.slice(1), ["a", "rider"]);
});

Deno.test("a cover cell with a rider is cover for both ends, and as long as one without", async () => {
  const [with_, without] = [new Bench({ rider: handOut("one", "two") }), new Bench()];
  for (const { sender, clock } of [with_, without]) {
    sender.configure("poisson", 1_000);
    await clock.advance(20_000);
    sender.configure("off", 0);
  }
  assert(without.cells.length > 10);
  assertEquals(with_.heard, ["one", "two"]);
  assertEquals(with_.sender.counts, without.sender.counts);
  assertEquals(with_.reader.counts, without.reader.counts);
  assertEquals(with_.reader.counts, with_.sender.counts);
});

for (const mode of ["off", "poisson", "constant"] as const) {
  Deno.test(`riders never change how many cells leave, nor when: ${mode}`, async () => {
    const seed = seedFromEnvironment();
    const benches = [
      new Bench({ rider: (room) => new Uint8Array(Math.min(room, 300)).fill(66) }),
      new Bench(),
    ];
    for (const { sender, clock } of benches) {
      const random = createRandom(seed);
      if (mode !== "off") sender.configure(mode, 200);
      for (let i = 0; i < 100; i++) {
        sender.push(
          random.pick(["control", "data"]),
          new Uint8Array(1 + random.below(3 * cellBytes)).fill(65),
        );
        await clock.advance(random.below(100));
      }
      sender.configure("off", 0);
      await clock.settle();
    }
    const [riding, plain] = benches.map(({ cells }) =>
      cells.map(({ atMs, cell }) => `${atMs} ${cell.length}`)
    );
    assertEquals(riding, plain, `seed ${seed}`);
    const [with_, without] = benches.map(({ heard }) => heard.length);
    assert((with_ ?? 0) > (without ?? 0), "and some did ride");
  });
}

Deno.test("golden: a cover cell with two riders", () => {
  const cell = new Uint8Array(cellBytes);
  const end = writeRider(cell, writeRider(cell, cellHeaderBytes, bytes("ab")), bytes("c"));
  assertEquals(bytesToHex(cell.subarray(0, end + 2)), "000000" + "00026162" + "000163" + "0000");
});

Deno.test("a reader takes riders up to the last byte, and refuses one that goes beyond its cell", () => {
  const full = cellBytes - cellHeaderBytes - riderPrefixBytes;
  const cell = new Uint8Array(cellBytes);
  writeRider(cell, cellHeaderBytes, new Uint8Array(full).fill(1));
  const lengths: number[] = [];
  const reader = new CellReader({ cellBytes, maxEnvelopeBytes: 10 });
  reader.read(cell, ({ length }) => lengths.push(length));
  assertEquals(lengths, [full]);
  cell.set(hexToBytes((full + 1).toString(16).padStart(4, "0")), cellHeaderBytes);
  assertEquals(assertThrows(() => reader.read(cell, () => {}), WireError).code, "protocol_error");
});

Deno.test("the longest pages of confirmations fit the smallest cell beside nothing else", () => {
  const room = limits.minCellBytes - cellHeaderBytes - riderPrefixBytes;
  const channelId = parseChannelId("BwcHBwcHBwcHBwcHBwcHBw");
  const agentId = parseAgentId("A".repeat(22));
  const epoch = Number.MAX_SAFE_INTEGER;
  const signed = { agentId, signature: new Uint8Array(64) };
  const confirmations = Array(limits.confirmationsPerPage).fill(signed);
  const page = encodeNotice("DeliverConfirmations", {
    channelId,
    epoch,
    state: new Uint8Array(32),
    confirmations,
  });
  const agentIds = Array(limits.unconfirmedPerPage).fill(agentId);
  const late = encodeNotice("DeliverUnconfirmed", { channelId, epoch, agentIds });
  assert(
    page.length <= room && late.length <= room,
    `${page.length} and ${late.length} bytes for ${room}`,
  );
});

import { assert, assertEquals, assertLessOrEqual, assertThrows } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import {
  cellHeaderBytes,
  CellPacker,
  CellReader,
  createCoverCell,
  envelopeCapacity,
  envelopePrefixBytes,
} from "./cell.ts";
import { WireError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { Lane } from "./operations.ts";

const cellBytes = limits.minCellBytes;
const contentBytes = cellBytes - cellHeaderBytes;

function createReader(maxEnvelopeBytes: number = limits.envelopeBytes): CellReader {
  return new CellReader({ cellBytes, maxEnvelopeBytes });
}

function readAll(reader: CellReader, chunk: Uint8Array): { envelope: Uint8Array; lane: Lane }[] {
  const read: { envelope: Uint8Array; lane: Lane }[] = [];
  reader.read(chunk, (envelope, lane) => read.push({ envelope: envelope.slice(), lane }));
  return read;
}

function packAll(packer: CellPacker): Uint8Array[] {
  const cells: Uint8Array[] = [];
  for (let cell = packer.next(); cell !== undefined; cell = packer.next()) cells.push(cell);
  return cells;
}

/** A cell made by hand: lane, claimed content length, content. */
function rawCell(lane: number, claimed: number, content: readonly number[]): Uint8Array {
  const cell = new Uint8Array(cellBytes);
  cell.set([lane, claimed >> 8, claimed & 0xff, ...content]);
  return cell;
}

Deno.test("envelopes of every length survive packing and reading in chunks of any size", () => {
  const random = createRandom(seedFromEnvironment());
  for (let round = 0; round < 300; round++) {
    const packer = new CellPacker(cellBytes);
    const sent: Record<Lane, Uint8Array[]> = { control: [], data: [] };
    for (let i = random.below(12); i >= 0; i--) {
      const lane = random.pick(["control", "data"] as const);
      const around = contentBytes * random.below(4);
      const envelope = random.bytes(
        1 + random.pick([random.below(50), random.below(5000), around + random.below(12)]),
      );
      sent[lane].push(envelope);
      packer.push(lane, envelope);
    }
    const cells = packAll(packer);
    assertEquals(packer.pendingBytes, 0);
    assert(cells.every((cell) => cell.length === cellBytes));
    const stream = new Uint8Array(cells.length * cellBytes);
    cells.forEach((cell, i) => stream.set(cell, i * cellBytes));

    const reader = createReader();
    const read: Record<Lane, Uint8Array[]> = { control: [], data: [] };
    for (let at = 0; at < stream.length;) {
      const end = at + 1 + random.below(3 * cellBytes);
      for (const { envelope, lane } of readAll(reader, stream.subarray(at, end))) {
        read[lane].push(envelope);
      }
      at = end;
    }
    assertEquals(read, sent, `seed ${random.seed}, round ${round}`);
  }
});

Deno.test("one byte at a time reads the same as all at once", () => {
  const packer = new CellPacker(cellBytes);
  packer.push("data", new Uint8Array(3000).fill(5));
  packer.push("data", Uint8Array.of(1, 2, 3));
  const reader = createReader();
  const read: number[] = [];
  for (const cell of packAll(packer)) {
    for (const byte of cell) {
      reader.read(Uint8Array.of(byte), (envelope) => read.push(envelope.length));
    }
  }
  assertEquals(read, [3000, 3]);
});

Deno.test("small envelopes share a cell, and an envelope of exactly the capacity fills its cells", () => {
  const packer = new CellPacker(cellBytes);
  for (let i = 0; i < 20; i++) packer.push("control", new Uint8Array(40));
  assertEquals(packAll(packer).length, 1);
  for (const cells of [1, 2, 7]) {
    packer.push("data", new Uint8Array(envelopeCapacity(cells, cellBytes)));
    assertEquals(packAll(packer).length, cells);
    packer.push("data", new Uint8Array(envelopeCapacity(cells, cellBytes) + 1));
    assertEquals(packAll(packer).length, cells + 1);
  }
});

Deno.test("control overtakes a long envelope in the data lane, and both arrive whole", () => {
  const packer = new CellPacker(cellBytes);
  packer.push("data", new Uint8Array(5000).fill(1));
  const reader = createReader();
  assertEquals(readAll(reader, packer.next() ?? fail()), []);
  packer.push("control", Uint8Array.of(2));
  assertEquals(readAll(reader, packer.next() ?? fail()), [{
    envelope: Uint8Array.of(2),
    lane: "control",
  }]);
  const rest = packAll(packer).flatMap((cell) => readAll(reader, cell));
  assertEquals(rest, [{ envelope: new Uint8Array(5000).fill(1), lane: "data" }]);
});

function fail(): never {
  throw new Error("a cell was expected");
}

Deno.test("a cell that is handed back is used again and keeps nothing of its former content", () => {
  const packer = new CellPacker(cellBytes);
  packer.push("data", new Uint8Array(900).fill(0xff));
  const first = packer.next() ?? fail();
  packer.push("control", Uint8Array.of(1));
  const second = packer.next(first);
  assert(second === first);
  assertEquals(second, rawCell(0, 5, [0, 0, 0, 1, 1]));
  packer.push("control", Uint8Array.of(1));
  assert(packer.next(new Uint8Array(10))?.length === cellBytes);
});

Deno.test("cover cells have the size of all others, carry nothing and are counted", () => {
  const reader = createReader();
  assertEquals(createCoverCell(cellBytes).length, cellBytes);
  assertEquals(readAll(reader, createCoverCell(cellBytes)), []);
  const packer = new CellPacker(cellBytes);
  packer.push("control", Uint8Array.of(1));
  readAll(reader, packer.next() ?? fail());
  assertEquals(reader.counts, {
    cells: 2,
    coverCells: 1,
    coverBytes: cellBytes,
    paddingBytes: contentBytes - envelopePrefixBytes - 1,
  });
});

Deno.test("cover between the cells of a long envelope changes nothing", () => {
  const packer = new CellPacker(cellBytes);
  packer.push("data", new Uint8Array(3000).fill(9));
  const reader = createReader();
  const read = packAll(packer).flatMap((cell) => [
    ...readAll(reader, createCoverCell(cellBytes)),
    ...readAll(reader, cell),
  ]);
  assertEquals(read.map(({ envelope }) => envelope.length), [3000]);
});

Deno.test("the cell size can change between cells, not in the middle of one", () => {
  const reader = createReader();
  readAll(reader, createCoverCell(cellBytes));
  reader.configure({ cellBytes: 2048, maxEnvelopeBytes: 100 });
  const packer = new CellPacker(cellBytes);
  packer.cellBytes = 2048;
  packer.push("control", new Uint8Array(100));
  assertThrows(() => packer.cellBytes = 4096, TypeError);
  assertEquals(readAll(reader, packer.next() ?? fail()).length, 1);
  reader.read(Uint8Array.of(0), () => {});
  assertThrows(() => reader.configure({ cellBytes: 4096, maxEnvelopeBytes: 100 }), WireError);
});

Deno.test("the size may change from inside the callback that reads the reply which told it", () => {
  const packer = new CellPacker(cellBytes);
  packer.push("control", Uint8Array.of(1));
  const first = packer.next() ?? fail();
  packer.cellBytes = 2048;
  packer.push("control", Uint8Array.of(2));
  const second = packer.next() ?? fail();
  const stream = Uint8Array.of(...first, ...second);
  const reader = createReader();
  const read: number[] = [];
  reader.read(stream, ([byte]) => {
    read.push(byte ?? -1);
    reader.configure({ cellBytes: 2048, maxEnvelopeBytes: 100 });
  });
  assertEquals(read, [1, 2]);
});

const full = new Array<number>(contentBytes).fill(0);
const faults: readonly [why: string, cell: Uint8Array, code: string][] = [
  ["a lane that does not exist", rawCell(2, 0, []), "protocol_error"],
  ["more content than a cell holds", rawCell(0, contentBytes + 1, []), "protocol_error"],
  ["a prefix that is cut", rawCell(0, 4, [0, 0, 0, 1]), "protocol_error"],
  ["an empty envelope", rawCell(0, 5, [0, 0, 0, 0, 1]), "protocol_error"],
  [
    "an envelope above the limit",
    rawCell(0, contentBytes, [0, 0xff, 0xff, 0xff, ...full.slice(4)]),
    "payload_too_large",
  ],
  [
    "an envelope of 4 GiB",
    rawCell(0, contentBytes, [0xff, 0xff, 0xff, 0xff, ...full.slice(4)]),
    "payload_too_large",
  ],
  [
    "an unfinished envelope in a cell that is not full",
    rawCell(1, 6, [0, 0, 0, 9, 1, 1]),
    "protocol_error",
  ],
];

for (const [why, cell, code] of faults) {
  Deno.test(`CellReader refuses ${why}`, () => {
    assertEquals(assertThrows(() => readAll(createReader(), cell), WireError).code, code);
  });
}

Deno.test("the limit on envelopes is exact, and lower before authentication", () => {
  const packer = new CellPacker(cellBytes);
  packer.push("control", new Uint8Array(200));
  packer.push("control", new Uint8Array(201));
  const [cell] = packAll(packer);
  const reader = createReader(200);
  const read: number[] = [];
  assertThrows(
    () => reader.read(cell ?? fail(), ({ length }) => read.push(length)),
    WireError,
    "at most 200",
  );
  assertEquals(read, [200]);
});

Deno.test("CellPacker refuses envelopes that no reader would accept", () => {
  const packer = new CellPacker(cellBytes);
  assertThrows(() => packer.push("data", new Uint8Array(0)), WireError);
  assertThrows(() => packer.push("data", new Uint8Array(limits.envelopeBytes + 1)), WireError);
  assertEquals(packer.pendingBytes, 0);
});

Deno.test("sizes outside the contract are refused", () => {
  for (const size of [0, limits.minCellBytes - 1, limits.maxCellBytes + 1, 4096.5, NaN]) {
    assertThrows(() => new CellPacker(size), WireError);
    assertThrows(() => new CellReader({ cellBytes: size, maxEnvelopeBytes: 1 }), WireError);
    assertThrows(() => createCoverCell(size), WireError);
  }
});

Deno.test("an announced length allocates nothing before its bytes arrive", () => {
  const readers = Array.from({ length: 2000 }, () => createReader());
  const length = limits.envelopeBytes;
  const announce = rawCell(1, contentBytes, [
    length >> 24,
    length >> 16,
    length >> 8,
    length,
    ...full.slice(4),
  ]);
  const before = Deno.memoryUsage();
  for (const reader of readers) readAll(reader, announce);
  const after = Deno.memoryUsage();
  const grown = (after.external + after.heapUsed - before.external - before.heapUsed) /
    readers.length;
  // 2.4 MiB each were announced; one cell of content each has arrived.
  assertLessOrEqual(grown, 8 * cellBytes, `${Math.round(grown)} bytes per reader`);
  assertEquals(envelopePrefixBytes, 4);
});

import { assertEquals, assertThrows } from "@std/assert";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Relay } from "../../proto/wire/grpc.ts";
import { limits, WireError } from "../../proto/mod.ts";
import { createRandom, type Random, seedFromEnvironment } from "../../tests/support/mod.ts";
import {
  decodeCell,
  decodeErrorDetail,
  encodeCellDown,
  encodeCellFrames,
  encodeCellUp,
  encodeFrame,
  GrpcFrameReader,
} from "./frames.ts";

const random: Random = createRandom(seedFromEnvironment());
const { session, cellUp, cellDown } = Relay.method;

/** Everything that a reader finds in these chunks. */
function readAll(chunks: readonly Uint8Array[]): { flags: number; message: Uint8Array }[] {
  const found: { flags: number; message: Uint8Array }[] = [];
  const reader = new GrpcFrameReader();
  for (const chunk of chunks) {
    reader.read(chunk, (flags, message) => void found.push({ flags, message: message.slice() }));
  }
  return found;
}

function cut(bytes: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random.below(random.chance(0.5) ? 7 : 6000);
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

Deno.test("messages are those of protobuf-es, byte for byte", () => {
  for (const cellBytes of [limits.minCellBytes, limits.cellBytes, limits.maxCellBytes]) {
    const [cell, link] = [random.bytes(cellBytes), random.bytes(32)];
    assertEquals(
      encodeCellUp(link, 2 ** 40 + 5, cell),
      toBinary(cellUp.input, create(cellUp.input, { link, index: 2n ** 40n + 5n, cell })),
    );
    assertEquals(encodeCellDown(link), toBinary(cellDown.input, create(cellDown.input, { link })));
    const [frame] = readAll([encodeCellFrames(cell, cellBytes)]);
    assertEquals(frame?.message, toBinary(session.input, create(session.input, { cell })));
    assertEquals(fromBinary(session.input, frame?.message ?? new Uint8Array()).cell, cell);
    assertEquals(decodeCell(frame?.message ?? new Uint8Array()), cell);
  }
});

Deno.test("a stream of cells comes out as it went in, however it is cut", () => {
  for (let round = 0; round < 40; round++) {
    const cellBytes = random.pick([1024, 4096, 16384]);
    const cells = random.bytes(cellBytes * (1 + random.below(5)));
    const frames = readAll(cut(encodeCellFrames(cells, cellBytes)));
    const joined = frames.map(({ message }) => [...decodeCell(message)]).flat();
    assertEquals(Uint8Array.from(joined), cells, `seed ${random.seed}`);
  }
});

Deno.test("flags are told, whatever they are", () => {
  const frame = encodeFrame(new TextEncoder().encode("{}"));
  frame[0] = 2;
  assertEquals(readAll([frame]), [{ flags: 2, message: new TextEncoder().encode("{}") }]);
});

for (const length of [0, 65_537, 0xffff_ffff]) {
  Deno.test(`a message that announces ${length} bytes is refused before anything is kept for it`, () => {
    const head = new Uint8Array(5);
    new DataView(head.buffer).setUint32(1, length);
    assertThrows(() => readAll([head]), WireError);
  });
}

Deno.test("what is no cell is refused: another field, a length beyond the end, something behind it", () => {
  for (
    const bytes of [[], [0x12, 1, 0], [0x0a], [0x0a, 5, 1], [0x0a, 0xff, 0xff, 0xff, 0xff, 0x7f], [
      0x0a,
      1,
      0,
      0,
    ]]
  ) {
    assertThrows(() => decodeCell(Uint8Array.from(bytes)), WireError);
  }
  for (let i = 0; i < 2_000; i++) {
    try {
      decodeCell(random.bytes(random.below(40)));
    } catch (error) {
      if (!(error instanceof WireError)) throw new Error(`seed ${random.seed}`, { cause: error });
    }
  }
});

Deno.test("an error's detail is read as far as it matters", () => {
  const text = (value: string): number[] => [value.length, ...new TextEncoder().encode(value)];
  const bytes = Uint8Array.from([
    0x0a,
    ...text("overloaded"),
    0x12,
    ...text("try later"),
    0x7a,
    ...text("xx"),
  ]);
  assertEquals(decodeErrorDetail(bytes), { code: "overloaded", message: "try later" });
  const timed = Uint8Array.from([...bytes, 0x18, 3, 0x20, 0xb0, 0xea, 1]);
  assertEquals(decodeErrorDetail(timed), {
    code: "overloaded",
    message: "try later",
    retryAfterMs: 30_000,
  });
  assertEquals(decodeErrorDetail(Uint8Array.from([0x0a, ...text("internal")])), {
    code: "internal",
    message: "",
  });
});

import { assertEquals, assertThrows } from "@std/assert";
import {
  CellPacker,
  createCoverCell,
  encodeError,
  encodeReply,
  limits,
  WireError,
} from "../../proto/mod.ts";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { CellSplitter } from "./cell_splitter.ts";

function cellsOf(cellBytes: number, envelope: Uint8Array): Uint8Array {
  const packer = new CellPacker(cellBytes);
  packer.push("control", envelope);
  const cells: number[] = [];
  for (let cell = packer.next(); cell !== undefined; cell = packer.next()) cells.push(...cell);
  return Uint8Array.from(cells);
}

const challenge = encodeReply(1, "GetChallenge", {
  version: 1,
  nonce: new Uint8Array(32),
  expiresInMs: 30_000,
  relayTimeMs: 1,
  cellBytes: 2048,
  features: [],
});

Deno.test("a stream is cut into cells whose size changes with the challenge, however its bytes arrive", () => {
  const random = createRandom(seedFromEnvironment());
  const refusal = encodeError(1, { code: "unsupported_version", message: "no" });
  const stream = Uint8Array.of(
    ...cellsOf(4096, refusal),
    ...createCoverCell(4096),
    ...cellsOf(4096, challenge),
    ...random.bytes(3 * 2048), // the rest is not read
  );
  for (let round = 0; round < 50; round++) {
    const splitter = new CellSplitter();
    const sizes: number[] = [];
    const joined: number[] = [];
    for (let at = 0; at < stream.length;) {
      const end = at + 1 + random.below(5000);
      for (const { bytes, cellBytes } of splitter.split(stream.subarray(at, end))) {
        for (let i = 0; i < bytes.length; i += cellBytes) sizes.push(cellBytes);
        joined.push(...bytes);
      }
      at = end;
    }
    assertEquals(sizes, [4096, 4096, 4096, 2048, 2048, 2048], `seed ${random.seed}`);
    assertEquals(Uint8Array.from(joined), stream);
    assertEquals([splitter.cellBytes, splitter.settled], [2048, true]);
  }
});

Deno.test("bytes that are no cells before the challenge are refused", () => {
  const splitter = new CellSplitter();
  assertThrows(() => [...splitter.split(new Uint8Array(limits.cellBytes).fill(0xff))], WireError);
});

import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { agentIdOf, binaryIdFromBytes, type ChannelId, WireError } from "../../proto/mod.ts";
import {
  type AbsentMember,
  decodeGeneration,
  encodeGeneration,
  type GenerationBinding,
  identityHashOf,
} from "./generation.ts";

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const agents = [1, 2, 3].map((byte): AbsentMember => ({
  agentId: agentIdOf(filled(32, byte), Uint8Array.of(byte)),
  identityHash: identityHashOf(Uint8Array.of(byte)),
})).sort((a, b) => a.agentId < b.agentId ? -1 : 1);
const binding: GenerationBinding = {
  channelId: binaryIdFromBytes<ChannelId>(filled(16, 7)),
  generation: 258,
  founding: filled(32, 8),
  absent: [],
};
/** Frozen: groups exist that have it. */
const golden = `01${"07".repeat(16)}0000000000000102${"08".repeat(32)}00`;

Deno.test("golden: the extension of a later generation", () => {
  assertEquals(bytesToHex(encodeGeneration(binding)), golden);
  assertEquals(decodeGeneration(hexToBytes(golden)), binding);
});

Deno.test("decodeGeneration() gives back what encodeGeneration() was given, with absent members", () => {
  const some = { ...binding, absent: agents };
  assertEquals(decodeGeneration(encodeGeneration(some)), some);
  const [one] = agents;
  assert(one);
  const entry = `${bytesToHex(new TextEncoder().encode(one.agentId))}${
    bytesToHex(one.identityHash)
  }`;
  const bytes = encodeGeneration({ ...binding, absent: [one] });
  assertEquals(bytesToHex(bytes), `${golden.slice(0, -2)}26${entry}`);
});

Deno.test("decodeGeneration() refuses truncation, trailing bytes, another format, generation 0 and a list out of order", () => {
  const bytes = encodeGeneration({ ...binding, absent: agents });
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => decodeGeneration(bytes.slice(0, length)), WireError);
  }
  assertThrows(() => decodeGeneration(Uint8Array.of(...bytes, 0)), WireError);
  assertThrows(() => decodeGeneration(bytes.with(0, 2)), WireError, "format");
  assertThrows(
    () => decodeGeneration(encodeGeneration({ ...binding, generation: 0 })),
    WireError,
    "generation 0",
  );
  for (const absent of [agents.toReversed(), [...agents.slice(0, 1), ...agents.slice(0, 1)]]) {
    assertThrows(
      () => decodeGeneration(encodeGeneration({ ...binding, absent })),
      WireError,
      "ascending",
    );
  }
});

import { sha256 } from "@noble/hashes/sha2.js";
import { assertEquals } from "@std/assert";
import { foundingEpoch, generationOf, groupIdOf } from "./generations.ts";
import { binaryIdFromBytes, binaryIdToBytes, type ChannelId } from "../base/ids.ts";

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(7));

Deno.test("epochs of a generation come after all of the one before it, and tell which they are of", () => {
  assertEquals([0, 2 ** 32 - 1].map(generationOf), [0, 0]);
  assertEquals([foundingEpoch(1), foundingEpoch(1) + 1, foundingEpoch(2) - 1].map(generationOf), [
    1,
    1,
    1,
  ]);
  assertEquals(generationOf(foundingEpoch(1000)), 1000);
});

Deno.test("the group id of generation 0 is the channel's id; of a later one the hash of id and generation", () => {
  assertEquals(groupIdOf(channelId, 0), channelId);
  const hashed = sha256(Uint8Array.of(...new Uint8Array(16).fill(7), 0, 0, 0, 0, 0, 0, 1, 2));
  assertEquals(binaryIdToBytes(groupIdOf(channelId, 258)), hashed.slice(0, 16));
});

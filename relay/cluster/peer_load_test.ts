import { assertEquals } from "@std/assert";
import { encodeCbor } from "../../proto/mod.ts";
import { decodeLoad, encodeLoad } from "./peer_load.ts";

const load = { sessions: 7, hasRoom: true, capacity: 10_000, isSteady: true, isSending: false };

Deno.test("what a relay says of its sessions is read as it was written, and nothing else is", () => {
  const bytes = encodeLoad("relay-1", load);
  assertEquals(decodeLoad(bytes), { relay: "relay-1", load });
  for (let length = 0; length < bytes.length; length++) {
    assertEquals(decodeLoad(bytes.subarray(0, length)), undefined);
  }
  const others = [
    [],
    ["relay-1", 7, true, 10_000, true],
    ["relay-1", 7, true, 10_000, true, false, 1],
    ["relay-1", -1, true, 10_000, true, false],
    ["relay-1", 7, true, 1e12, true, false],
    ["relay-1", 7.5, true, 10_000, true, false],
    ["relay-1", 7, true, 10_000, 1, false],
    ["relay-1", 7, 1, 10_000, true, false],
    [1, 7, true, 10_000, true, false],
  ];
  for (const other of others) {
    assertEquals(decodeLoad(encodeCbor(other)), undefined, JSON.stringify(other));
  }
  assertEquals(decodeLoad(new TextEncoder().encode("relay-1")), undefined);
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { WireError } from "./errors.ts";
import {
  agentIdOf,
  binaryIdFromBytes,
  binaryIdToBytes,
  type ChannelId,
  parseAccountId,
  parseAgentId,
  parseChannelId,
  parseChannelName,
  parseKeyId,
} from "./ids.ts";

for (const name of ["acme/ops/deploy", "a/b/c", "0/1-2/3", "-/-/-", `${"x".repeat(63)}/y/z`]) {
  Deno.test(`parseChannelName() accepts ${name}`, () =>
    assertEquals(parseChannelName(name), name as never));
}

const badNames = [
  "",
  "a",
  "a/b",
  "a/b/c/d",
  "/b/c",
  "a//c",
  "a/b/",
  "A/b/c",
  "a/b/ç",
  "a/b/c ",
  "a/b/c\n",
  "a_b/c/d",
];
for (const name of [...badNames, `${"x".repeat(64)}/y/z`, "x".repeat(192), "/".repeat(1_000_000)]) {
  Deno.test(`parseChannelName() refuses ${JSON.stringify(name.slice(0, 30))} (${name.length})`, () => {
    const error = assertThrows(() => parseChannelName(name), WireError, "Invalid channel name");
    assertEquals(error.code, "channel_error");
    assert(error.message.length < 300);
  });
}

Deno.test("account and key ids are lowercase UUIDs and nothing else", () => {
  const uuid = "0b5c3f9e-1d1c-4c3e-8f7a-2b1f0c9d8e7f";
  assertEquals([parseAccountId(uuid), parseKeyId(uuid)], [uuid, uuid] as never);
  for (
    const bad of [
      "",
      uuid.toUpperCase(),
      `${uuid} `,
      uuid.slice(1),
      uuid.replace("-", "_"),
      `${uuid}0`,
    ]
  ) {
    assertEquals(assertThrows(() => parseAccountId(bad), WireError).code, "invalid_request");
    assertThrows(() => parseKeyId(bad), WireError);
  }
});

Deno.test("an agent id is the first 22 characters of base64url(SHA-256(key ‖ identity))", async () => {
  const key = new Uint8Array(32).fill(3);
  const identity = new TextEncoder().encode("agent-1");
  const digest = new Uint8Array(
    await crypto.subtle.digest("SHA-256", Uint8Array.of(...key, ...identity)),
  );
  const expected = btoa(String.fromCharCode(...digest)).replaceAll("+", "-").replaceAll("/", "_")
    .slice(0, 22);
  assertEquals(agentIdOf(key, identity), expected as never);
  assertEquals(parseAgentId(expected), expected as never);
  for (const bad of ["", expected.slice(1), `${expected}A`, `${expected.slice(1)}+`]) {
    assertThrows(() => parseAgentId(bad), WireError);
  }
});

Deno.test("a channel id is 16 bytes in exactly one text", () => {
  const bytes = Uint8Array.from({ length: 16 }, (_, i) => 255 - i);
  const id = binaryIdFromBytes<ChannelId>(bytes);
  assertEquals(binaryIdToBytes(id), bytes);
  assertEquals(parseChannelId(id), id);
  assertThrows(() => binaryIdFromBytes(new Uint8Array(15)), WireError);
  assertThrows(() => parseChannelId(id.slice(1)), WireError);
  // the same bytes with other left-over bits
  assertThrows(() => parseChannelId(`${id.slice(0, 21)}_`), WireError);
});

Deno.test("base64url agrees with the platform for every length and refuses other texts", () => {
  for (let length = 0; length < 50; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => i * 37 + length);
    const text = encodeBase64url(bytes);
    const platform = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_")
      .replaceAll("=", "");
    assertEquals(text, platform);
    assertEquals(decodeBase64url(text), bytes);
  }
  for (const bad of ["A", "AB", "AA==", "A+AA", "AA A", "ÄÄÄÄ", "AAA\u0000"]) {
    assertEquals(decodeBase64url(bad), undefined, bad);
  }
});

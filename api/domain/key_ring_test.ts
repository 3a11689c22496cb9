import { assert, assertEquals } from "@std/assert";
import {
  type KeyRing,
  keyRing,
  publicJwk,
  publishedKeys,
  rotateKeyRing,
  type SigningKey,
  signingKey,
} from "./key_ring.ts";

const minute = 60_000;
const key = (kid: string): SigningKey => ({
  kty: "OKP",
  crv: "Ed25519",
  kid,
  x: "x".repeat(43),
  d: "d".repeat(43),
});
const kids = (keys: readonly SigningKey[]): string[] => keys.map(({ kid }) => kid);
const single: KeyRing = { keys: [key("a")] };

Deno.test("without rotation the first key signs and all are published", () => {
  const ring: KeyRing = { keys: [key("a"), key("b")] };
  assertEquals(signingKey(ring, 0).kid, "a");
  assertEquals(kids(publishedKeys(ring, Number.MAX_SAFE_INTEGER)), ["a", "b"]);
});

Deno.test("a rotated key is published at once, signs after ten minutes, and replaces the old one after the last token", () => {
  const now = 1_000_000_000;
  const ring = rotateKeyRing(single, key("b"), now);
  assertEquals(kids(publishedKeys(ring, now)), ["b", "a"]);
  assertEquals(signingKey(ring, now + 10 * minute - 1).kid, "a");
  assertEquals(signingKey(ring, now + 10 * minute).kid, "b");
  const lastTokenOfA = now + 10 * minute + 60 * minute;
  assertEquals(kids(publishedKeys(ring, lastTokenOfA)), ["b", "a"]);
  assertEquals(kids(publishedKeys(ring, lastTokenOfA + 2 * minute)), ["b"]);
});

Deno.test("rotations in a hurry keep every key that may have signed, and never leave a ring without a signer", () => {
  const start = 1_000_000_000;
  const ring = ["b", "c", "d"].reduce(
    (ring, kid, i) => rotateKeyRing(ring, key(kid), start + i * minute),
    single,
  );
  assertEquals(kids(ring.keys), ["d", "c", "b", "a"]);
  assertEquals(signingKey(ring, start + 3 * minute).kid, "a");
  assertEquals(signingKey(ring, start + 11 * minute).kid, "c");
  assertEquals(signingKey(ring, start + 12 * minute).kid, "d");
  const later = rotateKeyRing(ring, key("e"), start + 200 * minute);
  assertEquals(kids(later.keys), ["e", "d"]);
  assertEquals(signingKey(later, start + 200 * minute).kid, "d");
  assert(keyRing.safeParse(later).success);
});

Deno.test("the private part is never published", () => {
  assertEquals(Object.keys(publicJwk(key("a"))).sort(), ["alg", "crv", "kid", "kty", "use", "x"]);
});

Deno.test("keyRing refuses sets that could not sign", () => {
  for (
    const keys of [
      [],
      [key("a"), key("a")],
      [{ ...key("a"), d: undefined }],
      [{ ...key("a"), crv: "X25519" }],
      [{ ...key("a"), x: "short" }],
    ]
  ) {
    assert(!keyRing.safeParse({ keys }).success, JSON.stringify(keys));
  }
});

import { assert, assertEquals } from "@std/assert";
import {
  badgeUse,
  type KeyRing,
  keyRings,
  publicJwk,
  publishedKeys,
  type RingUse,
  rotateKeyRing,
  type SigningKey,
  signingKey,
  tokenUse,
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

function rotate(ring: KeyRing, kid: string, nowMs: number, use: RingUse = tokenUse): KeyRing {
  const next = rotateKeyRing(ring, { fresh: key(kid), use, nowMs });
  assert(next !== undefined && keyRings.safeParse(next).success);
  return next;
}

Deno.test("without rotation the first key signs and all are published", () => {
  const ring: KeyRing = { keys: [key("a"), key("b")] };
  assertEquals(signingKey(ring, 0).kid, "a");
  assertEquals(kids(publishedKeys(ring, tokenUse, Number.MAX_SAFE_INTEGER)), ["a", "b"]);
});

Deno.test("a rotated key is published at once, signs after ten minutes, and replaces the old one after the last token", () => {
  const now = 1_000_000_000;
  const ring = rotate(single, "b", now);
  assertEquals(kids(publishedKeys(ring, tokenUse, now)), ["b", "a"]);
  assertEquals(signingKey(ring, now + 10 * minute - 1).kid, "a");
  assertEquals(signingKey(ring, now + 10 * minute).kid, "b");
  const lastTokenOfA = now + 10 * minute + 60 * minute;
  assertEquals(kids(publishedKeys(ring, tokenUse, lastTokenOfA)), ["b", "a"]);
  assertEquals(kids(publishedKeys(ring, tokenUse, lastTokenOfA + 2 * minute)), ["b"]);
});

Deno.test("rotations in a hurry keep every key that may have signed, and never leave a ring without a signer", () => {
  const start = 1_000_000_000;
  const ring = ["b", "c", "d"].reduce(
    (ring, kid, i) => rotate(ring, kid, start + i * minute),
    single,
  );
  assertEquals(kids(ring.keys), ["d", "c", "b", "a"]);
  assertEquals(signingKey(ring, start + 3 * minute).kid, "a");
  assertEquals(signingKey(ring, start + 11 * minute).kid, "c");
  assertEquals(signingKey(ring, start + 12 * minute).kid, "d");
  const later = rotate(ring, "e", start + 200 * minute);
  assertEquals(kids(later.keys), ["e", "d"]);
  assertEquals(signingKey(later, start + 200 * minute).kid, "d");
});

Deno.test("a badge key signs two days after it was published, and stays while badges that it signed live", () => {
  const day = 24 * 60 * minute;
  const now = 100 * day;
  const ring = rotate(single, "b", now, badgeUse);
  const state = (nowMs: number): [string, string[]] => [
    signingKey(ring, nowMs).kid,
    kids(publishedKeys(ring, badgeUse, nowMs)),
  ];
  assertEquals(state(now), ["a", ["b", "a"]]);
  assertEquals(state(now + 2 * day - 1), ["a", ["b", "a"]]);
  assertEquals(state(now + 2 * day), ["b", ["b", "a"]]);
  assertEquals(state(now + 32 * day), ["b", ["b", "a"]]);
  assertEquals(state(now + 32 * day + 2 * minute), ["b", ["b"]]);
});

Deno.test("a ring never has more keys than verifiers take", () => {
  const now = 1_000_000_000;
  const full = ["b", "c", "d", "e", "f", "g", "h"].reduce(
    (ring, kid, i) => rotate(ring, kid, now + i, badgeUse),
    single,
  );
  assertEquals(full.keys.length, badgeUse.maxPublished);
  const another = { fresh: key("i"), use: badgeUse };
  assertEquals(rotateKeyRing(full, { ...another, nowMs: now + 10 }), undefined);
  const later = rotateKeyRing(full, { ...another, nowMs: now + 33 * 86_400_000 });
  assertEquals(kids(later?.keys ?? []), ["i", "h"]);
});

Deno.test("the private part is never published", () => {
  assertEquals(Object.keys(publicJwk(key("a"))).sort(), ["alg", "crv", "kid", "kty", "use", "x"]);
});

Deno.test("keyRings refuses sets that could not sign", () => {
  for (
    const keys of [
      [],
      [key("a"), key("a")],
      [{ ...key("a"), d: undefined }],
      [{ ...key("a"), crv: "X25519" }],
      [{ ...key("a"), x: "short" }],
    ]
  ) {
    assert(!keyRings.safeParse({ keys }).success, JSON.stringify(keys));
    const badges = { keys: [key("t")], badge_keys: keys };
    assert(!keyRings.safeParse(badges).success, JSON.stringify(badges));
  }
});

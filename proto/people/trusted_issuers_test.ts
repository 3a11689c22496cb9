import { ed25519 } from "@noble/curves/ed25519.js";
import { assertEquals } from "@std/assert";
import { badgeKeyStatement, type DocumentKey, type IssuerDocument } from "./issuer_document.ts";
import {
  believeIssuer,
  followIssuer,
  issuerFromJson,
  issuerToJson,
  type TrustedIssuer,
} from "./trusted_issuers.ts";

const domain = "acme.com";
const looked = { source: "web", readMs: 1_000 } as const;
const nowMs = 2_000;
const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** Key `k7` of seed 7; endorsed by key `k6` with its own signature unless another is given. */
function keyOf(byte: number, by?: number, signer = by): DocumentKey {
  const key = ed25519.getPublicKey(seed(byte));
  const kid = `k${byte}`;
  if (by === undefined || signer === undefined) return { kid, key };
  const signature = ed25519.sign(badgeKeyStatement({ domain, key }), seed(signer));
  return { kid, key, endorsement: { by: `k${by}`, signature } };
}

function documentOf(keys: readonly DocumentKey[], ...closed: readonly string[]): IssuerDocument {
  return { domain, keys, closed };
}

/** In short: names of keys, closed ones with a minus, and whether a person must look. */
function inShort({ keys, changed }: TrustedIssuer): string {
  const names = keys.map(({ kid, closed }) => `${kid}${closed ? "-" : ""}`);
  return [...names, ...(changed ? ["changed"] : [])].join(" ");
}

function after(issuer: TrustedIssuer, ...documents: readonly IssuerDocument[]): string {
  return inShort(
    documents.reduce((known, document) => followIssuer(known, document, nowMs), issuer),
  );
}

const known = believeIssuer(documentOf([keyOf(1)]), looked);

Deno.test("a new key is followed only if a believed key endorses it, also over several", () => {
  assertEquals(after(known, documentOf([keyOf(1)])), "k1");
  assertEquals(after(known, documentOf([keyOf(1), keyOf(2, 1)])), "k1 k2");
  assertEquals(after(known, documentOf([keyOf(3, 2), keyOf(2, 1), keyOf(1)])), "k1 k2 k3");
  // The document has lost the first key since, and says that it is closed.
  assertEquals(after(known, documentOf([keyOf(2, 1), keyOf(3, 2)], "k1")), "k1- k2 k3");
  const { readMs, source } = followIssuer(known, documentOf([keyOf(1)]), nowMs);
  assertEquals([readMs, source], [2_000, "web"]);
});

Deno.test("a key without an endorsement, or with a false one, waits for a person", () => {
  assertEquals(after(known, documentOf([keyOf(1), keyOf(2)])), "k1 changed");
  // It names the believed key, and another signed it.
  assertEquals(after(known, documentOf([keyOf(1), keyOf(2, 1, 9)])), "k1 changed");
  // A server in other hands gives the believed key's name to another key.
  const false1 = { ...keyOf(9), kid: "k1" };
  assertEquals(after(known, documentOf([false1, keyOf(2, 1, 9)])), "k1 changed");
  // Two that endorse each other are no better than one.
  assertEquals(after(known, documentOf([keyOf(1), keyOf(2, 3), keyOf(3, 2)])), "k1 changed");
  // Of another domain.
  const other = { ...documentOf([keyOf(1), keyOf(2, 1)]), domain: "acme.org" };
  assertEquals(after(known, other), "k1 changed");
});

Deno.test("a key that is gone without being closed is kept, and a person is told", () => {
  const two = believeIssuer(documentOf([keyOf(1), keyOf(2)]), looked);
  assertEquals(after(two, documentOf([keyOf(2)])), "k1 k2 changed");
  assertEquals(after(two, documentOf([keyOf(2)]), documentOf([keyOf(1), keyOf(2)])), "k1 k2");
  assertEquals(after(two, documentOf([keyOf(2)], "k1")), "k1- k2");
});

Deno.test("a closed key endorses nothing any more", () => {
  const closed = believeIssuer(documentOf([keyOf(1), keyOf(2)], "k1"), looked);
  assertEquals(inShort(closed), "k1- k2");
  // A thief of the old key, with the web server.
  assertEquals(after(closed, documentOf([keyOf(1), keyOf(2), keyOf(3, 1)])), "k1- k2 changed");
  assertEquals(after(closed, documentOf([keyOf(2), keyOf(3, 2)], "k1")), "k1- k2 k3");
});

Deno.test("of more than eight keys the oldest go that the document has no more", () => {
  let issuer = known;
  for (let each = 2; each <= 20; each++) {
    const closed = Array.from({ length: each - 1 }, (_, at) => `k${at + 1}`);
    const document = documentOf([keyOf(each - 1), keyOf(each, each - 1)], ...closed);
    issuer = followIssuer(issuer, document, nowMs);
  }
  assertEquals(inShort(issuer), "k13- k14- k15- k16- k17- k18- k19- k20");
});

Deno.test("an issuer comes back from JSON as it was, and nothing else does", () => {
  const issuer = {
    ...believeIssuer(documentOf([keyOf(1), keyOf(2)], "k1"), looked),
    changed: true,
  };
  const json = JSON.parse(JSON.stringify(issuerToJson(issuer)));
  assertEquals(issuerFromJson(json), issuer);
  for (
    const wrong of [
      undefined,
      [],
      { ...json, source: "mail" },
      { ...json, read: "soon" },
      { ...json, changed: 1 },
      { ...json, keys: [] },
      { ...json, keys: Array(9).fill(json.keys[0]) },
      { ...json, keys: [{ kid: "k 1", x: json.keys[0].x }] },
      { ...json, keys: [{ kid: "k1", x: "AA" }] },
    ]
  ) {
    assertEquals(issuerFromJson(wrong), undefined);
  }
});

import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { exportJWK, importJWK } from "jose";
import { encodeBase64url } from "../base/base64url.ts";
import { WireError } from "../base/errors.ts";
import {
  badgeKeyStatement,
  formatIssuerDocument,
  type IssuerDocument,
  parseIssuerDocument,
} from "./issuer_document.ts";

const [domain, first, second] = [
  "acme.com",
  new Uint8Array(32).fill(1),
  new Uint8Array(32).fill(2),
];
const key = ed25519.getPublicKey(second);
const signature = ed25519.sign(badgeKeyStatement({ domain, key }), first);
const document: IssuerDocument = {
  domain,
  keys: [
    { kid: "2026-11", key: ed25519.getPublicKey(first) },
    { kid: "2027-05", key, endorsement: { by: "2026-11", signature } },
  ],
  closed: ["2026-05"],
};

/** The file with another member, or other keys; `undefined` takes it out. */
function changed(change: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...JSON.parse(formatIssuerDocument(document)), ...change });
}

function withKeys(...keys: readonly unknown[]): string {
  return changed({ keys });
}

const jwk = (kid: string, more: Readonly<Record<string, unknown>> = {}): object => ({
  kty: "OKP",
  crv: "Ed25519",
  kid,
  use: "sig",
  x: encodeBase64url(key),
  ...more,
});
const rsa = { kty: "RSA", kid: "r", n: "AQAB", e: "AQAB" };

Deno.test("an issuer's document comes back as it was written, and its keys are JWKs to jose", async () => {
  const text = formatIssuerDocument(document);
  assertEquals(parseIssuerDocument(text, domain), document);
  const [shown] = JSON.parse(text).keys;
  assertEquals((await exportJWK(await importJWK(shown, "EdDSA") as CryptoKey)).x, shown.x);
  assertEquals(
    bytesToHex(badgeKeyStatement({ domain, key: new Uint8Array(32).fill(7) })),
    `001973746174696320${"72656c617920763120"}62616467652d6b6579000861636d652e636f6d0020${
      "07".repeat(32)
    }`,
  );
});

Deno.test("parseIssuerDocument() ignores keys of other kinds", () => {
  const encryption = jwk("e", { use: "enc" });
  const agreement = jwk("x", { crv: "X25519" });
  const { keys } = parseIssuerDocument(withKeys(rsa, encryption, agreement, jwk("a")), domain);
  assertEquals(keys.map(({ kid }) => kid), ["a"]);
});

Deno.test("parseIssuerDocument() refuses every other document, and says why", () => {
  const endorsed = { endorsed_by: "a", endorsement: encodeBase64url(signature) };
  const many = Array.from({ length: 9 }, (_, at) => jwk(`k${at}`));
  const refused: Readonly<Record<string, string>> = {
    "16384 bytes": changed({ padding: "x".repeat(17 * 1024) }),
    "more than 16384": changed({ padding: "é".repeat(8_100) }),
    "not a JSON object": "[]",
    "static_agents is not 1": changed({ static_agents: 2 }),
    '"evil.example"': changed({ domain: "evil.example" }),
    "that is no text": changed({ domain: undefined }),
    "of the domain that is": changed({ domain: { toString: 1, valueOf: 1 } }),
    "domain that is no": changed({ domain: JSON.parse("[".repeat(7000) + "]".repeat(7000)) }),
    "keys is not a list": changed({ keys: {} }),
    "0 Ed25519 keys": withKeys(rsa),
    "9 Ed25519 keys": withKeys(...many),
    "a key is not": withKeys("x"),
    "private key": withKeys(jwk("a", { d: "AAAA" })),
    "private key (d)": withKeys({ ...rsa, d: "AAAA" }, jwk("a")),
    "no name (kid)": withKeys(jwk("a b")),
    "of 1 to 64": withKeys(jwk("x".repeat(65))),
    "not 32 bytes": withKeys(jwk("a", { x: encodeBase64url(signature) })),
    "key a is not": withKeys(jwk("a", { x: `${encodeBase64url(key)}=` })),
    "two keys have one name": withKeys(jwk("a"), jwk("a", { x: encodeBase64url(first) })),
    "endorsed by zz": withKeys(jwk("a"), jwk("b", { ...endorsed, endorsed_by: "zz" })),
    "endorses itself": withKeys(jwk("a", endorsed)),
    "key b is not a name": withKeys(jwk("a"), jwk("b", { ...endorsed, endorsement: "AA" })),
    "not a name and a signature": withKeys(jwk("a"), jwk("b", { endorsed_by: "a" })),
    "closed is not": changed({ closed: "2026-05" }),
    "a list of names": changed({ closed: ["a b"] }),
  };
  for (const [why, text] of Object.entries(refused)) {
    const { message, code } = assertThrows(() => parseIssuerDocument(text, domain), WireError, why);
    assertEquals(code, "invalid_request");
    assertStringIncludes(message, "issuer's document of acme.com");
  }
  // The key that endorses it may have gone since.
  const gone = withKeys(jwk("b", { ...endorsed, endorsed_by: "2026-05" }));
  assertEquals(parseIssuerDocument(gone, domain).keys.length, 1);
});

Deno.test("parseIssuerDocument() refuses the document of a domain that is none, even its own", () => {
  for (const none of ["acme", "ACME.com", "10.0.0.1", "acme.com."]) {
    assertThrows(() => parseIssuerDocument(changed({ domain: none }), none), WireError);
  }
});

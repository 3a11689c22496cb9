/**
 * X25519 of `node:crypto`, in Node and Deno, and ML-KEM-768, in Node from 24.7 on, where WebCrypto
 * has it too and prints a warning.
 */
import { Buffer } from "node:buffer";
import * as crypto from "node:crypto";
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import type { KeyAgreement } from "../mls/crypto/key_agreement.ts";
import type { OpeningMlKem } from "../mls/crypto/ml_kem.ts";

const basePoint = Uint8Array.from({ length: 32 }, (_, i) => i === 0 ? 9 : 0);
const shape = { kty: "OKP", crv: "X25519" } as const;

/**
 * Keys are imported as JWK: from DER, Node takes four times as long. Both read the alphabet of
 * plain base64 too, and Deno reads it a quarter faster: for the other one it makes an error and
 * catches it.
 */
export function createNodeX25519(): KeyAgreement {
  const base = importPublic(basePoint);
  /** A private JWK must have its public half, which nobody looks at. */
  const importPrivate = (key: Uint8Array): KeyObject =>
    createPrivateKey({ key: { ...shape, d: base64(key), x: base64(basePoint) }, format: "jwk" });
  const agree = (privateKey: Uint8Array, publicKey: KeyObject): Uint8Array =>
    new Uint8Array(diffieHellman({ privateKey: importPrivate(privateKey), publicKey }));
  return {
    sharedSecret: (privateKey, publicKey) => agree(privateKey, importPublic(publicKey)),
    publicKeyOf: (privateKey) => agree(privateKey, base),
  };
}

function importPublic(key: Uint8Array): KeyObject {
  return createPublicKey({ key: { ...shape, x: base64(key) }, format: "jwk" });
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("base64");
}

/** The bytes before a seed of 64 bytes in PKCS #8 (RFC 9935 section 6). */
const seedPrefix = Buffer.from("3054020100300b060960864801650304040204428040", "hex");
const mlKemKeyBytes = 1184;

interface WithMlKem {
  readonly decapsulate?: (privateKey: KeyObject, ciphertext: Uint8Array) => Uint8Array;
}

/** Undefined in an older Node, and in Deno. */
export function createNodeMlKem(): OpeningMlKem | undefined {
  const { decapsulate } = crypto as WithMlKem; // cast: types of an older Node do not know it
  if (decapsulate === undefined) return undefined;
  const importSeed = (seed: Uint8Array): KeyObject =>
    createPrivateKey({ key: Buffer.concat([seedPrefix, seed]), format: "der", type: "pkcs8" });
  return {
    publicKeyOf: (seed) => {
      const encoded = createPublicKey(importSeed(seed)).export({ format: "der", type: "spki" });
      return new Uint8Array(encoded.subarray(-mlKemKeyBytes)); // what is before it names the kind
    },
    decapsulate: (ciphertext, seed) => new Uint8Array(decapsulate(importSeed(seed), ciphertext)),
  };
}

/**
 * X25519 of `node:crypto`, in Node and Deno. Keys are imported as JWK: from DER, Node takes four
 * times as long. Both read the alphabet of plain base64 too, and Deno reads it a quarter faster:
 * for the other one it makes an error and catches it.
 */
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject } from "node:crypto";
import type { KeyAgreement } from "../mls/crypto/key_agreement.ts";

const basePoint = Uint8Array.from({ length: 32 }, (_, i) => i === 0 ? 9 : 0);
const shape = { kty: "OKP", crv: "X25519" } as const;

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

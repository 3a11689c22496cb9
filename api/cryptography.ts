/** The runtime's cryptography behind the domain's interfaces. */
import { createPrivateKey, sign } from "node:crypto";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { SigningKey } from "./domain/key_ring.ts";
import type { Secret } from "../server/mod.ts";
import type { SigningFunction } from "./domain/tokens.ts";

/**
 * Through `node:crypto`, which every runtime of ours has: it signs in half the time of WebCrypto,
 * which prepares the key anew.
 */
export function createSign({ kty, crv, x, d }: SigningKey): SigningFunction {
  const key = createPrivateKey({ key: { kty, crv, x, d }, format: "jwk" });
  return (bytes) => sign(null, bytes, key);
}

/**
 * A keyed one-way function that is the same in every process of a deployment: names under which
 * something is kept, in a place where they should not be read.
 */
export function createHide(secret: Secret, use: string): (text: string) => string {
  const encoder = new TextEncoder();
  const keyed = hmac.create(sha256, encoder.encode(secret.reveal())).update(encoder.encode(use));
  return (text) => keyed.clone().update(encoder.encode(text)).digest().subarray(0, 16).toBase64();
}

/**
 * HMAC-SHA-256 under a key that only this process knows and nobody keeps; keyed once, copied for
 * each use.
 */
export function createFingerprint(): (key: Secret) => string {
  const keyed = hmac.create(sha256, crypto.getRandomValues(new Uint8Array(32)));
  const encoder = new TextEncoder();
  return (key) => keyed.clone().update(encoder.encode(key.reveal())).digest().toBase64();
}

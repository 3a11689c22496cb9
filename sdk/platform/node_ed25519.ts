/**
 * Ed25519 of `node:crypto`, in Node and Deno: synchronous, so a third faster than WebCrypto. Keys
 * are imported once.
 */
import { Buffer } from "node:buffer";
import { createPrivateKey, createPublicKey, sign, verify } from "node:crypto";
import { concatBytes } from "@noble/hashes/utils.js";
import { createKeyCache, pkcs8Prefix } from "../mls/crypto/key_cache.ts";
import type { SynchronousEd25519 } from "../mls/crypto/signatures.ts";

/** The bytes before a 32-byte public key in SubjectPublicKeyInfo (RFC 8410 section 4). */
const spkiPrefix = Uint8Array.of(
  0x30,
  0x2a,
  0x30,
  0x05,
  0x06,
  0x03,
  0x2b,
  0x65,
  0x70,
  0x03,
  0x21,
  0x00,
);

export function createNodeEd25519(): SynchronousEd25519 {
  const signing = createKeyCache((seed) =>
    createPrivateKey({
      key: Buffer.from(concatBytes(pkcs8Prefix, seed)),
      format: "der",
      type: "pkcs8",
    })
  );
  const verifying = createKeyCache((key) =>
    createPublicKey({ key: Buffer.from(concatBytes(spkiPrefix, key)), format: "der", type: "spki" })
  );
  return {
    waits: false,
    sign: (seed, message) => new Uint8Array(sign(null, message, signing(seed))),
    verify: (publicKey, message, signature) => {
      try {
        return verify(null, message, verifying(publicKey), signature);
      } catch {
        return false; // bytes that are no point are refused when they are imported
      }
    },
  };
}

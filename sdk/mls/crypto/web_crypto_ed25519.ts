/**
 * Ed25519 of WebCrypto: in browsers, and wherever nothing faster is at hand. Keys are imported
 * once.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { createKeyCache, pkcs8Prefix } from "./key_cache.ts";
import type { WaitingEd25519 } from "./signatures.ts";

/** The part of `crypto.subtle` that we use. */
export type SubtleEd25519 = Pick<SubtleCrypto, "importKey" | "sign" | "verify">;

export function createWebCryptoEd25519(subtle: SubtleEd25519): WaitingEd25519 {
  const signing = createKeyCache((seed) =>
    subtle.importKey("pkcs8", bufferOf(concatBytes(pkcs8Prefix, seed)), "Ed25519", false, ["sign"])
  );
  const verifying = createKeyCache((key) =>
    subtle.importKey("raw", bufferOf(key), "Ed25519", false, ["verify"])
  );
  return {
    waits: true,
    sign: async (seed, message) =>
      new Uint8Array(await subtle.sign("Ed25519", await signing(seed), bufferOf(message))),
    verify: async (publicKey, message, signature) => {
      try {
        return await subtle.verify(
          "Ed25519",
          await verifying(publicKey),
          bufferOf(signature),
          bufferOf(message),
        );
      } catch {
        return false; // some runtimes refuse to import bytes that are no point
      }
    },
  };
}

/** WebCrypto does not accept views of shared memory; ours never are. */
function bufferOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  // cast: just checked
  return bytes.buffer instanceof ArrayBuffer ? bytes as Uint8Array<ArrayBuffer> : bytes.slice();
}

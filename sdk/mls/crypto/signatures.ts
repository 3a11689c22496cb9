/**
 * Ed25519 in two strengths of agreement. Whatever all members must judge alike (handshakes, KeyPackages, Welcomes) is
 * verified by noble in strict mode and nothing else: runtimes disagree about signatures with small-order components, and a
 * disagreement there would fork a group. Signing, and verifying application messages, may use the runtime's own Ed25519:
 * its signatures are bit-identical, and a message that one member refuses harms nobody's epoch.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { type SignedBytes, verifyBatch } from "./batch_verify.ts";

export interface Signatures {
  sign(seed: Uint8Array, message: Uint8Array): Promise<Uint8Array>;
  verifyHandshake(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** The same verdict for many at once. */
  verifyHandshakes(items: readonly SignedBytes[]): boolean;
  verifyApplication(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>;
}

/** The part of WebCrypto that we use; the platform hands it in. */
export type SubtleEd25519 = Pick<SubtleCrypto, "importKey" | "sign" | "verify">;

/** Below this, one by one is faster. */
const minBatch = 16;
/** A channel has up to a thousand senders; beyond that the oldest imported key goes. */
const maxImportedKeys = 2048;
/** What stands before a 32-byte seed in PKCS #8 (RFC 8410 section 7). */
const pkcs8Prefix = hexToBytes("302e020100300506032b657004220420");

/** Noble only. The same verdict in every runtime. */
export const portableSignatures: Signatures = {
  sign: (seed, message) => Promise.resolve(ed25519.sign(message, seed)),
  verifyHandshake: verifyStrictly,
  verifyHandshakes: verifyAllStrictly,
  verifyApplication: (publicKey, message, signature) => Promise.resolve(verifyStrictly(publicKey, message, signature)),
};

/** The runtime's Ed25519 where it has one, noble otherwise. */
export async function createSignatures(subtle: SubtleEd25519 | undefined): Promise<Signatures> {
  return subtle !== undefined && await supportsEd25519(subtle) ? acceleratedBy(subtle) : portableSignatures;
}

function acceleratedBy(subtle: SubtleEd25519): Signatures {
  const signing = createKeyCache((seed) =>
    subtle.importKey("pkcs8", concatBytes(pkcs8Prefix, seed), "Ed25519", false, ["sign"])
  );
  const verifying = createKeyCache((key) => subtle.importKey("raw", key.slice(), "Ed25519", false, ["verify"]));
  return {
    sign: async (seed, message) => new Uint8Array(await subtle.sign("Ed25519", await signing(seed), bufferOf(message))),
    verifyHandshake: verifyStrictly,
    verifyHandshakes: verifyAllStrictly,
    verifyApplication: async (publicKey, message, signature) => {
      if (publicKey.length !== 32 || signature.length !== 64) return false;
      return await subtle.verify("Ed25519", await verifying(publicKey), bufferOf(signature), bufferOf(message));
    },
  };
}

function verifyStrictly(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (publicKey.length !== 32 || signature.length !== 64) return false;
  try {
    return ed25519.verify(signature, message, publicKey, { zip215: false });
  } catch {
    return false; // noble throws for bytes that are no point
  }
}

function verifyAllStrictly(items: readonly SignedBytes[]): boolean {
  if (items.length >= minBatch) return verifyBatch(items);
  return items.every(({ publicKey, message, signature }) => verifyStrictly(publicKey, message, signature));
}

/** One signature of a known seed, compared bit by bit: a runtime that differs is not used. */
async function supportsEd25519(subtle: SubtleEd25519): Promise<boolean> {
  const seed = new Uint8Array(32).fill(1);
  const message = Uint8Array.of(2);
  try {
    const signatures = acceleratedBy(subtle);
    const signature = await signatures.sign(seed, message);
    const expected = ed25519.sign(message, seed);
    return signature.length === expected.length && expected.every((byte, i) => byte === signature[i]) &&
      await signatures.verifyApplication(ed25519.getPublicKey(seed), message, signature);
  } catch {
    return false; // an older browser: no Ed25519 in its WebCrypto
  }
}

/** Keys by their bytes, imported once. The map's order is the order of use, so the first entry is the oldest. */
function createKeyCache(
  importKey: (bytes: Uint8Array) => Promise<CryptoKey>,
): (bytes: Uint8Array) => Promise<CryptoKey> {
  const keys = new Map<string, Promise<CryptoKey>>();
  return (bytes) => {
    const name = String.fromCharCode(...bytes);
    const known = keys.get(name);
    keys.delete(name);
    const key = known ?? importKey(bytes);
    keys.set(name, key);
    const oldest = keys.size > maxImportedKeys ? keys.keys().next().value : undefined;
    if (oldest !== undefined) keys.delete(oldest);
    if (known === undefined) key.catch(() => keys.delete(name));
    return key;
  };
}

/** WebCrypto does not accept views of shared memory; ours never are. */
function bufferOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? bytes as Uint8Array<ArrayBuffer> : bytes.slice(); // cast: just checked
}

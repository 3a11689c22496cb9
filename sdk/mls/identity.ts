/**
 * This agent: the identity that its user chose, and an Ed25519 key that is made once and never
 * leaves the store.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import { equalBytes, limits } from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import { decodeFields, encodeFields, type RecordStore } from "../store/mod.ts";

const [kind, id] = ["identity", "self"] as const;
const seedBytes = 32;

/** This agent in every channel: an identity and its Ed25519 key. */
export interface MlsIdentity {
  readonly identity: Uint8Array;
  /** 32 bytes. */
  readonly signingSeed: Uint8Array;
  readonly signatureKey: Uint8Array;
}

/**
 * The agent of this store; a new store gets a key. Throws when the store belongs to another
 * identity.
 */
export async function openIdentity(
  store: Pick<RecordStore, "get" | "put">,
  identity: Uint8Array,
  { randomBytes }: Pick<Runtime, "randomBytes">,
): Promise<MlsIdentity> {
  if (identity.length === 0 || identity.length > limits.identityBytes) {
    const text =
      `Cannot use this identity: it has ${identity.length} bytes; use 1 to ${limits.identityBytes}`;
    throw createError("invalid_request", text);
  }
  const stored = await store.get(kind, id);
  const signingSeed = stored === undefined ? randomBytes(seedBytes) : seedOf(stored, identity);
  if (stored === undefined) await store.put(kind, id, encodeFields([identity, signingSeed]));
  return {
    identity: identity.slice(),
    signingSeed,
    signatureKey: ed25519.getPublicKey(signingSeed),
  };
}

function seedOf(stored: Uint8Array, identity: Uint8Array): Uint8Array {
  const fields = decodeFields(stored, kind);
  if (!equalBytes(fields.bytes(0), identity)) {
    throw createError(
      "invalid_request",
      "Cannot open the data directory: it belongs to an agent of another identity; give each agent a directory of its own",
    );
  }
  return fields.bytes(1);
}

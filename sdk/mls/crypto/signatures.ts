/**
 * Ed25519 in two strengths of agreement. Whatever all members must judge alike (handshakes,
 * KeyPackages, Welcomes) is verified by the strict verification of `wasm/` and nothing else:
 * runtimes disagree about signatures with small-order components, and a disagreement there would
 * fork a group. Signing, and verifying application messages, may use the runtime's own Ed25519: its
 * signatures are bit-identical, and a message that one member refuses harms nobody's epoch.
 *
 * Only messages wait for a runtime that signs with promises. Handshakes and statements are rare;
 * without a wait among them an epoch begins, and a commit is made, in one step.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import type { InterruptibleWork } from "../../base/interruptible_work.ts";
import { chooseKeyAgreement, type KeyAgreement } from "./key_agreement.ts";
import { chooseLongHash, type LongHash } from "./long_hash.ts";
import type { OpeningMlKem } from "./ml_kem.ts";
import type { XWing } from "./x_wing.ts";
import { createInstances, type SignedBytes, verifyEd25519Batch } from "../../../wasm/mod.ts";

/** X25519, X-Wing and a hash are among it because they are chosen at the same place. */
export interface Signatures {
  readonly agreement: KeyAgreement;
  readonly xWing: XWing;
  readonly longHash: LongHash;
  /** Signs handshakes and statements. */
  sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
  verifyHandshake(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
  /** The same verdict for many at once. */
  verifyHandshakes(items: readonly SignedBytes[]): boolean;
  signApplication(seed: Uint8Array, message: Uint8Array): Uint8Array | Promise<Uint8Array>;
  verifyApplication(
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ): boolean | Promise<boolean>;
}

/** An Ed25519 of the runtime. The platform hands it in. */
export type NativeEd25519 = SynchronousEd25519 | WaitingEd25519;

export interface SynchronousEd25519 {
  readonly waits: false;
  sign(seed: Uint8Array, message: Uint8Array): Uint8Array;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean;
}

/** The Ed25519 of WebCrypto. */
export interface WaitingEd25519 {
  readonly waits: true;
  sign(seed: Uint8Array, message: Uint8Array): Promise<Uint8Array>;
  verify(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): Promise<boolean>;
}

/** Nothing of the runtime's. The same verdict everywhere. */
const portable = {
  sign: signPortably,
  verifyHandshake: verifyStrictly,
  verifyHandshakes: verifyEd25519Batch,
  signApplication: signPortably,
  verifyApplication: verifyStrictly,
} as const;

/** Parts of a runtime that may take the place of portable ones. */
export interface NativeCrypto {
  readonly ed25519?: NativeEd25519 | undefined;
  readonly x25519?: KeyAgreement | undefined;
  readonly sha256?: LongHash | undefined;
  readonly mlKem?: OpeningMlKem | undefined;
}

/**
 * With what the runtime has of its own where that agrees with the portable ones, with the portable
 * ones otherwise.
 */
export async function createSignatures(
  { ed25519: native, x25519, sha256, mlKem }: NativeCrypto = {},
): Promise<Signatures> {
  createInstances(); // a machine without memory for them fails here, not in the middle of a message
  const { createXWing } = await import("./x_wing.ts"); // a third of a browser's ciphers is in it
  const agreement = chooseKeyAgreement(x25519);
  const xWing = createXWing(mlKem, agreement);
  const chosen = { ...portable, agreement, xWing, longHash: chooseLongHash(sha256) };
  if (native === undefined || !await agrees(native)) return chosen;
  return {
    ...chosen,
    ...(!native.waits && { sign: native.sign }),
    signApplication: native.sign,
    verifyApplication: (publicKey, message, signature) =>
      publicKey.length === 32 && signature.length === 64 &&
      native.verify(publicKey, message, signature),
  };
}

/** So many signatures take about as long as a part may. */
const verifiedTogether = 32;

/** The verdict of `verifyHandshakes`. */
export function* verifyInParts(
  { verifyHandshakes }: Pick<Signatures, "verifyHandshakes">,
  items: readonly SignedBytes[],
): InterruptibleWork<boolean> {
  for (let at = 0; at < items.length; at += verifiedTogether) {
    if (!verifyHandshakes(items.slice(at, at + verifiedTogether))) return false;
    yield;
  }
  return true;
}

function signPortably(seed: Uint8Array, message: Uint8Array): Uint8Array {
  return ed25519.sign(message, seed);
}

function verifyStrictly(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verifyEd25519Batch([{ publicKey, message, signature }]);
}

/** One signature of a known seed, compared bit by bit: a runtime that differs is not used. */
async function agrees(native: NativeEd25519): Promise<boolean> {
  const seed = new Uint8Array(32).fill(1);
  const message = Uint8Array.of(2);
  try {
    const signature = await native.sign(seed, message);
    const expected = ed25519.sign(message, seed);
    return signature.length === expected.length && expected.every((byte, i) =>
      byte === signature[i]
    ) &&
      await native.verify(ed25519.getPublicKey(seed), message, signature);
  } catch {
    return false; // an older runtime: no Ed25519
  }
}

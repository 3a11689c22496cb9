/**
 * X25519 (RFC 7748). Its results are the same bytes wherever they are computed, so the runtime's
 * own may take noble's place: it is several times faster, and as constant-time as the runtime's
 * TLS.
 */
import { x25519 } from "@noble/curves/ed25519.js";
import { equalBytes } from "../codec.ts";

export interface KeyAgreement {
  publicKeyOf(privateKey: Uint8Array): Uint8Array;
  /** Throws for a public key of small order, with which the secret would be known to all. */
  sharedSecret(privateKey: Uint8Array, publicKey: Uint8Array): Uint8Array;
}

/** Noble's. It refuses a shared point of zero. */
export const portableKeyAgreement: KeyAgreement = {
  publicKeyOf: (privateKey) => x25519.getPublicKey(privateKey),
  sharedSecret: (privateKey, publicKey) => x25519.getSharedSecret(privateKey, publicKey),
};

/** The runtime's where it has one that agrees with noble's, noble's otherwise. */
export function chooseKeyAgreement(native: KeyAgreement | undefined): KeyAgreement {
  return native !== undefined && agrees(native) ? native : portableKeyAgreement;
}

/**
 * One key pair and one secret of known keys, and one refusal: a runtime that differs is not used.
 */
function agrees(native: KeyAgreement): boolean {
  const [ours, theirs] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const publicKey = portableKeyAgreement.publicKeyOf(theirs);
  try {
    return equalBytes(native.publicKeyOf(theirs), publicKey) &&
      equalBytes(
        native.sharedSecret(ours, publicKey),
        portableKeyAgreement.sharedSecret(ours, publicKey),
      ) &&
      refuses(native, ours);
  } catch {
    return false; // an older runtime: no X25519
  }
}

function refuses({ sharedSecret }: KeyAgreement, privateKey: Uint8Array): boolean {
  try {
    sharedSecret(privateKey, new Uint8Array(32));
    return false;
  } catch {
    return true;
  }
}

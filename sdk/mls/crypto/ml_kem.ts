/**
 * ML-KEM-768 (FIPS 203). Its keys and secrets are the same bytes wherever they are computed. Those
 * of the runtime take noble's place for what lasts, a private key: it is constant-time there, which
 * code in JavaScript cannot promise. Sealing is noble's everywhere: it waits for nobody, takes our
 * randomness, and its secret lives for one message.
 */
import { ml_kem768 } from "@noble/post-quantum/ml-kem.js";
import { equalBytes } from "../codec.ts";

/** Opens ciphertexts by a private key, which is its seed of 64 bytes. */
export interface OpeningMlKem {
  publicKeyOf(seed: Uint8Array): Uint8Array | Promise<Uint8Array>;
  /** A ciphertext that was changed gives another secret, and no error. */
  decapsulate(ciphertext: Uint8Array, seed: Uint8Array): Uint8Array | Promise<Uint8Array>;
}

export const mlKemBytes = { seed: 64, publicKey: 1184, ciphertext: 1088 } as const;

/** Noble's. */
export const portableMlKem: OpeningMlKem = {
  publicKeyOf: (seed) => ml_kem768.keygen(seed).publicKey,
  decapsulate: (ciphertext, seed) =>
    ml_kem768.decapsulate(ciphertext, ml_kem768.keygen(seed).secretKey),
};

export interface EncapsulatedMlKem {
  readonly ciphertext: Uint8Array;
  readonly secret: Uint8Array;
}

/** The public key was checked before. `randomness`: 32 bytes. */
export function encapsulateMlKem(
  publicKey: Uint8Array,
  randomness: Uint8Array,
): EncapsulatedMlKem {
  const { cipherText, sharedSecret } = ml_kem768.encapsulate(publicKey, randomness);
  return { ciphertext: cipherText, secret: sharedSecret };
}

/** The runtime's where it has one that agrees with noble's, noble's otherwise. */
export async function chooseMlKem(native: OpeningMlKem | undefined): Promise<OpeningMlKem> {
  return native !== undefined && await agrees(native) ? native : portableMlKem;
}

/**
 * One known key, and one ciphertext as it was made and changed: a runtime that differs is not used.
 */
async function agrees(native: OpeningMlKem): Promise<boolean> {
  const seed = new Uint8Array(mlKemBytes.seed).fill(1);
  const { publicKey, secretKey } = ml_kem768.keygen(seed);
  const { ciphertext } = encapsulateMlKem(publicKey, new Uint8Array(32).fill(2));
  const changed = ciphertext.slice();
  changed[0] = (ciphertext[0] ?? 0) ^ 1;
  try {
    if (!equalBytes(await native.publicKeyOf(seed), publicKey)) return false;
    for (const each of [ciphertext, changed]) {
      const secret = await native.decapsulate(each, seed);
      if (!equalBytes(secret, ml_kem768.decapsulate(each, secretKey))) return false;
    }
    return true;
  } catch {
    return false; // an older runtime: no ML-KEM
  }
}

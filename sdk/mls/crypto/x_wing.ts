/**
 * X-Wing (draft-connolly-cfrg-xwing-kem): ML-KEM-768 and X25519 as one KEM, which is as strong as
 * the stronger of the two. Browsers load it when an agent connects: ML-KEM and SHA-3 are not small.
 */
import { sha3_256, shake256 } from "@noble/hashes/sha3.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { isUsablePublicKey, isUsableSealKey, sealKeyBytes } from "../../../proto/mod.ts";
import { MlsFault } from "../codec.ts";
import { xWingKem } from "./hpke.ts";
import { type KeyAgreement, portableKeyAgreement } from "./key_agreement.ts";
import {
  chooseMlKem,
  encapsulateMlKem,
  mlKemBytes,
  type OpeningMlKem,
  portableMlKem,
} from "./ml_kem.ts";

const seedBytes = 32;
const { outputBytes: kemOutputBytes } = xWingKem;
/** Two blocks of 32 bytes: for ML-KEM, and for the ephemeral key of X25519. */
const randomnessBytes = 64;
/** `\.//^\`, as the draft has it. */
const label = Uint8Array.of(0x5c, 0x2e, 0x2f, 0x2f, 0x5e, 0x5c);

export const xWingBytes = {
  seed: seedBytes,
  publicKey: sealKeyBytes,
  kemOutput: kemOutputBytes,
  randomness: randomnessBytes,
} as const;

export interface Encapsulation {
  readonly kemOutput: Uint8Array;
  readonly sharedSecret: Uint8Array;
}

/** A private key is its seed of 32 bytes. */
export interface XWing {
  /** The ML-KEM that opens and makes keys; it is chosen when it is first needed. */
  mlKem(): Promise<"runtime" | "portable">;
  publicKeyOf(seed: Uint8Array): Promise<Uint8Array>;
  /** Throws `MlsFault` for a public key to which nobody can seal. `randomness`: 64 bytes. */
  encapsulate(publicKey: Uint8Array, randomness: Uint8Array): Encapsulation;
  /**
   * Throws `MlsFault` for bytes that cannot be an encapsulation. One for another key, or one that
   * was changed, gives another secret.
   */
  decapsulate(kemOutput: Uint8Array, seed: Uint8Array): Promise<Uint8Array>;
}

/** With what the runtime has of its own where that agrees with the portable ones. */
export function createXWing(
  native?: OpeningMlKem,
  agreement: KeyAgreement = portableKeyAgreement,
): XWing {
  // Comparing costs as much as a few Welcomes, and many a process opens none.
  const chosen: { mlKem?: Promise<OpeningMlKem> } = {};
  const choose = (): Promise<OpeningMlKem> => chosen.mlKem ??= chooseMlKem(native);
  return {
    mlKem: async () => await choose() === portableMlKem ? "portable" : "runtime",
    publicKeyOf: async (seed) => {
      const mlKem = await choose();
      const keys = expand(seed);
      return concatBytes(await mlKem.publicKeyOf(keys.mlKem), agreement.publicKeyOf(keys.x25519));
    },
    encapsulate: (publicKey, randomness) => encapsulate(publicKey, randomness, agreement),
    decapsulate: async (kemOutput, seed) => {
      if (kemOutput.length !== kemOutputBytes) {
        throw new MlsFault(
          `An encapsulated key has ${kemOutput.length} bytes instead of ${kemOutputBytes}`,
        );
      }
      const [ciphertext, ephemeral] = divide(kemOutput, mlKemBytes.ciphertext);
      if (!isUsablePublicKey(ephemeral)) {
        throw new MlsFault("An encapsulated key is of small order");
      }
      const keys = expand(seed);
      return combineSecrets({
        mlKem: await (await choose()).decapsulate(ciphertext, keys.mlKem),
        x25519: agreement.sharedSecret(keys.x25519, ephemeral),
        ephemeral,
        publicKey: agreement.publicKeyOf(keys.x25519),
      });
    },
  };
}

function encapsulate(
  publicKey: Uint8Array,
  randomness: Uint8Array,
  agreement: KeyAgreement,
): Encapsulation {
  if (!isUsableSealKey(publicKey)) {
    throw new MlsFault("Nobody can seal to a key that is no X-Wing key");
  }
  if (randomness.length !== randomnessBytes) {
    throw new TypeError(`Encapsulating takes ${randomnessBytes} random bytes`);
  }
  const [mlKemKey, x25519Key] = divide(publicKey, mlKemBytes.publicKey);
  const [message, privateKey] = divide(randomness, 32);
  const { ciphertext, secret } = encapsulateMlKem(mlKemKey, message);
  const ephemeral = agreement.publicKeyOf(privateKey);
  const x25519 = agreement.sharedSecret(privateKey, x25519Key);
  return {
    kemOutput: concatBytes(ciphertext, ephemeral),
    sharedSecret: combineSecrets({ mlKem: secret, x25519, ephemeral, publicKey: x25519Key }),
  };
}

function expand(seed: Uint8Array): { readonly mlKem: Uint8Array; readonly x25519: Uint8Array } {
  if (seed.length !== seedBytes) throw new TypeError(`A seed of X-Wing has ${seedBytes} bytes`);
  const [mlKem, x25519] = divide(shake256(seed, { dkLen: mlKemBytes.seed + 32 }), mlKemBytes.seed);
  return { mlKem, x25519 };
}

/** All that the secret of X-Wing is made of. */
export interface XWingSecrets {
  readonly mlKem: Uint8Array;
  readonly x25519: Uint8Array;
  /** The ephemeral public key of X25519. */
  readonly ephemeral: Uint8Array;
  readonly publicKey: Uint8Array;
}

export function combineSecrets({ mlKem, x25519, ephemeral, publicKey }: XWingSecrets): Uint8Array {
  return sha3_256(concatBytes(mlKem, x25519, ephemeral, publicKey, label));
}

/** Copies: a runtime may want an array of its own. */
function divide(bytes: Uint8Array, at: number): [Uint8Array, Uint8Array] {
  return [bytes.slice(0, at), bytes.slice(at)];
}

/**
 * The labelled derivations of RFC 9420 sections 5 and 8, synchronous. Labels are passed as
 * `label("…")` made once.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { sha256 } from "../../../wasm/mod.ts";
import { ByteWriter, vectorBytes } from "../byte_writer.ts";
import { label, MlsFault, vector } from "../codec.ts";
import {
  createSealer,
  type HpkeCiphertext,
  type HpkeOpenInput,
  type HpkeSealInput,
  open,
} from "./hpke.ts";
import type { KeyAgreement } from "./key_agreement.ts";
import { type Aead, expand, hashBytes } from "./suite.ts";

const noContext = new Uint8Array(0);

export function expandWithLabel(
  secret: Uint8Array,
  name: Uint8Array,
  context: Uint8Array,
  length: number,
): Uint8Array {
  const info = new ByteWriter(new Uint8Array(2 + name.length + vectorBytes(context)));
  return expand(secret, info.uint16(length).raw(name).vector(context).bytes, length);
}

export function deriveSecret(secret: Uint8Array, name: Uint8Array): Uint8Array {
  return expandWithLabel(secret, name, noContext, hashBytes);
}

/** Section 9: the context is the generation. */
export function deriveTreeSecret(
  secret: Uint8Array,
  name: Uint8Array,
  generation: number,
  length: number,
): Uint8Array {
  const info = new ByteWriter(new Uint8Array(2 + name.length + 5));
  return expand(
    secret,
    info.uint16(length).raw(name).vectorLength(4).uint32(generation).bytes,
    length,
  );
}

/** The bytes that SignWithLabel and VerifyWithLabel sign. */
export function signContent(name: Uint8Array, content: Uint8Array): Uint8Array {
  return concatBytes(name, vector(content));
}

/** RefHash of section 5.2; its label has no prefix of ours. */
export function refHash(name: Uint8Array, value: Uint8Array): Uint8Array {
  return sha256(name, vector(value));
}

export const keyPackageRefLabel = label("KeyPackage Reference");
export const proposalRefLabel = label("Proposal Reference");

const noAad = new Uint8Array(0);

/** EncryptWithLabel for any number of receivers. */
export function createEncryptor(
  aead: Aead,
  name: Uint8Array,
  context: Uint8Array,
  agreement?: KeyAgreement,
): (input: Pick<HpkeSealInput, "publicKey" | "plaintext" | "randomness">) => HpkeCiphertext {
  const sealTo = createSealer(aead, concatBytes(name, vector(context)), agreement);
  return (input) => {
    try {
      return sealTo({ ...input, aad: noAad });
    } catch (cause) {
      throw new MlsFault("Cannot encrypt to a key that is not a valid X25519 public key", {
        cause,
      });
    }
  };
}

/** Throws when it was not encrypted for this key, label and context. */
export function decryptWithLabel(
  aead: Aead,
  name: Uint8Array,
  context: Uint8Array,
  input: Pick<HpkeOpenInput, "privateKey" | "kemOutput" | "ciphertext">,
  agreement?: KeyAgreement,
): Uint8Array {
  return open(aead, { ...input, info: concatBytes(name, vector(context)), aad: noAad }, agreement);
}

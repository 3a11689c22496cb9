/**
 * HPKE in base mode (RFC 9180) with DHKEM(X25519, HKDF-SHA256): single-shot seal and open, and the
 * export that MLS uses for external joins; the key of a message for another KEM. A context is never
 * reused, so its sequence number is always 0.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { isUsablePublicKey } from "../../../proto/mod.ts";
import { MlsFault } from "../codec.ts";
import { type KeyAgreement, portableKeyAgreement } from "./key_agreement.ts";
import { type Aead, expand, extract, hashBytes } from "./suite.ts";

export interface KeyPair {
  readonly publicKey: Uint8Array;
  readonly privateKey: Uint8Array;
}

export interface HpkeCiphertext {
  readonly kemOutput: Uint8Array;
  readonly ciphertext: Uint8Array;
}

const privateKeyBytes = 32;
const empty = new Uint8Array(0);
/** HPKE's number of our KEM. */
const dhKemId = 0x20;
/** X-Wing, which `x_wing.ts` computes: HPKE's number of it, and the length of what it gives out. */
export const xWingKem = { id: 0x647a, outputBytes: 1120 } as const;
const kemSuite = concatBytes(utf8ToBytes("KEM"), Uint8Array.of(0, dhKemId));
const versionLabel = utf8ToBytes("HPKE-v1");
const baseMode = Uint8Array.of(0);

/** Section 7.1.3. */
export function deriveKeyPair(
  keyMaterial: Uint8Array,
  agreement: KeyAgreement = portableKeyAgreement,
): KeyPair {
  const pseudorandomKey = labelledExtract(kemSuite, empty, "dkp_prk", keyMaterial);
  const privateKey = labelledExpand(kemSuite, pseudorandomKey, "sk", empty, privateKeyBytes);
  return { privateKey, publicKey: agreement.publicKeyOf(privateKey) };
}

export interface HpkeSealInput {
  readonly publicKey: Uint8Array;
  readonly info: Uint8Array;
  readonly aad: Uint8Array;
  readonly plaintext: Uint8Array;
  /** Fresh randomness for the ephemeral key: 32 bytes. */
  readonly randomness: Uint8Array;
}

export function seal(aead: Aead, { info, ...input }: HpkeSealInput): HpkeCiphertext {
  return createSealer(aead, info)(input);
}

/** Seals for several receivers under one `info`, which may be long and is hashed once. */
export function createSealer(
  aead: Aead,
  info: Uint8Array,
  agreement: KeyAgreement = portableKeyAgreement,
): (input: Omit<HpkeSealInput, "info">) => HpkeCiphertext {
  const suite = hpkeSuite(aead, dhKemId);
  const context = scheduleContext(suite, info);
  return ({ publicKey, aad, plaintext, randomness }) => {
    const { kemOutput, sharedSecret } = encapsulate(publicKey, randomness, agreement);
    const { key, nonce } = messageKey(aead, suite, sharedSecret, context);
    return { kemOutput, ciphertext: aead.seal(key, nonce, aad, plaintext) };
  };
}

export interface HpkeOpenInput {
  readonly privateKey: Uint8Array;
  readonly kemOutput: Uint8Array;
  readonly info: Uint8Array;
  readonly aad: Uint8Array;
  readonly ciphertext: Uint8Array;
}

/** Throws when the ciphertext was not made for this key, info and aad. */
export function open(
  aead: Aead,
  input: HpkeOpenInput,
  agreement: KeyAgreement = portableKeyAgreement,
): Uint8Array {
  const { privateKey, kemOutput, info, aad, ciphertext } = input;
  const sharedSecret = decapsulate(kemOutput, privateKey, agreement);
  const { key, nonce } = keyOfMessage(aead, dhKemId, { sharedSecret, info });
  return aead.open(key, nonce, aad, ciphertext);
}

export interface HpkeMessageKey {
  readonly key: Uint8Array;
  readonly nonce: Uint8Array;
}

/** Sections 5.1 and 5.2 behind any KEM: of the one message that its shared secret is for. */
export function keyOfMessage(
  aead: Aead,
  kemId: number,
  { sharedSecret, info }: { readonly sharedSecret: Uint8Array; readonly info: Uint8Array },
): HpkeMessageKey {
  const suite = hpkeSuite(aead, kemId);
  return messageKey(aead, suite, sharedSecret, scheduleContext(suite, info));
}

export interface ExportInput {
  readonly info: Uint8Array;
  readonly exporterContext: Uint8Array;
  readonly length: number;
}

/** Section 5.3 at the sender. */
export function sendExport(
  aead: Aead,
  { publicKey, randomness }: { readonly publicKey: Uint8Array; readonly randomness: Uint8Array },
  input: ExportInput,
): { readonly kemOutput: Uint8Array; readonly secret: Uint8Array } {
  const { kemOutput, sharedSecret } = encapsulate(publicKey, randomness, portableKeyAgreement);
  return { kemOutput, secret: exportFrom(aead, sharedSecret, input) };
}

/** Section 5.3 at the receiver. */
export function receiveExport(
  aead: Aead,
  { privateKey, kemOutput }: { readonly privateKey: Uint8Array; readonly kemOutput: Uint8Array },
  input: ExportInput,
): Uint8Array {
  return exportFrom(aead, decapsulate(kemOutput, privateKey, portableKeyAgreement), input);
}

function exportFrom(
  aead: Aead,
  sharedSecret: Uint8Array,
  { info, exporterContext, length }: ExportInput,
): Uint8Array {
  const suite = hpkeSuite(aead, dhKemId);
  const context = scheduleContext(suite, info);
  const secret = labelledExtract(suite, sharedSecret, "secret", empty);
  const exporterSecret = labelledExpand(suite, secret, "exp", context, hashBytes);
  return labelledExpand(suite, exporterSecret, "sec", exporterContext, length);
}

/** Section 4.1. A public key of small order is refused. */
function encapsulate(
  publicKey: Uint8Array,
  randomness: Uint8Array,
  agreement: KeyAgreement,
): { kemOutput: Uint8Array; sharedSecret: Uint8Array } {
  const ephemeral = deriveKeyPair(randomness, agreement);
  const shared = agreement.sharedSecret(ephemeral.privateKey, publicKey);
  const sharedSecret = kemSecret(shared, concatBytes(ephemeral.publicKey, publicKey));
  return { kemOutput: ephemeral.publicKey, sharedSecret };
}

/**
 * Section 4.1. The sender's possible mistakes are checked before, so a failure of the agreement is
 * the machine's fault.
 */
function decapsulate(
  kemOutput: Uint8Array,
  privateKey: Uint8Array,
  agreement: KeyAgreement,
): Uint8Array {
  if (!isUsablePublicKey(kemOutput)) {
    throw new MlsFault("An encapsulated key is malformed or of small order");
  }
  const shared = agreement.sharedSecret(privateKey, kemOutput);
  return kemSecret(shared, concatBytes(kemOutput, agreement.publicKeyOf(privateKey)));
}

function kemSecret(shared: Uint8Array, context: Uint8Array): Uint8Array {
  const pseudorandomKey = labelledExtract(kemSuite, empty, "eae_prk", shared);
  return labelledExpand(kemSuite, pseudorandomKey, "shared_secret", context, hashBytes);
}

function scheduleContext(suite: Uint8Array, info: Uint8Array): Uint8Array {
  return concatBytes(
    baseMode,
    labelledExtract(suite, empty, "psk_id_hash", empty),
    labelledExtract(suite, empty, "info_hash", info),
  );
}

/** Section 5.1. */
function messageKey(
  aead: Aead,
  suite: Uint8Array,
  sharedSecret: Uint8Array,
  context: Uint8Array,
): HpkeMessageKey {
  const secret = labelledExtract(suite, sharedSecret, "secret", empty);
  return {
    key: labelledExpand(suite, secret, "key", context, aead.keyBytes),
    nonce: labelledExpand(suite, secret, "base_nonce", context, aead.nonceBytes),
  };
}

function hpkeSuite(aead: Aead, kemId: number): Uint8Array {
  return concatBytes(
    utf8ToBytes("HPKE"),
    Uint8Array.of(kemId >> 8, kemId, 0, 1, 0, aead.hpkeId),
  );
}

function labelledExtract(
  suite: Uint8Array,
  salt: Uint8Array,
  label: string,
  keyMaterial: Uint8Array,
): Uint8Array {
  return extract(salt, versionLabel, suite, utf8ToBytes(label), keyMaterial);
}

function labelledExpand(
  suite: Uint8Array,
  pseudorandomKey: Uint8Array,
  label: string,
  info: Uint8Array,
  length: number,
): Uint8Array {
  const prefix = Uint8Array.of(length >> 8, length);
  return expand(
    pseudorandomKey,
    concatBytes(prefix, versionLabel, suite, utf8ToBytes(label), info),
    length,
  );
}

/**
 * The layer of X-Wing around the secrets that a Welcome has for each newcomer: they stay closed to
 * somebody that records it and breaks X25519 one day. The HPKE of RFC 9420 is inside, as it was. A
 * newcomer's key is in its KeyPackage, and a KeyPackage without one is welcomed without the layer.
 */
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { MlsFault, MlsVersionFault } from "../codec.ts";
import { type HpkeCiphertext, type HpkeMessageKey, keyOfMessage, xWingKem } from "./hpke.ts";
import { aeadOf } from "./suite.ts";
import type { XWing } from "./x_wing.ts";

/** The layer begins with it. */
const format = 1;
const label = utf8ToBytes("static welcome v1");
const noAad = new Uint8Array(0);
/** Whatever the suite of the group is. */
const aead = aeadOf[3];
/**
 * Anything shorter has no layer: secrets without one are far from that long. With one they are
 * longer by themselves.
 */
const leastBytes = 1 + xWingKem.outputBytes + aead.tagBytes;

export interface SealKeyPair {
  /** The private key. */
  readonly seed: Uint8Array;
  readonly publicKey: Uint8Array;
}

export async function createSealKey(
  randomBytes: (length: number) => Uint8Array,
  xWing: XWing,
): Promise<SealKeyPair> {
  const seed = randomBytes(32);
  return { seed, publicKey: await xWing.publicKeyOf(seed) };
}

/** The layer of one newcomer is bound to it. */
interface SealBinding {
  /** The reference of its KeyPackage. */
  readonly newMember: Uint8Array;
  /** The hash of the Welcome's encrypted GroupInfo. */
  readonly groupInfoHash: Uint8Array;
}

/** Puts the layer around what is sealed for the newcomer with this key. */
export function putLayer(
  inner: HpkeCiphertext,
  { publicKey, ...place }: SealBinding & { readonly publicKey: Uint8Array },
  { xWing, randomBytes }: {
    readonly xWing: XWing;
    readonly randomBytes: (length: number) => Uint8Array;
  },
): HpkeCiphertext {
  const { kemOutput, sharedSecret } = xWing.encapsulate(publicKey, randomBytes(64));
  const { key, nonce } = keyOf(sharedSecret, inner, place);
  const sealed = aead.seal(key, nonce, noAad, inner.ciphertext);
  return {
    kemOutput: inner.kemOutput,
    ciphertext: concatBytes(Uint8Array.of(format), kemOutput, sealed),
  };
}

/**
 * The secret of the layer around what a Welcome has for us; undefined when there is no layer.
 * Throws `MlsFault` when we have no key for it.
 */
export async function layerSecretOf(
  sealed: HpkeCiphertext,
  seed: Uint8Array | undefined,
  xWing: XWing,
): Promise<Uint8Array | undefined> {
  const layer = layerOf(sealed);
  if (layer === undefined) return undefined;
  if (seed === undefined) {
    throw new MlsFault("Cannot join: the Welcome is sealed to a key that our KeyPackage has not");
  }
  return await xWing.decapsulate(layer.kemOutput, seed);
}

/** Takes the layer off, if there is one. Throws `MlsFault` where it is not for this place. */
export function takeLayerOff(
  sealed: HpkeCiphertext,
  place: SealBinding,
  layerSecret: Uint8Array | undefined,
): HpkeCiphertext {
  const layer = layerOf(sealed);
  if (layer === undefined) return sealed;
  if (layerSecret === undefined) throw new TypeError("Nobody has looked for the Welcome's layer");
  const { key, nonce } = keyOf(layerSecret, sealed, place);
  return {
    kemOutput: sealed.kemOutput,
    ciphertext: aead.open(key, nonce, noAad, layer.ciphertext),
  };
}

/**
 * Returns whether secrets in a Welcome have the layer. Their length tells this for the secrets of
 * every newcomer, and we can read only our own.
 */
export function hasLayer({ ciphertext }: HpkeCiphertext): boolean {
  return ciphertext.length >= leastBytes;
}

/** Throws `MlsVersionFault` for one of another format. */
function layerOf({ kemOutput, ciphertext }: HpkeCiphertext): HpkeCiphertext | undefined {
  if (!hasLayer({ kemOutput, ciphertext })) return undefined;
  if (ciphertext[0] !== format) {
    throw new MlsVersionFault(
      "Cannot join: the Welcome has a layer that is newer than this library; update it",
    );
  }
  const end = 1 + xWingKem.outputBytes;
  return { kemOutput: ciphertext.subarray(1, end), ciphertext: ciphertext.subarray(end) };
}

function keyOf(
  sharedSecret: Uint8Array,
  { kemOutput }: HpkeCiphertext,
  { newMember, groupInfoHash }: SealBinding,
): HpkeMessageKey {
  const info = concatBytes(label, newMember, groupInfoHash, kemOutput);
  return keyOfMessage(aead, xWingKem.id, { sharedSecret, info });
}

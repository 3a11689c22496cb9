/**
 * Many Ed25519 signatures at once: a random combination of their equations holds only if each does. The verdict equals that
 * of verifying one by one with noble in strict mode (cofactored equation, canonical encodings, no public key of small
 * order), but for a chance of 2^-120; it takes about half the time, which is what joining a large group consists of.
 */
import { pippenger } from "@noble/curves/abstract/curve.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { uint32 } from "../codec.ts";

export interface SignedBytes {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

const { Point } = ed25519;
const order = Point.Fn.ORDER;

/** Whether every signature is valid. */
export function verifyBatch(items: readonly SignedBytes[]): boolean {
  try {
    return combination(items).clearCofactor().is0();
  } catch {
    return false; // noble throws for bytes that are no point
  }
}

/** Σ z (R + k·A) - (Σ z·s)·B, which is zero (up to the cofactor) if all is well. */
function combination(items: readonly SignedBytes[]): InstanceType<typeof Point> {
  // The weights depend on everything that is verified, so nobody can choose signatures to fit them.
  const transcript = sha512(
    concatBytes(...items.flatMap(({ publicKey, message, signature }) => [publicKey, signature, sha512(message)])),
  );
  const points: InstanceType<typeof Point>[] = [];
  const scalars: bigint[] = [];
  let base = 0n;
  for (const [i, { publicKey, message, signature }] of items.entries()) {
    if (publicKey.length !== 32 || signature.length !== 64) {
      throw new RangeError("a key or signature has the wrong length");
    }
    const commitment = signature.subarray(0, 32);
    const response = littleEndian(signature.subarray(32));
    const key = Point.fromBytes(publicKey, false);
    if (response >= order || key.isSmallOrder()) throw new RangeError("a key or signature is out of range");
    const challenge = littleEndian(sha512(concatBytes(commitment, publicKey, message))) % order;
    const weight = littleEndian(sha512(concatBytes(transcript, uint32(i))).subarray(0, 16)) | 1n;
    points.push(Point.fromBytes(commitment, false), key);
    scalars.push(weight, (weight * challenge) % order);
    base = (base + weight * response) % order;
  }
  const sum = pippenger(Point, points, scalars);
  return base === 0n ? sum : sum.subtract(Point.BASE.multiply(base));
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(bytes.toReversed())}`);
}

/**
 * Many Ed25519 signatures at once: a random combination of their equations holds only if each does. The verdict equals that
 * of verifying one by one with noble in strict mode (cofactored equation, canonical encodings, no public key of small
 * order), but for a chance of 2^-120. Two take little longer than one, because they share the doublings: that is what adding
 * a member consists of, and hundreds what joining a large group consists of.
 */
import { interleavedMSMUnsafe, pippenger } from "@noble/curves/abstract/curve.js";
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
type Point = InstanceType<typeof Point>;
const order = Point.Fn.ORDER;

/** Bits of a scalar that one addition takes in: measured best for two points as for a few hundred. */
const windowBits = 5;
/** Of more points, buckets that all share are cheaper than a table for each. */
const maxTables = 512;

/** Whether every signature is valid. */
export function verifyBatch(items: readonly SignedBytes[]): boolean {
  try {
    return combination(items).clearCofactor().is0();
  } catch {
    return false; // noble throws for bytes that are no point
  }
}

/** Σ z (R + k·A) - (Σ z·s)·B, which is zero (up to the cofactor) if all is well. */
function combination(items: readonly SignedBytes[]): Point {
  const equations = items.map(equationOf);
  const weights = weightsOf(equations);
  const terms = new Terms();
  let base = 0n;
  for (const [i, { publicKey, commitment, response, challenge }] of equations.entries()) {
    const weight = weights[i] ?? 0n;
    terms.addCommitment(weight, commitment);
    terms.addKey((weight * (littleEndian(challenge) % order)) % order, publicKey);
    base = (base + weight * littleEndian(response)) % order;
  }
  const sum = terms.sum();
  return base === 0n ? sum : sum.subtract(Point.BASE.multiplyUnsafe(base));
}

/** R + k·A = s·B, in bytes: commitment, challenge, key, response. */
interface Equation {
  readonly publicKey: Uint8Array;
  readonly commitment: Uint8Array;
  readonly response: Uint8Array;
  readonly challenge: Uint8Array;
}

function equationOf({ publicKey, message, signature }: SignedBytes): Equation {
  if (publicKey.length !== 32 || signature.length !== 64) {
    throw new RangeError("a key or signature has the wrong length");
  }
  const [commitment, response] = [signature.subarray(0, 32), signature.subarray(32)];
  if (littleEndian(response) >= order) throw new RangeError("a signature is out of range");
  return { publicKey, commitment, response, challenge: sha512(concatBytes(commitment, publicKey, message)) };
}

/** Points and their scalars. A key that signed several times is one point. */
class Terms {
  readonly #points: Point[] = [];
  readonly #scalars: bigint[] = [];
  readonly #keys = new Map<string, number>();

  addCommitment(scalar: bigint, commitment: Uint8Array): void {
    this.#points.push(Point.fromBytes(commitment, false));
    this.#scalars.push(scalar);
  }

  addKey(scalar: bigint, publicKey: Uint8Array): void {
    const name = bytesToHex(publicKey);
    const at = this.#keys.get(name);
    if (at !== undefined) {
      this.#scalars[at] = ((this.#scalars[at] ?? 0n) + scalar) % order;
      return;
    }
    const key = Point.fromBytes(publicKey, false);
    if (key.isSmallOrder()) throw new RangeError("a key is of small order");
    this.#keys.set(name, this.#points.length);
    this.#points.push(key);
    this.#scalars.push(scalar);
  }

  sum(): Point {
    if (this.#points.length > maxTables) return pippenger(Point, this.#points, this.#scalars);
    return interleavedMSMUnsafe(Point, this.#points, windowBits)(this.#scalars);
  }
}

/**
 * They depend on everything that is verified (a challenge is the hash of commitment, key and message), so nobody can choose
 * signatures to fit them. Only their ratios matter: the first is 1.
 */
function weightsOf(equations: readonly Equation[]): bigint[] {
  const transcript = sha512(concatBytes(...equations.flatMap(({ challenge, response }) => [challenge, response])));
  return equations.map((_, i) =>
    i === 0 ? 1n : littleEndian(sha512(concatBytes(transcript, uint32(i))).subarray(0, 16)) | 1n
  );
}

function littleEndian(bytes: Uint8Array): bigint {
  return BigInt(`0x${bytesToHex(bytes.toReversed())}`);
}

/**
 * Many Ed25519 signatures at once: a random combination of their equations holds only if each does.
 * The verdict equals that of verifying one by one with noble in strict mode (cofactored equation,
 * canonical encodings, no public key of small order), but for a chance of 2^-120. Two take little
 * longer than one, because they share the doublings: that is what adding a member consists of, and
 * hundreds what joining a large group consists of. No key here is secret, and nothing is
 * constant-time; what was signed may be private, so everything is wiped before a call returns, also
 * when it throws.
 */
import { CipherError } from "./errors.ts";
import { moduleBase64 } from "./gen/edwards25519.ts";
import { describe, type FixedMemory, hashedBytes, instantiate, isBytes } from "./instance.ts";

export interface SignedBytes {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

/**
 * Exports of `assembly/edwards25519/index.ts`; its comments say in which order the functions are
 * called.
 */
interface Exports {
  readonly memory: FixedMemory;
  readonly resultAt: WebAssembly.Global;
  readonly windowAt: WebAssembly.Global;
  readonly windowBytes: WebAssembly.Global;
  readonly termsAt: WebAssembly.Global;
  readonly termBytes: WebAssembly.Global;
  readonly isKeyAt: WebAssembly.Global;
  readonly scalarAt: WebAssembly.Global;
  readonly maxTerms: WebAssembly.Global;
  beginHash(): void;
  absorbHash(bytes: number): void;
  finishHash(bytes: number, total: number): void;
  beginSum(): void;
  /** 1 when all are points, and no key is of small order. */
  addTerms(count: number): number;
  /** 1 when the sum, times the cofactor, is zero. */
  sumIsZero(): number;
  wipe(bytes: number, terms: number): void;
}

/** A point and what it is multiplied with, below the order. */
export interface Term {
  readonly encoded: Uint8Array;
  readonly isKey: boolean;
  scalar: bigint;
}

/** R + k·A = s·B, in bytes: commitment, challenge, key, response. */
interface Equation {
  readonly publicKey: Uint8Array;
  readonly commitment: Uint8Array;
  readonly response: Uint8Array;
  readonly challenge: Uint8Array;
}

const [keyBytes, signatureBytes, commitmentBytes] = [32, 64, 32];
const [hashBytes, wordBytes, scalarBytes] = [64, 8, 32];
const wordBits = 64n;
/** The order of the group that the base point generates. */
const order = 2n ** 252n + 27742317777372353535851937790883648493n;
/** y = 4/5, x even. */
const basePoint = Uint8Array.from({ length: keyBytes }, (_, i) => i === 0 ? 0x58 : 0x66);
const weightBytes = 16;
const freshBytes = 32;

/** Whether every signature is valid. */
export function verifyEd25519Batch(items: readonly SignedBytes[]): boolean {
  return sharedEdwards25519().verify(items);
}

/**
 * The instance of a realm. Created with the first batch, so that importing this package compiles
 * nothing.
 */
export function sharedEdwards25519(): Edwards25519 {
  return shared.instance ??= new Edwards25519();
}

const shared: { instance?: Edwards25519 } = {};

export class Edwards25519 {
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly #wasm: Exports;
  readonly #words: DataView;
  readonly #windowAt: number;
  readonly #windowBytes: number;
  /** The most bytes in the window, and the most terms, since memory was last wiped. */
  #used = 0;
  #terms = 0;

  constructor() {
    this.#wasm = instantiate<Exports>(moduleBase64);
    this.memory = new Uint8Array(this.#wasm.memory.buffer);
    this.#words = new DataView(this.#wasm.memory.buffer);
    this.#windowAt = this.#wasm.windowAt.value;
    this.#windowBytes = this.#wasm.windowBytes.value;
  }

  /** `fresh` is random. A test that knows it knows the weights. */
  verify(
    items: readonly SignedBytes[],
    fresh = crypto.getRandomValues(new Uint8Array(freshBytes)),
  ): boolean {
    if (items.length === 0) return true;
    try {
      const equations = this.#equationsOf(items);
      return equations !== undefined && this.sumIsZero(this.#combine(equations, fresh));
    } finally {
      this.#wipe();
    }
  }

  /** Returns the weights of the signatures of a batch. */
  weights(items: readonly SignedBytes[], fresh: Uint8Array): readonly bigint[] {
    try {
      return this.#weightsOf(this.#equationsOf(items) ?? [], fresh);
    } finally {
      this.#wipe();
    }
  }

  #equationsOf(items: readonly SignedBytes[]): Equation[] | undefined {
    const equations: Equation[] = [];
    for (const item of items) {
      const equation = this.#equationOf(item);
      if (equation === undefined) return undefined;
      equations.push(equation);
    }
    return equations;
  }

  /** Undefined for what has the wrong length, or a response that is not below the order. */
  #equationOf({ publicKey, message, signature }: SignedBytes): Equation | undefined {
    for (const bytes of [publicKey, message, signature]) {
      if (isBytes(bytes)) continue;
      const wanted = "give Uint8Arrays that are not shared";
      throw new CipherError("invalid_input", `Cannot verify: ${wanted}, got ${describe(bytes)}`);
    }
    if (publicKey.length !== keyBytes || signature.length !== signatureBytes) return undefined;
    const commitment = signature.subarray(0, commitmentBytes);
    const response = signature.subarray(commitmentBytes);
    if (littleEndian(response) >= order) return undefined;
    return {
      publicKey,
      commitment,
      response,
      challenge: this.#sha512([commitment, publicKey, message]),
    };
  }

  /**
   * The terms of Σ z (R + k·A) - (Σ z·s)·B, which is zero (up to the cofactor) if all is well. A
   * key is one term.
   */
  #combine(equations: readonly Equation[], fresh: Uint8Array): Term[] {
    const weights = this.#weightsOf(equations, fresh);
    const terms: Term[] = [];
    const keys = new Map<string, Term>();
    let base = 0n;
    for (const [i, { publicKey, commitment, response, challenge }] of equations.entries()) {
      const weight = weights[i] ?? 0n;
      terms.push({ encoded: commitment, isKey: false, scalar: weight });
      const scalar = (weight * (littleEndian(challenge) % order)) % order;
      const name = String.fromCharCode(...publicKey);
      const known = keys.get(name);
      if (known !== undefined) known.scalar = (known.scalar + scalar) % order;
      else {
        const term = { encoded: publicKey, isKey: true, scalar };
        keys.set(name, term);
        terms.push(term);
      }
      base = (base + weight * littleEndian(response)) % order;
    }
    terms.push({ encoded: basePoint, isKey: false, scalar: (order - base) % order });
    return terms;
  }

  /**
   * Nobody can choose signatures to fit them: they depend on fresh randomness, and, should that
   * ever be known, on everything that is verified (a challenge is the hash of commitment, key and
   * message). Only their ratios matter: the first is 1.
   */
  #weightsOf(equations: readonly Equation[], fresh: Uint8Array): bigint[] {
    if (equations.length === 1) return [1n];
    const given = equations.flatMap(({ challenge, response }) => [challenge, response]);
    const transcript = this.#sha512([fresh, ...given]);
    const index = new DataView(new ArrayBuffer(4));
    return equations.map((_, i) => {
      if (i === 0) return 1n;
      index.setUint32(0, i);
      return littleEndian(
        this.#sha512([transcript, new Uint8Array(index.buffer)]).subarray(0, weightBytes),
      ) | 1n;
    });
  }

  /** False also when an encoding is no point or not canonical, or a key of small order. */
  sumIsZero(terms: readonly Term[]): boolean {
    const maxTerms = this.#wasm.maxTerms.value;
    this.#wasm.beginSum();
    for (let from = 0; from < terms.length; from += maxTerms) {
      const turn = terms.slice(from, from + maxTerms);
      this.#terms = Math.max(this.#terms, turn.length);
      turn.forEach((term, i) => this.#writeTerm(i, term));
      if (this.#wasm.addTerms(turn.length) !== 1) return false;
    }
    return this.#wasm.sumIsZero() === 1;
  }

  #writeTerm(index: number, { encoded, isKey, scalar }: Term): void {
    const at = this.#wasm.termsAt.value + index * this.#wasm.termBytes.value;
    this.memory.set(encoded, at);
    this.#words.setUint32(at + this.#wasm.isKeyAt.value, isKey ? 1 : 0, true);
    for (let word = 0; word < scalarBytes / wordBytes; word++) {
      const wordAt = at + this.#wasm.scalarAt.value + word * wordBytes;
      this.#words.setBigUint64(
        wordAt,
        BigInt.asUintN(64, scalar >> (BigInt(word) * wordBits)),
        true,
      );
    }
  }

  #sha512(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
    const total = hashedBytes(parts);
    this.#wasm.beginHash();
    let waiting = 0;
    for (const part of parts) {
      for (let from = 0; from < part.length;) {
        if (waiting === this.#windowBytes) {
          this.#wasm.absorbHash(waiting);
          waiting = 0;
        }
        const bytes = Math.min(part.length - from, this.#windowBytes - waiting);
        this.#used = Math.max(this.#used, waiting + bytes);
        this.memory.set(
          bytes === part.length ? part : part.subarray(from, from + bytes),
          this.#windowAt + waiting,
        );
        waiting += bytes;
        from += bytes;
      }
    }
    this.#wasm.finishHash(waiting, total);
    const resultAt = this.#wasm.resultAt.value;
    return this.memory.slice(resultAt, resultAt + hashBytes);
  }

  #wipe(): void {
    this.#wasm.wipe(this.#used, this.#terms);
    this.#used = this.#terms = 0;
  }
}

/** Reads bytes that are whole words. */
function littleEndian(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let value = 0n;
  for (let at = bytes.length - wordBytes; at >= 0; at -= wordBytes) {
    value = (value << wordBits) | view.getBigUint64(at, true);
  }
  return value;
}

/**
 * ChaCha20-Poly1305 (RFC 8439), synchronous, with a key for each call: in MLS a key seals one
 * message. A message is sealed in place: its parts are copied into WebAssembly memory, and the
 * result is copied out once, with room before it for a header. The tag is checked before a byte of
 * plaintext exists, and everything that a message left in WebAssembly memory is wiped before a call
 * returns, also when it throws.
 */
import { CipherError } from "./errors.ts";
import { moduleBase64 } from "./gen/chacha20poly1305.ts";
import { describe, type FixedMemory, instantiate, isBytes } from "./instance.ts";

const [keyBytes, nonceBytes, tagBytes] = [32, 12, 16];
/** Largest text, and largest associated data, of one message. */
const maxBytes = 2 ** 31;
/** The keystream of block 0 keys Poly1305, so the text starts with block 1. */
const firstTextBlock = 1;
const blockBytes = 64;

export interface ChaChaInput {
  readonly key: Uint8Array;
  /** Never the same twice under one key. */
  readonly nonce: Uint8Array;
  /** Authenticated, not encrypted. */
  readonly aad: Uint8Array;
}

export interface ChaChaSealInput extends ChaChaInput {
  /** The text, in parts: it is put together where it is encrypted. */
  readonly parts: readonly Uint8Array[];
  /** Zeros behind the text, encrypted with it. */
  readonly paddingBytes?: number;
  /** Zeros before the result, for the caller to write a header into. */
  readonly roomBytes?: number;
}

export interface ChaChaOpenInput extends ChaChaInput {
  /** The encrypted text, then the tag. */
  readonly ciphertext: Uint8Array;
}

/**
 * Exports of `assembly/chacha20poly1305/index.ts`; its comments say in which order the functions
 * are called.
 */
interface Exports {
  readonly memory: FixedMemory;
  readonly keyAt: WebAssembly.Global;
  readonly nonceAt: WebAssembly.Global;
  readonly roomBytes: WebAssembly.Global;
  readonly windowAt: WebAssembly.Global;
  readonly windowBytes: WebAssembly.Global;
  begin(): void;
  crypt(bytes: number, counter: number): void;
  absorb(bytes: number): void;
  appendTag(bytes: number, aadBytes: number, textBytes: number): void;
  checkTag(bytes: number, aadBytes: number, textBytes: number): number;
  wipe(bytes: number): void;
}

export class ChaCha20Poly1305 {
  readonly memory: Uint8Array<ArrayBuffer>;
  readonly windowAt: number;
  readonly windowBytes: number;
  readonly #wasm: Exports;
  readonly #keyAt: number;
  readonly #nonceAt: number;
  readonly #roomBytes: number;
  /**
   * The most that the window held since it was last wiped: more than one message's if wiping failed
   * (out of stack).
   */
  #used = 0;

  constructor() {
    this.#wasm = instantiate<Exports>(moduleBase64);
    this.memory = new Uint8Array(this.#wasm.memory.buffer);
    this.windowAt = this.#wasm.windowAt.value;
    this.windowBytes = this.#wasm.windowBytes.value;
    this.#keyAt = this.#wasm.keyAt.value;
    this.#nonceAt = this.#wasm.nonceAt.value;
    this.#roomBytes = this.#wasm.roomBytes.value;
  }

  seal(
    { parts, paddingBytes = 0, roomBytes = 0, ...input }: ChaChaSealInput,
  ): Uint8Array<ArrayBuffer> {
    const textBytes = lengthOf(parts) + paddingBytes;
    checkInput("seal", input, textBytes);
    if (!isLength(paddingBytes) || !isLength(roomBytes)) {
      const got = `${paddingBytes} and ${roomBytes}`;
      throw new CipherError(
        "invalid_input",
        `Cannot seal: give padding and room as numbers of bytes, got ${got}`,
      );
    }
    if (textBytes > this.windowBytes || roomBytes > this.#roomBytes) {
      const text = joined(parts, textBytes);
      try {
        return this.#sealLong(text, roomBytes, input);
      } finally {
        text.fill(0);
      }
    }
    try {
      this.#begin(input, textBytes);
      let at = this.windowAt;
      for (const part of parts) {
        this.memory.set(part, at);
        at += part.length;
      }
      this.memory.fill(0, at, this.windowAt + textBytes);
      this.#wasm.crypt(textBytes, firstTextBlock);
      this.#wasm.appendTag(textBytes, input.aad.length, textBytes);
      return this.memory.slice(this.windowAt - roomBytes, this.windowAt + textBytes + tagBytes);
    } finally {
      this.#wipe();
    }
  }

  open({ ciphertext, ...input }: ChaChaOpenInput): Uint8Array<ArrayBuffer> {
    checkInput("open", input, ciphertext);
    const textBytes = ciphertext.length - tagBytes;
    if (textBytes < 0) {
      throw new CipherError(
        "authentication_failed",
        `Cannot open: ${ciphertext.length} bytes are too short to hold a tag of ${tagBytes}`,
      );
    }
    if (textBytes > this.windowBytes && (!isBytes(ciphertext) || textBytes > maxBytes)) {
      throw invalid("open", ciphertext);
    }
    try {
      this.#begin(input, textBytes);
      this.#checkTag(ciphertext, input.aad.length);
      if (textBytes <= this.windowBytes) {
        this.#wasm.crypt(textBytes, firstTextBlock);
        return this.memory.slice(this.windowAt, this.windowAt + textBytes);
      }
      const text = new Uint8Array(textBytes);
      for (let at = 0; at < textBytes; at += this.windowBytes) {
        const bytes = Math.min(this.windowBytes, textBytes - at);
        this.#fill(ciphertext, at, bytes);
        this.#wasm.crypt(bytes, firstTextBlock + at / blockBytes);
        this.#takeInto(text, at, bytes);
      }
      return text;
    } finally {
      this.#wipe();
    }
  }

  /** Takes in the associated data. */
  #begin({ key, nonce, aad }: ChaChaInput, textBytes: number): void {
    this.#used = Math.max(this.#used, Math.min(Math.max(textBytes, aad.length), this.windowBytes));
    this.memory.set(key, this.#keyAt);
    this.memory.set(nonce, this.#nonceAt);
    this.#wasm.begin();
    for (let at = 0; at < aad.length; at += this.windowBytes) {
      const bytes = Math.min(this.windowBytes, aad.length - at);
      this.#fill(aad, at, bytes);
      this.#wasm.absorb(bytes);
    }
  }

  /** Piece by piece: what is longer than the window, or wants more room than there is before it. */
  #sealLong(text: Uint8Array, roomBytes: number, input: ChaChaInput): Uint8Array<ArrayBuffer> {
    const sealed = new Uint8Array(roomBytes + text.length + tagBytes);
    try {
      this.#begin(input, text.length);
      let at = 0;
      for (; text.length - at > this.windowBytes; at += this.windowBytes) {
        this.#fill(text, at, this.windowBytes);
        this.#wasm.crypt(this.windowBytes, firstTextBlock + at / blockBytes);
        this.#wasm.absorb(this.windowBytes);
        this.#takeInto(sealed, roomBytes + at, this.windowBytes);
      }
      const rest = text.length - at;
      this.#fill(text, at, rest);
      this.#wasm.crypt(rest, firstTextBlock + at / blockBytes);
      this.#wasm.appendTag(rest, input.aad.length, text.length);
      this.#takeInto(sealed, roomBytes + at, rest + tagBytes);
      return sealed;
    } finally {
      this.#wipe();
    }
  }

  /** Leaves the last piece of ciphertext in the window. */
  #checkTag(ciphertext: Uint8Array, aadBytes: number): void {
    const textBytes = ciphertext.length - tagBytes;
    let at = 0;
    for (; textBytes - at > this.windowBytes; at += this.windowBytes) {
      this.#fill(ciphertext, at, this.windowBytes);
      this.#wasm.absorb(this.windowBytes);
    }
    this.#fill(ciphertext, at, ciphertext.length - at);
    if (this.#wasm.checkTag(textBytes - at, aadBytes, textBytes) !== 1) {
      throw new CipherError(
        "authentication_failed",
        "Cannot open: key, nonce, associated data and ciphertext do not belong together",
      );
    }
  }

  #fill(source: Uint8Array, from: number, bytes: number): void {
    this.memory.set(
      bytes === source.length ? source : source.subarray(from, from + bytes),
      this.windowAt,
    );
  }

  #takeInto(target: Uint8Array, at: number, bytes: number): void {
    target.set(this.memory.subarray(this.windowAt, this.windowAt + bytes), at);
  }

  #wipe(): void {
    this.#wasm.wipe(this.#used);
    this.#used = 0;
  }
}

function isLength(bytes: number): boolean {
  return Number.isInteger(bytes) && bytes >= 0 && bytes <= maxBytes;
}

function lengthOf(parts: readonly Uint8Array[]): number {
  let sum = 0;
  for (const part of parts) {
    if (!(part instanceof Uint8Array)) throw invalid("seal", part);
    sum += part.length;
  }
  return sum;
}

function joined(parts: readonly Uint8Array[], bytes: number): Uint8Array {
  const text = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    text.set(part, at);
    at += part.length;
  }
  return text;
}

/**
 * Checks everything that a caller gave, before anything is allocated or copied. A text that fits
 * into the window is read once; of a longer one, shared memory could change between the check of
 * the tag and the decryption.
 */
function checkInput(
  action: "seal" | "open",
  { key, nonce, aad }: ChaChaInput,
  text: Uint8Array | number,
): void {
  if (!(key instanceof Uint8Array) || key.length !== keyBytes) {
    throw new CipherError(
      "invalid_key",
      `Cannot ${action}: a key has ${keyBytes} bytes, got ${describe(key)}`,
    );
  }
  if (!(nonce instanceof Uint8Array) || nonce.length !== nonceBytes) {
    throw new CipherError(
      "invalid_nonce",
      `Cannot ${action}: a nonce has ${nonceBytes} bytes, got ${describe(nonce)}`,
    );
  }
  if (!(aad instanceof Uint8Array) || aad.length > maxBytes) throw invalid(action, aad);
  if (typeof text === "number" ? text > maxBytes : !(text instanceof Uint8Array)) {
    throw invalid(action, text);
  }
}

function invalid(action: string, input: unknown): CipherError {
  const wanted = `give Uint8Arrays that are not shared, of at most ${maxBytes} bytes`;
  const got = typeof input === "number" ? `${input} bytes` : describe(input);
  return new CipherError("invalid_input", `Cannot ${action}: ${wanted}, got ${got}`);
}

/** Encrypts and authenticates. Returns the room, the encrypted text, and the tag. */
export function sealChaCha20Poly1305(input: ChaChaSealInput): Uint8Array<ArrayBuffer> {
  return sharedChaCha20Poly1305().seal(input);
}

/** Checks and decrypts. Throws `authentication_failed` before any plaintext exists. */
export function openChaCha20Poly1305(input: ChaChaOpenInput): Uint8Array<ArrayBuffer> {
  return sharedChaCha20Poly1305().open(input);
}

/**
 * The instance of a realm. Created with the first message, so that importing this package compiles
 * nothing.
 */
export function sharedChaCha20Poly1305(): ChaCha20Poly1305 {
  return shared.instance ??= new ChaCha20Poly1305();
}

const shared: { instance?: ChaCha20Poly1305 } = {};

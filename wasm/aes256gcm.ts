/**
 * AES-256-GCM, synchronous, with nonces of 12 and tags of 16 bytes. The tag is checked before a
 * byte of plaintext exists, and everything a message left in WebAssembly memory is wiped before a
 * call returns, also when it throws.
 */
import { type Core, sharedCore } from "./aes256gcm_core.ts";
import { CipherError } from "./errors.ts";
import { describe, isBytes } from "./instance.ts";

export const keyBytes = 32;
export const nonceBytes = 12;
export const tagBytes = 16;
/** Largest text, and largest associated data, of one message. */
export const maxInputBytes = 2 ** 31;
/**
 * NIST SP 800-38D, section 8.3: with random nonces of 96 bits a key may seal this many messages.
 */
export const maxSeals = 2 ** 32;

/** Room before the window for a prefix, so that a result with its prefix is one copy. */
export const maxPrefixBytes = 64;

/** The keystream of counter 1 hides the tag, so the text starts with counter 2. */
const firstTextCounter = 2;
const nothing = new Uint8Array(0);

export interface SealInput {
  /** Never the same twice under one key. */
  readonly nonce: Uint8Array;
  readonly plaintext: Uint8Array;
  /** Authenticated, not encrypted. */
  readonly aad?: Uint8Array;
  /**
   * Put before the result as it is, not authenticated: the header of a format, at most
   * `maxPrefixBytes`.
   */
  readonly prefix?: Uint8Array;
}

export interface OpenInput {
  readonly nonce: Uint8Array;
  /** The result of `seal`: the encrypted text, then the tag. */
  readonly ciphertext: Uint8Array;
  readonly aad?: Uint8Array;
}

export interface Aes256GcmOptions {
  /**
   * Messages this object may seal, for a key that has sealed others before. At most `maxSeals`,
   * which is the default.
   */
  readonly sealsAllowed?: number;
}

export class Aes256Gcm {
  readonly #core: Core;
  #context: number | undefined;
  #sealsLeft: number;

  /** Copies the key; the caller may wipe its own. */
  constructor(key: Uint8Array, { sealsAllowed = maxSeals }: Aes256GcmOptions = {}) {
    if (!isBytes(key) || key.length !== keyBytes) {
      throw new CipherError(
        "invalid_key",
        `Cannot use this key: AES-256 needs ${keyBytes} bytes, got ${describe(key)}`,
      );
    }
    if (!Number.isSafeInteger(sealsAllowed) || sealsAllowed < 0 || sealsAllowed > maxSeals) {
      throw new CipherError(
        "invalid_input",
        `Cannot allow ${sealsAllowed} messages: give a number from 0 to ${maxSeals}`,
      );
    }
    this.#sealsLeft = sealsAllowed;
    this.#core = sharedCore();
    this.#context = this.#core.createContext(key);
    forgotten.register(this, this.#context, this);
  }

  /** Encrypts and authenticates. Returns the prefix, if any, the encrypted text, and the tag. */
  seal({ nonce, plaintext, aad = nothing, prefix = nothing }: SealInput): Uint8Array<ArrayBuffer> {
    const context = this.#contextFor("seal", {
      nonce,
      text: plaintext,
      aad,
      maxTextBytes: maxInputBytes,
    });
    if (!isBytes(prefix) || prefix.length > maxPrefixBytes) {
      throw new CipherError(
        "invalid_input",
        `Cannot seal: a prefix has at most ${maxPrefixBytes} bytes, got ${describe(prefix)}`,
      );
    }
    if (this.#sealsLeft === 0) {
      throw new CipherError(
        "key_exhausted",
        "Cannot seal: this key has sealed all the messages it may; use a new key",
      );
    }
    this.#sealsLeft--;
    const core = this.#core;
    const { wasm, windowBytes } = core;
    try {
      core.begin(context, nonce);
      this.#absorbAad(context, aad);
      if (plaintext.length <= windowBytes) {
        core.fill(plaintext, 0, plaintext.length);
        wasm.crypt(context, plaintext.length, firstTextCounter);
        wasm.appendTag(context, plaintext.length, aad.length, plaintext.length);
        return core.takeWithPrefix(prefix, plaintext.length + tagBytes);
      }
      const sealed = new Uint8Array(prefix.length + plaintext.length + tagBytes);
      sealed.set(prefix);
      let at = 0;
      for (; plaintext.length - at > windowBytes; at += windowBytes) {
        core.fill(plaintext, at, at + windowBytes);
        wasm.crypt(context, windowBytes, firstTextCounter + at / 16);
        wasm.absorb(context, windowBytes);
        core.takeInto(sealed, prefix.length + at, windowBytes);
      }
      const rest = plaintext.length - at;
      core.fill(plaintext, at, plaintext.length);
      wasm.crypt(context, rest, firstTextCounter + at / 16);
      wasm.appendTag(context, rest, aad.length, plaintext.length);
      core.takeInto(sealed, prefix.length + at, rest + tagBytes);
      return sealed;
    } finally {
      wasm.wipe(Math.min(Math.max(plaintext.length, aad.length), windowBytes));
    }
  }

  /** Checks and decrypts. Throws `authentication_failed` before any plaintext exists. */
  open({ nonce, ciphertext, aad = nothing }: OpenInput): Uint8Array<ArrayBuffer> {
    const context = this.#contextFor("open", {
      nonce,
      text: ciphertext,
      aad,
      maxTextBytes: maxInputBytes + tagBytes,
    });
    const textBytes = ciphertext.length - tagBytes;
    if (textBytes < 0) {
      throw new CipherError(
        "authentication_failed",
        `Cannot open: ${ciphertext.length} bytes are too short to hold a tag of ${tagBytes}`,
      );
    }
    const { wasm, windowBytes } = this.#core;
    try {
      this.#core.begin(context, nonce);
      this.#absorbAad(context, aad);
      this.#checkTag(context, ciphertext, aad.length);
      if (textBytes <= windowBytes) {
        wasm.crypt(context, textBytes, firstTextCounter);
        return this.#core.take(textBytes);
      }
      const plaintext = new Uint8Array(textBytes);
      for (let at = 0; at < textBytes; at += windowBytes) {
        const bytes = Math.min(windowBytes, textBytes - at);
        this.#core.fill(ciphertext, at, at + bytes);
        wasm.crypt(context, bytes, firstTextCounter + at / 16);
        this.#core.takeInto(plaintext, at, bytes);
      }
      return plaintext;
    } finally {
      wasm.wipe(Math.min(Math.max(textBytes, aad.length), windowBytes));
    }
  }

  /** Wipes the key. Every later call throws `key_destroyed`; destroying twice is harmless. */
  destroy(): void {
    if (this.#context === undefined) return;
    forgotten.unregister(this);
    this.#core.releaseContext(this.#context);
    this.#context = undefined;
  }

  #absorbAad(context: number, aad: Uint8Array): void {
    const { wasm, windowBytes } = this.#core;
    for (let at = 0; at < aad.length; at += windowBytes) {
      const bytes = Math.min(windowBytes, aad.length - at);
      this.#core.fill(aad, at, at + bytes);
      wasm.absorb(context, bytes);
    }
  }

  /** Leaves the last piece of ciphertext in the window. */
  #checkTag(context: number, ciphertext: Uint8Array, aadBytes: number): void {
    const { wasm, windowBytes } = this.#core;
    const textBytes = ciphertext.length - tagBytes;
    let at = 0;
    for (; textBytes - at > windowBytes; at += windowBytes) {
      this.#core.fill(ciphertext, at, at + windowBytes);
      wasm.absorb(context, windowBytes);
    }
    this.#core.fill(ciphertext, at, ciphertext.length);
    if (wasm.checkTag(context, textBytes - at, aadBytes, textBytes) !== 1) {
      throw new CipherError(
        "authentication_failed",
        "Cannot open: key, nonce, associated data and ciphertext do not belong together",
      );
    }
  }

  /** Checks everything that a caller gave, before anything is allocated or copied. */
  #contextFor(action: string, { nonce, text, aad, maxTextBytes }: CheckedInput): number {
    if (this.#context === undefined) {
      throw new CipherError(
        "key_destroyed",
        `Cannot ${action}: this key was destroyed; create a new Aes256Gcm`,
      );
    }
    if (!isBytes(nonce) || nonce.length !== nonceBytes) {
      throw new CipherError(
        "invalid_nonce",
        `Cannot ${action}: a nonce has ${nonceBytes} bytes, got ${describe(nonce)}`,
      );
    }
    if (!isBytes(text) || text.length > maxTextBytes) throw invalidInput(action, text);
    if (!isBytes(aad) || aad.length > maxInputBytes) throw invalidInput(action, aad);
    return this.#context;
  }
}

interface CheckedInput {
  readonly nonce: Uint8Array;
  readonly text: Uint8Array;
  readonly aad: Uint8Array;
  readonly maxTextBytes: number;
}

function invalidInput(action: string, input: unknown): CipherError {
  const wanted = `give a Uint8Array that is not shared, of at most ${maxInputBytes} bytes`;
  return new CipherError("invalid_input", `Cannot ${action}: ${wanted}, got ${describe(input)}`);
}

/**
 * A key that was dropped without `destroy()` is wiped when the collector finds it: late, but not
 * never.
 */
const forgotten = new FinalizationRegistry<number>((context) =>
  sharedCore().releaseContext(context)
);

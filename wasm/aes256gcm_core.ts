/**
 * The WebAssembly instance that all keys of a realm share. Engines reserve gigabytes of address
 * space for every memory, so a key is a context inside one memory rather than an instance of its
 * own. Messages pass through a fixed window, piece by piece, so memory grows only with the number
 * of keys; growing detaches all views, so they are made anew after it.
 */
import { CipherError } from "./errors.ts";
import { instantiate } from "./instance.ts";
import { moduleBase64 } from "./gen/aes256gcm.ts";

/**
 * Exports of `assembly/aes256gcm/index.ts`; its comments say in which order the functions are
 * called.
 */
interface Exports {
  readonly memory: { readonly buffer: ArrayBuffer; grow(pages: number): number };
  readonly keyAt: WebAssembly.Global;
  readonly nonceAt: WebAssembly.Global;
  readonly windowAt: WebAssembly.Global;
  readonly windowBytes: WebAssembly.Global;
  readonly contextsAt: WebAssembly.Global;
  readonly contextBytes: WebAssembly.Global;
  setKey(context: number): void;
  begin(context: number): void;
  crypt(context: number, bytes: number, counter: number): void;
  absorb(context: number, bytes: number): void;
  appendTag(context: number, bytes: number, aadBytes: number, textBytes: number): void;
  checkTag(context: number, bytes: number, aadBytes: number, textBytes: number): number;
  wipe(bytes: number): void;
  wipeContext(context: number): void;
}

const pageBytes = 65536;
/** Behind a full window: the tag of the last piece. */
const tagBytes = 16;

export class Core {
  readonly wasm: Exports;
  readonly windowAt: number;
  readonly windowBytes: number;
  #memory: Uint8Array<ArrayBuffer>;
  #window: Uint8Array<ArrayBuffer>;
  /** Contexts of destroyed keys, all zero. */
  readonly #free: number[] = [];
  #nextContext: number;

  constructor() {
    this.wasm = instantiate<Exports>(moduleBase64);
    this.windowAt = this.wasm.windowAt.value;
    this.windowBytes = this.wasm.windowBytes.value;
    this.#nextContext = this.wasm.contextsAt.value;
    [this.#memory, this.#window] = this.#views();
  }

  /** Expands a key into a context of its own. */
  createContext(key: Uint8Array): number {
    const context = this.#free.pop() ?? this.#grow();
    this.#memory.set(key, this.wasm.keyAt.value);
    this.wasm.setKey(context);
    this.wasm.wipe(0);
    return context;
  }

  releaseContext(context: number): void {
    this.wasm.wipeContext(context);
    this.#free.push(context);
  }

  begin(context: number, nonce: Uint8Array): void {
    this.#memory.set(nonce, this.wasm.nonceAt.value);
    this.wasm.begin(context);
  }

  /**
   * Copies a piece into the window. The view ends where the window ends, so a piece that is too
   * long is refused.
   */
  fill(source: Uint8Array, from: number, to: number): void {
    this.#window.set(from === 0 && to === source.length ? source : source.subarray(from, to));
  }

  /** A copy of the first bytes of the window. */
  take(bytes: number): Uint8Array<ArrayBuffer> {
    return this.#window.slice(0, bytes);
  }

  /**
   * The same behind a prefix, which is written where it is copied from: before the window, among
   * what `wipe` wipes.
   */
  takeWithPrefix(prefix: Uint8Array, bytes: number): Uint8Array<ArrayBuffer> {
    const at = this.windowAt - prefix.length;
    this.#memory.set(prefix, at);
    return this.#memory.slice(at, this.windowAt + bytes);
  }

  /** Copies the first bytes of the window to a place in a larger result. */
  takeInto(target: Uint8Array, at: number, bytes: number): void {
    target.set(this.#window.subarray(0, bytes), at);
  }

  #grow(): number {
    const context = this.#nextContext;
    const end = context + this.wasm.contextBytes.value;
    const missing = end - this.#memory.length;
    if (missing > 0) {
      try {
        this.wasm.memory.grow(Math.ceil(missing / pageBytes));
      } catch {
        throw new CipherError(
          "too_many_keys",
          "Cannot hold another key: destroy() keys that are no longer needed",
        );
      }
      [this.#memory, this.#window] = this.#views();
    }
    this.#nextContext = end;
    return context;
  }

  #views(): [memory: Uint8Array<ArrayBuffer>, window: Uint8Array<ArrayBuffer>] {
    const { buffer } = this.wasm.memory;
    return [
      new Uint8Array(buffer),
      new Uint8Array(buffer, this.windowAt, this.windowBytes + tagBytes),
    ];
  }
}

/** Created with the first key, so that importing this package compiles nothing. */
export function sharedCore(): Core {
  return shared.core ??= new Core();
}

const shared: { core?: Core } = {};

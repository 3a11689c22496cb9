/** Shared by all modules of this package: how one is instantiated, and what it takes as bytes. */
import { CipherError } from "./errors.ts";

/**
 * Throws only where WebAssembly with SIMD is missing or forbidden. `Exports` is what the module's
 * `index.ts` exports.
 */
export function instantiate<Exports>(moduleBase64: string): Exports {
  const bytes = Uint8Array.from(atob(moduleBase64), (character) => character.charCodeAt(0));
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(bytes));
  return exports as unknown as Exports; // cast: the module and the type are written from one file
}

/** The memory of a module that never grows, so views of it stay valid. */
export interface FixedMemory {
  readonly buffer: ArrayBuffer;
}

/** Shared memory could change between a check and the use. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array &&
    (value.buffer instanceof ArrayBuffer ||
      Object.prototype.toString.call(value.buffer) === "[object ArrayBuffer]");
}

/** Most bytes of one hash: lengths are u32 inside, and none wraps. */
const maxHashedBytes = 2 ** 31;

/** How long a message in parts is. Throws before a byte is copied. */
export function hashedBytes(parts: Iterable<Uint8Array>): number {
  let sum = 0;
  for (const part of parts) {
    sum += part instanceof Uint8Array ? part.length : Infinity;
    if (sum > maxHashedBytes) {
      const wanted = `give Uint8Arrays of at most ${maxHashedBytes} bytes together`;
      throw new CipherError("invalid_input", `Cannot hash: ${wanted}, got ${describe(part)}`);
    }
  }
  return sum;
}

/** Describes a value for errors: lengths, never content. */
export function describe(value: unknown): string {
  if (!(value instanceof Uint8Array)) return typeof value;
  return isBytes(value) ? `${value.length} bytes` : "shared memory";
}

/** Values in the TLS presentation language as RFC 9420 uses it; `reader.ts` reads them. */
import { concatBytes } from "@noble/hashes/utils.js";
import { encodeVectorLength } from "./reader.ts";

/** `opaque x<V>`. */
export function vector(bytes: Uint8Array): Uint8Array {
  return concatBytes(encodeVectorLength(bytes.length), bytes);
}

/** Big-endian. */
export function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

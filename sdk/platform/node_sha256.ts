/**
 * SHA-256 of `node:crypto`, in Node and Deno: of a cell, it takes half the time that WebAssembly
 * takes.
 */
import { createHash } from "node:crypto";

export function nodeSha256(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(bytes).digest());
}

/**
 * Argon2id in a module of its own, so that a bundler can set it apart: most programs, and nearly
 * all pages, have no passphrase.
 */
export { argon2id } from "hash-wasm";

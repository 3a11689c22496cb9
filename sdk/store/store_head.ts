/**
 * The head: a record under a fixed name, rewritten in every batch, that has the store's format,
 * counts batches (the generation) and sealed messages and holds the digest of the index. And the
 * witness, which repeats the generation outside the database: a database that is older than its
 * witness was restored, cut off or rolled back.
 *
 *   head     format u8 | key id (8) | nonce (12) | AES-256-GCM of: generation u64 | seals u64 | digest (16)
 *   witness  version u8 | generation u64 | HMAC of both (32)
 *
 * Every version of this library must be able to tell a newer store from a damaged one. So the
 * head's layout stays, whatever the format; a newer format may add to the end of what is encrypted.
 */
import { type Aes256Gcm, CipherError, nonceBytes, tagBytes } from "../../wasm/mod.ts";
import { equalBytes } from "../../proto/mod.ts";
import { concat, decodeUint, encodeUint, utf8 } from "./bytes.ts";
import { keyIdBytes, type Mac } from "./derived_keys.ts";
import { StoreFault } from "./errors.ts";
import { digestBytes } from "./record_index.ts";

export interface Head {
  /** The format of the whole store, see `migrations.ts`. */
  readonly format: number;
  readonly generation: number;
  /**
   * Messages sealed under this data key so far: the limit of random nonces holds across restarts.
   */
  readonly seals: number;
  /** The digest of all records, see `record_index.ts`. */
  readonly digest: Uint8Array;
}

const witnessVersion = 1;
const label = utf8("static-store head");
const headBytes = 1 + keyIdBytes + nonceBytes + 16 + digestBytes + tagBytes;
const witnessBytes = 1 + 8 + 32;

export function encodeHead(
  { format, generation, seals, digest }: Head,
  { gcm, nonce, keyId }: { gcm: Aes256Gcm; nonce: Uint8Array; keyId: Uint8Array },
): Uint8Array<ArrayBuffer> {
  const header = concat(encodeUint(format, 1), keyId);
  const plaintext = concat(encodeUint(generation, 8), encodeUint(seals, 8), digest);
  return gcm.seal({ nonce, plaintext, aad: concat(label, header), prefix: concat(header, nonce) });
}

export function decodeHead(
  bytes: Uint8Array,
  { gcm, keyId }: { gcm: Aes256Gcm; keyId: Uint8Array },
): Head {
  const [format] = bytes;
  if (bytes.length < headBytes || format === undefined || format === 0) throw damagedHead();
  const header = bytes.subarray(0, 1 + keyIdBytes);
  try {
    const plaintext = gcm.open({
      nonce: bytes.subarray(header.length, header.length + nonceBytes),
      ciphertext: bytes.subarray(header.length + nonceBytes),
      aad: concat(label, header),
    });
    const [generation, seals] = [
      decodeUint(plaintext.subarray(0, 8)),
      decodeUint(plaintext.subarray(8, 16)),
    ];
    if (generation === undefined || seals === undefined) throw damagedHead();
    return { format, generation, seals, digest: plaintext.subarray(16, 16 + digestBytes) };
  } catch (cause) {
    if (!(cause instanceof CipherError)) throw cause;
    if (equalBytes(header.subarray(1), keyId)) throw damagedHead(cause);
    throw new StoreFault(
      "passphrase_wrong",
      "Cannot open the store: the key file belongs to another store",
      { cause },
    );
  }
}

export function encodeWitness(generation: number, mac: Mac): Uint8Array<ArrayBuffer> {
  const content = concat(encodeUint(witnessVersion, 1), encodeUint(generation, 8));
  return concat(content, mac(content));
}

export function decodeWitness(bytes: Uint8Array, mac: Mac): number {
  const content = bytes.subarray(0, 9);
  const generation = decodeUint(content.subarray(1));
  const intact = bytes.length === witnessBytes && bytes[0] === witnessVersion &&
    equalBytes(bytes.subarray(9), mac(content));
  if (!intact || generation === undefined) {
    const text = "Cannot trust the store: its witness file is damaged, or from another store";
    throw new StoreFault("store_corrupt", text, { kind: "witness" });
  }
  return generation;
}

export function damagedHead(cause?: unknown): StoreFault {
  return new StoreFault("store_corrupt", "Cannot open the store: its head record is damaged", {
    cause,
    kind: "head",
  });
}

/**
 * The data key and the file it lies in. Everything in a store is encrypted under keys derived from
 * one random data key, so a change of passphrase wraps that key anew and touches no record.
 *
 *   "STK" | draft | version 1 | protection 1 (owner) | key (32) | checksum
 *   "STK" | draft | version 1 | protection 2 (passphrase) | memory KiB u32 | iterations u32 | parallelism u8 | salt (16)
 *          | nonce (12) | AES-256-GCM of the key, with all before it as associated data (48) | checksum
 *
 * The draft (`proto/base/draft.ts`) is that of the whole store: the key file is the first thing
 * that is read. Checkouts without drafts had "Y" in its place. The checksum (8 bytes of SHA-256)
 * tells a damaged file from a wrong passphrase; it protects nothing.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { Aes256Gcm, CipherError, keyBytes, nonceBytes, tagBytes } from "../../wasm/mod.ts";
import { drafts, equalBytes, otherDraftText } from "../../proto/mod.ts";
import { concat, decodeUint, encodeUint, utf8 } from "./bytes.ts";
import { StoreFault } from "./errors.ts";
import type { RandomSource } from "./store_backend.ts";

export interface PassphraseCost {
  readonly memoryKiB: number;
  readonly iterations: number;
  readonly parallelism: number;
}

/**
 * RFC 9106, section 4, second recommendation, without its parallelism, which a single thread cannot
 * use.
 */
export const defaultCost: PassphraseCost = { memoryKiB: 64 * 1024, iterations: 3, parallelism: 1 };

/**
 * Read before they are used: a prepared file must not make a reader allocate gigabytes or compute
 * for hours.
 */
const maxCost: PassphraseCost = { memoryKiB: 1024 * 1024, iterations: 64, parallelism: 16 };
const maxPassphraseCharacters = 1024;

const magic = utf8("STK");
const mark = concat(magic, encodeUint(drafts.agentStore, 1));
const version = 1;
const protection = { owner: 1, passphrase: 2 } as const;
const headerBytes = 6;
const costBytes = 9;
const saltBytes = 16;
const wrappedBytes = keyBytes + tagBytes;
const checksumBytes = 8;
const ownerFileBytes = headerBytes + keyBytes + checksumBytes;
const passphraseFileBytes = headerBytes + costBytes + saltBytes + nonceBytes + wrappedBytes +
  checksumBytes;

/** A key file whose protection is that only its owner can read it. */
export function encodeOwnerKey(key: Uint8Array): Uint8Array<ArrayBuffer> {
  return withChecksum(concat(header(protection.owner), key));
}

/** A key file whose protection is a passphrase. */
export async function encodeWrappedKey(
  key: Uint8Array,
  { passphrase, cost, random }: { passphrase: string; cost: PassphraseCost; random: RandomSource },
): Promise<Uint8Array<ArrayBuffer>> {
  const salt = random(saltBytes);
  const nonce = random(nonceBytes);
  const before = concat(
    header(protection.passphrase),
    encodeUint(cost.memoryKiB, 4),
    encodeUint(cost.iterations, 4),
    encodeUint(cost.parallelism, 1),
    salt,
    nonce,
  );
  const gcm = await createCipher({ passphrase, salt, cost });
  try {
    return withChecksum(concat(before, gcm.seal({ nonce, plaintext: key, aad: before })));
  } finally {
    gcm.destroy();
  }
}

/**
 * The data key, or a typed error: damaged file, newer version, or a passphrase that is missing, not
 * needed, or wrong.
 */
export async function decodeKeyFile(
  file: Uint8Array,
  passphrase: string | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const content = checkedContent(file);
  const [fileVersion, kind] = [content[mark.length], content[mark.length + 1]];
  if (fileVersion !== version) {
    throw new StoreFault(
      "unsupported_version",
      `Cannot read the key file: its version is ${fileVersion}, update this library`,
    );
  }
  if (kind === protection.owner && file.length === ownerFileBytes) {
    if (passphrase === undefined) return content.slice(headerBytes);
    throw new StoreFault(
      "passphrase_wrong",
      "Cannot open the store with a passphrase: it has none; open it without, then set one",
    );
  }
  if (kind === protection.passphrase && file.length === passphraseFileBytes) {
    return await unwrap(content, passphrase);
  }
  throw damaged();
}

async function unwrap(
  content: Uint8Array,
  passphrase: string | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  if (passphrase === undefined) {
    throw new StoreFault(
      "passphrase_wrong",
      "Cannot open the store: it is protected by a passphrase; give it",
    );
  }
  const cost = {
    memoryKiB: decodeUint(content.subarray(headerBytes, headerBytes + 4)) ?? 0,
    iterations: decodeUint(content.subarray(headerBytes + 4, headerBytes + 8)) ?? 0,
    parallelism: content[headerBytes + 8] ?? 0,
  };
  checkCost(cost);
  const saltAt = headerBytes + costBytes;
  const wrappedAt = saltAt + saltBytes + nonceBytes;
  const salt = content.slice(saltAt, saltAt + saltBytes);
  const gcm = await createCipher({ passphrase, salt, cost });
  try {
    return gcm.open({
      nonce: content.subarray(saltAt + saltBytes, wrappedAt),
      ciphertext: content.subarray(wrappedAt),
      aad: content.subarray(0, wrappedAt),
    });
  } catch (cause) {
    if (!(cause instanceof CipherError)) throw cause;
    throw new StoreFault("passphrase_wrong", "Cannot open the store: the passphrase is wrong", {
      cause,
    });
  } finally {
    gcm.destroy();
  }
}

interface PassphraseInput {
  readonly passphrase: string;
  readonly salt: Uint8Array;
  readonly cost: PassphraseCost;
}

async function createCipher(stretching: PassphraseInput): Promise<Aes256Gcm> {
  const key = await stretch(stretching);
  const gcm = new Aes256Gcm(key);
  key.fill(0);
  return gcm;
}

async function stretch({ passphrase, salt, cost }: PassphraseInput): Promise<Uint8Array> {
  if (passphrase.length === 0 || passphrase.length > maxPassphraseCharacters) {
    throw new StoreFault(
      "invalid_request",
      `A passphrase has 1 to ${maxPassphraseCharacters} characters`,
    );
  }
  checkCost(cost);
  const { argon2id } = await import("./argon2.ts");
  return await argon2id({
    password: passphrase.normalize("NFC"),
    salt,
    memorySize: cost.memoryKiB,
    iterations: cost.iterations,
    parallelism: cost.parallelism,
    hashLength: keyBytes,
    outputType: "binary",
  });
}

function checkCost({ memoryKiB, iterations, parallelism }: PassphraseCost): void {
  const within = (value: number, min: number, max: number): boolean =>
    Number.isInteger(value) && value >= min && value <= max;
  if (
    !within(parallelism, 1, maxCost.parallelism) || !within(iterations, 1, maxCost.iterations) ||
    !within(memoryKiB, 8 * parallelism, maxCost.memoryKiB)
  ) {
    throw new StoreFault(
      "invalid_request",
      "Cannot stretch the passphrase: the cost is outside the limits",
    );
  }
}

function header(kind: number): Uint8Array<ArrayBuffer> {
  return concat(mark, encodeUint(version, 1), encodeUint(kind, 1));
}

function withChecksum(content: Uint8Array): Uint8Array<ArrayBuffer> {
  return concat(content, sha256(content).subarray(0, checksumBytes));
}

/**
 * Throws `unsupported_version` for the key file of another draft. Says nothing about a damaged one.
 */
export function checkDraft(file: Uint8Array): void {
  const content = intactContent(file);
  if (content === undefined || equalBytes(content.subarray(0, mark.length), mark)) return;
  const advice = "Choose another directory, in which the agent begins anew";
  throw new StoreFault("unsupported_version", otherDraftText("the store", advice));
}

function checkedContent(file: Uint8Array): Uint8Array {
  checkDraft(file);
  const content = intactContent(file);
  if (content === undefined) throw damaged();
  return content;
}

/** Undefined for a file that is damaged, or none of a key. */
function intactContent(file: Uint8Array): Uint8Array | undefined {
  if (file.length < headerBytes + checksumBytes || file.length > passphraseFileBytes) {
    return undefined;
  }
  const content = file.subarray(0, file.length - checksumBytes);
  const isIntact = equalBytes(
    sha256(content).subarray(0, checksumBytes),
    file.subarray(content.length),
  );
  return isIntact && equalBytes(content.subarray(0, magic.length), magic) ? content : undefined;
}

function damaged(): StoreFault {
  return new StoreFault(
    "store_corrupt",
    "Cannot read the key file: it is damaged; restore it from a backup",
    {
      kind: "key file",
    },
  );
}

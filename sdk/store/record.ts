/**
 * One record on disk.
 *
 *   layout u8 | schema version u16 | generation u64 | nonce (12) | AES-256-GCM of: id length u16 | id | value
 *
 * Associated data: label, all that stands before the nonce, and the name under which it lies; so a
 * record cannot be moved, and no version changed. The id is inside because names cannot be turned
 * back into ids. The generation is that of the batch which wrote the record; it is in the clear so
 * that the index can be rebuilt without decrypting values. The schema version is the format of the
 * store at that time (`migrations.ts`). Layout 1 is sealed under the data key, 2 under a key of the
 * record's own. A new layout gets a branch in `decodeRecord`; old ones stay readable.
 */
import { type Aes256Gcm, CipherError, nonceBytes, tagBytes } from "../../wasm/mod.ts";
import { concat, decodeUint, encodeUint, Scratch, utf8 } from "./bytes.ts";
import { StoreFault } from "./errors.ts";
import { maxIdBytes } from "./names.ts";

export const maxValueBytes = 16 * 1024 * 1024;

/** Versions of the layout: under the data key, or under a key of its own (`periods.ts`). */
const [shared, own] = [1, 2];
const headerBytes = 11;
const idLengthBytes = 2;
const overheadBytes = headerBytes + nonceBytes + idLengthBytes + tagBytes;
const label = utf8("static-store record");

export type RecordChange =
  | { readonly type: "put"; readonly kind: string; readonly id: string; readonly value: Uint8Array }
  | { readonly type: "delete"; readonly kind: string; readonly id: string };

export interface LoadedRecord {
  readonly id: string;
  readonly value: Uint8Array<ArrayBuffer>;
}

export interface RecordContent {
  /** The store's format when it was written. */
  readonly schema: number;
  readonly generation: number;
  readonly id: Uint8Array;
  readonly value: Uint8Array<ArrayBuffer>;
}

export interface SealedWith {
  readonly gcm: Aes256Gcm;
  /** A key of its own. */
  readonly isSecret: boolean;
  readonly nonce: Uint8Array;
  readonly name: Uint8Array;
  readonly scratch: RecordScratch;
}

/** Working memory of one store. */
export interface RecordScratch {
  readonly plaintext: Scratch;
  readonly aad: Scratch;
}

export function createRecordScratch(): RecordScratch {
  return { plaintext: new Scratch(64 * 1024), aad: new Scratch(128) };
}

export function encodeRecord(
  record: Omit<RecordContent, "value"> & { value: Uint8Array },
  by: SealedWith,
): Uint8Array {
  const { scratch, gcm, isSecret, nonce, name } = by;
  const plaintext = scratch.plaintext.join(
    encodeUint(record.id.length, idLengthBytes),
    record.id,
    record.value,
  );
  const prefix = new Uint8Array(headerBytes + nonceBytes);
  const view = new DataView(prefix.buffer);
  view.setUint8(0, isSecret ? own : shared);
  view.setUint16(1, record.schema);
  view.setUint32(3, Math.floor(record.generation / 2 ** 32));
  view.setUint32(7, record.generation % 2 ** 32);
  prefix.set(nonce, headerBytes);
  const header = prefix.subarray(0, headerBytes);
  try {
    return gcm.seal({ nonce, plaintext, aad: scratch.aad.join(label, header, name), prefix });
  } finally {
    plaintext.fill(0);
  }
}

/**
 * Throws `store_corrupt` naming the kind for anything that is not exactly what was written under
 * this name.
 */
export function decodeRecord(
  bytes: Uint8Array,
  { gcm, name, kind }: { gcm: Aes256Gcm; name: Uint8Array; kind: string },
): RecordContent {
  const damaged = (cause?: unknown): StoreFault =>
    new StoreFault(
      "store_corrupt",
      `Cannot read a record of kind "${kind}": it was damaged or exchanged`,
      {
        cause,
        kind,
      },
    );
  if (bytes.length < overheadBytes || bytes.length > overheadBytes + maxIdBytes + maxValueBytes) {
    throw damaged();
  }
  if (bytes[0] !== shared && bytes[0] !== own) {
    // A version byte is authenticated only by a reader that knows the version: it may be newer, or
    // damaged.
    const text = `Cannot read a record of kind "${kind}": format ${
      bytes[0]
    } is unknown; it is damaged or from a newer version`;
    throw new StoreFault("store_corrupt", text, { kind });
  }
  const header = bytes.subarray(0, headerBytes);
  const plaintext = openOrThrow(damaged, gcm, {
    nonce: bytes.subarray(headerBytes, headerBytes + nonceBytes),
    ciphertext: bytes.subarray(headerBytes + nonceBytes),
    aad: concat(label, header, name),
  });
  const idEnd = idLengthBytes + (decodeUint(plaintext.subarray(0, idLengthBytes)) ?? 0);
  if (plaintext.length < idEnd) throw damaged();
  return {
    schema: claimedSchema(bytes),
    generation: claimedGeneration(bytes),
    id: plaintext.subarray(idLengthBytes, idEnd),
    value: plaintext.subarray(idEnd),
  };
}

/**
 * Returns the generation that a record claims before it is decrypted; 0, which no batch has, when
 * the record is too short or the number too high.
 */
export function claimedGeneration(bytes: Uint8Array): number {
  return bytes.length < headerBytes ? 0 : decodeUint(bytes.subarray(3, headerBytes)) ?? 0;
}

/** Whether it says that it is sealed under a key of its own. */
export function claimsSecret(bytes: Uint8Array): boolean {
  return bytes[0] === own;
}

/** The same of its schema version. */
export function claimedSchema(bytes: Uint8Array): number {
  return bytes.length < headerBytes ? 0 : decodeUint(bytes.subarray(1, 3)) ?? 0;
}

function openOrThrow(
  damaged: (cause: unknown) => StoreFault,
  gcm: Aes256Gcm,
  input: { nonce: Uint8Array; ciphertext: Uint8Array; aad: Uint8Array },
): Uint8Array<ArrayBuffer> {
  try {
    return gcm.open(input);
  } catch (cause) {
    if (cause instanceof CipherError && cause.code === "authentication_failed") {
      throw damaged(cause);
    }
    throw cause;
  }
}

/**
 * One change a record: the generation must name one version of it, or a damaged database could
 * answer the wrong one.
 */
export function lastOfEach(changes: readonly RecordChange[]): RecordChange[] {
  const last = new Map<string, RecordChange>();
  for (const change of changes) last.set(`${change.kind} ${change.id}`, change);
  return [...last.values()];
}

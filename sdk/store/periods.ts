/**
 * The secret of the current period, and the keys of records that earlier periods have sealed. A
 * record of a secret kind is sealed under a key of its own, HMAC(secret; name, generation). When a
 * period ends, the keys of live records go into the key list, which is sealed under a new secret,
 * and the old secret is overwritten: without it nothing opens earlier versions.
 *
 *   place   version u8 | number u64 | nonce (12) | AES-256-GCM of the secret | zeros
 *   list    version u8 | part u16 | parts u16 | number u64 | generation u64 | nonce (12) | AES-256-GCM of rows (`carried_keys.ts`)
 *
 * Records that are newer than the list's generation are sealed in its period.
 */
import {
  Aes256Gcm,
  CipherError,
  hmacSha256,
  keyBytes,
  nonceBytes,
  tagBytes,
} from "../../wasm/mod.ts";
import { concat, decodeUint, encodeUint, utf8 } from "./bytes.ts";
import { CarriedKeys, keyIn, rowBytes, tagIn, tagOf } from "./carried_keys.ts";
import type { Blob, BlobChange, RandomSource } from "./store_backend.ts";
import { bytesOf, type RecordIndex, textOf } from "./record_index.ts";

export const placeBytes = 4096;
export const keyListPrefix: Uint8Array<ArrayBuffer> = utf8("k");

const version = 1;
const placeHeaderBytes = 9;
const sealedSecretBytes = nonceBytes + keyBytes + tagBytes;
const listHeaderBytes = 21;
/** Rows in one part: 3 MB. */
const partRows = 65_536;
const placeLabel = utf8("static-store period");
const listLabel = utf8("static-store key list");

/** An empty place. */
export const emptyPlace: Uint8Array<ArrayBuffer> = new Uint8Array(placeBytes);

/** The content of a place. */
export interface PeriodSecret {
  readonly number: number;
  readonly secret: Uint8Array;
}

export function placeOf({ number }: Pick<PeriodSecret, "number">): 0 | 1 {
  return number % 2 === 0 ? 0 : 1;
}

export function encodePlace(
  { number, secret }: PeriodSecret,
  { gcm, random }: { gcm: Aes256Gcm; random: RandomSource },
): Uint8Array<ArrayBuffer> {
  const header = concat(encodeUint(version, 1), encodeUint(number, 8));
  const nonce = random(nonceBytes);
  const place = emptyPlace.slice();
  place.set(
    gcm.seal({
      nonce,
      plaintext: secret,
      aad: concat(placeLabel, header),
      prefix: concat(header, nonce),
    }),
  );
  return place;
}

/** Undefined for a place that is empty, or half written. */
export function decodePlace(place: Uint8Array, gcm: Aes256Gcm): PeriodSecret | undefined {
  if (place.length < placeHeaderBytes + sealedSecretBytes || place[0] !== version) return undefined;
  const header = place.subarray(0, placeHeaderBytes);
  const sealed = place.subarray(placeHeaderBytes, placeHeaderBytes + sealedSecretBytes);
  const number = decodeUint(header.subarray(1));
  const secret = openOr(gcm, {
    nonce: sealed.subarray(0, nonceBytes),
    ciphertext: sealed.subarray(nonceBytes),
    aad: concat(placeLabel, header),
  });
  return secret === undefined || number === undefined ? undefined : { number, secret };
}

export class Period {
  readonly number: number;
  readonly #secret: Uint8Array;
  /** Keys of live records that earlier periods have sealed. */
  readonly #carried: CarriedKeys;
  /** Live records that this period has sealed: the texts of their names, and their generations. */
  readonly #sealed: Map<string, number> = new Map();

  constructor({ number, secret }: PeriodSecret, carried: CarriedKeys = new CarriedKeys()) {
    this.number = number;
    this.#secret = secret;
    this.#carried = carried;
  }

  /** Under the key of a version of a record. */
  seal<T>(name: Uint8Array, generation: number, act: (gcm: Aes256Gcm) => T): T {
    return withDerived(this.#derive(name, generation), act);
  }

  /** Under the key of what is live. */
  open<T>(name: Uint8Array, generation: number, act: (gcm: Aes256Gcm) => T): T {
    const carried = this.#carried.get(textOf(name));
    return carried === undefined ? this.seal(name, generation, act) : withCipher(carried, act);
  }

  /**
   * A record has a newer version, or is deleted. `sealed`: the generation, when this period has
   * sealed a newer one.
   */
  changed(name: Uint8Array, sealed: number | undefined): void {
    const text = textOf(name);
    this.#carried.delete(text);
    if (sealed === undefined) this.#sealed.delete(text);
    else this.#sealed.set(text, sealed);
  }

  /** The period after this one, of which nothing but the keys of live records is left. */
  followedBy(place: PeriodSecret): Period {
    for (const [text, generation] of this.#sealed) {
      const key = this.#derive(bytesOf(text), generation);
      this.#carried.add(text, key);
      key.fill(0);
    }
    this.#secret.fill(0);
    return new Period(place, this.#carried);
  }

  /** The key list, in place of one with so many parts. */
  encodeList(generation: number, partsBefore: number, random: RandomSource): BlobChange[] {
    const parts = this.#carried.parts(partRows);
    const written = parts.map((plaintext, part): BlobChange => {
      const header = concat(
        encodeUint(version, 1),
        encodeUint(part, 2),
        encodeUint(parts.length, 2),
        encodeUint(this.number, 8),
        encodeUint(generation, 8),
      );
      const nonce = random(nonceBytes);
      const value = this.#withListCipher((gcm) =>
        gcm.seal({
          nonce,
          plaintext,
          aad: concat(listLabel, header),
          prefix: concat(header, nonce),
        })
      );
      return { type: "put", key: partName(part), value };
    });
    const over = Array.from(
      { length: Math.max(0, partsBefore - parts.length) },
      (_, i): BlobChange => ({ type: "del", key: partName(parts.length + i) }),
    );
    return [...written, ...over];
  }

  /**
   * Reads the keys of the records in the index from the key list of this period. Returns whether it
   * is whole.
   */
  load(list: KeyList, index: RecordIndex): boolean {
    const texts = new Map<string, string>();
    for (const [text, generation] of index.secrets()) {
      this.#sealed.set(text, generation);
      if (generation < list.generation) texts.set(tagOf(text), text);
    }
    for (const [part, { value }] of list.parts.entries()) {
      const header = value.subarray(0, listHeaderBytes);
      const plaintext = this.#withListCipher((gcm) =>
        openOr(gcm, {
          nonce: value.subarray(listHeaderBytes, listHeaderBytes + nonceBytes),
          ciphertext: value.subarray(listHeaderBytes + nonceBytes),
          aad: concat(listLabel, header),
        })
      );
      if (plaintext === undefined || decodeUint(header.subarray(1, 3)) !== part) return false;
      if (decodeUint(header.subarray(3, 5)) !== list.parts.length) return false;
      for (let at = 0; at < plaintext.length; at += rowBytes) {
        const row = plaintext.subarray(at, at + rowBytes);
        const text = texts.get(textOf(tagIn(row)));
        if (text === undefined) continue;
        this.#sealed.delete(text);
        this.#carried.add(text, keyIn(row));
      }
      plaintext.fill(0);
    }
    return list.parts.length > 0;
  }

  /** Nothing is sealed or opened any more. */
  destroy(): void {
    this.#secret.fill(0);
    this.#carried.wipe();
  }

  #derive(name: Uint8Array, generation: number): Uint8Array {
    return hmacSha256(this.#secret, concat(name, encodeUint(generation, 8)));
  }

  #withListCipher<T>(act: (gcm: Aes256Gcm) => T): T {
    return withDerived(hmacSha256(this.#secret, listLabel), act);
  }
}

/** The key is wiped. */
function withDerived<T>(key: Uint8Array, act: (gcm: Aes256Gcm) => T): T {
  try {
    return withCipher(key, act);
  } finally {
    key.fill(0);
  }
}

function withCipher<T>(key: Uint8Array, act: (gcm: Aes256Gcm) => T): T {
  const gcm = new Aes256Gcm(key);
  try {
    return act(gcm);
  } finally {
    gcm.destroy();
  }
}

/** The parts as they lie on disk, and what they claim. */
export interface KeyList {
  readonly parts: readonly Blob[];
  /** The number of the period that it begins; 0 when there is none. */
  readonly number: number;
  readonly generation: number;
}

export async function readKeyList(blobs: AsyncIterable<Blob>): Promise<KeyList> {
  const parts: Blob[] = [];
  for await (const blob of blobs) parts.push(blob);
  const header = parts[0]?.value ?? new Uint8Array(0);
  const number = header.length < listHeaderBytes ? 0 : decodeUint(header.subarray(5, 13)) ?? 0;
  const generation = header.length < listHeaderBytes
    ? 0
    : decodeUint(header.subarray(13, listHeaderBytes)) ?? 0;
  return { parts, number, generation };
}

function partName(part: number): Uint8Array<ArrayBuffer> {
  return concat(keyListPrefix, encodeUint(part, 2));
}

function openOr(
  gcm: Aes256Gcm,
  input: { nonce: Uint8Array; ciphertext: Uint8Array; aad: Uint8Array },
): Uint8Array<ArrayBuffer> | undefined {
  try {
    return gcm.open(input);
  } catch (cause) {
    if (cause instanceof CipherError && cause.code === "authentication_failed") return undefined;
    throw cause;
  }
}

/**
 * A thief with a copy of an agent's directory, its key file included, who knows every format and
 * shares no code with the store. LevelDB only appends, so the thief looks at every version of a
 * record in its logs and tables, and tries every key that it finds: that of the data, both places
 * of the period file, and all keys of every version of the key list.
 */
import { createDecipheriv, createHmac, hkdfSync } from "node:crypto";
import { copyFile, mkdir, readdir, readFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";

export interface Version {
  readonly name: Uint8Array;
  readonly value: Uint8Array;
}

export interface StolenStore {
  readonly key: Uint8Array;
  readonly period: Uint8Array | undefined;
  /** In no order. */
  readonly versions: readonly Version[];
}

export interface OpenedVersion {
  readonly id: string;
  readonly value: Uint8Array<ArrayBuffer>;
  readonly generation: number;
  /** Sealed under a key of its own. */
  readonly isSecret: boolean;
  /** The record, in hexadecimal. */
  readonly name: string;
}

export interface Loot {
  readonly opened: readonly OpenedVersion[];
  /** Versions of records of secret kinds that no key opened. */
  readonly closed: number;
}

/** Everything that there is in a copy of a directory. */
export async function stealStore(directory: string): Promise<StolenStore> {
  const versions: Version[] = [];
  for (const name of await filesIn(directory)) {
    const bytes = Uint8Array.from(await readFile(join(directory, name)));
    if (name.endsWith(".log")) versions.push(...versionsInLog(bytes));
    if (/\.(ldb|sst)/.test(name)) versions.push(...versionsInTable(bytes));
  }
  const period = await readFile(join(directory, "period")).then(
    (bytes) => Uint8Array.from(bytes),
    () => undefined,
  );
  return { key: Uint8Array.from(await readFile(join(directory, "key"))), period, versions };
}

/**
 * As a thief does it: the files of a directory that is in use, those first that say less. Files
 * that vanish meanwhile are left out.
 */
export async function copyRunning(from: string, to: string): Promise<void> {
  const rest = (await filesIn(from)).filter((name) => name.includes("/") && !name.endsWith("LOCK"));
  for (const file of ["key", "witness", "period", ...rest]) {
    await mkdir(dirname(join(to, file)), { recursive: true });
    await copyFile(join(from, file), join(to, file)).catch((error: unknown) => {
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    });
  }
}

async function filesIn(directory: string): Promise<string[]> {
  const all = await readdir(directory, { recursive: true, withFileTypes: true });
  return all.filter((each) => each.isFile()).map(({ parentPath, name }) =>
    relative(directory, join(parentPath, name))
  );
}

export function openAll({ key, period, versions }: StolenStore): Loot {
  const dataKey = key.subarray(6, 38);
  const derive = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync("sha256", dataKey, new Uint8Array(0), `static-store 1 ${purpose}`, 32));
  const values = derive("values");
  const secrets = [0, 4096].flatMap((at) =>
    secretIn(period?.subarray(at, at + 4096), derive("periods")) ?? []
  );
  const carried = new Map<string, Uint8Array[]>();
  for (const { name, value } of versions) {
    if (name[0] !== 0x6b) continue;
    for (const secret of secrets) {
      const list = open(
        hmac(secret, text("static-store key list")),
        value,
        21,
        text("static-store key list"),
      );
      for (let at = 0; list !== undefined && at < list.length; at += 48) {
        const tag = hex(list.subarray(at, at + 16));
        carried.set(tag, [...carried.get(tag) ?? [], list.slice(at + 16, at + 48)]);
      }
    }
  }
  const opened: OpenedVersion[] = [];
  let closed = 0;
  for (const { name, value } of versions) {
    if (name[0] !== 0x72) continue;
    const isSecret = value[0] === 2;
    const generation = numberOf(value.subarray(3, 11));
    const keys = isSecret
      ? [
        ...secrets.map((secret) => hmac(secret, joined(name, value.subarray(3, 11)))),
        ...carried.get(hex(name.subarray(17, 33))) ?? [],
      ]
      : [values];
    const plaintext = keys.values().map((key) =>
      open(key, value, 11, text("static-store record"), name)
    )
      .find((found) => found !== undefined);
    if (plaintext === undefined) {
      if (isSecret) closed++;
      continue;
    }
    const end = 2 + numberOf(plaintext.subarray(0, 2));
    const id = new TextDecoder().decode(plaintext.subarray(2, end));
    opened.push({ id, value: plaintext.slice(end), generation, isSecret, name: hex(name) });
  }
  return { opened, closed };
}

export function secretIn(place: Uint8Array | undefined, key: Uint8Array): Uint8Array | undefined {
  return place && open(key, place.subarray(0, 9 + 12 + 48), 9, text("static-store period"));
}

/** Header, nonce, ciphertext and tag. */
function open(
  key: Uint8Array,
  bytes: Uint8Array,
  headerBytes: number,
  label: Uint8Array,
  name: Uint8Array = new Uint8Array(0),
): Uint8Array<ArrayBuffer> | undefined {
  if (bytes.length < headerBytes + 12 + 16) return undefined;
  try {
    const cipher = createDecipheriv(
      "aes-256-gcm",
      key,
      bytes.subarray(headerBytes, headerBytes + 12),
    );
    cipher.setAAD(joined(label, bytes.subarray(0, headerBytes), name));
    cipher.setAuthTag(bytes.subarray(-16));
    return joined(cipher.update(bytes.subarray(headerBytes + 12, -16)), cipher.final());
  } catch {
    return undefined;
  }
}

/**
 * A log: blocks of 32 KiB with parts of batches. Torn parts are left out. (LevelDB,
 * doc/log_format.md)
 */
export function* versionsInLog(log: Uint8Array): Iterable<Version> {
  const block = 32 * 1024;
  let batch: Uint8Array[] = [];
  for (let at = 0; at + 7 <= log.length;) {
    if (block - at % block < 7) {
      at += block - at % block;
      continue;
    }
    const view = new DataView(log.buffer, log.byteOffset + at);
    const [length, type] = [view.getUint16(4, true), view.getUint8(6)];
    if (type === 0) {
      at += block - at % block;
      continue;
    }
    if (type === 1 || type === 2) batch = [];
    batch.push(log.subarray(at + 7, at + 7 + length));
    if (type === 1 || type === 4) yield* versionsInBatch(joined(...batch));
    at += 7 + length;
  }
}

function* versionsInBatch(batch: Uint8Array): Iterable<Version> {
  const reader = new Reader(batch, 12);
  while (!reader.isDone()) {
    const [type, name] = [reader.bytes(1)[0], reader.bytes(reader.varint())];
    if (type === 1) yield { name, value: reader.bytes(reader.varint()) };
  }
}

/** A table: data blocks, found by its index, found by its footer. (LevelDB, doc/table_format.md) */
export function* versionsInTable(table: Uint8Array): Iterable<Version> {
  if (table.length < 48) return;
  const footer = new Reader(table, table.length - 48);
  footer.handle();
  for (const { value } of entriesOf(table, footer.handle())) {
    for (const entry of entriesOf(table, new Reader(value, 0).handle())) {
      const isValue = entry.name[entry.name.length - 8] === 1;
      if (isValue) yield { name: entry.name.subarray(0, -8), value: entry.value };
    }
  }
}

interface Handle {
  readonly offset: number;
  readonly size: number;
}

function* entriesOf(table: Uint8Array, { offset, size }: Handle): Iterable<Version> {
  const block = table.subarray(offset, offset + size);
  const restarts = new DataView(block.buffer, block.byteOffset).getUint32(block.length - 4, true);
  const reader = new Reader(block.subarray(0, block.length - 4 - 4 * restarts), 0);
  let name: Uint8Array = new Uint8Array(0);
  while (!reader.isDone()) {
    const [shared, rest, length] = [reader.varint(), reader.varint(), reader.varint()];
    name = joined(name.subarray(0, shared), reader.bytes(rest));
    yield { name, value: reader.bytes(length) };
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  isDone(): boolean {
    return this.#at >= this.#bytes.length;
  }

  bytes(length: number): Uint8Array {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  varint(): number {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      const byte = this.bytes(1)[0] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }

  handle(): Handle {
    return { offset: this.varint(), size: this.varint() };
  }
}

function hmac(key: Uint8Array, message: Uint8Array): Uint8Array {
  return createHmac("sha256", key).update(message).digest();
}

function numberOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function hex(bytes: Uint8Array): string {
  return bytes.toHex();
}

function joined(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

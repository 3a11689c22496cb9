/**
 * Looks at LevelDB's table files before LevelDB does. It does not verify their checksums, and a
 * table whose keys are out of order makes its compaction abort the whole process. So blocks whose
 * checksum is wrong are read here first: damage to values is left to AES-GCM, which names the
 * record; damage to keys or structure must not reach LevelDB.
 *
 * A table is blocks, each followed by one byte of type and a masked CRC-32C; an index block that
 * points to the data blocks; and a footer of 48 bytes that points to the index. (LevelDB,
 * doc/table_format.md)
 */
import { readdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";

const footerBytes = 48;
const trailerBytes = 5;
const magic = [0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb];
/** A key ends with its sequence number and type: 0 is a deletion, 1 a value. */
const internalBytes = 8;

class TableDamage extends Error {}

/** Tables that LevelDB must not see. */
export async function findDamagedTables(location: string): Promise<string[]> {
  const names = (await readdir(location)).filter((name) => /\.(ldb|sst)$/.test(name));
  const damaged: string[] = [];
  for (const name of names) {
    if (!isSafeTable(await readFile(join(location, name)))) damaged.push(name);
  }
  return damaged;
}

/** Keeps damaged tables, under a name that LevelDB ignores. */
export async function setAside(location: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rename(join(location, name), join(location, `${name}.damaged`));
}

export function isSafeTable(table: Uint8Array): boolean {
  try {
    const footer = table.subarray(Math.max(0, table.length - footerBytes));
    if (footer.length < footerBytes || magic.some((byte, i) => footer[40 + i] !== byte)) {
      return false;
    }
    const handles = new TableReader(footer);
    handles.handle();
    const index = handles.handle();
    if (!isIntact(table, index)) return false;
    for (const { value } of entries(blockAt(table, index))) {
      const block = new TableReader(value).handle();
      if (!isIntact(table, block)) checkBlock(blockAt(table, block));
    }
    return true;
  } catch (error) {
    if (error instanceof TableDamage) return false;
    throw error;
  }
}

interface Handle {
  readonly offset: number;
  readonly size: number;
}

function blockAt(table: Uint8Array, { offset, size }: Handle): Uint8Array {
  if (offset + size + trailerBytes > table.length) throw new TableDamage();
  return table.subarray(offset, offset + size);
}

function isIntact(table: Uint8Array, { offset, size }: Handle): boolean {
  const contents = blockAt(table, { offset, size });
  const stored = new DataView(table.buffer, table.byteOffset + offset + size + 1).getUint32(
    0,
    true,
  );
  const crc = crc32c(table.subarray(offset, offset + size + 1));
  // LevelDB masks stored checksums: a checksum of checksums would otherwise be weak.
  return contents.length === size && ((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0) === stored;
}

interface TableEntry {
  readonly at: number;
  /** How many bytes its key shares with the one before. */
  readonly shared: number;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

function* entries(block: Uint8Array): Iterable<TableEntry> {
  const reader = new TableReader(
    block.subarray(0, block.length - 4 - 4 * restartsOf(block).length),
  );
  let key: Uint8Array = new Uint8Array(0);
  while (!reader.isDone()) {
    const at = reader.position();
    const [shared, rest, length] = [reader.varint(), reader.varint(), reader.varint()];
    if (shared > key.length) throw new TableDamage();
    const ending = reader.bytes(rest);
    const next = new Uint8Array(shared + rest);
    next.set(key.subarray(0, shared));
    next.set(ending, shared);
    key = next;
    yield { at, shared, key, value: reader.bytes(length) };
  }
}

/**
 * At the end of a block: where entries start that share nothing, in order, and how many these are.
 */
function restartsOf(block: Uint8Array): number[] {
  if (block.length < 4) throw new TableDamage();
  const view = new DataView(block.buffer, block.byteOffset, block.length);
  const count = view.getUint32(block.length - 4, true);
  const start = block.length - 4 - 4 * count;
  if (count === 0 || start < 0) throw new TableDamage();
  return Array.from({ length: count }, (_, i) => view.getUint32(start + 4 * i, true));
}

/** LevelDB jumps to restart points without looking, and trusts keys to be whole and in order. */
function checkBlock(block: Uint8Array): void {
  const restarts = restartsOf(block);
  let [before, found]: [Uint8Array | undefined, number] = [undefined, 0];
  for (const { at, shared, key } of entries(block)) {
    const type = key[key.length - internalBytes];
    if (type === undefined || type > 1 || (before !== undefined && compareKeys(before, key) >= 0)) {
      throw new TableDamage();
    }
    if (restarts[found] === at && shared === 0) found++;
    before = key;
  }
  if (found !== restarts.length) throw new TableDamage();
}

/** Compares keys as LevelDB orders them: by name, then the newest first. */
function compareKeys(a: Uint8Array, b: Uint8Array): number {
  const [aName, bName] = [a.length - internalBytes, b.length - internalBytes];
  for (let i = 0; i < aName && i < bName; i++) {
    if (a[i] !== b[i]) return (a[i] ?? 0) - (b[i] ?? 0);
  }
  if (aName !== bName) return aName - bName;
  for (let i = internalBytes - 1; i >= 0; i--) {
    if (a[aName + i] !== b[bName + i]) return (b[bName + i] ?? 0) - (a[aName + i] ?? 0);
  }
  return 0;
}

class TableReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  position(): number {
    return this.#at;
  }

  isDone(): boolean {
    return this.#at === this.#bytes.length;
  }

  bytes(length: number): Uint8Array {
    if (this.#at + length > this.#bytes.length) throw new TableDamage();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  /** Seven bits a byte, the lowest first. */
  varint(): number {
    let value = 0;
    for (let scale = 1; scale <= 2 ** 42; scale *= 128) {
      const byte = this.bytes(1)[0] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
    throw new TableDamage();
  }

  handle(): Handle {
    return { offset: this.varint(), size: this.varint() };
  }
}

const crcTable: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0x82f63b78 & -(crc & 1));
  return crc;
});

function crc32c(bytes: Uint8Array): number {
  let crc = ~0;
  for (let i = 0; i < bytes.length; i++) {
    crc = (crcTable[(crc ^ (bytes[i] ?? 0)) & 0xff] ?? 0) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

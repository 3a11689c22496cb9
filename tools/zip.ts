/**
 * Zip archives that are the same bytes for the same content: no clock, no owner, names in order.
 */
import { crc32, deflateRawSync } from "node:zlib";

export interface ZipFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The first moment that the format knows: 1980-01-01 00:00. */
const [firstTime, firstDate] = [0, 0x21];
const [deflated, version, unixVersion] = [8, 20, 0x0314];
/** A plain file, rw-r--r--. */
const mode = 0o100644 * 0x10000;

export function createZip(files: readonly ZipFile[]): Uint8Array<ArrayBuffer> {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const { name, bytes } of files.toSorted((a, b) => a.name < b.name ? -1 : 1)) {
    const [title, packed] = [new TextEncoder().encode(name), deflateRawSync(bytes, { level: 9 })];
    const common = [
      [version, 2],
      [0, 2],
      [deflated, 2],
      [firstTime, 2],
      [firstDate, 2],
      [crc32(bytes), 4],
      [packed.length, 4],
      [bytes.length, 4],
      [title.length, 2],
      [0, 2],
    ] as const;
    const local = [numbers([[0x04034b50, 4], ...common]), title, packed];
    const place = [[0, 2], [0, 2], [0, 2], [mode, 4], [offset, 4]] as const;
    directory.push(numbers([[0x02014b50, 4], [unixVersion, 2], ...common, ...place]), title);
    parts.push(...local);
    offset += local.reduce((sum, { length }) => sum + length, 0);
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  const count = files.length;
  const end = numbers([[0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [size, 4], [
    offset,
    4,
  ], [0, 2]]);
  return joined([...parts, ...directory, end]);
}

/** Little endian, each with its width in bytes. */
function numbers(fields: readonly (readonly [value: number, width: 2 | 4])[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [, width]) => sum + width, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [value, width] of fields) {
    if (width === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += width;
  }
  return bytes;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

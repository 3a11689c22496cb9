/**
 * The records of the writer that gets killed, and how its reader tells from which batch a record
 * is.
 */

export const batchRecords: readonly string[] = ["a", "b", "c", "d", "e"];

/** A few kilobytes, so that the log is often cut inside a batch. */
const valueBytes = 3000;

export function encodeBatch(number: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(valueBytes).fill(number);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

export function decodeBatch(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset).getUint32(0);
}

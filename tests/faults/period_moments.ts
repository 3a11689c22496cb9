/** Moments at which a process dies that ends a period, and the records that it writes. */

export const moments = [
  "in the middle of the new secret",
  "behind the new secret",
  "before the list",
  "behind the list",
  "in the middle of the old secret",
  "behind the old secret",
] as const;
export type Moment = typeof moments[number];

/** A period ends when its time is over, and when a store is opened. */
export type WhichEnd = "of time" | "of opening";

export const secretKind = "mls-test";
export const batchesBefore = 20;

/** Four records, each with the number of the batch that wrote it. */
export function recordOf(number: number): string {
  return `record ${number % 4}`;
}

export function numbered(number: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(100);
  new DataView(bytes.buffer).setUint32(0, number);
  return bytes;
}

export function numberIn(value: Uint8Array): number {
  return new DataView(value.buffer, value.byteOffset).getUint32(0);
}

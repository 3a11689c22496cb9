/**
 * Random but valid bodies for any operation, made from its schema: boundary values are likelier
 * than chance would have it.
 */
import type { AnyStruct, CborMap, CborValue, FieldType } from "../../proto/mod.ts";
import type { Random } from "./random.ts";

/** Keeps samples of "up to 2 MiB" small; the limits themselves have tests of their own. */
const maxSampleBytes = 2000;
const maxSampleItems = 4;

/** The CBOR form of a body; `schema.parse` turns it into the typed one. */
export function sampleBody({ shape }: Pick<AnyStruct, "shape">, random: Random): CborMap {
  const map: CborMap = new Map();
  const fields = Object.values(shape).sort(([a], [b]) => a - b);
  for (const [key, field] of fields) {
    if (field.optional === true && random.chance(0.5)) continue;
    map.set(key, sampleValue(field.type, random));
  }
  return map;
}

function sampleValue(type: FieldType, random: Random): CborValue {
  switch (type.kind) {
    case "uint":
      return random.pick([
        type.min,
        type.max,
        Math.min(type.max, type.min + 1),
        sampleUint(type, random),
      ]);
    case "bool":
      return random.chance(0.5);
    case "bytes":
      return random.bytes(sampleLength(type, random));
    case "text":
      return sampleText(type, random);
    case "choice":
      return 1 + random.below(type.words.length);
    case "list":
      return Array.from(
        { length: Math.max(type.min, random.below(Math.min(type.max, maxSampleItems) + 1)) },
        () => sampleValue(type.item, random),
      );
    case "struct":
      return sampleBody(type, random);
  }
}

function sampleUint({ min, max }: { min: number; max: number }, random: Random): number {
  const spread = Math.min(max - min, 2 ** (1 + random.below(53)) - 1);
  return min + Math.floor(random.uint32() / 2 ** 32 * spread);
}

function sampleLength({ min, max }: { min: number; max: number }, random: Random): number {
  const top = Math.max(min, Math.min(max, maxSampleBytes));
  return random.pick([min, top, min + random.below(top - min + 1)]);
}

function sampleText(type: { min: number; max: number; format?: string }, random: Random): string {
  const letters = (alphabet: string, length: number): string =>
    Array.from({ length }, () => random.pick([...alphabet])).join("");
  const lower = "abcdefghijklmnopqrstuvwxyz0123456789-";
  switch (type.format) {
    case "agent id":
      return letters("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_", 22);
    case "channel name":
      return [1, 2, 3].map(() => letters(lower, random.pick([1, 63, 1 + random.below(63)]))).join(
        "/",
      );
    case undefined:
      return letters('aZ09 äß€日本\u0000"\\', sampleLength(type, random));
    default:
      throw new RangeError(`No sample for text of format ${type.format}`);
  }
}

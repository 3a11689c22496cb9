/**
 * The wire contract in its three forms, read into one: the tables of `proto/operations.ts`, the text of `proto/relay.proto`, and
 * the page `docs/protocol_fields.md`, which is generated here. `contract_test.ts` compares them field by field.
 */
import { type AnyStruct, calls, type FieldType, limits, notices, records } from "../proto/mod.ts";

/** Rows like `channel_id = 1: bytes, 16` by message. What follows the type's name is known to the tables and the page only. */
export type Contract = ReadonlyMap<string, readonly string[]>;

/** Field 15 is bytes without meaning and has no place in an envelope. */
const paddingNumber = 15;
const maxUint32 = 0xffff_ffff;

/** Every message of the tables by its name in `relay.proto`. */
export const structs: Readonly<Record<string, AnyStruct>> = Object.fromEntries([
  ...Object.entries(calls).flatMap(([name, { request, reply }]) => [
    [`${name}Request`, request],
    [`${name}Reply`, reply],
  ]),
  ...Object.entries(notices).map(([name, { body }]) => [name, body]),
  ...Object.entries(records),
]);

export function contractOfTables(tables: Readonly<Record<string, AnyStruct>> = structs): Contract {
  return new Map(
    Object.entries(tables).map(([name, { shape }]) => [
      name,
      Object.entries(shape)
        .sort(([, [a]], [, [b]]) => a - b)
        .map(([field, [key, { type, optional }]]) =>
          `${snakeCase(field)} = ${key}: ${optional === true ? "optional " : ""}${describeType(type)}`
        ),
    ]),
  );
}

/** Messages with their fields; words of an enum stand in place of its name. */
export function contractOfProto(text: string): Contract {
  const source = text.replace(/\/\/.*$/gm, "");
  const enums = new Map(
    Array.from(source.matchAll(/^enum (\w+) \{([^}]*)\}/gm), ([, name = "", body = ""]) => [name, wordsOf(name, body)]),
  );
  const messages = source.matchAll(/^message (\w+) \{([^}]*)\}/gm);
  return new Map(Array.from(messages, ([, name = "", body = ""]) => [
    name,
    Array.from(body.matchAll(/^\s*((?:optional|repeated) )?(\w+) (\w+) = (\d+);/gm))
      .filter(([, , , , number]) => Number(number) !== paddingNumber)
      .sort(([, , , , a], [, , , , b]) => Number(a) - Number(b))
      .map(([, rule = "", type = "", field, number]) => `${field} = ${number}: ${rule}${enums.get(type) ?? type}`),
  ]));
}

export function contractOfPage(page: string): Contract {
  const contract = new Map<string, string[]>();
  let rows: string[] = [];
  for (const line of page.split("\n")) {
    const [, title] = /^### `(\w+)`/.exec(line) ?? [];
    if (title !== undefined) contract.set(title, rows = []);
    const [, field, key, type] = /^\| (\w+)\s*\| (\d+)\s*\| (.+?)\s*\|$/.exec(line) ?? [];
    if (field !== undefined) rows.push(`${field} = ${key}: ${type}`);
  }
  return contract;
}

export function limitsOfPage(page: string): Record<string, number> {
  const rows = page.matchAll(/^\| (\w+)\s*\| ([\d,]+)(?: \([^)]+\))?\s*\|$/gm);
  return Object.fromEntries(Array.from(rows, ([, name, value = ""]) => [name, Number(value.replaceAll(",", ""))]));
}

/** A row as `relay.proto` can say it: without sizes. The words of an enum it has. */
export function withoutSizes(row: string): string {
  return row.includes(": enum,") ? row : row.replace(/,.*$/, "");
}

/** Returns the entries that only one of the two has. */
export function differences(one: Contract, other: Contract): string[] {
  const lines = (contract: Contract): Set<string> =>
    new Set([...contract].flatMap(([name, rows]) => [name, ...rows.map((row) => `${name}.${row}`)]));
  const [left, right] = [lines(one), lines(other)];
  return [
    ...Array.from(left.difference(right), (line) => `- ${line}`),
    ...Array.from(right.difference(left), (line) => `+ ${line}`),
  ];
}

export function renderContract(): string {
  const tables = Array.from(contractOfTables(), ([name, rows]) => `### \`${name}\`\n\n${tableOf(rows)}\n`);
  const bounds = Object.entries(limits).map(([name, value]) => `| ${name} | ${describeLimit(name, value)} |`);
  return [
    "# The relay protocol, field by field\n",
    "Every message of [the relay protocol](protocol.md), generated from `proto/operations.ts`. A key is the number of the",
    "field in [relay.proto](../proto/relay.proto) and its key in the CBOR body. Sizes are in bytes, of text in UTF-16",
    "units; a size that is not given is only bounded by the message. `ErrorDetail` is the body of an error, and",
    "`CreatorWelcome` the content of `CreateChannelReply.welcome`.\n",
    "## Messages\n",
    ...tables,
    "## Limits\n",
    "No relay accepts more than this. The reply to `Authenticate` says where a relay accepts less.\n",
    "| limit | value |\n| --- | --- |",
    ...bounds,
  ].join("\n");
}

function tableOf(rows: readonly string[]): string {
  if (rows.length === 0) return "No fields.";
  const cells = rows.map((row) => row.replace(/^(\w+) = (\d+): (.*)$/, "| $1 | $2 | $3 |"));
  return ["| field | key | type |", "| --- | --- | --- |", ...cells].join("\n");
}

function describeType(type: FieldType): string {
  switch (type.kind) {
    case "uint": {
      const name = type.max <= maxUint32 ? "uint32" : "uint64";
      const whole = type.min === 0 && [maxUint32, Number.MAX_SAFE_INTEGER].includes(type.max);
      return whole ? name : `${name}, ${range(type)}`;
    }
    case "bool":
      return "bool";
    case "bytes":
      return `bytes, ${range(type)}`;
    case "text":
      return `string, ${range(type)}${type.format === undefined ? "" : `, ${type.format}`}`;
    case "choice":
      return `enum, ${type.words.map((word, index) => `${word} = ${index + 1}`).join(", ")}`;
    case "list":
      return `repeated ${describeType(type.item)}, ${range(type)} items`;
    case "struct": {
      const [name] = Object.entries(records).find(([, { shape }]) => shape === type.shape) ?? [];
      if (name === undefined) throw new TypeError("A struct inside another has no name in the table of records");
      return name;
    }
  }
}

function range({ min, max }: { readonly min: number; readonly max: number }): string {
  return min === max ? grouped(max) : min === 0 ? `up to ${grouped(max)}` : `${grouped(min)} to ${grouped(max)}`;
}

/** `1,048,576 (1 MiB)`, `604,800,000 (7 days)`: exact, and as people say it. */
function describeLimit(name: string, value: number): string {
  const units: readonly (readonly [number, string])[] = name.endsWith("Ms")
    ? [[86_400_000, "days"], [3_600_000, "h"], [60_000, "min"], [1000, "s"]]
    : name.includes("Bytes")
    ? [[1024 * 1024, "MiB"], [1024, "KiB"]]
    : [];
  const [size, unit] = units.find(([size]) => value >= size && value % size === 0) ?? [];
  return size === undefined ? grouped(value) : `${grouped(value)} (${value / size} ${unit})`;
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `COVER_MODE_OFF = 1` of `CoverMode` is `off = 1`; 0 means that nothing was chosen. */
function wordsOf(name: string, body: string): string {
  const prefix = `${snakeCase(name.charAt(0).toLowerCase() + name.slice(1)).toUpperCase()}_`;
  const words = Array.from(body.matchAll(/(\w+) = (\d+);/g), ([, word = "", number = ""]) => ({ word, number }))
    .filter(({ number }) => number !== "0")
    .map(({ word, number }) => `${word.slice(word.startsWith(prefix) ? prefix.length : 0).toLowerCase()} = ${number}`);
  return `enum, ${words.join(", ")}`;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

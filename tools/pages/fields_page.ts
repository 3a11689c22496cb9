/**
 * `docs/protocol_fields.md`: every message of the tables in `proto/wire/operations.ts` with its
 * sizes, and every limit.
 */
import {
  type AnyStruct,
  calls,
  type FieldType,
  limits,
  notices,
  records,
} from "../../proto/mod.ts";

const maxUint32 = 0xffff_ffff;

/** By its name in `relay.proto`. */
const structs: readonly (readonly [name: string, struct: AnyStruct])[] = [
  ...Object.entries(calls).flatMap(([name, { request, reply }]) =>
    [[`${name}Request`, request], [`${name}Reply`, reply]] as const
  ),
  ...Object.entries(notices).map(([name, { body }]) => [name, body] as const),
  ...Object.entries(records),
];

export function renderFields(): string {
  const lines = structs.map(([name, struct]) => `- \`${name}\`: ${fieldsOf(struct)}`);
  const bounds = Object.entries(limits).map(([name, value]) =>
    `- \`${name}\`: ${describeLimit(name, value)}`
  );
  return [
    "# The relay protocol, field by field\n",
    "Every message of [the relay protocol](protocol.md), generated from `proto/wire/operations.ts`. `name:key type` is a",
    "field; the key is its number in [relay.proto](../proto/relay.proto) and its key in the CBOR body. `?` follows the name",
    "of an optional field. `bytes(1..64)` has 1 to 64 bytes, `text(1..64)` as many UTF-16 units, `uint32(1..64)` is a",
    "number in that range, `T[..64]` a list of at most 64. A size that is not given is only bounded by the message.",
    "`ErrorDetail` is the body of an error, `CreatorWelcome` the content of `CreateChannelReply.welcome`.\n",
    "## Messages\n",
    ...lines,
    "\n## Limits\n",
    "No relay accepts more than this. The reply to `Authenticate` says where a relay accepts less.\n",
    ...bounds,
    "",
  ].join("\n");
}

function fieldsOf({ shape }: AnyStruct): string {
  const fields = Object.entries(shape).sort(([, [a]], [, [b]]) => a - b)
    .map(([field, [key, { type, optional }]]) =>
      `\`${snakeCase(field)}${optional === true ? "?" : ""}:${key} ${describeType(type)}\``
    );
  return fields.length === 0 ? "none" : fields.join(", ");
}

function describeType(type: FieldType): string {
  switch (type.kind) {
    case "uint": {
      const name = type.max <= maxUint32 ? "uint32" : "uint64";
      const whole = type.min === 0 && [maxUint32, Number.MAX_SAFE_INTEGER].includes(type.max);
      return whole ? name : `${name}(${rangeOf(type)})`;
    }
    case "bool":
      return "bool";
    case "bytes":
      return `bytes(${rangeOf(type)})`;
    case "text":
      return `${type.format ?? "text"}(${rangeOf(type)})`;
    case "choice":
      return `enum(${type.words.map((word, index) => `${word}=${index + 1}`).join(" ")})`;
    case "list":
      return `${describeType(type.item)}[${rangeOf(type)}]`;
    case "struct": {
      const [name] = Object.entries(records).find(([, { shape }]) => shape === type.shape) ?? [];
      if (name === undefined) {
        throw new TypeError("A struct inside another has no name in the table of records");
      }
      return name;
    }
  }
}

/** `64`, `..1000`, `1..256`. */
function rangeOf({ min, max }: { readonly min: number; readonly max: number }): string {
  return min === max ? String(max) : `${min === 0 ? "" : min}..${max}`;
}

/** `64`, `up to 1,000`, `1 to 256`. */
export function sizeOf({ min, max }: { readonly min: number; readonly max: number }): string {
  return min === max
    ? grouped(max)
    : min === 0
    ? `up to ${grouped(max)}`
    : `${grouped(min)} to ${grouped(max)}`;
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

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

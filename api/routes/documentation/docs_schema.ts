/**
 * JSON Schemas of the OpenAPI document as rows of a table: one for each field, nested ones with
 * dots.
 */

/** The parts of a JSON Schema that our generator writes. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

export type Schemas = Readonly<Record<string, Schema>>;

export interface FieldRow {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  /** In words: `1 to 64 characters`, `one of a, b`. */
  readonly constraints: readonly string[];
  readonly description: string;
}

/** Deeper than any of ours, and an end for one that refers to itself. */
const maxDepth = 6;

/** Returns the fields of an object; a schema that is not an object has none. */
export function fieldsOf(schema: Schema, schemas: Schemas, prefix = "", depth = 0): FieldRow[] {
  const { properties = {}, required = [] } = resolve(schema, schemas);
  if (depth > maxDepth) return [];
  return Object.entries(properties).flatMap(([key, value]) => {
    const resolved = resolve(value, schemas);
    const name = `${prefix}${key}`;
    const items = resolved.items === undefined ? undefined : resolve(resolved.items, schemas);
    const field = {
      name,
      type: typeOf(resolved, schemas),
      required: required.includes(key),
      constraints: [
        ...constraintsOf(resolved),
        ...(items === undefined ? [] : constraintsOf(items)),
      ],
      description: resolved.description ?? items?.description ?? "",
    };
    const nested = items === undefined
      ? fieldsOf(resolved, schemas, `${name}.`, depth + 1)
      : fieldsOf(items, schemas, `${name}[].`, depth + 1);
    return [field, ...nested];
  });
}

function resolve(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.slice("#/components/schemas/".length);
  return name === undefined ? schema : schemas[name] ?? {};
}

export function typeOf(schema: Schema, schemas: Schemas): string {
  const { type, anyOf, oneOf, items } = resolve(schema, schemas);
  const several = anyOf ?? oneOf;
  if (several !== undefined) {
    return [...new Set(several.map((one) => typeOf(one, schemas)))].join(" or ");
  }
  if (Array.isArray(type)) return type.join(" or ");
  if (items !== undefined) return `array of ${typeOf(items, schemas)}`;
  return typeof type === "string" ? type : "any";
}

export function constraintsOf(schema: Schema): string[] {
  const { format, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems } = schema;
  return [
    ...(schema.enum === undefined ? [] : [`one of ${schema.enum.join(", ")}`]),
    ...(schema.const === undefined ? [] : [`always ${JSON.stringify(schema.const)}`]),
    ...(format === undefined ? [] : [format]),
    ...range(minLength, maxLength, "characters"),
    ...range(minimum, maximum, ""),
    ...range(minItems, maxItems, "items"),
    ...(pattern === undefined || format !== undefined ? [] : [`matches ${pattern}`]),
    ...(schema.default === undefined ? [] : [`default ${JSON.stringify(schema.default)}`]),
  ];
}

function range(min: number | undefined, max: number | undefined, unit: string): string[] {
  const limit = (value: number): string =>
    Math.abs(value) >= Number.MAX_SAFE_INTEGER ? "" : value.toLocaleString("en");
  const [from, to] = [min === undefined ? "" : limit(min), max === undefined ? "" : limit(max)];
  if (from === "" && to === "") return [];
  const text = to === "" ? `at least ${from}` : from === "" ? `at most ${to}` : `${from} to ${to}`;
  return [`${text} ${unit}`.trim()];
}

/**
 * The relay's gRPC service as protobuf describes it, made from the tables of `operations.ts` while
 * this module loads: there is no generated code. `relay.proto` is the same as text, for others.
 */
import {
  create,
  createFileRegistry,
  type DescMessage,
  type Message,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import type { GenMessage, GenService } from "@bufbuild/protobuf/codegenv2";
import {
  type DescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  FieldDescriptorProto_Type as Type,
  type FieldDescriptorProtoSchema,
  FileDescriptorProtoSchema,
} from "@bufbuild/protobuf/wkt";
import { limits } from "../base/limits.ts";
import { type CallName, calls, notices, records, wordSets } from "./operations.ts";
import {
  type AnyStruct,
  bytes,
  type FieldType,
  fixedBytes,
  type SchemaField,
  struct,
  uint,
} from "../base/schema.ts";

/** Field 15 of every request, reply and delivery: bytes without meaning. */
export const paddingField = 15;

const packageName = "static.relay.v1";
const cell = bytes(limits.maxCellBytes);
const link = fixedBytes(32);
/** Of one size whatever its value: an index must not tell how far a session is. */
const fixed64: SchemaField<number> = {
  ...uint(),
  type: { kind: "uint", min: 0, max: Number.MAX_SAFE_INTEGER, fixed: true },
};

/** Messages of the calls below. The first two have one size by construction and need no padding. */
const cells = {
  Cell: struct({
    /** Exactly one cell. */
    cell: [1, cell],
  }),
  CellUpRequest: struct({
    /** Random bytes that tie the calls of one session together; chosen by the client, secret. */
    link: [1, link],
    /**
     * 1, 2, 3 …: the order of the cells. A repeated index is ignored. Not 0, which protobuf would
     * leave out.
     */
    index: [2, fixed64],
    cell: [3, cell],
  }),
  CellUpReply: struct({}),
  CellDownRequest: struct({ link: [1, link] }),
};

interface StreamMethod {
  readonly input: string;
  readonly output: string;
  readonly clientStreaming?: true;
  readonly serverStreaming?: true;
}

function stream(
  input: string,
  output: string,
  streaming: Partial<StreamMethod> = {},
): StreamMethod {
  return { input, output, ...streaming };
}

/** The calls that carry cells or notices, and are no envelopes themselves. */
const streams = {
  /** Everything that the relay pushes, in log order per channel. */
  Deliver: stream("DeliverRequest", "Delivery", { serverStreaming: true }),
  /**
   * The same fixed-size cells as on QUIC: a whole session as one stream, authenticated and covered
   * inside the cells.
   */
  Session: stream("Cell", "Cell", { clientStreaming: true, serverStreaming: true }),
  /**
   * The same for browsers that can neither speak WebTransport nor stream a request: cells up one by
   * one.
   */
  CellUp: stream("CellUpRequest", "CellUpReply"),
  /** And down as a stream. */
  CellDown: stream("CellDownRequest", "Cell", { serverStreaming: true }),
};

const { CreatorWelcome: _, ...parts } = records;
const requests = Object.entries(calls).flatMap(([name, { request, reply }]) =>
  [[`${name}Request`, request], [`${name}Reply`, reply]] as const
);

/** Every message but `Delivery`, by its name in `relay.proto` and in the order there. */
export const messages: Readonly<Record<string, AnyStruct>> = {
  ...Object.fromEntries(requests),
  DeliverRequest: struct({}),
  ...Object.fromEntries(Object.entries(notices).map(([name, { body }]) => [name, body])),
  ...parts,
  ...cells,
};
const padded = new Set([
  ...[...requests.map(([name]) => name), "DeliverRequest", "ErrorDetail"],
  ...["CellUpReply", "CellDownRequest"],
]);

type FieldInit = MessageInitShape<typeof FieldDescriptorProtoSchema>;
type DescriptorInit = MessageInitShape<typeof DescriptorProtoSchema>;

const padding: FieldInit = {
  name: "padding",
  jsonName: "padding",
  number: paddingField,
  type: Type.BYTES,
};

function descriptorOf(name: string, { shape, gone }: AnyStruct): DescriptorInit {
  const fields = Object.entries(shape).map(([jsonName, [number, { type, optional }]]) => ({
    ...{ name: snakeCase(jsonName), jsonName, number },
    label: type.kind === "list" ? Label.REPEATED : Label.OPTIONAL,
    ...(optional === true && { proto3Optional: true }),
    ...typeOf(type),
  }));
  const field = [...fields, ...(padded.has(name) ? [padding] : [])].sort((a, b) =>
    (a.number ?? 0) - (b.number ?? 0)
  );
  return { name, field, reservedRange: gone.map((key) => ({ start: key, end: key + 1 })) };
}

function typeOf(type: FieldType): FieldInit {
  switch (type.kind) {
    case "uint":
      return {
        type: type.fixed === true ? Type.FIXED64 : type.max < 2 ** 32 ? Type.UINT32 : Type.UINT64,
      };
    case "bool":
      return { type: Type.BOOL };
    case "bytes":
      return { type: Type.BYTES };
    case "text":
      return { type: Type.STRING };
    case "choice":
      return { type: Type.ENUM, typeName: nameIn(wordSets, (words) => words === type.words) };
    case "list":
      return typeOf(type.item);
    case "struct":
      return { type: Type.MESSAGE, typeName: nameIn(records, ({ shape }) => shape === type.shape) };
  }
}

function nameIn<T>(table: Readonly<Record<string, T>>, isIt: (value: T) => boolean): string {
  const [name] = Object.entries(table).find(([, value]) => isIt(value)) ?? [];
  if (name === undefined) throw new TypeError("A part of a message has no name in the tables");
  return `.${packageName}.${name}`;
}

/** 0 means that nothing was chosen. */
function enumOf(
  name: string,
  words: readonly string[],
): { name: string; value: { name: string; number: number }[] } {
  const prefix = snakeCase(name).slice(1);
  return {
    name,
    value: ["unspecified", ...words].map((word, number) => ({
      name: `${prefix}_${word}`.toUpperCase(),
      number,
    })),
  };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const delivery: DescriptorInit = {
  name: "Delivery",
  field: [
    ...Object.entries(notices).sort(([, a], [, b]) => a.delivery - b.delivery).map((
      [name, { delivery: number }],
    ) => ({
      ...{ name: snakeCase(name).slice(1), jsonName: uncapitalize(name), number, oneofIndex: 0 },
      ...{ type: Type.MESSAGE, typeName: `.${packageName}.${name}` },
    })),
    padding,
  ],
  oneofDecl: [{ name: "notice" }],
};

const methods = {
  ...Object.fromEntries(
    Object.keys(calls).map((name) => [name, stream(`${name}Request`, `${name}Reply`)]),
  ),
  ...streams,
};

const registry = createFileRegistry(
  create(FileDescriptorProtoSchema, {
    name: "relay.proto",
    package: packageName,
    syntax: "proto3",
    messageType: [
      ...Object.entries(messages).map(([name, body]) => descriptorOf(name, body)),
      delivery,
    ],
    enumType: Object.entries(wordSets).map(([name, words]) => enumOf(name, words)),
    service: [{
      name: "Relay",
      method: Object.entries(methods).map(([name, { input, output, ...streaming }]) => ({
        ...{ name, inputType: `.${packageName}.${input}`, outputType: `.${packageName}.${output}` },
        ...streaming,
      })),
    }],
  }),
  () => undefined,
);

interface ServiceMethod<Kind extends string, Input extends Message, Output extends Message> {
  readonly methodKind: Kind;
  readonly input: GenMessage<Input>;
  readonly output: GenMessage<Output>;
}
type Cell = Message<"static.relay.v1.Cell"> & { cell: Uint8Array };
type CellUpRequest = Message<"static.relay.v1.CellUpRequest"> & {
  link: Uint8Array;
  index: bigint;
  cell: Uint8Array;
};
type CellDownRequest = Message<"static.relay.v1.CellDownRequest"> & { link: Uint8Array };
export type Delivery = Message<"static.relay.v1.Delivery"> & {
  notice: { case: string; value: Message } | { case: undefined; value?: undefined };
};
export type ErrorDetail = Message<"static.relay.v1.ErrorDetail"> & {
  code: string;
  message: string;
  epoch?: bigint;
  retryAfterMs?: bigint;
  padding: Uint8Array;
};

/**
 * Messages of calls have no types of their own: `convert.ts` alone reads their fields, and gives
 * what the tables say.
 */
type ServiceMethods =
  & Record<Uncapitalize<CallName>, ServiceMethod<"unary", Message, Message>>
  & {
    deliver: ServiceMethod<"server_streaming", Message, Delivery>;
    session: ServiceMethod<"bidi_streaming", Cell, Cell>;
    cellUp: ServiceMethod<"unary", CellUpRequest, Message>;
    cellDown: ServiceMethod<"server_streaming", CellDownRequest, Cell>;
  };

// cast: put into the registry above
export const Relay = registry.getService(`${packageName}.Relay`) as unknown as GenService<
  ServiceMethods
>;
// cast: put into the registry above
export const ErrorDetailSchema = registry.getMessage(
  `${packageName}.ErrorDetail`,
) as unknown as GenMessage<
  ErrorDetail
>;
export const DeliverySchema: GenMessage<Delivery> = Relay.method.deliver.output;

export function methodOf(
  name: CallName,
): { readonly input: DescMessage; readonly output: DescMessage } {
  return Relay.method[uncapitalize(name)];
}

export function uncapitalize<Name extends string>(name: Name): Uncapitalize<Name> {
  // cast: what the type says
  return name.charAt(0).toLowerCase() + name.slice(1) as Uncapitalize<Name>;
}

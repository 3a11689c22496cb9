/**
 * `proto/relay.proto`, for others: the descriptors as text, with the doc comments and the sizes of
 * the tables that they come from.
 */
import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";
import { messages, Relay } from "../../proto/wire/grpc.ts";
import type { FieldType } from "../../proto/mod.ts";
import { sizeOf } from "./fields_page.ts";

const head =
  `// The relay's gRPC service, generated from proto/wire/operations.ts by: deno task generate
// A field's number is its key in the CBOR body of the same message. docs/protocol.md explains
// sessions, states and errors.
//
// Field 15 of every request, reply and delivery is padding: clients and relay fill it with zeros so
// that typed calls have few sizes. It carries no meaning and is dropped by the conversion.
//
// Typed calls other than GetChallenge, Authenticate and Ping need the metadata entry
// \`static-session\` with the base64url of the session token that Authenticate answered. An error
// carries an ErrorDetail.

syntax = "proto3";

package static.relay.v1;
`;

export function renderRelayProto(readText: (path: string) => string): string {
  const comments = new Map(
    ["proto/wire/operations.ts", "proto/wire/descriptors.ts"].flatMap((
      path,
    ) => [...commentsOf(readText(path))]),
  );
  const comment = (name: string, indent = ""): string =>
    (comments.get(name) ?? []).map((line) => `${indent}// ${line}\n`).join("");
  const { file } = Relay;
  const blocks = [
    ...file.services.map((service) => {
      const rpcs = service.methods.map((method) =>
        `${comment(method.name, "  ")}  ${rpcOf(method)}\n`
      );
      return `service ${service.name} {\n${rpcs.join("")}}\n`;
    }),
    ...file.messages.map((message) => {
      const isCall = /(?:Request|Reply)$/.test(message.name);
      const fields = message.members.map((member) =>
        member.kind === "oneof"
          ? `  oneof ${member.name} {\n${
            member.fields.map((field) => `    ${fieldOf(field)}\n`).join("")
          }  }\n`
          : `${comment(`${message.name}.${member.jsonName}`, "  ")}  ${fieldOf(member)}\n`
      );
      const body = `${reservedOf(message)}${fields.join("")}`;
      return `${isCall ? "" : comment(message.name)}message ${message.name} {\n${body}}\n`;
    }),
    ...file.enums.map((one) => {
      const words = one.values.map(({ name, number }) => `  ${name} = ${number};\n`);
      return `${comment(one.name)}enum ${one.name} {\n${words.join("")}}\n`;
    }),
  ];
  return [head, ...blocks].join("\n");
}

function rpcOf({ name, input, output, proto }: DescMethod): string {
  const streamed = (isStream: boolean, { name }: DescMessage): string =>
    isStream ? `stream ${name}` : name;
  const [from, to] = [
    streamed(proto.clientStreaming, input),
    streamed(proto.serverStreaming, output),
  ];
  return `rpc ${name}(${from}) returns (${to});`;
}

function reservedOf({ proto }: DescMessage): string {
  const numbers = proto.reservedRange.map(({ start }) => start);
  return numbers.length === 0 ? "" : `  reserved ${numbers.join(", ")};\n`;
}

function fieldOf(
  { name, jsonName, number, parent, fieldKind, proto, message, enum: words, scalar }: DescField,
): string {
  const rule = fieldKind === "list" ? "repeated " : proto.proto3Optional ? "optional " : "";
  const type = message?.name ?? words?.name ?? ScalarType[scalar ?? 0]?.toLowerCase();
  const [, field] = messages[parent?.name ?? ""]?.shape[jsonName] ?? [];
  return `${rule}${type} ${name} = ${number};${field === undefined ? "" : sizeComment(field.type)}`;
}

/** As the page of fields has them, where the type alone does not say it. */
function sizeComment(type: FieldType): string {
  switch (type.kind) {
    case "bytes":
      return ` // ${sizeOf(type)} bytes`;
    case "text":
      return ` // ${type.format ?? `${sizeOf(type)} characters`}`;
    case "list":
      return ` // ${sizeOf(type)} items${sizeComment(type.item).replace(" //", ", each")}`;
    default:
      return "";
  }
}

/**
 * The doc comments of a module with tables, by what they stand above: a call or notice
 * (`SendMessage`), a field (`SendMessageRequest.epoch`), a record (`Member`), a set of words. The
 * modules are formatted, so lines are enough: a field that has a comment stands on a line of its
 * own.
 */
function commentsOf(module: string): Map<string, readonly string[]> {
  const recordNames = new Map(
    Array.from(
      module.matchAll(/\b([A-Z]\w+): (\w+)(?=[,\s])/g),
      ([, name, table]) => [table, name],
    ),
  );
  const comments = new Map<string, readonly string[]>();
  let [entry, structs, isCall] = ["", 0, false];
  let comment: string[] = [];
  let isOpen = false;
  for (const line of module.split("\n")) {
    const [, begin, text, end] = /^\s*(\/\*\*|\*(?!\/))?\s?(.*?)\s*(\*\/)?$/.exec(line) ?? [];
    if (begin === "/**") [comment, isOpen] = [[], true];
    if (isOpen) {
      if (text !== "" && text !== undefined) comment.push(text);
      isOpen = end === undefined;
      continue;
    }
    const [, field] = /^\s+(\w+): \[\d+,/.exec(line) ?? [];
    const [, member, call] = /^ {2}(\w+): (call|notice|stream|struct)\(/.exec(line) ?? [];
    const [, constant] = /^(?:export )?const (\w+)\b/.exec(line) ?? [];
    const name = member ?? (constant === undefined ? undefined : recordNames.get(constant));
    if (name !== undefined) [entry, structs, isCall] = [name, 0, call === "call"];
    // `none` and `struct` stand for the request first, and for the reply then.
    structs += line.match(/\bstruct\(|\bnone\b/g)?.length ?? 0;
    const owner = isCall ? `${entry}${structs === 1 ? "Request" : "Reply"}` : entry;
    if (field !== undefined && comment.length > 0) comments.set(`${owner}.${field}`, comment);
    if (name !== undefined && comment.length > 0) comments.set(name, comment);
    comment = [];
  }
  return comments;
}

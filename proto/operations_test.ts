import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { assert, assertEquals } from "@std/assert";
import { paddingField } from "./convert.ts";
import { DeliverySchema, ErrorDetailSchema, Relay } from "./gen/relay_pb.ts";
import { calls, errorBody, notices } from "./operations.ts";
import type { AnyStruct, FieldType } from "./schema.ts";

/** Operations that carry cells, or open the stream of notices, instead of being envelopes themselves. */
const streams = ["Deliver", "Session", "CellUp", "CellDown"];
/** Every operation that the interface names. */
const namedByInterface = [
  ...["CreateChannel", "UploadKeyPackage", "AddMember", "SendCommit", "SendWelcome", "SendMessage"],
  ...["DeliverMessage", "DeliverWelcome", "DeliverCommit"],
];

Deno.test("every rpc is a call and every call an rpc, except the streams of cells and notices", () => {
  const rpcs = Relay.methods.map(({ name }) => name).filter((name) => !streams.includes(name));
  assertEquals(rpcs.sort(), Object.keys(calls).sort());
});

Deno.test("every operation of the interface exists", () => {
  const names = [...Object.keys(calls), ...Object.keys(notices)];
  assertEquals(namedByInterface.filter((name) => !names.includes(name)), []);
});

Deno.test("every notice has its case in Delivery", () => {
  const messages = DeliverySchema.fields.flatMap(({ message }) => message === undefined ? [] : [message.name]);
  assertEquals(messages.sort(), Object.keys(notices).sort());
});

Deno.test("operation numbers are unique, and calls and notices do not overlap", () => {
  const numbers = [...Object.values(calls), ...Object.values(notices)].map(({ number }) => number);
  assertEquals(new Set(numbers).size, numbers.length);
});

for (const [name, { request, reply }] of Object.entries(calls)) {
  Deno.test(`${name}: schema and relay.proto agree field by field`, () => {
    const method = Relay.methods.find((candidate) => candidate.name === name);
    assert(method !== undefined);
    assertEquals(method.input.name, `${name}Request`);
    assertEquals(method.output.name, `${name}Reply`);
    assertAgree(request, method.input, true);
    assertAgree(reply, method.output, true);
  });
}

for (const [name, { body }] of Object.entries(notices)) {
  Deno.test(`${name}: schema and relay.proto agree field by field`, () => {
    const message = DeliverySchema.fields.find((field) => field.message?.name === name)?.message;
    assert(message !== undefined);
    assertAgree(body, message, false);
  });
}

Deno.test("errors: schema and relay.proto agree field by field", () => {
  assertAgree(errorBody, ErrorDetailSchema, true);
});

Deno.test("every request, reply and delivery has room for padding", () => {
  const typed = new Set([...Relay.methods.flatMap(({ input, output }) => [input, output]), ErrorDetailSchema]);
  // These have one size by construction: a cell, and with CellUp its link and a fixed-width index.
  const without = [...typed].filter(({ fields }) => !fields.some(({ number }) => number === paddingField));
  assertEquals(without.map(({ name }) => name), ["Cell", "CellUpRequest"]);
});

function assertAgree(schema: AnyStruct, message: DescMessage, padded: boolean): void {
  const fields = message.fields.filter(({ number }) => number !== paddingField);
  assertEquals(message.fields.length - fields.length, padded ? 1 : 0, `${message.name} and padding`);
  assertEquals(
    Object.entries(schema.shape).map(([name, [key]]) => `${name} = ${key}`).sort(),
    fields.map(({ localName, number }) => `${localName} = ${number}`).sort(),
    message.name,
  );
  for (const field of fields) {
    const [, schemaField] = schema.shape[field.localName] ?? [];
    assert(schemaField !== undefined);
    const where = `${message.name}.${field.name}`;
    assertTypes(schemaField.type, field, where);
    if (field.fieldKind === "list") continue;
    const explicit = field.presence === FeatureSet_FieldPresence.EXPLICIT;
    const optional = schemaField.optional === true;
    // A message is always optional in protobuf; whether it may be absent is what our schema says.
    assert(field.fieldKind === "message" ? explicit || !optional : explicit === optional, `${where}: optional differs`);
  }
}

function assertTypes(type: FieldType, field: DescField, where: string): void {
  if (type.kind === "list") {
    assertEquals(field.fieldKind, "list", where);
    if (type.item.kind === "list") throw new TypeError(`${where}: protobuf has no lists of lists`);
    assertScalar(type.item, field, where);
  } else {
    assert(field.fieldKind !== "list" && field.fieldKind !== "map", `${where} is not a list in our schema`);
    assertScalar(type, field, where);
  }
}

function assertScalar(type: FieldType, field: DescField, where: string): void {
  switch (type.kind) {
    case "uint":
      assertEquals(field.scalar, type.max <= 0xffff_ffff ? ScalarType.UINT32 : ScalarType.UINT64, where);
      break;
    case "bool":
      assertEquals(field.scalar, ScalarType.BOOL, where);
      break;
    case "bytes":
      assertEquals(field.scalar, ScalarType.BYTES, where);
      break;
    case "text":
      assertEquals(field.scalar, ScalarType.STRING, where);
      break;
    case "choice": {
      const words = field.enum?.values.filter(({ number }) => number > 0).sort((a, b) => a.number - b.number);
      assertEquals(words?.map(({ localName }) => localName.toLowerCase()), [...type.words], where);
      break;
    }
    case "struct": {
      assert(field.message !== undefined, where);
      const schema = { type, shape: type.shape, parse: () => undefined, encode: () => new Map() };
      assertAgree(schema, field.message, false);
      break;
    }
    case "list":
      throw new TypeError(`${where}: a list inside a list`);
  }
}

/**
 * Frozen names, numbers, types and bytes of the protobuf form: `relay.proto` is generated, so
 * nothing but this file notices that an edit of the tables gives a field another number. A new
 * field adds a word to its line; nothing is ever changed.
 */
import {
  type DescField,
  type DescMessage,
  type Message,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { assertEquals } from "@std/assert";
import {
  errorToDetail,
  noticeToDelivery,
  replyToMessage,
  requestToMessage,
} from "./wire/convert.ts";
import {
  DeliverySchema,
  ErrorDetailSchema,
  messages,
  methodOf,
  paddingField,
  Relay,
} from "./wire/descriptors.ts";
import {
  type ClientEnvelope,
  decodeClientEnvelope,
  decodeRelayEnvelope,
  type RelayEnvelope,
} from "./wire/envelope.ts";

interface Golden {
  /** By message. */
  readonly fields: Readonly<Record<string, string>>;
  readonly words: Readonly<Record<string, number>>;
  /** The envelopes of `golden.json` as messages, in its order. */
  readonly messages: Readonly<Record<string, string>>;
}

const read = (name: string): string =>
  Deno.readTextFileSync(new URL(`testdata/${name}.json`, import.meta.url));
const golden: Golden = JSON.parse(read("protobuf"));
const { envelopes }: { envelopes: { from: "client" | "relay"; hex: string }[] } = JSON.parse(
  read("golden"),
);
const { file } = Relay;

function describe(field: DescField): string {
  const rule = field.fieldKind === "list"
    ? "repeated "
    : field.proto.proto3Optional
    ? "optional "
    : "";
  const type = field.message?.name ?? field.enum?.name ??
    ScalarType[field.scalar ?? 0]?.toLowerCase();
  return `${rule}${type} ${field.name} = ${field.number}`;
}

for (const { name, fields } of file.messages) {
  Deno.test(`golden: the fields of ${name}`, () => {
    const sorted = fields.toSorted((a, b) => a.number - b.number);
    assertEquals(sorted.map(describe).join("; "), golden.fields[name]);
  });
}

Deno.test("golden: no message and no word is gone or new", () => {
  assertEquals(file.messages.map(({ name }) => name).sort(), Object.keys(golden.fields).sort());
  const words = file.enums.flatMap(({ values }) =>
    values.map(({ name, number }) => [name, number])
  );
  assertEquals(Object.fromEntries(words), golden.words);
});

Deno.test("a field takes no number of one that is gone, and none the number of the padding", () => {
  const taken = Object.entries(messages).flatMap(([name, { shape, gone }]) =>
    Object.values(shape).flatMap(([key]) =>
      [...gone, paddingField].includes(key) ? [`${name} ${key}`] : []
    )
  );
  assertEquals(taken, []);
});

/** In protobuf, with its descriptor. */
function messageOf(envelope: ClientEnvelope | RelayEnvelope): readonly [DescMessage, Message] {
  if (envelope.kind === "error") return [ErrorDetailSchema, errorToDetail(envelope.body)];
  if (!("id" in envelope)) return [DeliverySchema, noticeToDelivery(envelope)];
  const { operation, body } = envelope;
  const { input, output } = methodOf(operation);
  return envelope.kind === "reply"
    ? [output, replyToMessage(operation, body as never)]
    : [input, requestToMessage(operation, body as never)];
}

for (const [index, [name, hex]] of Object.entries(golden.messages).entries()) {
  Deno.test(`golden: protobuf of ${name}`, () => {
    const { from = "client", hex: cbor = "" } = envelopes[index] ?? {};
    const decode = from === "client" ? decodeClientEnvelope : decodeRelayEnvelope;
    const [descriptor, message] = messageOf(decode(hexToBytes(cbor)));
    assertEquals(bytesToHex(toBinary(descriptor, message)), hex);
  });
}

Deno.test("golden: every envelope has its message", () => {
  assertEquals(Object.keys(golden.messages).length, envelopes.length);
});

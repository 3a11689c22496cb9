import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { encodeCbor } from "../base/cbor.ts";
import {
  type Content,
  contentTag,
  decodeContent,
  encodeContent,
  encodeRawPayload,
  replyIdOf,
  replySecretBytes,
} from "./content.ts";
import { WireError } from "../base/errors.ts";
import { type AgentId, binaryIdFromBytes, type MessageId, parseAgentId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { encodeReceipts } from "./receipt.ts";

const golden: Readonly<Record<string, string>> = JSON.parse(
  Deno.readTextFileSync(new URL("../testdata/content.json", import.meta.url)),
);
const [alice, bob] = [parseAgentId("A".repeat(22)), parseAgentId("B".repeat(22))];
const request = binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(9));
const secret = new Uint8Array(replySecretBytes).fill(5);

const samples: Readonly<Record<string, Content>> = {
  text: {
    kind: "message",
    fields: {
      contentType: "text/plain",
      to: [bob],
      conversation: "c-1",
      headers: new Map([["trace", "7"]]),
    },
    body: utf8ToBytes("hello, bob"),
  },
  request: {
    kind: "request",
    fields: {
      contentType: "application/json",
      to: [alice, bob],
      deadlineMs: 1_790_000_060_000,
      again: true,
      replySecret: secret,
    },
    body: utf8ToBytes('{"city":"Oslo"}'),
  },
  reply: {
    kind: "reply",
    fields: {
      contentType: "application/json",
      to: [alice],
      replyTo: request,
      expiryMs: 1_790_000_060_000,
    },
    body: utf8ToBytes("-3"),
  },
  error: {
    kind: "error",
    fields: {
      to: [alice],
      replyTo: request,
      expiryMs: 1_790_000_060_000,
      error: "no_such_city",
      retryAfterMs: 500,
    },
    body: utf8ToBytes("There is no such city"),
  },
  asking: {
    kind: "message",
    fields: { to: [bob], receipt: "done" },
    body: utf8ToBytes("tell me"),
  },
  receipt: {
    kind: "receipt",
    fields: { to: [alice] },
    body: encodeReceipts([{ id: request, state: "delivered" }]),
  },
};

/** Fields and body as somebody may send them who does not keep to the format. */
function sent({ version = 1, kind = 0, fields = new Map(), body = encodeCbor(new Uint8Array(1)) }: {
  version?: number;
  kind?: number;
  fields?: Map<number, never> | Map<number, unknown>;
  body?: Uint8Array;
}): Uint8Array {
  const encoded = encodeCbor(fields as never); // cast: what is wrong with it is what is tested
  return concatBytes(contentTag, Uint8Array.of(0x84, version, kind), encoded, body);
}

Deno.test("golden: a text for one, a request, a reply, an error, a payload that begins with the tag, a derived id", () => {
  const made = Object.fromEntries(
    Object.entries(samples).map(([name, each]) => [name, bytesToHex(encodeContent(each))]),
  );
  assertEquals({
    ...made,
    tagged: bytesToHex(encodeRawPayload(concatBytes(contentTag, Uint8Array.of(1, 2)))),
    replyId: replyIdOf({ id: request, from: alice, secret }, bob),
  }, golden);
});

Deno.test("decodeContent() returns what encodeContent() was given", () => {
  for (const [name, content] of Object.entries(samples)) {
    assertEquals(decodeContent(hexToBytes(golden[name] ?? "")), { form: "enveloped", content });
  }
  for (const length of [0, 23, 24, 255, 256, 65_535, 65_536, limits.payloadBytes]) {
    const body = new Uint8Array(length).fill(7);
    const decoded = decodeContent(encodeContent({ kind: "message", fields: {}, body }));
    assert(decoded.form === "enveloped" && decoded.content.body.length === length);
  }
});

Deno.test("a payload stays its bytes, whatever it begins with", () => {
  const tagged = concatBytes(contentTag, Uint8Array.of(0x84, 1, 0, 0xa0, 0x40));
  for (const payload of [Uint8Array.of(0), contentTag.subarray(0, 4), utf8ToBytes("da STAT")]) {
    assertEquals(encodeRawPayload(payload), payload);
    assertEquals(decodeContent(payload), { form: "raw", body: payload });
  }
  for (const payload of [contentTag, tagged]) {
    const decoded = decodeContent(encodeRawPayload(payload));
    assert(decoded.form === "enveloped");
    assertEquals(decoded.content, { kind: "message", fields: {}, body: payload });
  }
});

Deno.test("what a later version sends is told apart: versions, kinds, fields that must be understood", () => {
  assertEquals(decodeContent(sent({ version: 2, fields: new Map([[99, true]]) })), {
    form: "later",
    what: "version 2",
  });
  assertEquals(decodeContent(sent({ kind: 4 })), { form: "later", what: "kind 4" });
  assertEquals(decodeContent(sent({ fields: new Map([[12, true]]) })), {
    form: "later",
    what: "field 12",
  });
  const ignored = decodeContent(sent({ fields: new Map([[35, "later"]]) }));
  assert(ignored.form === "enveloped" && Object.keys(ignored.content.fields).length === 0);
});

function isRefused(bytes: Uint8Array): boolean {
  try {
    decodeContent(bytes);
    return false;
  } catch (error) {
    if (error instanceof WireError) return true;
    throw error;
  }
}

Deno.test("decodeContent() refuses what no version may send", () => {
  const many = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `${i}`.padStart(22, "A")).sort();
  const broken: Readonly<Record<string, Uint8Array>> = {
    "the tag alone": contentTag,
    "trailing bytes": concatBytes(encodeContent(samples.text as Content), Uint8Array.of(0)),
    "a body that is text": sent({ body: encodeCbor("text") }),
    "a kind that is no integer": concatBytes(contentTag, Uint8Array.of(0x84, 1, 0x60, 0xa0, 0x40)),
    "fields that are no map": concatBytes(contentTag, Uint8Array.of(0x84, 1, 0, 0x80, 0x40)),
    "a request without addressees": sent({
      kind: 1,
      fields: new Map<number, unknown>([[5, 1], [10, secret]]),
    }),
    "a request without a deadline": sent({
      kind: 1,
      fields: new Map<number, unknown>([[2, [alice]], [10, secret]]),
    }),
    "a request without a secret": sent({
      kind: 1,
      fields: new Map<number, unknown>([[2, [alice]], [5, 1]]),
    }),
    "a short secret": sent({
      kind: 1,
      fields: new Map<number, unknown>([[2, [alice]], [5, 1], [10, secret.subarray(1)]]),
    }),
    "a reply to two": sent({
      kind: 2,
      fields: new Map<number, unknown>([[2, [alice, bob]], [3, new Uint8Array(16)], [6, 1]]),
    }),
    "a message with an error": sent({ fields: new Map([[8, "code"]]) }),
    "addressees out of order": sent({ fields: new Map([[2, [bob, alice]]]) }),
    "an addressee twice": sent({ fields: new Map([[2, [bob, bob]]]) }),
    "no addressee": sent({ fields: new Map([[2, []]]) }),
    "too many addressees": sent({ fields: new Map([[2, many(65)]]) }),
    "a media type with a line break": sent({ fields: new Map([[1, "text/plain\r\nx: y"]]) }),
    "too many headers": sent({
      fields: new Map([[7, new Map(many(33).map((name) => [name, ""]))]]),
    }),
    "a header that is too long": sent({
      fields: new Map([[7, new Map([["a", "x".repeat(1025)]])]]),
    }),
    "fields that are too long": sent({
      fields: new Map([[40, "x".repeat(limits.contentFieldsBytes)]]),
    }),
    "a receipt without an asker": sent({ kind: 5 }),
    "a receipt for two": sent({ kind: 5, fields: new Map([[2, [alice, bob]]]) }),
    "a receipt that asks for one": sent({
      kind: 5,
      fields: new Map<number, unknown>([[2, [alice]], [33, 1]]),
    }),
    "a reply that asks for a receipt": sent({
      kind: 2,
      fields: new Map<number, unknown>([
        ...[[2, [alice]], [3, new Uint8Array(16)], [6, 1], [33, 1]] as const,
      ]),
    }),
    "a receipt asked for as 0": sent({ fields: new Map([[33, 0]]) }),
    "a receipt asked for as 2": sent({ fields: new Map([[33, 2]]) }),
    "a receipt asked for as 4": sent({ fields: new Map([[33, 4]]) }),
    "a receipt asked for in words": sent({ fields: new Map([[33, "done"]]) }),
    "a negative field": sent({ fields: new Map([[-1, true]]) }),
  };
  for (const [why, bytes] of Object.entries(broken)) assert(isRefused(bytes), why);
  const whole = encodeContent(samples.request as Content);
  for (let length = contentTag.length; length < whole.length; length++) {
    assert(isRefused(whole.subarray(0, length)), `cut off at ${length}`);
  }
});

Deno.test("encodeContent() refuses what decodeContent() would", () => {
  const body = new Uint8Array(1);
  // cast: of the right form
  const to = Array.from({ length: 65 }, (_, i) => `${i}`.padStart(22, "A") as AgentId);
  assertThrows(() => encodeContent({ kind: "message", fields: { to }, body }), WireError);
  assertThrows(
    () => encodeContent({ kind: "message", fields: { contentType: "a\n" }, body }),
    WireError,
  );
  assertThrows(() => encodeContent({ kind: "request", fields: {}, body }), WireError);
  const headers = new Map(Array.from({ length: 9 }, (_, i) => [`${i}`, "x".repeat(1024)]));
  assertThrows(() => encodeContent({ kind: "message", fields: { headers }, body }), WireError);
});

Deno.test("a reply's id is another for each secret, request, requester and handler", () => {
  const other = binaryIdFromBytes<MessageId>(new Uint8Array(16));
  const ids = [
    replyIdOf({ id: request, from: alice, secret }, bob),
    replyIdOf({ id: request, from: alice, secret: new Uint8Array(replySecretBytes) }, bob),
    replyIdOf({ id: request, from: bob, secret }, alice),
    replyIdOf({ id: other, from: alice, secret }, bob),
  ];
  assertEquals(new Set(ids).size, ids.length);
});

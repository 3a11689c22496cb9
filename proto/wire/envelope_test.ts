import { assert, assertEquals, assertInstanceOf, assertThrows } from "@std/assert";
import { createRandom, sampleBody, seedFromEnvironment } from "../../tests/support/mod.ts";
import { type CborMap, type CborValue, decodeCbor, encodeCbor } from "../base/cbor.ts";
import {
  decodeClientEnvelope,
  decodeRelayEnvelope,
  encodeClientNotice,
  encodeError,
  encodeNotice,
  encodeReply,
  encodeRequest,
  maxMessageEnvelopeOverhead,
} from "./envelope.ts";
import { type ChannelId, type MessageId, parseAgentId, parseBinaryId } from "../base/ids.ts";
import { WireError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import { type CallName, calls, errorBody, type NoticeName, notices } from "./operations.ts";

const samples = 50;
const random = createRandom(seedFromEnvironment());
const seed = `seed ${random.seed}`;

const callNames = Object.keys(calls) as CallName[];
const noticeNames = Object.keys(notices) as NoticeName[];

for (const name of callNames) {
  Deno.test(`${name} survives encoding and decoding, request and reply`, () => {
    for (let i = 0; i < samples; i++) {
      const request = calls[name].request.parse(sampleBody(calls[name].request, random), name);
      const id = 1 + random.below(2 ** 31);
      assertEquals(
        decodeClientEnvelope(encodeRequest(id, name, request as never)),
        { kind: "request", id, operation: name, body: request } as never,
        seed,
      );
      const reply = calls[name].reply.parse(sampleBody(calls[name].reply, random), name);
      assertEquals(
        decodeRelayEnvelope(encodeReply(id, name, reply as never)),
        { kind: "reply", id, operation: name, body: reply } as never,
        seed,
      );
    }
  });
}

for (const name of noticeNames) {
  Deno.test(`${name} survives encoding and decoding`, () => {
    for (let i = 0; i < samples; i++) {
      const body = notices[name].body.parse(sampleBody(notices[name].body, random), name);
      const bytes = encodeNotice(name, body as never);
      assertEquals(
        decodeRelayEnvelope(bytes),
        { kind: "notice", operation: name, body } as never,
        seed,
      );
    }
  });
}

Deno.test("an error survives encoding and decoding", () => {
  for (let i = 0; i < samples; i++) {
    const body = errorBody.parse(sampleBody(errorBody, random), "error");
    assertEquals(decodeRelayEnvelope(encodeError(7, body)), { kind: "error", id: 7, body }, seed);
  }
});

Deno.test("a quiet call may be a notice, any other call may not", () => {
  assertEquals(decodeClientEnvelope(encodeClientNotice(3, "EndSession", {})).kind, "notice");
  assertThrows(() => encodeClientNotice(3, "Ping", {}), TypeError);
  const ping = envelope({ 2: 4, 4: calls.Ping.number });
  assertEquals(assertThrows(() => decodeClientEnvelope(ping), WireError).requestId, 9);
});

/** A valid Ping request, with some keys changed. */
function envelope(changes: Readonly<Record<number, CborValue | undefined>> = {}): Uint8Array {
  const map: CborMap = new Map<CborValue, CborValue>([[1, 1], [2, 1], [3, 9], [
    4,
    calls.Ping.number,
  ], [5, new Map()]]);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) map.delete(Number(key));
    else map.set(Number(key), value);
  }
  return encodeCbor(map);
}

const faults: readonly [
  why: string,
  bytes: Uint8Array,
  code: string,
  requestId: number | undefined,
][] = [
  ["another version", envelope({ 1: 2 }), "unsupported_version", undefined],
  ["no version", envelope({ 1: undefined }), "unsupported_version", undefined],
  ["a kind that does not exist", envelope({ 2: 9 }), "protocol_error", undefined],
  ["a reply from a client", envelope({ 2: 2 }), "protocol_error", undefined],
  ["request id 0", envelope({ 3: 0 }), "protocol_error", undefined],
  ["a negative request id", envelope({ 3: -1 }), "protocol_error", undefined],
  ["an unknown operation", envelope({ 4: 999 }), "unknown_operation", 9],
  [
    "a notice's number as a request",
    envelope({ 4: notices.DeliverMessage.number }),
    "unknown_operation",
    9,
  ],
  ["no body", envelope({ 5: undefined }), "protocol_error", undefined],
  ["a body that is a list", envelope({ 5: [] }), "protocol_error", undefined],
  ["an additional key", envelope({ 6: 1 }), "protocol_error", undefined],
  ["a text key", encodeCbor(new Map([["version", 1]])), "unsupported_version", undefined],
  ["a list instead of an envelope", encodeCbor([1, 1, 9, 4]), "protocol_error", undefined],
  ["an unknown field in the body", envelope({ 5: new Map([[1, 1]]) }), "invalid_request", 9],
];

for (const [why, bytes, code, requestId] of faults) {
  Deno.test(`decodeClientEnvelope() answers ${code} for ${why}`, () => {
    const error = assertThrows(() => decodeClientEnvelope(bytes), WireError);
    assertEquals([error.code, error.requestId], [code, requestId]);
  });
}

Deno.test("decodeClientEnvelope() names the field, the size and the limit of what is too large", () => {
  const body = new Map<CborValue, CborValue>([
    [1, new Uint8Array(16)],
    [2, 0],
    [3, new Uint8Array(16)],
    [4, new Uint8Array(limits.ciphertextBytes + 1)],
  ]);
  const error = assertThrows(
    () => decodeClientEnvelope(envelope({ 4: calls.SendMessage.number, 5: body })),
    WireError,
    `SendMessage.ciphertext has ${
      limits.ciphertextBytes + 1
    } bytes, at most ${limits.ciphertextBytes}`,
  );
  assertEquals([error.code, error.requestId], ["payload_too_large", 9]);
});

const badFields: readonly [why: string, key: number, value: CborValue | undefined][] = [
  ["a missing field", 2, undefined],
  ["text for a number", 2, "1"],
  ["a negative epoch", 2, -1],
  ["an id of 15 bytes", 1, new Uint8Array(15)],
  ["an id of 17 bytes", 3, new Uint8Array(17)],
  ["an empty ciphertext", 4, new Uint8Array(0)],
  ["text for bytes", 4, "abc"],
  ["null", 4, null],
];

for (const [why, key, value] of badFields) {
  Deno.test(`decodeClientEnvelope() answers invalid_request for ${why}`, () => {
    const body = new Map<CborValue, CborValue>([
      [1, new Uint8Array(16)],
      [2, 0],
      [3, new Uint8Array(16)],
      [4, Uint8Array.of(1)],
    ]);
    const bytesOf = (): Uint8Array => envelope({ 4: calls.SendMessage.number, 5: body });
    assertEquals(decodeClientEnvelope(bytesOf()).operation, "SendMessage");
    if (value === undefined) body.delete(key);
    else body.set(key, value);
    const error = assertThrows(() => decodeClientEnvelope(bytesOf()), WireError);
    assertEquals([error.code, error.requestId], ["invalid_request", 9]);
  });
}

Deno.test("every truncation of an envelope is refused with the typed error", () => {
  for (const name of callNames) {
    const body = calls[name].request.parse(sampleBody(calls[name].request, random), name);
    const bytes = encodeRequest(1, name, body as never);
    for (let length = 0; length < bytes.length; length += 1 + Math.floor(bytes.length / 300)) {
      assertThrows(() => decodeClientEnvelope(bytes.subarray(0, length)), WireError);
    }
    assertThrows(() => decodeClientEnvelope(Uint8Array.of(...bytes, 0)), WireError, "trailing");
  }
});

Deno.test("what the relay may not send is refused by the client", () => {
  const request = encodeRequest(1, "Ping", {});
  assertThrows(() => decodeRelayEnvelope(request), WireError, "replies, errors and notices only");
  const unknownReply = envelope({ 2: 2, 4: 999 });
  assertEquals(
    assertThrows(() => decodeRelayEnvelope(unknownReply), WireError).code,
    "unknown_operation",
  );
  const noticeWithId = envelope({
    2: 4,
    4: notices.KeyPackagesLow.number,
    5: new Map([[1, 1], [2, 2]]),
  });
  assertThrows(() => decodeRelayEnvelope(noticeWithId), WireError);
  const errorWithOperation = envelope({
    2: 3,
    5: new Map<CborValue, CborValue>([[1, "internal"], [2, ""]]),
  });
  assertThrows(() => decodeRelayEnvelope(errorWithOperation), WireError);
});

Deno.test("limits apply before decoding", () => {
  const large = encodeRequest(1, "RenewToken", { token: "x".repeat(4000) });
  assertEquals(
    assertThrows(() => decodeClientEnvelope(large, 100), WireError).code,
    "payload_too_large",
  );
  assert(decodeClientEnvelope(large, limits.handshakeEnvelopeBytes).operation === "RenewToken");
});

Deno.test("a decoded byte string does not keep the received buffer alive or change with it", () => {
  const bytes = encodeRequest(1, "UploadKeyPackage", {
    keyPackages: [Uint8Array.of(1, 2, 3)],
    replace: false,
  });
  const decoded = decodeClientEnvelope(bytes);
  bytes.fill(0);
  assert(decoded.operation === "UploadKeyPackage");
  assertEquals(decoded.body.keyPackages, [Uint8Array.of(1, 2, 3)]);
  assertInstanceOf(decodeCbor(encodeCbor(Uint8Array.of(5))), Uint8Array);
});

Deno.test("maxMessageEnvelopeOverhead is exactly what the largest numbers cost", () => {
  const most = Number.MAX_SAFE_INTEGER;
  const ids = {
    channelId: parseBinaryId<ChannelId>("A".repeat(22)),
    messageId: parseBinaryId<MessageId>("A".repeat(22)),
  };
  const ciphertext = new Uint8Array(limits.ciphertextBytes);
  const sent = encodeRequest(most, "SendMessage", {
    ...ids,
    epoch: most,
    ciphertext,
    run: 2 ** 32 - 1,
  });
  const sender = parseAgentId("A".repeat(22));
  const delivered = encodeNotice("DeliverMessage", {
    ...ids,
    sequence: most,
    epoch: most,
    sender,
    timeMs: most,
    ciphertext,
  });
  assertEquals(
    Math.max(sent.length, delivered.length) - ciphertext.length,
    maxMessageEnvelopeOverhead,
  );
});

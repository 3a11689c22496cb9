import { assertEquals, assertThrows } from "@std/assert";
import { type MessageId, parseAgentId, parseBinaryId } from "../../proto/mod.ts";
import { InvalidArgumentError, StaticError } from "../base/errors.ts";
import { Envelope } from "./envelope.ts";
import type { StandardSchema } from "./standard_schema.ts";

function envelopeOf(text: string): Envelope {
  const named = {
    id: parseBinaryId<MessageId>("A".repeat(22)),
    sender: parseAgentId("a".repeat(22)),
  };
  const opened = {
    ...named,
    identity: new Uint8Array(1),
    keyUnchanged: true,
    knownAs: undefined,
    timeMs: 1,
    sequence: 1,
  };
  const body = new TextEncoder().encode(text);
  const incoming = { ...opened, kind: "message", lane: "message", fields: {}, body } as const;
  return new Envelope(incoming, { ack: () => Promise.resolve() });
}

function schemaOf(validate: (value: unknown) => unknown): StandardSchema<number> {
  // cast: what a library may do
  return { "~standard": { version: 1, vendor: "test", validate } } as StandardSchema<number>;
}

Deno.test("json() returns what its schema returns, and throws what it finds wrong", () => {
  assertEquals(envelopeOf("3").json(schemaOf((value) => ({ value }))), 3);
  const wrong = schemaOf(() => ({ issues: [{ message: "too small", path: ["degrees"] }] }));
  const error = assertThrows(() => envelopeOf("3").json(wrong), StaticError, "degrees: too small");
  assertEquals(error.code, "content_invalid");
  assertEquals(assertThrows(() => envelopeOf("{").json(), StaticError).code, "content_invalid");
});

Deno.test("a schema that answers later is refused, also with a promise of another library", () => {
  const thenable = { then: () => {} };
  for (const result of [Promise.resolve({ value: 1 }), thenable]) {
    assertThrows(() => envelopeOf("3").json(schemaOf(() => result)), InvalidArgumentError);
  }
});

import { assertEquals, assertThrows } from "@std/assert";
import { binaryIdFromBytes, type MessageId } from "../../proto/mod.ts";
import { EngineError } from "../engine/errors.ts";
import { decodeLeaveBody, decodeMessageBody, encodeLeaveBody, encodeMessageBody } from "./entry_body.ts";

const messageId = binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(3));

Deno.test("a body is read as it was written, by the version that goes with it", () => {
  const ciphertext = Uint8Array.of(1, 2, 3);
  assertEquals(decodeMessageBody({ kind: "message", ...encodeMessageBody(messageId, ciphertext) }), {
    messageId,
    ciphertext,
  });
  assertEquals(decodeLeaveBody({ kind: "leave", ...encodeLeaveBody(ciphertext) }), ciphertext);
});

Deno.test("a body of a version that this relay does not know is refused with what to do", () => {
  for (const bodyVersion of [0, 99]) {
    const body = { ...encodeMessageBody(messageId, Uint8Array.of(1)), bodyVersion };
    const error = assertThrows(() => decodeMessageBody({ kind: "message", ...body }), EngineError, "or a newer one");
    assertEquals(error.code, "unsupported_version");
  }
});

import { assertEquals, assertThrows } from "@std/assert";
import { binaryIdFromBytes, type ChannelId, type MessageId } from "../../../proto/mod.ts";
import { signedCommit } from "../../../tests/support/mod.ts";
import { EngineError } from "../../engine/errors.ts";
import {
  decodeCommitBody,
  decodeLeaveBody,
  decodeMessageBody,
  encodeCommitBody,
  encodeLeaveBody,
  encodeMessageBody,
} from "./entry_body.ts";

const messageId = binaryIdFromBytes<MessageId>(new Uint8Array(16).fill(3));

Deno.test("a body is read as it was written, by the version that goes with it", () => {
  const ciphertext = Uint8Array.of(1, 2, 3);
  assertEquals(
    decodeMessageBody({ kind: "message", ...encodeMessageBody(messageId, ciphertext) }),
    {
      messageId,
      ciphertext,
    },
  );
  const leave = { leafHash: new Uint8Array(32).fill(1), signature: new Uint8Array(64).fill(2) };
  assertEquals(decodeLeaveBody({ kind: "leave", ...encodeLeaveBody(leave) }), leave);
  const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));
  const commit = signedCommit(
    { channelId, epoch: 1, commit: ciphertext },
    () => new Uint8Array(64).fill(5),
  );
  assertEquals(decodeCommitBody({ kind: "commit", ...encodeCommitBody(commit) }), commit);
});

Deno.test("a body of a version that this relay does not know is refused with what to do", () => {
  for (const bodyVersion of [0, 99]) {
    const body = { ...encodeMessageBody(messageId, Uint8Array.of(1)), bodyVersion };
    const error = assertThrows(
      () => decodeMessageBody({ kind: "message", ...body }),
      EngineError,
      "or a newer one",
    );
    assertEquals(error.code, "unsupported_version");
  }
});

import { hexToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { binaryIdFromBytes, type ChannelId, type MessageId } from "../../proto/mod.ts";
import { signedCommit } from "../../tests/support/mod.ts";
import { EngineError } from "../engine/errors.ts";
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
  assertEquals(decodeMessageBody({ kind: "message", ...encodeMessageBody(messageId, ciphertext) }), {
    messageId,
    ciphertext,
  });
  const leave = { leafHash: new Uint8Array(32).fill(1), signature: new Uint8Array(64).fill(2) };
  assertEquals(decodeLeaveBody({ kind: "leave", ...encodeLeaveBody(leave) }), leave);
  const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16));
  const commit = signedCommit({ channelId, epoch: 1, commit: ciphertext }, () => new Uint8Array(64).fill(5));
  assertEquals(decodeCommitBody({ kind: "commit", ...encodeCommitBody(commit) }), commit);
});

/** As version 1 of the protocol sent it: with a leave proof, and without a signature. */
const firstCommit = "a501010201030104181f05aa0150a0a1a2a3a4a5a6a7a8a9aaabacadaeaf02050344c0c1c2c3048176414745" +
  "4e545f3232322d6162636465666768696a6b6c0580068007a10181764147454e545f3234302d6162636465666768696a6b6c0880" +
  "0981a301764147454e545f3234372d6162636465666768696a6b6c0205035840" + "90".repeat(64) + "0a80";

Deno.test("a commit from before senders signed is read without a signature, and its proofs are left out", () => {
  const body = hexToBytes(firstCommit);
  const commit = decodeCommitBody({ kind: "commit", bodyVersion: 1, body });
  assertEquals([commit.epoch, commit.commit, commit.generation], [5, hexToBytes("c0c1c2c3"), 0]);
  assertEquals([[...commit.added], commit.owners?.agentIds.length], [["AGENT_222-abcdefghijkl"], 1]);
  assert(!("signature" in commit) && !("leaves" in commit));
});

Deno.test("a body of a version that this relay does not know is refused with what to do", () => {
  for (const bodyVersion of [0, 99]) {
    const body = { ...encodeMessageBody(messageId, Uint8Array.of(1)), bodyVersion };
    const error = assertThrows(() => decodeMessageBody({ kind: "message", ...body }), EngineError, "or a newer one");
    assertEquals(error.code, "unsupported_version");
  }
});

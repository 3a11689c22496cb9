import { bytesToHex } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  carryConfirmation,
  type Confirmation,
  decodeConfirmation,
  encodeConfirmation,
} from "./confirmation.ts";
import { decodeContent, encodeContent } from "./content.ts";
import { WireError } from "../base/errors.ts";
import { parseChannelId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { epochStatement } from "../statements/statements.ts";

const confirmation: Confirmation = {
  channelId: parseChannelId("BwcHBwcHBwcHBwcHBwcHBw"),
  epoch: 2 ** 32 + 258,
  state: new Uint8Array(32).fill(8),
  signature: new Uint8Array(64).fill(9),
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

Deno.test("golden: a confirmation that is carried, and the statement that it is about", () => {
  const encoded = encodeConfirmation(confirmation);
  assertEquals(
    bytesToHex(encoded),
    "07".repeat(16) + "0000000100000102" + "08".repeat(32) + "09".repeat(64),
  );
  assertEquals(decodeConfirmation(encoded), confirmation);
  const label = bytesToHex(bytes("static relay v2 epoch"));
  assertEquals(
    bytesToHex(epochStatement(confirmation)),
    `0015${label}0010${"07".repeat(16)}00080000000000000001` + `00080000000100000102` +
      `0020${"08".repeat(32)}`,
  );
});

Deno.test("decodeConfirmation() refuses another length, and an epoch that is no number", () => {
  const encoded = encodeConfirmation(confirmation);
  for (const wrong of [encoded.subarray(1), Uint8Array.of(...encoded, 0), new Uint8Array(0)]) {
    assertThrows(() => decodeConfirmation(wrong), WireError);
  }
  const late = encoded.slice();
  late[16] = 0xff;
  assertThrows(() => decodeConfirmation(late), WireError);
});

Deno.test("a confirmation is carried beside any content and changes nothing of it", () => {
  const contents = [
    bytes("raw"),
    encodeContent({ kind: "message", fields: { contentType: "text/plain" }, body: bytes("text") }),
  ];
  for (const plaintext of contents) {
    const carried = carryConfirmation(plaintext, confirmation);
    assert(carried !== undefined);
    const [before, after] = [decodeContent(plaintext), decodeContent(carried)];
    assert(after.form === "enveloped" && before.form !== "later");
    assertEquals(after.content.body, before.form === "raw" ? before.body : before.content.body);
    const { confirmation: found, ...fields } = after.content.fields;
    assertEquals(fields, before.form === "raw" ? {} : before.content.fields);
    assertEquals(decodeConfirmation(found ?? new Uint8Array(0)), confirmation);
    assertEquals(carryConfirmation(carried, confirmation), undefined, "one is enough");
  }
});

Deno.test("a content whose confirmation has another length is refused", () => {
  const confirmation = new Uint8Array(limits.contentConfirmationBytes - 1);
  assertThrows(
    () => encodeContent({ kind: "message", fields: { confirmation }, body: bytes("text") }),
    WireError,
  );
});

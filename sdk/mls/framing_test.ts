import { assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../../proto/mod.ts";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { aeadOf, type SuiteId } from "./crypto/suite.ts";
import {
  decodeSealedMessage,
  encodeSealedMessage,
  openContent,
  openSenderData,
  readApplicationContent,
  sealMessage,
} from "./framing.ts";
import { concatBytes } from "@noble/hashes/utils.js";
import { vector } from "./codec.ts";

const random = createRandom(seedFromEnvironment());

Deno.test("a byte of padding that is not zero is refused wherever it stands, whatever the alignment", () => {
  const content = concatBytes(vector(random.bytes(5)), vector(random.bytes(64)));
  for (let offset = 0; offset < 5; offset++) {
    for (let paddingBytes = 0; paddingBytes < 20; paddingBytes++) {
      const plaintext = new Uint8Array(offset + content.length + paddingBytes).subarray(offset);
      plaintext.set(content);
      assertEquals(readApplicationContent(plaintext).data.length, 5);
      for (let at = content.length; at < plaintext.length; at++) {
        plaintext[at] = 0x80;
        assertThrows(() => readApplicationContent(plaintext), WireError, "padding is not zero");
        plaintext[at] = 0;
      }
    }
  }
});

for (const suiteId of [1, 3] as const satisfies readonly SuiteId[]) {
  Deno.test(`suite ${suiteId}: what is sealed in place is one PrivateMessage, and opens to its parts and padding`, () => {
    const aead = aeadOf[suiteId];
    for (
      const [contentBytes, dataBytes] of [[0, 0], [10, 41], [70, 63], [5000, 64], [20_000, 700], [
        70_000,
        20_000,
      ]]
    ) {
      const content = random.bytes(contentBytes ?? 0);
      const framed = {
        groupId: random.bytes(16),
        epoch: 2n ** 40n + 5n,
        sender: 3,
        authenticatedData: random.bytes(dataBytes ?? 0),
        contentType: "application",
        content,
      } as const;
      const senderDataSecret = random.bytes(32);
      const messageKey = {
        generation: 9,
        key: random.bytes(aead.keyBytes),
        nonce: random.bytes(aead.nonceBytes),
      };
      const [reuseGuard, auth] = [random.bytes(4), random.bytes(66)];
      const bytes = sealMessage(framed, {
        aead,
        senderDataSecret,
        messageKey,
        reuseGuard,
        auth,
        paddingBytes: 33,
      });
      const message = decodeSealedMessage(bytes);
      assertEquals(encodeSealedMessage(message), bytes);
      const { groupId, epoch, authenticatedData } = message;
      assertEquals({ groupId, epoch, authenticatedData }, {
        groupId: framed.groupId,
        epoch: framed.epoch,
        authenticatedData: framed.authenticatedData,
      });
      assertEquals(openSenderData(message, aead, senderDataSecret), {
        sender: 3,
        generation: 9,
        reuseGuard,
      });
      const plaintext = openContent(message, aead, messageKey, reuseGuard);
      assertEquals(plaintext, concatBytes(content, auth, new Uint8Array(33)));
      assertThrows(
        () => openContent({ ...message, epoch: 1n }, aead, messageKey, reuseGuard),
        Error,
      );
    }
  });
}

/** Error texts as gRPC clients are to read them. */
import { assertEquals, assertMatch } from "@std/assert";
import { encodeGrpcMessage } from "./connect_adapter.ts";

const texts = [
  "",
  'Cannot send: channel "acme/ops/deploy" is at epoch 5, message was for 4',
  "100 % of it, and 100 %25 of it",
  "für Größe, 図, 😀",
  " spaces at both ends  ",
  "two\nlines\tand \u0000",
];

Deno.test("an error text is escaped once, and no further than gRPC asks for", () => {
  for (const text of texts) {
    // As Connect gives it.
    const sent = encodeGrpcMessage(encodeURIComponent(text));
    assertEquals(decodeURIComponent(sent), text);
    assertMatch(sent, /^([!-~]([ -~]*[!-~])?)?$/);
    const plain = text.replaceAll("%", "").trim();
    if (/^[ -~]*$/.test(plain)) assertEquals(sent.replaceAll(/%25|^(%20)+|(%20)+$/g, ""), plain);
  }
});

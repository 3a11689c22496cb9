/** Error texts as gRPC clients are to read them, and deadlines as they may set them. */
import { assertEquals, assertMatch } from "@std/assert";
import { boundTimeout, encodeGrpcMessage } from "./connect_adapter.ts";

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

Deno.test("a deadline beyond the range of timers becomes the longest one, and every other header stays", () => {
  for (const given of ["99999999H", "597H", "35792M", "2147484S"]) {
    assertEquals(boundTimeout("grpc-timeout", given), "596H");
  }
  for (
    const given of [
      "596H",
      "35791M",
      "99999999m",
      "99999999u",
      "1n",
      "",
      "1",
      "1h",
      "-1S",
      "999999999S",
    ]
  ) {
    assertEquals(boundTimeout("grpc-timeout", given), given);
  }
  assertEquals(boundTimeout("connect-timeout-ms", "9999999999"), "2147483647");
  for (const given of ["2147483647", "0", "soon"]) {
    assertEquals(boundTimeout("connect-timeout-ms", given), given);
  }
  assertEquals(boundTimeout("x-timeout", "99999999H"), "99999999H");
});

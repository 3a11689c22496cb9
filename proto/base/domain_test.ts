import { assertEquals } from "@std/assert";
import { isDomain } from "./domain.ts";

Deno.test("a domain has two labels or more, in lower case", () => {
  const longLabel = "a".repeat(63);
  const longest = `${`${longLabel}.`.repeat(3)}${"a".repeat(61)}`;
  const good = ["a.b", "acme.com", "api.acme-1.com", "xn--bcher-kva.example", `${longLabel}.de`];
  for (const text of [...good, longest, "3com.com", "1.2.a4"]) {
    assertEquals([text, isDomain(text)], [text, true]);
  }
  assertEquals([longest.length, isDomain(`a${longest}`)], [253, false]);
});

Deno.test("an address, capitals, dots at an end and other signs are no domain", () => {
  const labels = ["com", "", ".", "a.", ".a", "acme..com", "acme.com.", `${"a".repeat(64)}.com`];
  const signs = [
    "Acme.com",
    "acme_x.com",
    "-a.com",
    "a-.com",
    "a.-b",
    "a b.com",
    "bücher.de",
    "а.com",
  ];
  const addresses = [
    "1.2.3.4",
    "127.1",
    "acme.1",
    "a.0x7f",
    "a.0x",
    "[::1]",
    "::1",
    "acme.com:443",
  ];
  const more = [
    "acme.com\n",
    "acme.com\0",
    "\ufeffacme.com",
    "acme.com/",
    "user@acme.com",
    "https://acme.com",
  ];
  for (const text of [...labels, ...signs, ...addresses, ...more]) {
    assertEquals([text, isDomain(text)], [text, false]);
  }
});

Deno.test("a browser takes each domain for itself, and no address passes", () => {
  for (const text of ["acme.com", "a.b", "1.2.3.a4", "3com.com", "acme-1.io"]) {
    assertEquals(new URL(`https://${text}/`).hostname, text);
  }
});

import { assert, assertEquals } from "@std/assert";
import { isAddress, parseAddressRange } from "./addresses.ts";

Deno.test("parseAddressRange() accepts addresses and ranges of both families and nothing else", () => {
  for (
    const text of [
      "1.2.3.4",
      "10.0.0.0/8",
      "0.0.0.0/0",
      "::1",
      "2001:db8::/32",
      "::ffff:1.2.3.4",
      "1:2:3:4:5:6:7:8",
    ]
  ) {
    assertEquals(parseAddressRange(text) !== undefined, true, text);
  }
  for (
    const text of [
      "",
      "x",
      "1.2.3",
      "1.2.3.256",
      "1.2.3.4/33",
      "::1/129",
      "1::2::3",
      "1:2",
      "::g",
      "1.2.3.4/8/8",
      "1.2.3.4/",
      "64:ff9b:192.0.2.1::",
      "192.0.2.1::1",
      "::192.0.2.1:5",
    ]
  ) {
    assertEquals(parseAddressRange(text), undefined, text);
  }
});

Deno.test("a range contains its own family's addresses, IPv4 also mapped into IPv6, and shows as its text", () => {
  const contained = (text: string, addresses: readonly string[]): boolean[] =>
    addresses.map((address) => parseAddressRange(text)?.contains(address) ?? false);
  assertEquals(contained("10.0.0.0/8", ["10.1.2.3", "::ffff:10.1.2.3", "::ffff:a01:203"]), [
    true,
    true,
    true,
  ]);
  assertEquals(contained("10.0.0.0/8", ["11.0.0.1", "::a01:203", "x", ""]), [
    false,
    false,
    false,
    false,
  ]);
  const embedded = [
    "0:0:0:0:0:ffff:192.0.2.1",
    "::ffff:c000:201",
    "64:ff9b::192.0.2.1",
    "64:ff9b::192.0.2.256",
  ];
  assertEquals(contained("192.0.2.0/24", embedded), [true, true, false, false]);
  assertEquals(contained("64:ff9b::/96", embedded), [false, false, true, false]);
  assertEquals(contained("2001:db8::/32", ["2001:db8:7::1", "2001:0DB8::", "2001:db9::1"]), [
    true,
    true,
    false,
  ]);
  assertEquals(contained("::1", ["::1", "0:0:0:0:0:0:0:1", "::2", "127.0.0.1"]), [
    true,
    true,
    false,
    false,
  ]);
  assertEquals(JSON.stringify(parseAddressRange("10.0.0.0/8")), '{"text":"10.0.0.0/8"}');
});

Deno.test("isAddress() takes numbers of both families and no names, zones, brackets or ports", () => {
  for (const text of ["192.0.2.1", "::", "2001:db8::1", "::ffff:192.0.2.1"]) {
    assert(isAddress(text), text);
  }
  for (
    const text of [
      "",
      "localhost",
      "192.0.2.1:80",
      "[::1]",
      "fe80::1%eth0",
      "1:2:3:4:5:6:7:8:9",
      "192.0.2",
    ]
  ) {
    assert(!isAddress(text), text);
  }
});

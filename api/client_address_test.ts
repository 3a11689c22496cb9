import { assertEquals } from "@std/assert";
import { createClientAddress, parseAddressRange } from "./client_address.ts";

const ranges = (...texts: string[]): NonNullable<ReturnType<typeof parseAddressRange>>[] =>
  texts.map((text) => {
    const range = parseAddressRange(text);
    if (range === undefined) throw new Error(text);
    return range;
  });

Deno.test("parseAddressRange() accepts addresses and ranges of both families and nothing else", () => {
  for (
    const text of ["1.2.3.4", "10.0.0.0/8", "0.0.0.0/0", "::1", "2001:db8::/32", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8"]
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
    ]
  ) {
    assertEquals(parseAddressRange(text), undefined, text);
  }
});

Deno.test("without trusted proxies the header means nothing", () => {
  const address = createClientAddress([]);
  assertEquals(address("192.0.2.1", "203.0.113.9"), "192.0.2.1");
  assertEquals(address(undefined, "203.0.113.9"), "unknown");
});

Deno.test("behind trusted proxies the nearest untrusted hop is the client", () => {
  const address = createClientAddress(ranges("10.0.0.0/8", "fd00::/8"));
  for (
    const [peer, forwarded, expected] of [
      ["10.0.0.1", "203.0.113.9", "203.0.113.9"],
      ["10.0.0.1", "1.1.1.1, 203.0.113.9", "203.0.113.9"],
      ["10.0.0.1", "1.1.1.1, 203.0.113.9, 10.9.9.9", "203.0.113.9"],
      ["fd00::1", "203.0.113.9", "203.0.113.9"],
      ["::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"],
      ["10.0.0.1", "203.0.113.9:50123, 10.9.9.9:443", "203.0.113.9"],
      ["10.0.0.1", "::ffff:203.0.113.9", "203.0.113.9"],
      ["10.0.0.1", "[2001:db8:0:7::1]:50123", "2001:db8:0:7::/64"],
      ["10.0.0.1", "[2001:db8:0:7::2]", "2001:db8:0:7::/64"],
      ["10.0.0.1", "10.0.0.2", "10.0.0.1"],
      ["10.0.0.1", "garbage", "10.0.0.1"],
      ["10.0.0.1", "", "10.0.0.1"],
      ["10.0.0.1", undefined, "10.0.0.1"],
      ["192.0.2.1", "203.0.113.9", "192.0.2.1"],
    ] as const
  ) {
    assertEquals(address(peer, forwarded), expected, `${peer} ← ${forwarded}`);
  }
});

Deno.test("IPv6 clients are counted by their /64", () => {
  const address = createClientAddress([]);
  assertEquals(address("2001:db8:0:7::1", undefined), address("2001:db8:0:7:ffff:ffff:ffff:ffff", undefined));
  assertEquals(address("2001:db8:0:7::1", undefined) === address("2001:db8:0:8::1", undefined), false);
});

import { assertEquals } from "@std/assert";
import { parseAddressRange } from "../server/limits/mod.ts";
import { createClientAddress } from "./client_address.ts";

const ranges = (...texts: string[]): NonNullable<ReturnType<typeof parseAddressRange>>[] =>
  texts.map((text) => {
    const range = parseAddressRange(text);
    if (range === undefined) throw new Error(text);
    return range;
  });

Deno.test("without trusted proxies the header means nothing", () => {
  const address = createClientAddress([], "X-Forwarded-For");
  assertEquals(address("192.0.2.1", () => "203.0.113.9"), "192.0.2.1");
  assertEquals(address(undefined, () => "203.0.113.9"), "unknown");
});

Deno.test("behind trusted proxies the nearest untrusted hop is the client", () => {
  const address = createClientAddress(ranges("10.0.0.0/8", "fd00::/8"), "X-Forwarded-For");
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
    assertEquals(address(peer, () => forwarded), expected, `${peer} ← ${forwarded}`);
  }
});

Deno.test("Forwarded (RFC 7239) names the client with quotes, brackets, ports and in any case of letters", () => {
  const address = createClientAddress(ranges("10.0.0.0/8"), "Forwarded");
  for (
    const [forwarded, expected] of [
      ["for=203.0.113.9", "203.0.113.9"],
      ["For=203.0.113.9;proto=https;by=10.0.0.1", "203.0.113.9"],
      ['proto=https; FOR="203.0.113.9:50123"', "203.0.113.9"],
      ['for="\\2\\03.0.113.9"', "203.0.113.9"],
      ["for=203.0.113.9:_port", "203.0.113.9"],
      ['for="[2001:db8:0:7::1]:4711"', "2001:db8:0:7::/64"],
      ['for="[2001:db8:0:7::1]"', "2001:db8:0:7::/64"],
      ['host="a,b;for=1.1.1.1";for=203.0.113.9', "203.0.113.9"],
      ["for=1.1.1.1, for=203.0.113.9", "203.0.113.9"],
      ["for=1.1.1.1,for=203.0.113.9 , for=10.9.9.9;by=10.0.0.1", "203.0.113.9"],
      // A client that leaves a quote open, or closes none, does not hide what a proxy adds.
      ['for="1.1.1.1, for=203.0.113.9', "203.0.113.9"],
      ['for="1.1.1.1, for="[2001:db8:0:7::1]:4711"', "2001:db8:0:7::/64"],
      ['for=1.1.1.1", for="203.0.113.9";host="a"', "203.0.113.9"],
      // Nobody knows the client: it is as if the proxy itself were.
      ["for=unknown", "10.0.0.1"],
      ["for=_hidden", "10.0.0.1"],
      ['for="_SEVKISEK"', "10.0.0.1"],
      ["for=1.1.1.1, for=unknown", "10.0.0.1"],
      ["for=1.1.1.1, proto=https", "10.0.0.1"],
      ["for=1.1.1.1;for=203.0.113.9", "10.0.0.1"],
      ["for=1.1.1.1 2.2.2.2", "10.0.0.1"],
      ["203.0.113.9", "10.0.0.1"],
      ["for=", "10.0.0.1"],
      ['for="203.0.113.9', "10.0.0.1"],
      ["", "10.0.0.1"],
      [undefined, "10.0.0.1"],
    ] as const
  ) {
    assertEquals(address("10.0.0.1", () => forwarded), expected, forwarded);
  }
  assertEquals(address("192.0.2.1", () => "for=203.0.113.9"), "192.0.2.1");
});

Deno.test("a long Forwarded of quotes and commas is read in a moment", () => {
  const address = createClientAddress(ranges("10.0.0.0/8"), "Forwarded");
  for (const piece of [',"', ',"\\"', ",for=10.0.0.1", ";", '"', "; "]) {
    const long = piece.repeat(100_000);
    assertEquals(address("10.0.0.1", () => `${long}, for=203.0.113.9`), "203.0.113.9");
    assertEquals(typeof address("10.0.0.1", () => long), "string");
  }
});

Deno.test("exactly one header is read, and the other one is a client's own words", () => {
  const sent: Readonly<Record<string, string>> = {
    "X-Forwarded-For": "203.0.113.1",
    Forwarded: "for=203.0.113.2",
  };
  for (
    const [name, expected] of [["X-Forwarded-For", "203.0.113.1"], [
      "Forwarded",
      "203.0.113.2",
    ]] as const
  ) {
    const read: string[] = [];
    const address = createClientAddress(ranges("10.0.0.0/8"), name)("10.0.0.1", (header) => {
      read.push(header);
      return sent[header];
    });
    assertEquals([address, read], [expected, [name]]);
    const missing = createClientAddress(ranges("10.0.0.0/8"), name)(
      "10.0.0.1",
      (header) => header === name ? undefined : sent[header],
    );
    assertEquals(missing, "10.0.0.1");
  }
});

Deno.test("IPv6 clients are counted by their /64", () => {
  const address = createClientAddress([], "X-Forwarded-For");
  assertEquals(
    address("2001:db8:0:7::1", () => undefined),
    address("2001:db8:0:7:ffff:ffff:ffff:ffff", () => undefined),
  );
  assertEquals(
    address("2001:db8:0:7::1", () => undefined) === address("2001:db8:0:8::1", () => undefined),
    false,
  );
});

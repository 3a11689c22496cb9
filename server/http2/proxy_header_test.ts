import { assert, assertEquals } from "@std/assert";
import { createRandom, seedFromEnvironment } from "../../tests/support/mod.ts";
import { inCampaign, tried } from "../../tests/support/campaign.ts";
import { concat } from "../../tests/support/http2/wire.ts";
import { maxHeaderBytes, parseProxyHeader, type ProxyHeader } from "./proxy_header.ts";

const text = (line: string): Uint8Array => new TextEncoder().encode(line);
const signature = text("\r\n\r\n\0\r\nQUIT\n");

/** A header of version 2; `declared` is its length field where that shall not be true. */
function binary(
  command: number,
  family: number,
  block: readonly number[],
  declared = block.length,
): Uint8Array {
  return concat(
    signature,
    new Uint8Array([command, family, declared >> 8, declared & 0xff, ...block]),
  );
}

const ports = [0xc3, 0x50, 0x13, 0x88];
const ipv4 = [192, 0, 2, 7, 192, 0, 2, 1, ...ports];
const documentation = [0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 1];
const mapped = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 203, 0, 113, 9];
const ipv6 = [...documentation, ...documentation, ...ports];
const extensions = [0x01, 0, 2, 0x68, 0x32, 0x04, 0, 0, 0x20, 0, 3, 1, 2, 3];
const unix = new Array<number>(216).fill(0x2f);
const longest = new Array<number>(maxHeaderBytes - 16 - 12 - 3).fill(0);

const headers: Readonly<Record<string, readonly [header: Uint8Array, client: string | undefined]>> =
  {
    "TCP4": [text("PROXY TCP4 192.0.2.7 192.0.2.1 50000 5000\r\n"), "192.0.2.7"],
    "TCP6": [text("PROXY TCP6 2001:db8:0:7::1 2001:db8::1 50000 5000\r\n"), "2001:db8:0:7::1"],
    "TCP6 with a mapped address": [
      text("PROXY TCP6 ::ffff:192.0.2.7 ::1 0 65535\r\n"),
      "::ffff:192.0.2.7",
    ],
    "UNKNOWN": [text("PROXY UNKNOWN\r\n"), undefined],
    "UNKNOWN with more": [
      text("PROXY UNKNOWN ffff:f...f:ffff whatever it likes 65535\r\n"),
      undefined,
    ],
    "the longest line": [text(`PROXY UNKNOWN ${"x".repeat(107 - 16)}\r\n`), undefined],
    "LOCAL": [binary(0x20, 0x00, []), undefined],
    "LOCAL with addresses": [binary(0x20, 0x11, ipv4), undefined],
    "LOCAL with anything": [binary(0x20, 0xff, [1, 2, 3]), undefined],
    "IPv4": [binary(0x21, 0x11, ipv4), "192.0.2.7"],
    "IPv4 with extensions": [binary(0x21, 0x11, [...ipv4, ...extensions]), "192.0.2.7"],
    "IPv6": [binary(0x21, 0x21, ipv6), "2001:db8:0:7:0:0:0:1"],
    "IPv6 with extensions": [binary(0x21, 0x21, [...ipv6, ...extensions]), "2001:db8:0:7:0:0:0:1"],
    "IPv6 with a mapped address": [
      binary(0x21, 0x21, [...mapped, ...mapped, ...ports]),
      "203.0.113.9",
    ],
    "a socket in the file system": [binary(0x21, 0x31, [...unix, ...extensions]), undefined],
    "PROXY for an unspecified family": [binary(0x21, 0x00, [1, 2, 3]), undefined],
    "the longest": [
      binary(0x21, 0x11, [...ipv4, 0x04, longest.length >> 8, longest.length & 0xff, ...longest]),
      "192.0.2.7",
    ],
  };

for (const [name, [header, client]] of Object.entries(headers)) {
  Deno.test(`parseProxyHeader() reads ${name}: cut anywhere it waits for more, and what follows is not touched`, () => {
    const whole: ProxyHeader = { kind: "whole", bytes: header.length, client };
    for (let cut = 0; cut < header.length; cut++) {
      assertEquals(
        parseProxyHeader(header.subarray(0, cut)),
        { kind: "partial" },
        `after ${cut} bytes`,
      );
    }
    for (
      const behind of [
        [],
        [0x16, 3, 1, 2, 0, 1, 0],
        [13, 10, 13, 10],
        new Array<number>(2_000).fill(0),
      ]
    ) {
      assertEquals(parseProxyHeader(concat(header, new Uint8Array(behind))), whole);
    }
  });
}

Deno.test("parseProxyHeader() refuses what is no header, as soon as it can tell", () => {
  const line = (rest: string): Uint8Array => text(`PROXY ${rest}\r\n`);
  const refused: Readonly<Record<string, Uint8Array>> = {
    "a ClientHello": new Uint8Array([0x16]),
    "HTTP": text("G"),
    "small letters": text("p"),
    "another first word": text("PROXZ"),
    "half of the signature and something else": concat(
      signature.subarray(0, 6),
      new Uint8Array([0xff]),
    ),
    "another protocol": line("UDP4 192.0.2.7 192.0.2.1 50000 5000"),
    "no protocol": line(""),
    "an address of another family": line("TCP4 2001:db8::1 2001:db8::2 50000 5000"),
    "families that differ": line("TCP6 2001:db8::1 192.0.2.1 50000 5000"),
    "a number that is no address": line("TCP4 192.0.2.256 192.0.2.1 50000 5000"),
    "a number with leading zeros": line("TCP4 192.0.02.7 192.0.2.1 50000 5000"),
    "a zone": line("TCP6 fe80::1%eth0 fe80::2 50000 5000"),
    "a name": line("TCP4 localhost 192.0.2.1 50000 5000"),
    "no ports": line("TCP4 192.0.2.7 192.0.2.1"),
    "a port too many": line("TCP4 192.0.2.7 192.0.2.1 1 2 3"),
    "a port too high": line("TCP4 192.0.2.7 192.0.2.1 50000 65536"),
    "a port with a sign": line("TCP4 192.0.2.7 192.0.2.1 +5000 5000"),
    "two spaces": line("TCP4  192.0.2.7 192.0.2.1 50000 5000"),
    "a control character": text("PROXY UNKNOWN\x01"),
    "a line that ends without its CR": text("PROXY UNKNOWN\n"),
    "a CR inside": text("PROXY UNKNOWN\rx"),
    "a line that is one byte too long": text(`PROXY UNKNOWN ${"x".repeat(107 - 15)}\r\n`),
    "a line without an end": text(`PROXY UNKNOWN ${"x".repeat(107 - 14)}`),
    "another version": binary(0x31, 0x11, ipv4),
    "another version, before the rest has come": concat(signature, new Uint8Array([0x11])),
    "another command": binary(0x22, 0x11, ipv4),
    "datagrams": binary(0x21, 0x12, ipv4),
    "another family": binary(0x21, 0x41, ipv4),
    "a block that is too short for IPv4": binary(0x21, 0x11, ipv4.slice(1)),
    "a block that is too short for IPv6": binary(0x21, 0x21, ipv6.slice(1)),
    "a block that is too short for a path": binary(0x21, 0x31, unix.slice(1)),
    "an extension that is longer than the header": binary(0x21, 0x11, [...ipv4, 0x01, 0, 9, 1, 2]),
    "half of an extension's head": binary(0x21, 0x11, [...ipv4, 0x01, 0]),
    "a length above 536, before the rest has come": binary(0x21, 0x11, ipv4, maxHeaderBytes - 15),
    "the greatest length": binary(0x20, 0x00, [], 0xffff),
  };
  for (const [name, bytes] of Object.entries(refused)) {
    assertEquals(parseProxyHeader(bytes).kind, "garbage", name);
  }
});

const rounds = inCampaign ? 1_000_000 : 20_000;

Deno.test(`parseProxyHeader() bears ${rounds.toLocaleString("en")} mutilated headers: its word on a part holds for the whole`, () => {
  const random = createRandom(seedFromEnvironment());
  const known = Object.values(headers).map(([header]) => header);
  const seen = { partial: 0, garbage: 0, whole: 0 };
  for (let round = 0; round < rounds; round++) {
    const bytes = Uint8Array.from([...random.pick(known), ...random.bytes(random.below(40))]);
    for (let i = random.below(4); i > 0; i--) bytes[random.below(bytes.length)] = random.below(256);
    const all = parseProxyHeader(bytes);
    seen[all.kind]++;
    const part = parseProxyHeader(bytes.subarray(0, random.below(bytes.length + 1)));
    const why = `seed ${random.seed}, round ${round}`;
    // Bytes that come later never change a verdict, and no header is longer than what has come, or
    // than 536 bytes.
    if (part.kind !== "partial") assertEquals(part, all, why);
    if (all.kind === "whole") assert(all.bytes <= Math.min(bytes.length, maxHeaderBytes), why);
    if (all.kind === "partial") assert(bytes.length < maxHeaderBytes, why);
  }
  assert(Object.values(seen).every((count) => count > 100), JSON.stringify(seen));
  tried(`${rounds.toLocaleString("en")} mutilated headers`);
});

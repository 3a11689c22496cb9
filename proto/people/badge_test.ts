import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import { encodeBase64url } from "../base/base64url.ts";
import { WireError } from "../base/errors.ts";
import { agentIdOf, parseAccountId } from "../base/ids.ts";
import { uint64, vector } from "../mls/writer.ts";
import {
  accountOf,
  type Badge,
  badgeAttributes,
  badgeStatement,
  decodeBadge,
  decodeBadges,
  encodeBadge,
  encodeBadges,
  formatBadge,
  isBadgeName,
  mailDomainOf,
  maxBadgeSeconds,
  parseBadges,
  type UnsignedBadge,
  verifyBadge,
} from "./badge.ts";

interface Golden {
  readonly badge: string;
  readonly statement: string;
  readonly badges: string;
  readonly text: string;
}

const golden: Golden = JSON.parse(
  Deno.readTextFileSync(new URL("../testdata/badge.json", import.meta.url)),
);
const issuerSeed = new Uint8Array(32).fill(1);
const issuerKey = ed25519.getPublicKey(issuerSeed);
const agentKey = ed25519.getPublicKey(new Uint8Array(32).fill(2));
const agentId = agentIdOf(agentKey, utf8ToBytes("deploy@acme.com"));
const account = parseAccountId("018f0000-1111-7222-8333-444455556666");

const usual: UnsignedBadge = {
  domain: "acme.com",
  issuerKey,
  name: "deploy-bot",
  agentId,
  notBefore: 1_800_000_000,
  notAfter: 1_800_000_000 + 30 * 24 * 60 * 60,
  attributes: [],
};
const ofService: UnsignedBadge = {
  ...usual,
  domain: "api.static.example",
  name: "account",
  attributes: badgeAttributes({ account, mailDomain: "acme.com" }),
};

function signed(badge: UnsignedBadge): Badge {
  return { ...badge, signature: ed25519.sign(badgeStatement(badge), issuerSeed) };
}

/** The bytes of a badge with fields that `encodeBadge` would not take. */
function raw(
  fields: Partial<Omit<UnsignedBadge, "attributes" | "notAfter">> & {
    readonly format?: number;
    readonly attributes?: Uint8Array;
    readonly notAfter?: number | bigint;
    readonly agent?: Uint8Array;
  } = {},
): Uint8Array {
  const { format = 1, attributes = new Uint8Array(0), agent, notAfter, ...rest } = fields;
  const badge = { ...usual, ...rest };
  const end = new Uint8Array(8);
  new DataView(end.buffer).setBigUint64(0, BigInt(notAfter ?? usual.notAfter));
  return concatBytes(
    Uint8Array.of(format),
    vector(utf8ToBytes(badge.domain)),
    badge.issuerKey,
    vector(utf8ToBytes(badge.name)),
    agent ?? utf8ToBytes(badge.agentId),
    uint64(badge.notBefore),
    end,
    vector(attributes),
    new Uint8Array(64),
  );
}

function attribute(type: number, value: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(type), vector(value));
}

function refuses(bytes: Uint8Array, words: string): void {
  const error = assertThrows(() => decodeBadge(bytes), WireError, words);
  assertEquals(error.code, "invalid_request");
}

Deno.test("golden: a badge, what its issuer signs, two in a leaf, and the text of a file", () => {
  const [badge, second] = [signed(ofService), signed(usual)];
  assertEquals({
    badge: bytesToHex(encodeBadge(badge)),
    statement: bytesToHex(badgeStatement(ofService)),
    badges: bytesToHex(encodeBadges([second, badge])),
    text: formatBadge(second),
  }, golden);
  assertEquals(decodeBadge(hexToBytes(golden.badge)), badge);
  assertEquals(decodeBadges(hexToBytes(golden.badges)), [second, badge]);
  assertEquals(parseBadges(golden.text), [second]);
  assert(verifyBadge(decodeBadge(hexToBytes(golden.badge))));
});

Deno.test("a badge of a usual name has at most 200 bytes", () => {
  const bytes = encodeBadge(signed(usual));
  assertEquals(bytes.length, 156);
  assert(bytes.length <= 200);
});

Deno.test("the largest badges survive, and 513 bytes are refused", () => {
  const label = "a".repeat(63);
  const domain = `${label}.${label}.${label}.${"a".repeat(61)}`;
  const largest = signed({ ...usual, domain, name: "n".repeat(64) });
  assertEquals(domain.length, 253);
  assertEquals(decodeBadge(encodeBadge(largest)), largest);
  const rest = 512 - encodeBadge(largest).length;
  const filled = { ...usual, domain, name: "n".repeat(64), attributes: [] };
  // The attribute's type and length, and the second byte of a longer length of all attributes.
  const fill = (length: number): Badge =>
    signed({ ...filled, attributes: [{ type: 9, value: new Uint8Array(length) }] });
  assertEquals(encodeBadge(fill(rest - 2)).length, 512);
  assertThrows(() => encodeBadge(fill(rest - 1)), WireError, "513 bytes");
  refuses(new Uint8Array(513), "513 bytes");
  // Two of the largest fit a leaf, and a third is never looked at.
  const two = encodeBadges([fill(rest - 2), fill(rest - 2)]);
  assertEquals(decodeBadges(two).length, 2);
  assertThrows(() => decodeBadges(new Uint8Array(two.length + 1)), WireError, "at most");
});

Deno.test("a badge that was cut or has something behind it is refused, and another format", () => {
  const bytes = encodeBadge(signed(ofService));
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => decodeBadge(bytes.subarray(0, length)), WireError);
  }
  refuses(concatBytes(bytes, Uint8Array.of(0)), "trailing");
  for (const format of [0, 2, 255]) refuses(raw({ format }), "format");
});

Deno.test("a domain that is none is refused", () => {
  const long = `${"a.".repeat(126)}aa`;
  assertEquals(long.length, 254);
  for (
    const domain of [
      "Acme.com",
      "acme.com.",
      "10.0.0.1",
      "a.1",
      "a.1b",
      "\ufeffacme.com",
      "::1",
      "localhost",
      long,
      "ac_me.com",
      "",
    ]
  ) {
    refuses(raw({ domain }), "domain");
  }
});

Deno.test("a name with other signs, without any or with 65 is refused", () => {
  for (const name of ["deploy bot", "bot@acme", "n".repeat(65), "", "Bot", "böt", "a\n", "a/b"]) {
    assertEquals(isBadgeName(name), false);
    refuses(raw({ name }), "name");
  }
  for (const name of ["a", "n".repeat(64), "0-._z"]) assert(isBadgeName(name));
});

Deno.test("an agent id that is none is refused", () => {
  refuses(raw({ agent: utf8ToBytes("a".repeat(21) + "=") }), "agent id");
  refuses(raw({ agent: new Uint8Array(22).fill(0xff) }), "agent id");
});

Deno.test("times that are turned, too far apart or beyond counting are refused", () => {
  const { notBefore } = usual;
  refuses(raw({ notAfter: notBefore - 1 }), "ends before");
  refuses(raw({ notAfter: notBefore }), "ends before");
  refuses(raw({ notAfter: notBefore + maxBadgeSeconds + 1 }), "400 days");
  refuses(raw({ notAfter: 2n ** 63n }), "beyond");
  refuses(raw({ notAfter: 2n ** 64n - 1n }), "beyond");
  decodeBadge(raw({ notAfter: notBefore + 1 }));
  decodeBadge(raw({ notAfter: notBefore + maxBadgeSeconds }));
});

Deno.test("attributes out of order, twice, of type 0, too long or cut are refused", () => {
  const [small, empty] = [Uint8Array.of(1), new Uint8Array(0)];
  const inOrder = concatBytes(attribute(7, small), attribute(8, small));
  decodeBadge(raw({ attributes: inOrder }));
  refuses(raw({ attributes: concatBytes(attribute(8, small), attribute(7, small)) }), "order");
  refuses(raw({ attributes: concatBytes(attribute(7, small), attribute(7, small)) }), "twice");
  refuses(raw({ attributes: attribute(0, small) }), "order");
  refuses(raw({ attributes: attribute(7, new Uint8Array(126)) }), "128 bytes");
  decodeBadge(raw({ attributes: attribute(7, new Uint8Array(125)) }));
  refuses(raw({ attributes: Uint8Array.of(7) }), "too early");
  refuses(raw({ attributes: Uint8Array.of(7, 2, 1) }), "too early");
  refuses(raw({ attributes: attribute(7, empty) }), "empty");
  refuses(raw({ attributes: attribute(7, small).with(1, 0) }), "empty");
});

Deno.test("an attribute that means nothing is in a badge all the same, and says nothing", () => {
  const values = [
    new Uint8Array(15),
    new Uint8Array(17),
    utf8ToBytes("acme"),
    utf8ToBytes("A.com"),
  ];
  for (const value of values) {
    const attributes = concatBytes(attribute(1, value), attribute(2, value));
    const badge = decodeBadge(raw({ attributes }));
    assertEquals([accountOf(badge), mailDomainOf(badge)], [undefined, undefined]);
  }
});

Deno.test("an attribute that nobody knows is kept, signed, and not shown", () => {
  const { attributes } = ofService;
  const badge = signed({
    ...ofService,
    attributes: [...attributes, { type: 200, value: issuerKey }],
  });
  const read = decodeBadge(encodeBadge(badge));
  assertEquals(read, badge);
  assert(verifyBadge(read));
  assertEquals([accountOf(read), mailDomainOf(read)], [account, "acme.com"]);
  assertEquals([accountOf(usual), mailDomainOf(usual)], [undefined, undefined]);
});

Deno.test("a leaf shows one badge or two", () => {
  const bytes = encodeBadge(signed(usual));
  assertThrows(() => decodeBadges(Uint8Array.of(0)), WireError, "too early");
  assertThrows(() => decodeBadges(new Uint8Array(0)), WireError, "too early");
  assertThrows(
    () => decodeBadges(vector(concatBytes(bytes, bytes, bytes))),
    WireError,
    "at most 2",
  );
  assertThrows(() => decodeBadges(vector(bytes.subarray(1))), WireError);
  assertThrows(() => decodeBadges(concatBytes(vector(bytes), Uint8Array.of(0))), WireError);
  assertThrows(() => encodeBadges([]), WireError);
});

Deno.test("every field is signed, and no text flows into the next", () => {
  const base = bytesToHex(badgeStatement(ofService));
  const changes: readonly Partial<UnsignedBadge>[] = [
    { domain: "api.static.exampl" },
    { issuerKey: agentKey },
    { name: "accoun" },
    { agentId: agentIdOf(agentKey, Uint8Array.of(1)) },
    { notBefore: 1 },
    { notAfter: 1 },
    { attributes: [] },
    { attributes: badgeAttributes({ account }) },
  ];
  const badge = signed(ofService);
  for (const change of changes) {
    assertNotEquals(bytesToHex(badgeStatement({ ...ofService, ...change })), base);
    assertEquals(verifyBadge({ ...badge, ...change }), false);
  }
});

Deno.test("a key of small order and a signature that is not reduced are refused", () => {
  const badge = signed(usual);
  assert(verifyBadge(badge));
  // The neutral element: with R the same and S = 0 every message would verify.
  const neutral = new Uint8Array(32);
  neutral[0] = 1;
  const free = concatBytes(neutral, new Uint8Array(32));
  assertEquals(verifyBadge({ ...badge, issuerKey: neutral, signature: free }), false);
  // S and S + L are the same number to a lax verification.
  const order = 2n ** 252n + 27742317777372353535851937790883648493n;
  const scalar = BigInt(`0x${bytesToHex(badge.signature.slice(32).reverse())}`) + order;
  const larger = hexToBytes(scalar.toString(16).padStart(64, "0")).reverse();
  const signature = concatBytes(badge.signature.subarray(0, 32), larger);
  assertEquals(verifyBadge({ ...badge, signature }), false);
});

Deno.test("a badge names one agent: another identity under the same key is another", () => {
  assertNotEquals(agentIdOf(agentKey, utf8ToBytes("ceo@acme.com")), signed(usual).agentId);
});

Deno.test("badges as text: one or two, with white space around, and nothing else", () => {
  const [one, other] = [signed(usual), signed(ofService)];
  const text = `${formatBadge(one)}\n${formatBadge(other)}\n`;
  assertEquals(parseBadges(text), [one, other]);
  assertEquals(parseBadges(`\n ${formatBadge(one)}`), [one]);
  const bad = ["", " \n", "badge_", `${text}${formatBadge(one)}`, formatBadge(one).slice(6)];
  const cut = [formatBadge(one).slice(0, -1), `${formatBadge(one)}A`, `x${formatBadge(one)}`];
  const more = [encodeBase64url(encodeBadge(one)), "badge_é", " ".repeat(10_000)];
  for (const each of [...bad, ...cut, ...more]) {
    assertThrows(() => parseBadges(each), WireError);
  }
});

import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import { sha256 } from "@noble/hashes/sha2.js";
import { WireError } from "../base/errors.ts";
import { parseAgentId, parseChannelId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { vector } from "../mls/writer.ts";
import {
  type ChannelIssuers,
  compareIssuers,
  decodeIssuers,
  encodeIssuers,
  type Issuer,
} from "./issuers.ts";
import { decodeOwnersChanges, encodeOwnersChange, type OwnersChange } from "./owners.ts";
import type { ChannelPolicy } from "./policy.ts";
import { ownersStatement } from "./statements.ts";

type Golden = Readonly<
  Record<"issuers" | "change" | "statement" | "founded" | "foundedStatement", string>
>;

const golden: Golden = JSON.parse(
  Deno.readTextFileSync(new URL("../testdata/issuers.json", import.meta.url)),
);
const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const channelId = parseChannelId("BwcHBwcHBwcHBwcHBwcHBw");
const acme: Issuer = { domain: "acme.com", key: filled(32, 1), closed: true };
const acmeNext: Issuer = { domain: "acme.com", key: filled(32, 2), closed: false };
const account: Issuer = {
  domain: "api.example",
  key: filled(32, 3),
  closed: false,
  attribute: { type: 1, value: filled(16, 4) },
};
const issuers: ChannelIssuers = { required: true, issuers: [acme, acmeNext, account] };
const bytes = encodeIssuers(issuers);
const fields = {
  version: 258,
  previous: filled(32, 1),
  owners: [parseAgentId("A".repeat(22))],
  signatureKey: filled(32, 2),
  identity: Uint8Array.of(3, 4),
  signature: filled(64, 5),
  issuers: sha256(bytes),
};
const policy: ChannelPolicy = { admission: "owners", posting: "members" };
const generation = { founded: { generation: 2, founding: filled(32, 8) } };
const change: OwnersChange = { kind: "issuers", ...fields };
const founded: OwnersChange = { kind: "founded", ...fields, ...generation, policy };

Deno.test("golden: issuers, their change, the founding that takes them along, and what their owners signed", () => {
  assertEquals({
    issuers: bytesToHex(bytes),
    change: bytesToHex(encodeOwnersChange(change)),
    statement: bytesToHex(ownersStatement({ channelId, ...change })),
    founded: bytesToHex(encodeOwnersChange(founded)),
    foundedStatement: bytesToHex(ownersStatement({ channelId, ...founded })),
  }, golden);
  assertEquals(decodeOwnersChanges(hexToBytes(golden.change + golden.founded)), [change, founded]);
  assertEquals(decodeIssuers(hexToBytes(golden.issuers)), issuers);
});

Deno.test("issuers survive, required or not, also none that are not required", () => {
  for (const each of [issuers, { ...issuers, required: false }, { required: false, issuers: [] }]) {
    assertEquals(decodeIssuers(encodeIssuers(each)), each);
  }
});

Deno.test("issuers are in one order, each once: domain, key, attribute", () => {
  const { attribute: _, ...any } = account;
  const order: readonly Issuer[] = [
    acme,
    acmeNext,
    { ...acme, domain: "acme.com.de" },
    { ...acme, domain: "acme.de" },
    any,
    account,
    { ...account, attribute: { type: 1, value: filled(17, 4) } },
    { ...account, attribute: { type: 1, value: filled(16, 5) } },
    { ...account, attribute: { type: 2, value: filled(1, 1) } },
    { ...account, key: filled(32, 4) },
  ];
  assertEquals(order.toReversed().sort(compareIssuers), order);
  assertEquals(compareIssuers(acme, { ...acme, closed: false }), 0);
});

/** One issuer of these parts, whatever they are; all are required. */
function written(domain: Uint8Array, attribute: Uint8Array): Uint8Array {
  const issuer = concatBytes(vector(domain), filled(32, 1), Uint8Array.of(0), attribute);
  return concatBytes(Uint8Array.of(1, 1), vector(issuer));
}

const noAttribute = Uint8Array.of(0, 0);

function refused(extension: Uint8Array, why: string): void {
  assertThrows(() => decodeIssuers(extension), WireError, why);
}

Deno.test("issuers that are cut off, or have something behind them, are refused", () => {
  for (let length = 0; length < bytes.length; length++) refused(bytes.subarray(0, length), "early");
  refused(concatBytes(bytes, Uint8Array.of(0)), "trailing");
});

Deno.test("another format, mode or state is refused, and a badge of nobody is not required", () => {
  for (const each of [0, 2, 255]) refused(bytes.with(0, each), "format");
  for (const each of [2, 255]) refused(bytes.with(1, each), "mode");
  refused(Uint8Array.of(1, 1, 0), "of nobody");
  const one = encodeIssuers({ required: true, issuers: [acme] });
  const stateAt = one.length - 3;
  assertEquals(one[stateAt], 1);
  for (const each of [2, 255]) refused(one.with(stateAt, each), "state");
});

Deno.test("17 issuers, or more bytes than the limit, are refused", () => {
  const many = Array.from({ length: 17 }, (_, i) => ({ ...acme, key: filled(32, i) }));
  assertEquals(
    decodeIssuers(encodeIssuers({ required: true, issuers: many.slice(1) })).issuers,
    many.slice(1),
  );
  refused(encodeIssuers({ required: true, issuers: many }), "more than 16");
  const domain = `${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.com`;
  const long = many.slice(0, 5).map((each) => ({ ...each, domain }));
  const tooLong = encodeIssuers({ required: true, issuers: long });
  assertEquals(tooLong.length > limits.issuersBytes, true);
  refused(tooLong, "bytes; at most 1024");
});

Deno.test("issuers out of order, or twice, are refused", () => {
  const pairs = [[acmeNext, acme], [acme, acme], [acme, { ...acme, closed: false }], [
    account,
    acme,
  ]];
  for (const pair of pairs) {
    refused(encodeIssuers({ required: true, issuers: pair }), "ascending order");
  }
});

Deno.test("what is no domain is refused", () => {
  const bad = ["", "acme", "Acme.com", "acme.com.", "10.0.0.1", "ac_me.com", "a".repeat(254)];
  for (const domain of [...bad, "ä.de"]) {
    refused(written(new TextEncoder().encode(domain), noAttribute), "no domain");
  }
});

Deno.test("an attribute without a type or a value, or a long one, is refused", () => {
  const domain = new TextEncoder().encode("acme.com");
  const withAttribute = (type: number, length: number): Uint8Array =>
    written(domain, concatBytes(Uint8Array.of(type), vector(filled(length, 1))));
  refused(withAttribute(0, 1), "type 0 has 1 bytes");
  refused(withAttribute(1, 0), "type 1 has 0 bytes");
  refused(withAttribute(9, 129), "type 9 has 129 bytes");
  assertEquals(decodeIssuers(withAttribute(255, 128)).issuers[0]?.attribute?.type, 255);
});

Deno.test("changes with half a hash, or one where none belongs, are refused", () => {
  const encoded = encodeOwnersChange(change);
  for (const kind of [1, 3, 4]) {
    assertThrows(() => decodeOwnersChanges(encoded.with(1, kind)), WireError, "has 32 bytes");
  }
  const signed = encodeOwnersChange({ ...change, kind: "signed" });
  assertThrows(() => decodeOwnersChanges(signed.with(1, 5)), WireError, "kind 5 has 0 bytes");
  assertThrows(
    () => decodeOwnersChanges(encodeOwnersChange(founded).with(1, 5)),
    WireError,
    "kind 5 has 75 bytes",
  );
});

Deno.test("a founding takes along a policy, issuers, both or none", () => {
  const { issuers: hash, ...without } = fields;
  for (const taken of [{}, { policy }, { issuers: hash }, { policy, issuers: hash }]) {
    const each: OwnersChange = { kind: "founded", ...without, ...generation, ...taken };
    assertEquals(decodeOwnersChanges(encodeOwnersChange(each)), [each]);
  }
});

Deno.test("no statement about issuers is one about owners or a policy, and each changes with its issuers", () => {
  const { issuers: _, ...without } = fields;
  const other = { ...fields, issuers: filled(32, 9) };
  const said = [without, { ...without, policy }, fields, other]
    .flatMap((each) => [each, { ...each, ...generation }]);
  const statements = said.map((each) => bytesToHex(ownersStatement({ channelId, ...each })));
  assertEquals(new Set(statements).size, statements.length);
});

import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../base/errors.ts";
import { type AgentId, agentIdOf, parseAgentId, parseChannelId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import {
  decodeOwnersChanges,
  decodeOwnersVersion,
  encodeOwnersChange,
  encodeOwnersChanges,
  encodeOwnersVersion,
  type OwnersChange,
} from "./owners.ts";
import { ownersStatement } from "./statements.ts";

interface Golden {
  readonly version: string;
  readonly signed: string;
  readonly left: string;
  readonly founded: string;
  readonly foundedStatement: string;
  readonly statement: string;
}

/** With what they were made from: byte strings as `{hex}`. */
const { inputs, ...golden }: Golden & { readonly inputs: unknown } = JSON.parse(
  Deno.readTextFileSync(new URL("../testdata/owners.json", import.meta.url)),
);
const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const [first, second] = [parseAgentId("A".repeat(22)), parseAgentId(`${"B".repeat(21)}A`)];

const signed: OwnersChange = {
  kind: "signed",
  version: 258,
  previous: filled(32, 1),
  owners: [first, second],
  signatureKey: filled(32, 2),
  identity: Uint8Array.of(3, 4),
  signature: filled(64, 5),
};
const left: OwnersChange = {
  ...signed,
  kind: "left",
  version: 259,
  owners: [],
  leafHash: filled(32, 6),
};
const founded: OwnersChange = {
  ...signed,
  kind: "founded",
  version: 260,
  founded: { generation: 259, founding: filled(32, 8) },
};
const version = { version: 258, lastChange: filled(32, 7), owners: [first, second] };

/** As many as are asked for, in order. */
function agents(count: number): AgentId[] {
  return Array.from({ length: count }, (_, i) => agentIdOf(filled(32, i), Uint8Array.of(i >> 8)))
    .sort();
}

Deno.test("golden: owners of a version, changes of all kinds, the statements", () => {
  const { channelId, ...rest } = { channelId: parseChannelId("BwcHBwcHBwcHBwcHBwcHBw"), ...signed };
  assertEquals({
    version: bytesToHex(encodeOwnersVersion(version)),
    signed: bytesToHex(encodeOwnersChange(signed)),
    left: bytesToHex(encodeOwnersChange(left)),
    founded: bytesToHex(encodeOwnersChange(founded)),
    foundedStatement: bytesToHex(ownersStatement({ channelId, ...founded })),
    statement: bytesToHex(ownersStatement({ channelId, ...rest })),
  }, golden);
  const readable = (_: string, value: unknown): unknown =>
    value instanceof Uint8Array ? { hex: bytesToHex(value) } : value;
  assertEquals(
    JSON.parse(JSON.stringify({ channelId, version, signed, left, founded }, readable)),
    inputs,
  );
});

Deno.test("owners and their changes survive, none and the most of them", () => {
  assertEquals(decodeOwnersVersion(hexToBytes(golden.version)), version);
  assertEquals(decodeOwnersChanges(hexToBytes(golden.signed + golden.left + golden.founded)), [
    signed,
    left,
    founded,
  ]);
  assertEquals(decodeOwnersChanges(new Uint8Array(0)), []);
  const owners = agents(limits.ownersPerChannel);
  assertEquals(decodeOwnersVersion(encodeOwnersVersion({ ...version, owners })), {
    ...version,
    owners,
  });
  const most = Array.from({ length: limits.ownersChanges }, () => ({ ...signed, owners }));
  assertEquals(decodeOwnersChanges(encodeOwnersChanges(most)), most);
});

Deno.test("every truncation, a trailing byte and another format are refused", () => {
  const bytes = hexToBytes(golden.version);
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => decodeOwnersVersion(bytes.subarray(0, length)), WireError);
  }
  assertThrows(
    () => decodeOwnersVersion(concatBytes(bytes, Uint8Array.of(0))),
    WireError,
    "trailing",
  );
  const two = encodeOwnersChanges([signed, left]);
  const whole = encodeOwnersChange(signed).length;
  for (let length = 1; length < two.length; length++) {
    if (length !== whole) {
      assertThrows(() => decodeOwnersChanges(two.subarray(0, length)), WireError);
    }
  }
  assertThrows(
    () => decodeOwnersChanges(concatBytes(two, Uint8Array.of(1))),
    WireError,
    "too early",
  );
  for (const format of [0, 2, 255]) {
    assertThrows(() => decodeOwnersVersion(bytes.with(0, format)), WireError, "format");
    assertThrows(() => decodeOwnersChanges(two.with(0, format)), WireError, "format");
  }
});

Deno.test("owners that are out of order, twice, too many or no agents are refused", () => {
  const refuse = (owners: readonly AgentId[], why: string): void => {
    assertThrows(
      () => decodeOwnersVersion(encodeOwnersVersion({ ...version, owners })),
      WireError,
      why,
    );
    assertThrows(
      () => decodeOwnersChanges(encodeOwnersChange({ ...signed, owners })),
      WireError,
      why,
    );
  };
  refuse([second, first], "ascending");
  refuse([first, first], "ascending");
  refuse(agents(limits.ownersPerChannel + 1), "more than 64");
  const bytes = hexToBytes(golden.version);
  // Behind format, version, hash and one byte of length stands the first id.
  for (const odd of [0x20, 0x3d, 0xff]) {
    assertThrows(() => decodeOwnersVersion(bytes.with(42, odd)), WireError);
  }
});

Deno.test("a change of another kind, version 0, without identity or with what another kind has is refused", () => {
  const bytes = encodeOwnersChange(signed);
  for (const kind of [0, 3, 4, 255]) {
    assertThrows(() => decodeOwnersChanges(bytes.with(1, kind)), WireError, "kind");
  }
  assertThrows(() => decodeOwnersChanges(bytes.with(1, 2)), WireError, "has 0 bytes");
  assertThrows(
    () => decodeOwnersChanges(encodeOwnersChange(left).with(1, 1)),
    WireError,
    "has 32 bytes",
  );
  const short = { ...left, leafHash: filled(31, 6) };
  assertThrows(() => decodeOwnersChanges(encodeOwnersChange(short)), WireError, "has 31 bytes");
  assertThrows(
    () => decodeOwnersChanges(encodeOwnersChange({ ...signed, version: 0 })),
    WireError,
    "version is 0",
  );
  for (const identity of [new Uint8Array(0), filled(limits.identityBytes + 1, 1)]) {
    assertThrows(
      () => decodeOwnersChanges(encodeOwnersChange({ ...signed, identity })),
      WireError,
      "identity",
    );
  }
});

Deno.test("more changes than members keep are refused before they are read", () => {
  const over = Array.from({ length: limits.ownersChanges + 1 }, () => signed);
  assertThrows(() => decodeOwnersChanges(encodeOwnersChanges(over)), WireError, "more than 64");
});

Deno.test("an owners statement changes with every field", () => {
  const s = {
    channelId: parseChannelId("BwcHBwcHBwcHBwcHBwcHBw"),
    version: 2,
    previous: filled(32, 1),
    owners: [first],
  };
  const others = [
    { ...s, channelId: parseChannelId("BwcHBwcHBwcHBwcHBwcHCA") },
    { ...s, version: 3 },
    { ...s, previous: filled(32, 2) },
    { ...s, owners: [second] },
    { ...s, owners: [] },
  ];
  const statements = [s, ...others].map((each) => bytesToHex(ownersStatement(each)));
  assertEquals(new Set(statements).size, statements.length);
});

import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import { WireError } from "../base/errors.ts";
import { parseAgentId, parseChannelId } from "../base/ids.ts";
import { decodeOwnersChanges, encodeOwnersChange, type OwnersChange } from "./owners.ts";
import {
  type ChannelPolicy,
  decodePolicy,
  encodePolicy,
  type PolicyScope,
  samePolicy,
} from "./policy.ts";
import { ownersStatement } from "./statements.ts";

interface Golden {
  readonly policy: string;
  readonly change: string;
  readonly statement: string;
  readonly founded: string;
  readonly foundedStatement: string;
}

const golden: Golden = JSON.parse(
  Deno.readTextFileSync(new URL("../testdata/policy.json", import.meta.url)),
);
const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const channelId = parseChannelId("BwcHBwcHBwcHBwcHBwcHBw");
const policy: ChannelPolicy = { admission: "owners", posting: "members" };
const fields = {
  version: 258,
  previous: filled(32, 1),
  owners: [parseAgentId("A".repeat(22))],
  signatureKey: filled(32, 2),
  identity: Uint8Array.of(3, 4),
  signature: filled(64, 5),
  policy,
};
const change: OwnersChange = { kind: "policy", ...fields };
const founded: OwnersChange = {
  kind: "founded",
  ...fields,
  founded: { generation: 2, founding: filled(32, 8) },
};

Deno.test("golden: a policy, its change, the founding that takes one along, and what their owners signed", () => {
  assertEquals({
    policy: bytesToHex(encodePolicy(policy)),
    change: bytesToHex(encodeOwnersChange(change)),
    statement: bytesToHex(ownersStatement({ channelId, ...change })),
    founded: bytesToHex(encodeOwnersChange(founded)),
    foundedStatement: bytesToHex(ownersStatement({ channelId, ...founded })),
  }, golden);
  assertEquals(decodeOwnersChanges(hexToBytes(golden.change + golden.founded)), [change, founded]);
});

Deno.test("every policy survives, and everything else is refused", () => {
  const scopes: readonly PolicyScope[] = ["members", "owners"];
  for (const admission of scopes) {
    for (const posting of scopes) {
      assertEquals(decodePolicy(encodePolicy({ admission, posting })), { admission, posting });
    }
  }
  const bytes = encodePolicy(policy);
  for (let length = 0; length < bytes.length; length++) {
    assertThrows(() => decodePolicy(bytes.subarray(0, length)), WireError, "too early");
  }
  assertThrows(() => decodePolicy(concatBytes(bytes, Uint8Array.of(0))), WireError, "trailing");
  for (const format of [0, 2, 255]) {
    assertThrows(() => decodePolicy(bytes.with(0, format)), WireError, "format");
  }
  for (const at of [1, 2]) assertThrows(() => decodePolicy(bytes.with(at, 2)), WireError, "nobody");
});

Deno.test("changes with half a policy, or one where none belongs, are refused", () => {
  const signed = encodeOwnersChange({ ...change, kind: "signed" });
  assertThrows(() => decodeOwnersChanges(signed.with(1, 4)), WireError, "kind 4 has 0 bytes");
  assertThrows(
    () => decodeOwnersChanges(encodeOwnersChange(change).with(1, 1)),
    WireError,
    "kind 1 has 3 bytes",
  );
  assertThrows(
    () => decodeOwnersChanges(encodeOwnersChange(change).with(1, 3)),
    WireError,
    "kind 3 has 3 bytes",
  );
});

Deno.test("no statement about a policy is one about owners, and each changes with its policy", () => {
  const { policy: _, ...without } = fields;
  const closed = { ...fields, policy: { admission: "owners", posting: "owners" } } as const;
  const generation = { founded: { generation: 2, founding: filled(32, 8) } };
  const said = [without, fields, closed].flatMap((each) => [each, { ...each, ...generation }]);
  const statements = said.map((each) => bytesToHex(ownersStatement({ channelId, ...each })));
  assertEquals(new Set(statements).size, statements.length);
});

Deno.test("no policy is not the same as an open one", () => {
  assertEquals(samePolicy(undefined, undefined), true);
  assertEquals(samePolicy(undefined, { admission: "members", posting: "members" }), false);
});

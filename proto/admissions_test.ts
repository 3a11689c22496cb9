import { concatBytes } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import {
  type Admission,
  decodeAdmissions,
  decodeShownAdmissions,
  encodeAdmissions,
  encodeShownAdmissions,
} from "./admissions.ts";
import { WireError } from "./errors.ts";
import { parseAgentId } from "./ids.ts";
import { limits } from "./limits.ts";
import { vector } from "./mls/writer.ts";

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const admission: Admission = {
  signatureKey: filled(32, 1),
  identity: Uint8Array.of(2, 3),
  membership: filled(16, 4),
  epoch: 258,
  agentId: parseAgentId("A".repeat(22)),
  signature: filled(64, 5),
};
const many = (count: number): Admission[] => Array.from({ length: count }, (_, epoch) => ({ ...admission, epoch }));

function refused(bytes: Uint8Array, why: string): void {
  assertThrows(() => decodeShownAdmissions(bytes), WireError, why);
}

Deno.test("admissions survive, none and the most of them", () => {
  for (const maker of [[], many(1), many(limits.admissions)]) {
    assertEquals(decodeAdmissions(encodeAdmissions(maker)), maker);
    for (const added of [[], many(limits.membersPerChannel)]) {
      assertEquals(decodeShownAdmissions(encodeShownAdmissions({ maker, added })), { maker, added });
    }
  }
});

Deno.test("admissions that are too many, cut, followed by something or of another format are refused", () => {
  refused(encodeShownAdmissions({ maker: many(limits.admissions + 1), added: [] }), "more than 16");
  refused(encodeShownAdmissions({ maker: [], added: many(limits.membersPerChannel + 1) }), "more than 1000");
  const good = encodeShownAdmissions({ maker: [admission], added: [admission] });
  for (let length = 0; length < good.length; length++) refused(good.subarray(0, length), "Cannot read admissions");
  refused(concatBytes(good, Uint8Array.of(0)), "1 trailing bytes");
  const other = encodeAdmissions([admission]);
  other[0] = 2;
  refused(concatBytes(vector(other), vector(new Uint8Array(0))), "the format of one is 2");
  refused(
    encodeShownAdmissions({ maker: [{ ...admission, identity: filled(257, 1) }], added: [] }),
    "identity has 257",
  );
  refused(encodeShownAdmissions({ maker: [{ ...admission, identity: filled(0, 1) }], added: [] }), "identity has 0");
});

import { concatBytes } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import {
  type Admission,
  decodeAdmissions,
  decodeShownAdmissions,
  encodeAdmissions,
  encodeShownAdmissions,
  type SignedAdmission,
} from "./admissions.ts";
import { WireError } from "../base/errors.ts";
import { parseAgentId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";

const filled = (length: number, byte: number): Uint8Array => new Uint8Array(length).fill(byte);
const admission: Admission = {
  signatureKey: filled(32, 1),
  identity: Uint8Array.of(2, 3),
  membership: filled(16, 4),
  epoch: 258,
  agentId: parseAgentId("A".repeat(22)),
  signature: filled(64, 5),
};
const membership = filled(16, 6);
const many = (count: number): Admission[] =>
  Array.from({ length: count }, (_, epoch) => ({ ...admission, epoch }));
const manyAdded = (count: number): SignedAdmission[] =>
  Array.from(
    { length: count },
    (_, i) => ({ agentId: admission.agentId, signature: filled(64, i) }),
  );

function refused(bytes: Uint8Array, why: string): void {
  assertThrows(() => decodeShownAdmissions(bytes), WireError, why);
}

Deno.test("admissions survive, none and the most of them", () => {
  for (const maker of [[], many(1), many(limits.admissions)]) {
    assertEquals(decodeAdmissions(encodeAdmissions(maker)), maker);
    for (const added of [[], manyAdded(limits.membersPerChannel)]) {
      const shown = { maker, membership, added };
      assertEquals(decodeShownAdmissions(encodeShownAdmissions(shown)), shown);
    }
  }
});

Deno.test("admissions that are too many, cut, followed by something or of another format are refused", () => {
  const shown = (maker: readonly Admission[], added: readonly SignedAdmission[] = []): Uint8Array =>
    encodeShownAdmissions({ maker, membership, added });
  refused(shown(many(limits.admissions + 1)), "more than 16");
  refused(shown([], manyAdded(limits.membersPerChannel + 1)), "more than 1000");
  const good = shown([admission], manyAdded(2));
  for (let length = 0; length < good.length; length++) {
    refused(good.subarray(0, length), "Cannot read admissions");
  }
  refused(concatBytes(good, Uint8Array.of(0)), "1 trailing bytes");
  for (const at of [0, 3]) {
    const other = good.slice();
    other[at] = 2;
    refused(other, "their format is 2");
  }
  refused(shown([{ ...admission, identity: filled(257, 1) }]), "identity has 257");
  refused(shown([{ ...admission, identity: filled(0, 1) }]), "identity has 0");
});

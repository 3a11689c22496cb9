import { concatBytes } from "@noble/hashes/utils.js";
import { assertEquals, assertThrows } from "@std/assert";
import {
  type CommitAad,
  decodeCommitAad,
  emptyCommitAad,
  encodeCommitAad,
  type MemberProof,
} from "./commit_aad.ts";
import { WireError } from "../base/errors.ts";
import { agentIdOf } from "../base/ids.ts";
import { limits } from "../base/limits.ts";

function proof(number: number): MemberProof {
  const agentId = agentIdOf(new Uint8Array(32).fill(number), Uint8Array.of(number >> 8, number));
  return { agentId, signature: new Uint8Array(64).fill(number) };
}

const aad: CommitAad = {
  changes: Uint8Array.of(1, 2, 3),
  leaves: [proof(1), proof(2)],
  rejoins: [proof(3)],
};

Deno.test("authenticated data of a commit survives, each part alone and all together", () => {
  const some: Partial<CommitAad>[] = [aad, { changes: aad.changes }, { leaves: aad.leaves }, {
    rejoins: aad.rejoins,
  }];
  for (const part of some) {
    const whole = { ...emptyCommitAad, ...part };
    assertEquals(decodeCommitAad(encodeCommitAad(whole)), whole);
  }
});

Deno.test("a commit with nothing to prove has no authenticated data, and there is one way to say so", () => {
  assertEquals(encodeCommitAad(emptyCommitAad), new Uint8Array(0));
  assertEquals(decodeCommitAad(new Uint8Array(0)), emptyCommitAad);
  assertThrows(() => decodeCommitAad(Uint8Array.of(1, 0, 0, 0)), WireError, "says nothing");
});

Deno.test("decodeCommitAad() refuses every truncation, a trailing byte and other formats", () => {
  const bytes = encodeCommitAad(aad);
  for (let length = 1; length < bytes.length; length++) {
    assertThrows(() => decodeCommitAad(bytes.subarray(0, length)), WireError);
  }
  assertThrows(() => decodeCommitAad(concatBytes(bytes, Uint8Array.of(0))), WireError, "trailing");
  for (const format of [0, 2, 255]) {
    assertThrows(
      () => decodeCommitAad(concatBytes(Uint8Array.of(format), bytes.subarray(1))),
      WireError,
      "format",
    );
  }
});

Deno.test("decodeCommitAad() refuses an agent id that is none, and a part of a proof", () => {
  const bytes = encodeCommitAad({ ...emptyCommitAad, leaves: [proof(1)] });
  // Format, the length of no changes, two bytes of length, then the id.
  for (const odd of [0x20, 0x3d, 0xff]) {
    assertThrows(() => decodeCommitAad(bytes.with(4, odd)), WireError);
  }
  const cut = concatBytes(Uint8Array.of(1, 0, 22), bytes.subarray(4, 26), Uint8Array.of(0));
  assertThrows(() => decodeCommitAad(cut), WireError, "ends too early");
});

Deno.test("a commit proves at most so many leaves and as many rejoins", () => {
  const most = Array.from({ length: limits.proofsPerCommit }, (_, i) => proof(i));
  const full = { ...emptyCommitAad, leaves: most, rejoins: most };
  const bytes = encodeCommitAad(full);
  assertEquals(decodeCommitAad(bytes), full);
  assertThrows(
    () => encodeCommitAad({ ...emptyCommitAad, leaves: [...most, proof(200)] }),
    WireError,
    "at most",
  );
  const one = encodeCommitAad({ ...emptyCommitAad, leaves: [proof(1)] }).subarray(4, 90);
  const content = concatBytes(...Array.from({ length: limits.proofsPerCommit + 1 }, () => one));
  const length = Uint8Array.of(0x40 | (content.length >> 8), content.length);
  const over = concatBytes(Uint8Array.of(1, 0), length, content, Uint8Array.of(0));
  assertThrows(() => decodeCommitAad(over), WireError, "at most");
});

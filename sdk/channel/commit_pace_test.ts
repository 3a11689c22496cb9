import { assert, assertEquals, assertThrows } from "@std/assert";
import { StaticError } from "../base/errors.ts";
import { aeadOf } from "../mls/crypto/suite.ts";
import { SecretTree } from "../mls/secret_tree.ts";
import { CommitPace, type PacedEpoch } from "./commit_pace.ts";

const minute = 60_000;

function createEpoch(memberCount = 2): PacedEpoch {
  return { ownLeaf: 0, tree: { memberCount }, secretTree: createTree() };
}

function createTree(): SecretTree {
  return SecretTree.create(aeadOf[3], 3, new Uint8Array(32).fill(1));
}

Deno.test("members can follow the last commit of an epoch that is allowed, however long a relay refuses them all", () => {
  const epoch = createEpoch();
  const own = epoch.secretTree as SecretTree; // cast: made above
  let nowMs = 0;
  const pace = new CommitPace({ nowMs: () => nowMs });
  const rests = new Map<number, number>();
  let last = 0;
  for (let made = 0; made <= 1000; made++) {
    try {
      pace.take(epoch);
    } catch (error) {
      assert(error instanceof StaticError && error.code === "overloaded");
      const { retryAfterMs = 0 } = error;
      rests.set(retryAfterMs, (rests.get(retryAfterMs) ?? 0) + 1);
      nowMs += retryAfterMs - 1;
      assertThrows(() => pace.take(epoch), StaticError, "try again in 1 min");
      nowMs++;
      pace.take(epoch);
    }
    last = own.next(0, "handshake").generation;
  }
  assert(typeof createTree().find(0, "handshake", last) !== "string");
  const hundreds = [10, 20, 40, 80, 160].map((minutes): [number, number] => [minutes * minute, 100]);
  assertEquals([...rests], [...hundreds, [320 * minute, 1]]);
  nowMs += 365 * 24 * 60 * minute;
  assertThrows(() => pace.take(epoch), StaticError, "ask another member");
});

Deno.test("each epoch begins anew, and an agent that is alone has nobody who could not follow", () => {
  const pace = new CommitPace({ nowMs: () => 0 });
  const [first, alone] = [createEpoch(), createEpoch(1)];
  for (const epoch of [first, alone]) {
    for (let made = 0; made < 2000; made++) (epoch.secretTree as SecretTree).next(0, "handshake"); // cast: made above
  }
  assertThrows(() => pace.take(first), StaticError, "ask another member");
  pace.take(createEpoch());
  pace.take(alone);
});

Deno.test("a clock that was set back does not stop an agent's commits", () => {
  const epoch = createEpoch();
  for (let made = 0; made < 600; made++) (epoch.secretTree as SecretTree).next(0, "handshake"); // cast: made above
  let nowMs = 600 * minute;
  const pace = new CommitPace({ nowMs: () => nowMs });
  pace.take(epoch);
  nowMs = 0;
  pace.take(epoch);
});

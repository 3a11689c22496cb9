import { assert, assertEquals } from "@std/assert";
import { aeadOf } from "../../mls/crypto/suite.ts";
import { maxSkippedGenerations, SecretTree } from "../../mls/secret_tree.ts";
import { restMs } from "./commit_pace.ts";

const minute = 60_000;

function createTree(): SecretTree {
  return SecretTree.create(aeadOf[3], 3, new Uint8Array(32).fill(1));
}

Deno.test("members can follow the last commit of an epoch that is allowed, and all of them take three weeks", () => {
  const own = createTree();
  let last = 0;
  const rests = new Map<number, number>();
  for (let made = 0; made <= maxSkippedGenerations; made++) {
    const ms = restMs(made);
    if (ms > 0) rests.set(ms, (rests.get(ms) ?? 0) + 1);
    last = own.next(0, "handshake").generation;
  }
  assert(typeof createTree().find(0, "handshake", last) !== "string");
  const hundreds = [10, 20, 40, 80, 160].map((
    minutes,
  ): [number, number] => [minutes * minute, 100]);
  assertEquals([...rests], [...hundreds, [320 * minute, 1]]);
});

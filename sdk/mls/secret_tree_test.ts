import { bytesToHex } from "@noble/hashes/utils.js";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { MlsFault } from "./codec.ts";
import { aeadOf } from "./crypto/suite.ts";
import {
  maxSkippedGenerations,
  maxSkippedInEpoch,
  type MessageKey,
  SecretTree,
} from "./secret_tree.ts";

const nodeCount = 15;
const createTree = (): SecretTree =>
  SecretTree.create(aeadOf[3], nodeCount, new Uint8Array(32).fill(1));

function find(
  tree: SecretTree,
  leaf: number,
  generation: number,
): Exclude<ReturnType<SecretTree["find"]>, string> {
  const key = tree.find(leaf, "application", generation);
  assert(typeof key !== "string", `${key}`);
  return key;
}

function keysOf(tree: SecretTree, leaf: number, count: number): MessageKey[] {
  return Array.from({ length: count }, () => tree.next(leaf, "application"));
}

Deno.test("keys are the same in whichever order they are asked for and used", () => {
  const expected = keysOf(createTree(), 2, 200).map(({ key, nonce }) => [key, nonce]);
  const tree = createTree();
  for (const generation of [199, 3, 64, 65, 63, 150]) find(tree, 2, generation);
  for (const generation of [70, 3, 69, 71, 199, 64, 65, 150, 0]) {
    const { key, nonce, use } = find(tree, 2, generation);
    assertEquals([key, nonce], expected[generation], `generation ${generation}`);
    use();
    assertEquals(tree.find(2, "application", generation), "used");
  }
});

Deno.test("what is kept for skipped messages opens those and nothing after them", () => {
  const count = 40;
  const chain = createTree();
  const secrets = Array.from(
    { length: count },
    (_, i) => bytesToHex(chain.ahead(1, "application", i).secret),
  );
  const tree = createTree();
  find(tree, 1, count - 1).use();
  const kept = tree.leaves.get(1)?.application.skipped ?? new Map();
  assertEquals(kept.size, count - 1);
  for (const [generation, { key, nonce }] of kept) {
    assert(
      !secrets.includes(bytesToHex(key)) && nonce.length === 12,
      `the secret of generation ${generation} is kept`,
    );
  }
});

Deno.test("a claim far ahead, made again and again, is walked once", () => {
  const timeOf = (act: () => unknown): number => {
    const started = performance.now();
    act();
    return performance.now() - started;
  };
  const tree = createTree();
  const claim = (leaf: number): number => timeOf(() => find(tree, leaf, maxSkippedGenerations));
  for (let leaf = 1; leaf < 4; leaf++) claim(leaf);
  const first = claim(0);
  const later = Array.from({ length: 21 }, () => claim(0)).sort((a, b) => a - b)[10] ?? Infinity;
  assert(later * 4 < first, `first ${first} ms, later ${later} ms`);
  assertEquals(tree.find(0, "application", maxSkippedGenerations + 1), "too_far_ahead");
  assertEquals(
    find(tree, 0, 0).key,
    createTree().next(0, "application").key,
    "nothing was used up",
  );
});

Deno.test("a sender that leaves out generations without end is walked after no further than its restarts need", () => {
  const tree = createTree();
  let generation = 0;
  for (let skipped = 0; skipped < maxSkippedInEpoch; skipped += 1000, generation++) {
    find(tree, 0, generation += 1000).use();
  }
  const kept = tree.leaves.get(0)?.application.skipped;
  assertEquals(kept?.size, maxSkippedGenerations);
  assertEquals(tree.find(0, "application", generation + 300), "too_far_ahead");
  for (let restarts = 0; restarts < 3; restarts++) find(tree, 0, generation += 64).use();
  assertEquals(tree.leaves.get(0)?.application.skipped, kept, "no more keys are kept");
  assertEquals(
    find(tree, 0, generation + 1).key,
    keysOf(createTree(), 0, generation + 2).at(-1)?.key,
  );
  find(tree, 1, 1000).use();
  assertEquals(tree.leaves.get(1)?.application.skipped.size, 1000, "others are read as before");
});

Deno.test("a leaf that is forgotten is gone, whether it has spoken or not", () => {
  for (const spoken of [true, false]) {
    const tree = createTree();
    if (spoken) tree.next(3, "application");
    tree.forget(3);
    assertEquals([tree.leaves.has(3), tree.takeDerived().has(3)], [false, false]);
    assertThrows(() => tree.next(3, "application"), MlsFault, "deleted");
    assertEquals(tree.next(2, "application").key, createTree().next(2, "application").key);
  }
});

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createRandom } from "../../tests/support/mod.ts";
import { atOnce } from "../base/interruptible_work.ts";
import { MlsFault } from "./codec.ts";
import { maxLeaves, RatchetTree, type TreeNode, type TreeParent } from "./ratchet_tree.ts";
import { type Agent, World } from "./testing/world.ts";
import { validateTree } from "./tree_validation.ts";

/**
 * Nodes of a tree with history: updates by several members around additions, so that parents differ
 * in who is unmerged.
 */
async function nodesWithHistory(): Promise<(TreeNode | undefined)[]> {
  const world = new World(createRandom(3));
  const creator = await world.create();
  const agents = Array.from({ length: 5 }, () => world.newAgent());
  await world.add(creator, ...agents);
  const update = async (agent: Agent | undefined): Promise<void> => {
    assert(agent);
    await agent.sync();
    await world.commit(agent, () => ({}));
    await creator.sync();
  };
  for (const agent of agents) await update(agent);
  const last = world.newAgent();
  await world.add(creator, last);
  await update(agents[0]);
  await update(last);
  await world.add(creator, world.newAgent());
  const { tree } = creator.member.current;
  return Array.from({ length: tree.nodeCount }, (_, i) => tree.node(i));
}

function withParent(
  nodes: readonly (TreeNode | undefined)[],
  change: (parent: TreeParent) => TreeParent | undefined,
): RatchetTree {
  let done = false;
  return RatchetTree.fromNodes(nodes.map((node) => {
    if (done || node?.kind !== "parent") return node;
    const changed = change(node);
    if (changed === undefined) return node;
    done = true;
    return changed;
  }));
}

Deno.test("a tree with unmerged leaves at several levels is valid", async () => {
  const nodes = await nodesWithHistory();
  const parents = nodes.filter((node) => node?.kind === "parent");
  assert(parents.some(({ unmerged }) => unmerged.length > 0) && parents.length >= 3);
  atOnce(validateTree(RatchetTree.fromNodes(nodes)));
});

const faults: readonly [why: string, change: (parent: TreeParent) => TreeParent | undefined][] = [
  [
    "another public key in a parent",
    (parent) => ({ ...parent, publicKey: new Uint8Array(32).fill(1) }),
  ],
  [
    "another parent hash",
    (parent) =>
      parent.parentHash.length > 0 ? { ...parent, parentHash: new Uint8Array(32) } : undefined,
  ],
  [
    "unmerged leaves that are missing",
    (parent) => parent.unmerged.length > 0 ? { ...parent, unmerged: [] } : undefined,
  ],
  [
    "unmerged leaves out of order",
    (parent) => ({ ...parent, unmerged: [...parent.unmerged, 1, 0] }),
  ],
  ["an unmerged leaf that is not below", (parent) => ({ ...parent, unmerged: [1000] })],
];

for (const [why, change] of faults) {
  Deno.test(`validateTree() refuses ${why}`, async () => {
    const tree = withParent(await nodesWithHistory(), change);
    assertThrows(() => atOnce(validateTree(tree)), MlsFault, "Ratchet tree refused");
  });
}

Deno.test("validateTree() refuses keys that occur twice", async () => {
  const nodes = await nodesWithHistory();
  const [first, second] = [nodes[0], nodes[2]];
  assert(first?.kind === "leaf" && second?.kind === "leaf");
  const twice = { ...second, node: { ...second.node, hpkePublicKey: first.node.hpkePublicKey } };
  assertThrows(
    () => atOnce(validateTree(RatchetTree.fromNodes(nodes.map((n, i) => i === 2 ? twice : n)))),
    MlsFault,
    "twice",
  );
});

Deno.test("validateTree() refuses a leaf that carries a parent's key", async () => {
  const nodes = await nodesWithHistory();
  const [leaf, parent] = [nodes[0], nodes.find((node) => node?.kind === "parent")];
  assert(leaf?.kind === "leaf" && parent?.kind === "parent");
  const shared = { ...leaf, node: { ...leaf.node, hpkePublicKey: parent.publicKey } };
  const tree = RatchetTree.fromNodes([shared, ...nodes.slice(1)]);
  assertThrows(() => atOnce(validateTree(tree)), MlsFault, "twice");
});

Deno.test("a ratchet tree that ends with blank nodes is refused, and so is one of nothing", async () => {
  const encoded = RatchetTree.fromNodes((await nodesWithHistory()).slice(0, 1)).encode();
  assertEquals(atOnce(RatchetTree.decode(encoded, "tree")).leafCount, 1);
  const length = encoded.length - 2;
  const blankAtEnd = Uint8Array.of(
    0x40 | ((length + 2) >> 8),
    length + 2,
    ...encoded.subarray(2),
    0,
    0,
  );
  assertEquals(encoded.subarray(0, 2), Uint8Array.of(0x40 | (length >> 8), length));
  for (const bytes of [blankAtEnd, Uint8Array.of(0), Uint8Array.of(1, 0)]) {
    assertThrows(() => atOnce(RatchetTree.decode(bytes, "tree")), MlsFault, "malformed");
  }
});

Deno.test("a node in a place of the other kind is refused", async () => {
  const [leaf] = await nodesWithHistory();
  assertThrows(() => RatchetTree.fromNodes([leaf, leaf]), MlsFault, "wrong kind");
});

Deno.test("cached hashes equal those of the same tree built from nothing, after any change", async () => {
  const nodes = await nodesWithHistory();
  let tree = RatchetTree.fromNodes(nodes);
  const leaf = tree.leaf(0);
  assert(leaf);
  tree.hash();
  for (
    const change of [
      () => tree.replace(3, undefined),
      () => tree.add(leaf).tree,
      () => tree.replace(1, leaf),
      () => tree.replace(tree.leafCount - 1, undefined),
      () => tree.withPath(2, leaf, new Map()),
    ]
  ) {
    tree = change();
    const rebuilt = RatchetTree.fromNodes(
      Array.from({ length: tree.nodeCount }, (_, i) => tree.node(i)),
    );
    assertEquals(tree.hash(), rebuilt.hash());
    assertEquals(tree.hashWithout(1, [0]), rebuilt.hashWithout(1, [0]));
  }
});

Deno.test("a tree with more leaves than a channel may have is refused before it is hashed", () => {
  assertThrows(() => RatchetTree.fromNodes(new Array(2 * maxLeaves)), MlsFault, "more than");
  assertEquals(RatchetTree.fromNodes(new Array(2 * maxLeaves - 1)).leafCount, maxLeaves);
});

/**
 * The ratchet tree of RFC 9420 section 7 as an immutable value. Changing it copies two arrays of
 * references and forgets the hashes between the change and the root, so the tree hash after a
 * commit costs a path and not the tree.
 */
import { concatBytes } from "@noble/hashes/utils.js";
import { type AgentId, limits } from "../../proto/mod.ts";
import { sha256 } from "../../wasm/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { decodeExactly, decodeFirst, MlsFault, optional, uint32, uint8, vector } from "./codec.ts";
import { agentOf } from "./leaf.ts";
import {
  directPathOf,
  isBelow,
  isLeafNode,
  leafOfNode,
  leafRangeOf,
  leftOf,
  nodeOfLeaf,
} from "./tree_math.ts";
import { parentOf, rightOf, rootOf, siblingOf } from "./tree_math.ts";
import {
  decodeNode,
  decodeOptional,
  decodeVarLenData,
  encodeLeafNode,
  type LeafNode,
  type Node,
} from "./ts_mls.ts";

export interface Leaf {
  readonly kind: "leaf";
  readonly node: LeafNode;
  readonly encoded: Uint8Array;
  /** Hashed when it is first asked for: every commit asks it of every leaf. */
  readonly agentId: AgentId;
}

/** The hash that statements are about: SHA-256 of a LeafNode as the tree has it. */
export function leafHashOf({ encoded }: Pick<Leaf, "encoded">): Uint8Array {
  return sha256(encoded);
}

export interface TreeParent {
  readonly kind: "parent";
  readonly publicKey: Uint8Array;
  readonly parentHash: Uint8Array;
  /** Leaves below that were added since the key was set, ascending. */
  readonly unmerged: readonly number[];
}

export type TreeNode = Leaf | TreeParent;

/**
 * One step of a leaf's filtered direct path: a node, and who below its other child must be told its
 * secret.
 */
export interface PathStep {
  readonly node: number;
  readonly copathChild: number;
  readonly resolution: readonly number[];
}

/**
 * Leaves fill from the left, so a group of at most a thousand never needs more. Also bounds what a
 * Welcome may make us hash.
 */
export const maxLeaves: number = 2 ** Math.ceil(Math.log2(limits.membersPerChannel));

/** The number of levels of a subtree that is hashed at once. */
const hashedLevels = 5;
const leafHashInput = 1;
const parentHashInput = 2;
/** `optional<Node>`: whether there is one, and its type. */
const [blank, presentLeaf, presentParent] = [
  Uint8Array.of(0),
  Uint8Array.of(1, 1),
  Uint8Array.of(1, 2),
];

export function createLeaf(node: LeafNode): Leaf {
  let agentId: AgentId | undefined;
  return {
    kind: "leaf",
    node,
    encoded: encodeLeafNode(node),
    get agentId(): AgentId {
      agentId ??= agentOf(node);
      return agentId;
    },
  };
}

export class RatchetTree {
  readonly #nodes: readonly (TreeNode | undefined)[];
  /**
   * Tree hashes by node, filled on demand; the same array is never shared between different trees.
   */
  readonly #hashes: (Uint8Array | undefined)[];

  private constructor(
    nodes: readonly (TreeNode | undefined)[],
    hashes: (Uint8Array | undefined)[],
  ) {
    this.#nodes = nodes;
    this.#hashes = hashes;
  }

  /**
   * Makes a tree of nodes in array order and extends it with blanks to a full tree. Refuses nodes
   * in places where they cannot be.
   */
  static fromNodes(given: readonly (TreeNode | undefined)[]): RatchetTree {
    if (given.length > 2 * maxLeaves - 1) {
      throw new MlsFault(`A ratchet tree has more than ${maxLeaves} leaves`);
    }
    const nodes = [...given];
    let width = 1;
    while (width < nodes.length) width = 2 * width + 1;
    while (nodes.length < width) nodes.push(undefined);
    nodes.forEach((node, index) => {
      if (node !== undefined && (node.kind === "leaf") !== isLeafNode(index)) {
        throw new MlsFault("Cannot read a ratchet tree: a node is of the wrong kind for its place");
      }
    });
    return new RatchetTree(nodes, new Array(nodes.length));
  }

  /**
   * The ratchet_tree extension. Throws `MlsFault` for anything else, also for blank nodes at its
   * end (section 12.4.3.3).
   */
  static *decode(bytes: Uint8Array, what: string): InterruptibleWork<RatchetTree> {
    const rest = decodeExactly(decodeVarLenData, bytes, what);
    const nodes: (TreeNode | undefined)[] = [];
    for (let at = 0; at < rest.length; yield) {
      const { value, length } = decodeFirst(decodeOptionalNode, rest.subarray(at), what);
      nodes.push(value && treeNodeOf(value));
      at += length;
    }
    if (nodes.at(-1) === undefined) throw new MlsFault(`Cannot read ${what}: it is malformed`);
    return RatchetTree.fromNodes(nodes);
  }

  get nodeCount(): number {
    return this.#nodes.length;
  }

  get leafCount(): number {
    return (this.#nodes.length + 1) / 2;
  }

  /** Leaves that are not blank. */
  get memberCount(): number {
    let count = 0;
    for (let i = 0; i < this.#nodes.length; i += 2) if (this.#nodes[i] !== undefined) count++;
    return count;
  }

  node(index: number): TreeNode | undefined {
    return this.#nodes[index];
  }

  leaf(leafIndex: number): Leaf | undefined {
    const node = this.#nodes[nodeOfLeaf(leafIndex)];
    return node?.kind === "leaf" ? node : undefined;
  }

  parent(index: number): TreeParent | undefined {
    const node = this.#nodes[index];
    return node?.kind === "parent" ? node : undefined;
  }

  /** Leaves that are not blank, with their indices. */
  *leaves(): Generator<readonly [leafIndex: number, leaf: Leaf]> {
    for (let i = 0; i < this.#nodes.length; i += 2) {
      const node = this.#nodes[i];
      if (node?.kind === "leaf") yield [leafOfNode(i), node];
    }
  }

  /** Parents that are not blank, with their node indices. */
  *parents(): Generator<readonly [nodeIndex: number, parent: TreeParent]> {
    for (let i = 1; i < this.#nodes.length; i += 2) {
      const node = this.#nodes[i];
      if (node?.kind === "parent") yield [i, node];
    }
  }

  /**
   * The ratchet_tree extension: every node up to the last one that is not blank (section 12.4.3.3).
   */
  encode(): Uint8Array {
    const last = this.#nodes.findLastIndex((node) => node !== undefined);
    const parts: Uint8Array[] = [];
    for (let i = 0; i <= last; i++) {
      const node = this.#nodes[i];
      if (node === undefined) parts.push(blank);
      else if (node.kind === "leaf") parts.push(presentLeaf, node.encoded);
      else parts.push(presentParent, encodeParent(node));
    }
    return vector(concatBytes(...parts));
  }

  /** Section 7.7: into the leftmost blank leaf, or a tree of twice the width. */
  add(leaf: Leaf): { readonly tree: RatchetTree; readonly leafIndex: number } {
    let leafIndex = 0;
    while (leafIndex < this.leafCount && this.leaf(leafIndex) !== undefined) leafIndex++;
    const nodes = [...this.#nodes];
    const hashes = [...this.#hashes];
    if (leafIndex === maxLeaves) throw new MlsFault(`A group has at most ${maxLeaves} members`);
    if (leafIndex === this.leafCount) {
      nodes.length = hashes.length = 2 * this.#nodes.length + 1;
    }
    nodes[nodeOfLeaf(leafIndex)] = leaf;
    for (const index of directPathOf(leafIndex, nodes.length)) {
      const node = nodes[index];
      if (node?.kind === "parent") {
        nodes[index] = { ...node, unmerged: insertSorted(node.unmerged, leafIndex) };
      }
    }
    forgetPath(hashes, leafIndex);
    return { tree: new RatchetTree(nodes, hashes), leafIndex };
  }

  /**
   * Section 12.1.2 and 12.1.3: puts a leaf, or nothing, and blanks the path above it; a blank right
   * half is cut off.
   */
  replace(leafIndex: number, leaf: Leaf | undefined): RatchetTree {
    const nodes = [...this.#nodes];
    const hashes = [...this.#hashes];
    nodes[nodeOfLeaf(leafIndex)] = leaf;
    for (const index of directPathOf(leafIndex, nodes.length)) nodes[index] = undefined;
    forgetPath(hashes, leafIndex);
    while (
      nodes.length > 1 && nodes.slice(rootOf(nodes.length)).every((node) => node === undefined)
    ) {
      nodes.length = hashes.length = rootOf(nodes.length);
    }
    return new RatchetTree(nodes, hashes);
  }

  /**
   * Section 7.5: a committer's new leaf and new keys on its filtered direct path; the rest of the
   * path is blank.
   */
  withPath(leafIndex: number, leaf: Leaf, parents: ReadonlyMap<number, TreeParent>): RatchetTree {
    const nodes = [...this.#nodes];
    const hashes = [...this.#hashes];
    nodes[nodeOfLeaf(leafIndex)] = leaf;
    for (const index of directPathOf(leafIndex, nodes.length)) nodes[index] = parents.get(index);
    forgetPath(hashes, leafIndex);
    return new RatchetTree(nodes, hashes);
  }

  /** Section 4.1.1: the fewest non-blank nodes that cover every member below. */
  resolution(index: number): number[] {
    const node = this.#nodes[index];
    if (node?.kind === "parent") return [index, ...node.unmerged.map(nodeOfLeaf)];
    if (node?.kind === "leaf") return [index];
    return isLeafNode(index)
      ? []
      : [...this.resolution(leftOf(index)), ...this.resolution(rightOf(index))];
  }

  /** Section 4.1.2: without the nodes whose other child has nobody below. */
  filteredDirectPath(leafIndex: number): PathStep[] {
    const steps: PathStep[] = [];
    let child = nodeOfLeaf(leafIndex);
    for (const node of directPathOf(leafIndex, this.nodeCount)) {
      const copathChild = siblingOf(child);
      const resolution = this.resolution(copathChild);
      if (resolution.length > 0) steps.push({ node, copathChild, resolution });
      child = node;
    }
    return steps;
  }

  /** So that `hash` is quick. */
  *hashInParts(): InterruptibleWork<Uint8Array> {
    const first = 2 ** hashedLevels - 1;
    for (let index = first; index < this.nodeCount; index += 2 * (first + 1)) {
      this.hash(index);
      yield;
    }
    return this.hash();
  }

  /** Section 7.8. */
  hash(index: number = rootOf(this.nodeCount)): Uint8Array {
    const known = this.#hashes[index];
    if (known !== undefined) return known;
    const hash = isLeafNode(index)
      ? hashLeaf(leafOfNode(index), this.leaf(leafOfNode(index)))
      : hashParent(this.parent(index), this.hash(leftOf(index)), this.hash(rightOf(index)));
    this.#hashes[index] = hash;
    return hash;
  }

  /**
   * The same as if these leaves had never been added; subtrees without any of them are not hashed
   * again.
   */
  hashWithout(index: number, leaves: readonly number[]): Uint8Array {
    const { start, end } = leafRangeOf(index);
    const below = leaves.filter((leaf) => leaf >= start && leaf < end);
    if (below.length === 0) return this.hash(index);
    if (isLeafNode(index)) return hashLeaf(leafOfNode(index), undefined);
    const parent = this.parent(index);
    const without = parent &&
      { ...parent, unmerged: parent.unmerged.filter((leaf) => !below.includes(leaf)) };
    return hashParent(
      without,
      this.hashWithout(leftOf(index), below),
      this.hashWithout(rightOf(index), below),
    );
  }

  /** Section 7.9: what a node below `index` commits to, on the side away from `sibling`. */
  parentHash(parent: TreeParent, sibling: number): Uint8Array {
    const original = this.hashWithout(sibling, parent.unmerged);
    return sha256(vector(parent.publicKey), vector(parent.parentHash), vector(original));
  }
}

const decodeOptionalNode = decodeOptional(decodeNode);

function treeNodeOf(node: Node): TreeNode {
  if (node.nodeType === "leaf") return createLeaf(node.leaf);
  const { hpkePublicKey, parentHash, unmergedLeaves } = node.parent;
  return { kind: "parent", publicKey: hpkePublicKey, parentHash, unmerged: unmergedLeaves };
}

function hashLeaf(leafIndex: number, leaf: Leaf | undefined): Uint8Array {
  return sha256(uint8(leafHashInput), uint32(leafIndex), optional(leaf?.encoded));
}

function hashParent(
  parent: TreeParent | undefined,
  left: Uint8Array,
  right: Uint8Array,
): Uint8Array {
  const encoded = parent && encodeParent(parent);
  return sha256(uint8(parentHashInput), optional(encoded), vector(left), vector(right));
}

function encodeParent({ publicKey, parentHash, unmerged }: TreeParent): Uint8Array {
  return concatBytes(
    vector(publicKey),
    vector(parentHash),
    vector(concatBytes(...unmerged.map(uint32))),
  );
}

function forgetPath(hashes: (Uint8Array | undefined)[], leafIndex: number): void {
  hashes[nodeOfLeaf(leafIndex)] = undefined;
  for (const index of directPathOf(leafIndex, hashes.length)) hashes[index] = undefined;
}

function insertSorted(leaves: readonly number[], leaf: number): number[] {
  return [...leaves, leaf].sort((a, b) => a - b);
}

/** The lowest node that two leaves share on their way up. */
export function commonAncestor(leafA: number, leafB: number): number {
  let node = parentOf(nodeOfLeaf(leafA));
  while (!isBelow(leafB, node)) node = parentOf(node);
  return node;
}

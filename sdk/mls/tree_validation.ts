/**
 * Is a ratchet tree that somebody sent us one that honest members could have built (RFC 9420
 * section 12.4.3.1)? Near-linear: every parent is looked at once, and hashes come from the tree's
 * own cache.
 */
import { isUsablePublicKey } from "../../proto/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { equalBytes, KeySet, MlsFault } from "./codec.ts";
import type { RatchetTree, TreeParent } from "./ratchet_tree.ts";
import { isBelow, leftOf, nodeOfLeaf, parentOf, rightOf } from "./tree_math.ts";

/**
 * Throws `MlsFault` for the first fault. Leaf signatures are checked by the caller, which knows the
 * group.
 */
export function* validateTree(tree: RatchetTree): InterruptibleWork<void> {
  checkKeysAreUnique(tree);
  for (const [index, parent] of tree.parents()) {
    checkUnmergedLeaves(tree, index, parent);
    if (!isParentHashValid(tree, index, parent)) throw refused("a parent hash does not match");
    yield;
  }
}

function checkKeysAreUnique(tree: RatchetTree): void {
  const [encryption, signature] = [new KeySet(), new KeySet()];
  for (const [, { node }] of tree.leaves()) {
    if (!encryption.add(node.hpkePublicKey) || !signature.add(node.signaturePublicKey)) {
      throw refused("a key occurs twice");
    }
  }
  for (const [, { publicKey }] of tree.parents()) {
    if (!encryption.add(publicKey)) throw refused("a key occurs twice");
    if (!isUsablePublicKey(publicKey)) throw refused("a parent's key is not usable");
  }
}

/**
 * Each unmerged leaf is a member below this node, and every non-blank node between the two lists it
 * as well. (That node's own list may hold more: leaves that were added before this node's key was
 * set but after that one's.)
 */
function checkUnmergedLeaves(tree: RatchetTree, index: number, parent: TreeParent): void {
  let previous = -1;
  for (const leaf of parent.unmerged) {
    if (leaf <= previous) throw refused("unmerged leaves are not in ascending order");
    previous = leaf;
    if (!isBelow(leaf, index) || tree.leaf(leaf) === undefined) {
      throw refused("an unmerged leaf is not below its parent");
    }
    for (let node = parentOf(nodeOfLeaf(leaf)); node !== index; node = parentOf(node)) {
      if (tree.parent(node)?.unmerged.includes(leaf) === false) {
        throw refused("an unmerged leaf is missing further down");
      }
    }
  }
}

/**
 * Section 7.9.2: below one child C of P there is exactly one node D, besides P's unmerged leaves,
 * that covers C; and D's parent hash is that of P with the other child as sibling.
 */
function isParentHashValid(tree: RatchetTree, index: number, parent: TreeParent): boolean {
  const children = [leftOf(index), rightOf(index)] as const;
  return [children, [children[1], children[0]] as const].some(([child, sibling]) => {
    const unmerged = new Set(
      parent.unmerged.filter((leaf) => isBelow(leaf, child)).map(nodeOfLeaf),
    );
    const resolution = tree.resolution(child);
    const rest = resolution.filter((node) => !unmerged.has(node));
    const [below] = rest;
    if (rest.length !== 1 || below === undefined || resolution.length !== unmerged.size + 1) {
      return false;
    }
    const claimed = claimedParentHash(tree, below);
    return claimed !== undefined && equalBytes(claimed, tree.parentHash(parent, sibling));
  });
}

function claimedParentHash(tree: RatchetTree, index: number): Uint8Array | undefined {
  const node = tree.node(index);
  if (node?.kind === "parent") return node.parentHash;
  return node?.node.leafNodeSource === "commit" ? node.node.parentHash : undefined;
}

function refused(why: string): MlsFault {
  return new MlsFault(`Ratchet tree refused: ${why}`);
}

/**
 * Array-based trees (RFC 9420 appendix C): leaf i is node 2i, and a tree of 2^d leaves has its root
 * at 2^d - 1.
 */

export function nodeOfLeaf(leafIndex: number): number {
  return 2 * leafIndex;
}

export function leafOfNode(nodeIndex: number): number {
  return nodeIndex / 2;
}

export function isLeafNode(nodeIndex: number): boolean {
  return nodeIndex % 2 === 0;
}

/** Returns the root of a tree with this many nodes. */
export function rootOf(nodeCount: number): number {
  return (nodeCount - 1) / 2;
}

/** Height above the leaves: the number of trailing one bits. */
export function levelOf(nodeIndex: number): number {
  return 31 - Math.clz32(~nodeIndex & (nodeIndex + 1));
}

export function leftOf(nodeIndex: number): number {
  return nodeIndex - 2 ** (levelOf(nodeIndex) - 1);
}

export function rightOf(nodeIndex: number): number {
  return nodeIndex + 2 ** (levelOf(nodeIndex) - 1);
}

export function parentOf(nodeIndex: number): number {
  const step = 2 ** levelOf(nodeIndex);
  return (nodeIndex / (2 * step)) % 2 < 1 ? nodeIndex + step : nodeIndex - step;
}

export function siblingOf(nodeIndex: number): number {
  const parent = parentOf(nodeIndex);
  return nodeIndex < parent ? rightOf(parent) : leftOf(parent);
}

/** From the leaf's parent up to the root. */
export function directPathOf(leafIndex: number, nodeCount: number): number[] {
  const path: number[] = [];
  const root = rootOf(nodeCount);
  for (let node = nodeOfLeaf(leafIndex); node !== root;) {
    node = parentOf(node);
    path.push(node);
  }
  return path;
}

/** The first leaf below a node and the first one after it. */
export function leafRangeOf(nodeIndex: number): { readonly start: number; readonly end: number } {
  const half = 2 ** levelOf(nodeIndex);
  return { start: (nodeIndex - half + 1) / 2, end: (nodeIndex + half - 1) / 2 + 1 };
}

export function isBelow(leafIndex: number, nodeIndex: number): boolean {
  const { start, end } = leafRangeOf(nodeIndex);
  return leafIndex >= start && leafIndex < end;
}

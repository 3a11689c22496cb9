/**
 * TreeKEM (RFC 9420 sections 7.4 to 7.6): fresh keys on the way from a committer's leaf to the
 * root, told to the others.
 */
import { isUsablePublicKey } from "../../proto/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { equalBytes, KeySet, label, MlsFault } from "./codec.ts";
import { deriveKeyPair, type HpkeCiphertext, type KeyPair } from "./crypto/hpke.ts";
import type { KeyAgreement } from "./crypto/key_agreement.ts";
import { createEncryptor, decryptWithLabel, deriveSecret } from "./crypto/labelled.ts";
import type { Aead } from "./crypto/suite.ts";
import { createLeaf, type PathStep, type RatchetTree, type TreeParent } from "./ratchet_tree.ts";
import { isBelow, nodeOfLeaf } from "./tree_math.ts";
import type { LeafNodeCommit, UpdatePath, UpdatePathNode } from "./ts_mls.ts";

const pathLabel = label("path");
const nodeLabel = label("node");
const updatePathLabel = label("UpdatePathNode");
const noBytes = new Uint8Array(0);

/** Nodes of leaves that this commit adds: they learn the path from their Welcome. */
export type NewLeaves = ReadonlySet<number>;

export interface CreatedPath {
  readonly tree: RatchetTree;
  readonly updatePath: UpdatePath;
  readonly leafKey: KeyPair;
  readonly pathKeys: ReadonlyMap<number, KeyPair>;
  /** The secrets that a new member gets in its Welcome, by the node above it. */
  readonly pathSecrets: ReadonlyMap<number, Uint8Array>;
  readonly commitSecret: Uint8Array;
}

export interface CreatePathInput {
  /** After the commit's proposals. */
  readonly tree: RatchetTree;
  readonly sender: number;
  readonly newLeaves: NewLeaves;
  readonly aead: Aead;
  readonly agreement: KeyAgreement;
  readonly randomBytes: (length: number) => Uint8Array;
  readonly createLeafNode: (publicKey: Uint8Array, parentHash: Uint8Array) => LeafNodeCommit;
  /** The group context, encoded, of the epoch that begins with this tree hash. */
  readonly contextFor: (treeHash: Uint8Array) => Uint8Array;
}

export function* createPath(input: CreatePathInput): InterruptibleWork<CreatedPath> {
  const { tree, sender, aead, agreement, randomBytes } = input;
  const steps = tree.filteredDirectPath(sender);
  const secrets = pathSecretsFrom(randomBytes(32), steps.length);
  const keys = secrets.slice(0, steps.length).map((secret) =>
    deriveKeyPair(deriveSecret(secret, nodeLabel), agreement)
  );
  const { parents, leafParentHash } = hashedParents(
    tree,
    steps,
    keys.map(({ publicKey }) => publicKey),
  );
  const leafKey = deriveKeyPair(randomBytes(32), agreement);
  const leafNode = input.createLeafNode(leafKey.publicKey, leafParentHash);
  const updated = tree.withPath(sender, createLeaf(leafNode), parents);
  const context = input.contextFor(yield* updated.hashInParts());
  const encrypt = createEncryptor(aead, updatePathLabel, context, agreement);
  const nodes: UpdatePathNode[] = [];
  for (const [i, { resolution }] of steps.entries()) {
    const encryptedPathSecret: HpkeCiphertext[] = [];
    for (const node of receivers(resolution, input.newLeaves)) {
      const plaintext = secrets[i] ?? noBytes;
      encryptedPathSecret.push(
        encrypt({ publicKey: publicKeyOf(tree, node), plaintext, randomness: randomBytes(32) }),
      );
      yield;
    }
    nodes.push({ hpkePublicKey: keys[i]?.publicKey ?? noBytes, encryptedPathSecret });
  }
  return {
    tree: updated,
    updatePath: { leafNode, nodes },
    leafKey,
    pathKeys: byNode(steps, keys),
    pathSecrets: byNode(steps, secrets),
    commitSecret: secrets[steps.length] ?? noBytes,
  };
}

/**
 * The tree after somebody's path, its parent hashes recomputed and compared with the one that the
 * leaf signed.
 */
export function applyPath(tree: RatchetTree, sender: number, path: UpdatePath): RatchetTree {
  const steps = tree.filteredDirectPath(sender);
  if (steps.length !== path.nodes.length) {
    throw new MlsFault("A commit's path has the wrong length");
  }
  const before = tree.leaf(sender);
  if (before === undefined) throw new MlsFault("A commit's sender is not in the group");
  if (equalBytes(before.node.hpkePublicKey, path.leafNode.hpkePublicKey)) {
    throw new MlsFault("A commit reuses its leaf key");
  }
  const publicKeys = path.nodes.map(({ hpkePublicKey }) => hpkePublicKey);
  checkFresh(tree, [path.leafNode.hpkePublicKey, ...publicKeys]);
  const { parents, leafParentHash } = hashedParents(tree, steps, publicKeys);
  if (!equalBytes(leafParentHash, path.leafNode.parentHash)) {
    throw new MlsFault("A commit's parent hash does not match");
  }
  return tree.withPath(sender, createLeaf(path.leafNode), parents);
}

/** Section 12.4.2: no key of a path is in the tree already, or twice in the path. */
function checkFresh(tree: RatchetTree, publicKeys: readonly Uint8Array[]): void {
  const seen = new KeySet();
  for (const [, { node }] of tree.leaves()) seen.add(node.hpkePublicKey);
  for (const [, { publicKey }] of tree.parents()) seen.add(publicKey);
  if (!publicKeys.every((key) => isUsablePublicKey(key) && seen.add(key))) {
    throw new MlsFault("A commit's path reuses a key, or has one that nobody can encrypt to");
  }
}

export interface OpenPathInput {
  /** The tree after the proposals and before the path, for which the path was encrypted. */
  readonly before: RatchetTree;
  readonly sender: number;
  readonly path: UpdatePath;
  readonly newLeaves: NewLeaves;
  readonly aead: Aead;
  readonly agreement: KeyAgreement;
  readonly ownLeaf: number;
  readonly leafPrivateKey: Uint8Array;
  readonly pathKeys: ReadonlyMap<number, KeyPair>;
  readonly context: Uint8Array;
}

export interface OpenedPath {
  /** The keys of the nodes that we share with the sender. */
  readonly pathKeys: ReadonlyMap<number, KeyPair>;
  readonly commitSecret: Uint8Array;
}

/** Finds the one secret that was encrypted for us and derives everything above it. */
export function openPath(input: OpenPathInput): OpenedPath {
  const { before, sender, path, ownLeaf, aead, agreement } = input;
  const steps = before.filteredDirectPath(sender);
  const first = steps.findIndex(({ copathChild }) => isBelow(ownLeaf, copathChild));
  const step = steps[first];
  const node = path.nodes[first];
  if (step === undefined || node === undefined) {
    throw new MlsFault("A commit's path does not include us");
  }
  const nodes = receivers(step.resolution, input.newLeaves);
  if (nodes.length !== node.encryptedPathSecret.length) {
    throw new MlsFault("A commit's path has the wrong width");
  }
  const at = nodes.findIndex((candidate) =>
    candidate === nodeOfLeaf(ownLeaf) || input.pathKeys.has(candidate)
  );
  const sealed = node.encryptedPathSecret[at];
  const privateKey = nodes[at] === nodeOfLeaf(ownLeaf)
    ? input.leafPrivateKey
    : input.pathKeys.get(nodes[at] ?? -1)?.privateKey;
  if (sealed === undefined || privateKey === undefined) {
    throw new MlsFault("A commit's path holds nothing for us");
  }
  const secret = decryptWithLabel(
    aead,
    updatePathLabel,
    input.context,
    { privateKey, ...sealed },
    agreement,
  );
  const publicKeys = path.nodes.slice(first).map(({ hpkePublicKey }) => hpkePublicKey);
  return deriveAbove(secret, steps.slice(first), publicKeys, agreement);
}

/** Keys from one path secret up to the root, each compared with the public key in the tree. */
export function deriveAbove(
  secret: Uint8Array,
  steps: readonly PathStep[],
  publicKeys: readonly Uint8Array[],
  agreement: KeyAgreement,
): OpenedPath {
  const secrets = pathSecretsFrom(secret, steps.length);
  const keys = secrets.slice(0, steps.length).map((each) =>
    deriveKeyPair(deriveSecret(each, nodeLabel), agreement)
  );
  keys.forEach(({ publicKey }, i) => {
    if (!equalBytes(publicKey, publicKeys[i] ?? noBytes)) {
      throw new MlsFault("A path secret does not match its public key");
    }
  });
  return { pathKeys: byNode(steps, keys), commitSecret: secrets[steps.length] ?? noBytes };
}

/** `count` path secrets and the commit secret after them. */
function pathSecretsFrom(first: Uint8Array, count: number): Uint8Array[] {
  const secrets = [first];
  for (let i = 0; i < count; i++) secrets.push(deriveSecret(secrets[i] ?? noBytes, pathLabel));
  return secrets;
}

/**
 * Section 7.9: parent hashes are computed from the root down, each over its parent and that
 * parent's other child.
 */
function hashedParents(
  tree: RatchetTree,
  steps: readonly PathStep[],
  publicKeys: readonly Uint8Array[],
): { readonly parents: ReadonlyMap<number, TreeParent>; readonly leafParentHash: Uint8Array } {
  const parents = new Map<number, TreeParent>();
  let parentHash: Uint8Array = noBytes;
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps[i];
    if (step === undefined) continue;
    const parent: TreeParent = {
      kind: "parent",
      publicKey: publicKeys[i] ?? noBytes,
      parentHash,
      unmerged: [],
    };
    parents.set(step.node, parent);
    parentHash = tree.parentHash(parent, step.copathChild);
  }
  return { parents, leafParentHash: parentHash };
}

function receivers(resolution: readonly number[], newLeaves: NewLeaves): number[] {
  return resolution.filter((node) => !newLeaves.has(node));
}

function publicKeyOf(tree: RatchetTree, index: number): Uint8Array {
  const node = tree.node(index);
  if (node === undefined) throw new MlsFault("A resolution names a blank node");
  return node.kind === "leaf" ? node.node.hpkePublicKey : node.publicKey;
}

function byNode<T>(steps: readonly PathStep[], values: readonly T[]): ReadonlyMap<number, T> {
  return new Map(steps.flatMap(({ node }, i) => {
    const value = values[i];
    return value === undefined ? [] : [[node, value] as const];
  }));
}

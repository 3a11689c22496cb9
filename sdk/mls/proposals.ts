/**
 * The effect of a commit's proposals on a group (RFC 9420 sections 12.1 to 12.3). Accepts adds,
 * removes, updates, pre-shared keys and GroupContext extensions. Refuses reinitialisation and
 * external joins, which a channel does not use.
 */
import type { SignedBytes } from "../../wasm/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { equalBytes, KeySet, MlsFault } from "./codec.ts";
import { type Signatures, verifyInParts } from "./crypto/signatures.ts";
import type { Epoch } from "./epoch.ts";
import { checkPskIds } from "./key_schedule.ts";
import { checkKeyPackage, signedKeyPackage } from "./key_package.ts";
import {
  checkLeaf,
  type CredentialPolicy,
  listsExtension,
  sameCredential,
  signedLeaf,
} from "./leaf.ts";
import { createLeaf, type RatchetTree } from "./ratchet_tree.ts";
import {
  type Extension,
  extensionTypeToNumber,
  type KeyPackage,
  type LeafNode,
  type LeafNodeUpdate,
  type PreSharedKeyID,
  type Proposal,
} from "./ts_mls.ts";
import type { NewLeaves } from "./update_path.ts";
import { nodeOfLeaf } from "./tree_math.ts";

/** A proposal and the member who made it; the committer for those inside a commit. */
export interface ProposalFrom {
  readonly proposal: Proposal;
  readonly sender: number;
}

export interface AddedMember {
  readonly leafIndex: number;
  readonly keyPackage: KeyPackage;
}

export interface RemovedMember {
  readonly leafIndex: number;
  readonly leaf: LeafNode;
}

export interface AppliedProposals {
  readonly tree: RatchetTree;
  readonly added: readonly AddedMember[];
  readonly removed: readonly RemovedMember[];
  readonly updated: readonly number[];
  /** The extensions of the next epoch, changed or not. */
  readonly extensions: Extension[];
  readonly pskIds: readonly PreSharedKeyID[];
  /** The commit must have a path: only adds and pre-shared keys may come without. */
  readonly needsPath: boolean;
  readonly newLeaves: NewLeaves;
}

export interface ProposalRules {
  readonly signatures: Signatures;
  readonly policy: CredentialPolicy;
}

/** KeyPackages and leaves whose signatures were verified together with their commit's signature. */
export type VerifiedParts = ReadonlySet<KeyPackage | LeafNode>;

interface GroupedProposals {
  readonly adds: KeyPackage[];
  readonly updates: { leafNode: LeafNodeUpdate; sender: number }[];
  readonly removes: number[];
  readonly pskIds: PreSharedKeyID[];
  readonly extensions: Extension[][];
}

/**
 * Validates the whole list, then applies it in the order of section 12.3. Throws `MlsFault`;
 * changes nothing.
 */
export function* applyProposals(
  epoch: Epoch,
  committer: number,
  proposals: readonly ProposalFrom[],
  rules: ProposalRules,
  verified: VerifiedParts = new Set(),
): InterruptibleWork<AppliedProposals> {
  const grouped = group(proposals);
  checkList(grouped, committer);
  const extensions = grouped.extensions[0] ?? epoch.context.extensions;
  const leafRules = { suiteId: epoch.suiteId, extensions, policy: rules.policy };

  const signed: SignedBytes[] = [];

  let tree = epoch.tree;
  for (const { leafNode, sender } of grouped.updates) {
    checkLeaf(leafNode, leafRules);
    const before = epoch.tree.leaf(sender);
    if (before === undefined || !sameCredential(before.node, leafNode)) {
      throw new MlsFault("An update changes its sender's identity or signature key");
    }
    if (equalBytes(before.node.hpkePublicKey, leafNode.hpkePublicKey)) {
      throw new MlsFault("An update changes no key");
    }
    signed.push(signedLeaf(leafNode, { groupId: epoch.context.groupId, leafIndex: sender }));
    tree = tree.replace(sender, createLeaf(leafNode));
  }
  const removed = grouped.removes.map((leafIndex) => {
    const leaf = epoch.tree.leaf(leafIndex);
    if (leaf === undefined) throw new MlsFault("A commit removes a member that does not exist");
    tree = tree.replace(leafIndex, undefined);
    return { leafIndex, leaf: leaf.node };
  });
  const added: AddedMember[] = [];
  for (const keyPackage of grouped.adds) {
    checkKeyPackage(keyPackage, epoch.suiteId);
    if (!verified.has(keyPackage)) signed.push(...signedKeyPackage(keyPackage));
    checkLeaf(keyPackage.leafNode, leafRules);
    const result = tree.add(createLeaf(keyPackage.leafNode));
    tree = result.tree;
    added.push({ leafIndex: result.leafIndex, keyPackage });
    yield;
  }
  if (added.length > 0 || grouped.updates.length > 0) checkLeafKeys(tree);
  if (grouped.extensions.length > 0) checkSupport(tree, extensions, committer);
  if (!(yield* verifyInParts(rules.signatures, signed))) {
    throw new MlsFault("A KeyPackage's or an update's signature is wrong");
  }
  return {
    tree,
    added,
    removed,
    updated: grouped.updates.map(({ sender }) => sender),
    extensions,
    pskIds: grouped.pskIds,
    needsPath: proposals.length === 0 ||
      grouped.updates.length + grouped.removes.length + grouped.extensions.length > 0,
    newLeaves: new Set(added.map(({ leafIndex }) => nodeOfLeaf(leafIndex))),
  };
}

function group(proposals: readonly ProposalFrom[]): GroupedProposals {
  const grouped: GroupedProposals = {
    adds: [],
    updates: [],
    removes: [],
    pskIds: [],
    extensions: [],
  };
  for (const { proposal, sender } of proposals) {
    switch (proposal.proposalType) {
      case "add":
        grouped.adds.push(proposal.add.keyPackage);
        break;
      case "update":
        grouped.updates.push({ leafNode: proposal.update.leafNode, sender });
        break;
      case "remove":
        grouped.removes.push(proposal.remove.removed);
        break;
      case "psk":
        grouped.pskIds.push(proposal.psk.preSharedKeyId);
        break;
      case "group_context_extensions":
        grouped.extensions.push(proposal.groupContextExtensions.extensions);
        break;
      default:
        throw new MlsFault(
          `Proposals of type ${proposal.proposalType} are not accepted in a channel`,
        );
    }
  }
  return grouped;
}

/** Section 12.2. */
function checkList(
  { updates, removes, pskIds, extensions }: GroupedProposals,
  committer: number,
): void {
  if (updates.some(({ sender }) => sender === committer)) {
    throw new MlsFault("A committer updates itself by proposal");
  }
  if (removes.includes(committer)) throw new MlsFault("A committer removes itself");
  const touched = [...updates.map(({ sender }) => sender), ...removes];
  if (new Set(touched).size !== touched.length) {
    throw new MlsFault("A commit touches a member twice");
  }
  checkPskIds(pskIds);
  if (extensions.length > 1) throw new MlsFault("A commit sets the group's extensions twice");
}

/**
 * Section 12.1.7: every member supports what its group has. The committer's leaf is made anew, and
 * judged with the path.
 */
function checkSupport(
  tree: RatchetTree,
  extensions: readonly Extension[],
  committer: number,
): void {
  const types = extensions.map(({ extensionType }) => extensionTypeToNumber(extensionType));
  for (const [leafIndex, { node }] of tree.leaves()) {
    if (leafIndex !== committer && !types.every((type) => listsExtension(node, type))) {
      throw new MlsFault("A commit gives the group an extension that not every member supports");
    }
  }
}

/** Nobody is in the group twice, and no two leaves share an encryption key. */
function checkLeafKeys(tree: RatchetTree): void {
  const [encryption, signature] = [new KeySet(), new KeySet()];
  for (const [, { node }] of tree.leaves()) {
    if (!signature.add(node.signaturePublicKey) || !encryption.add(node.hpkePublicKey)) {
      throw new MlsFault("A key is in the group already");
    }
  }
  for (const [, { publicKey }] of tree.parents()) {
    if (!encryption.add(publicKey)) throw new MlsFault("A leaf has the encryption key of a parent");
  }
}

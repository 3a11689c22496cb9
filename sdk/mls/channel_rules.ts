/**
 * The rights of members in a channel: one verdict for all members. It is a function of the group
 * before a commit, the commit's bytes and the lists that its sender signed. Facts that the relay
 * could tell one member and not another are not used.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  binaryIdFromBytes,
  type ChannelId,
  type CommitAad,
  decodeCommitAad,
  type LeaveStatement,
  leaveStatement,
  type MemberProof,
  rejoinStatement,
  WireError,
} from "../../proto/mod.ts";
import type { SignedBytes } from "../../wasm/mod.ts";
import { decodeBinding } from "./channel_extensions.ts";
import { equalBytes, MlsFault } from "./codec.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { type Epoch, stateOf } from "./epoch.ts";
import { identityHashOf } from "./generation.ts";
import { agentOf, credentialOf } from "./leaf.ts";
import type { CommitSummary } from "./members.ts";
import { checkOwners, sameAgents } from "./owners_rules.ts";
import { checkAdmission } from "./policy_rules.ts";
import { leafHashOf } from "./ratchet_tree.ts";
import type { CommitRules, ProposedCommit } from "./receive.ts";

/** The lists that a commit's sender declared to the relay, and signed. */
export interface DeclaredChange extends Pick<CommitSummary, "added" | "removed" | "owners"> {
  /** The state of the epoch that the commit begins. */
  readonly nextState: Uint8Array;
}

/** The rules for one commit. They answer why it must not be followed, or undefined. */
export function createRules(declared: DeclaredChange, signatures: Signatures): CommitRules {
  return (commit) => {
    try {
      checkProposals(commit);
      checkDeclared(commit, declared);
      checkIdentities(commit);
      const aad = decodeCommitAad(commit.authenticatedData);
      checkProofs(commit, aad, signatures);
      if (!commit.committer.owner) checkUnowned(commit, aad);
      checkAdmission({ committer: commit.committer, added: commit.summary.added }, aad.rejoins);
      checkOwners(commit, aad, signatures);
      return undefined;
    } catch (error) {
      if (error instanceof MlsFault || error instanceof WireError) return error.message;
      throw error;
    }
  };
}

/**
 * Whatever else MLS knows would depend on what a member happens to hold, and so divide the group.
 */
function checkProposals({ proposals }: ProposedCommit): void {
  const types = proposals.map((each) =>
    each.proposalOrRefType === "proposal" ? each.proposal.proposalType : "reference"
  );
  if (
    types.some((type) => type !== "add" && type !== "remove" && type !== "group_context_extensions")
  ) {
    throw new MlsFault(
      "A commit in a channel has additions, removals and extensions inside it, and nothing else",
    );
  }
}

/** A member that the commit removes does not know the state after it. */
function checkDeclared(
  { summary: { added, removed, owners }, next }: ProposedCommit,
  declared: DeclaredChange,
): void {
  if (!sameAgents(added, declared.added) || !sameAgents(removed, declared.removed)) {
    throw new MlsFault("The commit adds or removes others than its sender declared to the relay");
  }
  const same = (owners === undefined) === (declared.owners === undefined) &&
    sameAgents(owners ?? [], declared.owners ?? []);
  if (!same) throw new MlsFault("The commit sets other owners than its sender declared");
  if (next !== undefined && !equalBytes(stateOf(next), declared.nextState)) {
    throw new MlsFault("The commit leads to another state than its sender declared");
  }
}

/**
 * An identity of a member, with a leaf or without, is replaced under another key by owners only.
 */
function checkIdentities({ proposals, committer, before }: ProposedCommit): void {
  if (committer.owner) return;
  const added = proposals.flatMap((each) => {
    if (each.proposalOrRefType !== "proposal" || each.proposal.proposalType !== "add") return [];
    const { leafNode } = each.proposal.add.keyPackage;
    return [
      [bytesToHex(identityHashOf(credentialOf(leafNode).identity)), agentOf(leafNode)] as const,
    ];
  });
  if (added.length === 0) return;
  const present = new Map<string, AgentId>();
  for (const [, { node, agentId }] of before.tree.leaves()) {
    present.set(bytesToHex(identityHashOf(credentialOf(node).identity)), agentId);
  }
  const { generation } = decodeBinding(before.context.extensions);
  for (const { agentId, identityHash } of generation?.absent ?? []) {
    present.set(bytesToHex(identityHash), agentId);
  }
  const replaced = added.some(([identityHash, agentId]) =>
    (present.get(identityHash) ?? agentId) !== agentId
  );
  if (replaced) throw new MlsFault("Only owners bring in an identity of a member with another key");
}

/**
 * Each proof is signed by the member that it is about. One is about the present leaf of a member
 * that the commit removes; one of an absent member, which has none, about the KeyPackage alone. In
 * the order of leaves, the absent after them in that of ids.
 */
function checkProofs(commit: ProposedCommit, aad: CommitAad, signatures: Signatures): void {
  if (aad.leaves.length + aad.rejoins.length === 0) return;
  const { removed, added, keyPackageHashes } = commit.summary;
  const places = proofPlacesOf(commit);
  const signed: SignedBytes[] = [];
  const channelId = binaryIdFromBytes<ChannelId>(commit.before.context.groupId);
  const check = (
    proofs: readonly MemberProof[],
    statementOf: (claim: LeaveStatement) => Uint8Array,
  ): void => {
    let last = "";
    for (const { agentId, signature } of proofs) {
      const place = places.get(agentId);
      if (place === undefined || (place.leafHash !== noLeaf && !removed.includes(agentId))) {
        throw new MlsFault("A proof in the commit is about a member that it does not remove");
      }
      if (place.order <= last) {
        throw new MlsFault("The proofs in the commit are not in the order of leaves");
      }
      last = place.order;
      const message = statementOf({ channelId, agentId, leafHash: place.leafHash });
      signed.push({ publicKey: place.publicKey, message, signature });
    }
  };
  if (aad.leaves.some(({ agentId }) => places.get(agentId)?.leafHash === noLeaf)) {
    throw new MlsFault("A member without a leaf leaves by an owner's commit alone");
  }
  check(aad.leaves, leaveStatement);
  check(aad.rejoins, (claim) => {
    const keyPackageHash = keyPackageHashes.get(claim.agentId);
    if (keyPackageHash === undefined || !added.includes(claim.agentId)) {
      throw new MlsFault("A proof in the commit is about a member that it does not add again");
    }
    return rejoinStatement({ ...claim, keyPackageHash });
  });
  const twice = aad.leaves.some(({ agentId }) =>
    aad.rejoins.some((other) => other.agentId === agentId)
  );
  if (twice) throw new MlsFault("A removal in the commit has two proofs");
  if (!signatures.verifyHandshakes(signed)) {
    throw new MlsFault(
      "A proof in the commit is not signed by the member, or not about its present leaf",
    );
  }
}

interface ProofPlace {
  /** Sorts as proofs are sorted. */
  readonly order: string;
  readonly publicKey: Uint8Array;
  readonly leafHash: Uint8Array;
}

/** Signed in place of a leaf's hash by a member that has no leaf in a new generation. */
export const noLeaf: Uint8Array = new Uint8Array(32);

function proofPlacesOf({ before, proposals }: ProposedCommit): Map<AgentId, ProofPlace> {
  const places = new Map<AgentId, ProofPlace>();
  for (const [leafIndex, leaf] of before.tree.leaves()) {
    const order = String(leafIndex).padStart(8, "0");
    places.set(leaf.agentId, {
      order,
      publicKey: leaf.node.signaturePublicKey,
      leafHash: leafHashOf(leaf),
    });
  }
  const absent = absentIn(before);
  if (absent.length === 0) return places;
  for (const each of proposals) {
    if (each.proposalOrRefType !== "proposal" || each.proposal.proposalType !== "add") continue;
    const { leafNode } = each.proposal.add.keyPackage;
    const agentId = agentOf(leafNode);
    if (!absent.includes(agentId)) continue;
    places.set(agentId, {
      order: `absent ${agentId}`,
      publicKey: leafNode.signaturePublicKey,
      leafHash: noLeaf,
    });
  }
  return places;
}

function absentIn({ context }: Epoch): readonly AgentId[] {
  return (decodeBinding(context.extensions).generation?.absent ?? []).map(({ agentId }) => agentId);
}

function checkUnowned(
  { summary: { removed, added }, before }: ProposedCommit,
  { leaves, rejoins }: CommitAad,
): void {
  const proven = new Set([...leaves, ...rejoins].map(({ agentId }) => agentId));
  if (removed.some((agentId) => !proven.has(agentId))) {
    throw new MlsFault("Only owners remove members that did not ask for it");
  }
  const absent = absentIn(before);
  if (added.some((agentId) => absent.includes(agentId) && !proven.has(agentId))) {
    throw new MlsFault("Only owners bring in an absent member that did not ask for it");
  }
}

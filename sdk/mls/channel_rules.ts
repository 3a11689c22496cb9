/**
 * Who may do what in a channel: one verdict for all members. It is a function of the group before a commit, the commit's bytes
 * and the lists that its sender signed; what the relay could tell one member and not another takes no part in it.
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
import { equalBytes, MlsFault } from "./codec.ts";
import type { Signatures } from "./crypto/signatures.ts";
import { type Epoch, stateOf } from "./epoch.ts";
import { agentOf, credentialOf } from "./leaf.ts";
import type { CommitSummary } from "./members.ts";
import { checkOwners, sameAgents } from "./owners_rules.ts";
import { type Leaf, leafHashOf } from "./ratchet_tree.ts";
import type { CommitRules, ProposedCommit } from "./receive.ts";

/** What a commit's sender declared to the relay, and signed. */
export interface Declared extends Pick<CommitSummary, "added" | "removed" | "owners"> {
  /** Of the epoch that it begins. */
  readonly nextState: Uint8Array;
}

/** The rules for one commit. They answer why it must not be followed, or undefined. One that nobody signed declares nothing. */
export function createRules(declared: Declared | undefined, signatures: Signatures): CommitRules {
  return (commit) => {
    try {
      checkProposals(commit);
      if (declared !== undefined) checkDeclared(commit, declared);
      checkIdentities(commit);
      const aad = decodeCommitAad(commit.authenticatedData);
      checkProofs(commit, aad, signatures);
      if (!commit.committer.owner) checkUnowned(commit.summary, aad);
      checkOwners(commit, aad, signatures);
      return undefined;
    } catch (error) {
      if (error instanceof MlsFault || error instanceof WireError) return error.message;
      throw error;
    }
  };
}

/** Whatever else MLS knows would depend on what a member happens to hold, and so divide the group. */
function checkProposals({ proposals }: ProposedCommit): void {
  const types = proposals.map((each) =>
    each.proposalOrRefType === "proposal" ? each.proposal.proposalType : "reference"
  );
  if (types.some((type) => type !== "add" && type !== "remove" && type !== "group_context_extensions")) {
    throw new MlsFault("A commit in a channel has additions, removals and extensions inside it, and nothing else");
  }
}

/** A member that the commit removes does not know the state after it. */
function checkDeclared({ summary: { added, removed, owners }, next }: ProposedCommit, declared: Declared): void {
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

/** An identity that is in the tree is replaced under another key by owners only. */
function checkIdentities({ proposals, committer, before }: ProposedCommit): void {
  if (committer.owner) return;
  const added = proposals.flatMap((each) => {
    if (each.proposalOrRefType !== "proposal" || each.proposal.proposalType !== "add") return [];
    const { leafNode } = each.proposal.add.keyPackage;
    return [[bytesToHex(credentialOf(leafNode).identity), agentOf(leafNode)] as const];
  });
  if (added.length === 0) return;
  const present = new Map<string, AgentId>();
  for (const [, { node, agentId }] of before.tree.leaves()) {
    present.set(bytesToHex(credentialOf(node).identity), agentId);
  }
  const replaced = added.some(([identity, agentId]) => (present.get(identity) ?? agentId) !== agentId);
  if (replaced) throw new MlsFault("Only owners bring in an identity of a member with another key");
}

/** Each proof is about a member that the commit removes, in the order of leaves, and signed by it about its present leaf. */
function checkProofs({ summary, before }: ProposedCommit, aad: CommitAad, signatures: Signatures): void {
  if (aad.leaves.length + aad.rejoins.length === 0) return;
  const { removed, added, keyPackageHashes } = summary;
  const places = leavesOf(before);
  const signed: SignedBytes[] = [];
  const channelId = binaryIdFromBytes<ChannelId>(before.context.groupId);
  const check = (proofs: readonly MemberProof[], statementOf: (claim: LeaveStatement) => Uint8Array): void => {
    let last = -1;
    for (const { agentId, signature } of proofs) {
      const place = places.get(agentId);
      if (place === undefined || !removed.includes(agentId)) {
        throw new MlsFault("A proof in the commit is about a member that it does not remove");
      }
      if (place.leafIndex <= last) throw new MlsFault("The proofs in the commit are not in the order of leaves");
      last = place.leafIndex;
      const message = statementOf({ channelId, agentId, leafHash: leafHashOf(place.leaf) });
      signed.push({ publicKey: place.leaf.node.signaturePublicKey, message, signature });
    }
  };
  check(aad.leaves, leaveStatement);
  check(aad.rejoins, (claim) => {
    const keyPackageHash = keyPackageHashes.get(claim.agentId);
    if (keyPackageHash === undefined || !added.includes(claim.agentId)) {
      throw new MlsFault("A proof in the commit is about a member that it does not add again");
    }
    return rejoinStatement({ ...claim, keyPackageHash });
  });
  const twice = aad.leaves.some(({ agentId }) => aad.rejoins.some((other) => other.agentId === agentId));
  if (twice) throw new MlsFault("A removal in the commit has two proofs");
  if (!signatures.verifyHandshakes(signed)) {
    throw new MlsFault("A proof in the commit is not signed by the member, or not about its present leaf");
  }
}

function checkUnowned({ removed }: CommitSummary, { leaves, rejoins }: CommitAad): void {
  const proven = new Set([...leaves, ...rejoins].map(({ agentId }) => agentId));
  if (removed.some((agentId) => !proven.has(agentId))) {
    throw new MlsFault("Only owners remove members that did not ask for it");
  }
}

/** The present leaf of each member. */
function leavesOf({ tree }: Pick<Epoch, "tree">): Map<AgentId, { readonly leafIndex: number; readonly leaf: Leaf }> {
  return new Map(Array.from(tree.leaves(), ([leafIndex, leaf]) => [leaf.agentId, { leafIndex, leaf }]));
}

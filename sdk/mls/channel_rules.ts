/**
 * Who may do what in a channel, checked by every member for every commit: any member adds, only owners remove others or
 * change the owners, anybody removes a member that has signed that it leaves or comes back, and a commit does what its sender
 * told the relay that it does.
 */
import {
  type AgentId,
  type ChannelId,
  equalBytes,
  leaveStatement,
  type RejoinStatement,
  rejoinStatement,
} from "../../proto/mod.ts";
import type { Signatures } from "./crypto/signatures.ts";
import type { CommitSummary } from "./members.ts";
import type { CommitRules } from "./receive.ts";

/** What a commit's sender declared to the relay. */
export type Declared = Pick<CommitSummary, "added" | "removed" | "owners">;

export interface RuleInput {
  readonly declared: Declared;
  /** Agents whose leave statement was verified. */
  readonly leaving: ReadonlySet<AgentId>;
  /**
   * Agents whose request to rejoin was verified, with the hash of the KeyPackage that it names: they may be removed and, with
   * that KeyPackage and no other, added in one commit.
   */
  readonly rejoining: ReadonlyMap<AgentId, Uint8Array>;
}

export function createRules({ declared, leaving, rejoining }: RuleInput): CommitRules {
  return ({ added, keyPackageHashes, removed, owners, ownersBefore }, committer) => {
    if (!sameAgents(added, declared.added) || !sameAgents(removed, declared.removed)) {
      return "The commit adds or removes others than its sender declared to the relay";
    }
    if (!sameAgents(owners ?? [], declared.owners ?? [])) {
      return "The commit sets other owners than its sender declared";
    }
    if (committer.owner) return undefined;
    const remaining = ownersBefore.filter((owner) => !removed.includes(owner) || added.includes(owner));
    if (owners !== undefined && !sameAgents(owners, remaining)) return "Only owners change the owners";
    const comesBack = (agent: AgentId): boolean => {
      const [asked, used] = [rejoining.get(agent), keyPackageHashes.get(agent)];
      return asked !== undefined && used !== undefined && equalBytes(asked, used);
    };
    const asked = removed.every((agent) => leaving.has(agent) || comesBack(agent));
    return asked ? undefined : "Only owners remove members that did not ask for it";
  };
}

export interface LeaveClaim {
  readonly channelId: ChannelId;
  readonly agentId: AgentId;
  readonly epoch: number;
  readonly signature: Uint8Array;
}

/**
 * Whether an agent said that it leaves. `memberSince` is the epoch in which it joined: a statement from before, when it was
 * in the channel another time, says nothing.
 */
export function isLeaveValid(
  claim: LeaveClaim,
  member: { readonly signatureKey: Uint8Array; readonly memberSince: number },
  signatures: Signatures,
): boolean {
  if (claim.epoch < member.memberSince) return false;
  return signatures.verifyHandshake(member.signatureKey, leaveStatement(claim), claim.signature);
}

export interface RejoinClaim extends RejoinStatement {
  readonly signature: Uint8Array;
}

/** Whether a request to rejoin was signed with the key of the agent's old leaf, in this membership. */
export function isRejoinValid(
  claim: RejoinClaim,
  member: { readonly signatureKey: Uint8Array; readonly memberSince: number },
  signatures: Signatures,
): boolean {
  if (claim.epoch < member.memberSince) return false;
  return signatures.verifyHandshake(member.signatureKey, rejoinStatement(claim), claim.signature);
}

function sameAgents(a: readonly AgentId[], b: readonly AgentId[]): boolean {
  return a.length === b.length && [...a].sort().join() === [...b].sort().join();
}

/**
 * The rights that a channel's policy gives. Every member judges only by the group's state before a
 * commit, or in a message's epoch, so all come to the same verdict, independent of the relay.
 */
import {
  type AgentId,
  type ChannelPolicy,
  type MemberProof,
  openPolicy,
  type PolicyScope,
  samePolicy,
} from "../../proto/mod.ts";
import { decodeBinding } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import type { Epoch } from "./epoch.ts";
import { isGuest } from "./guests_rules.ts";
import { listsExtension } from "./leaf.ts";

/** The parts of an epoch that say who may do what. */
export interface PolicyPlace {
  readonly owners: readonly AgentId[];
  readonly policy?: ChannelPolicy | undefined;
  /** Ascending. */
  readonly guests?: readonly AgentId[] | undefined;
}

/**
 * The policy that is in force. Without an owner nobody could change it, let anybody in or speak:
 * then it is open.
 */
export function policyOf({ policy, owners }: PolicyPlace): ChannelPolicy {
  return owners.length === 0 ? openPolicy : policy ?? openPolicy;
}

/** An agent's rights. */
export interface MemberRights {
  /** The agent owns the channel, with others perhaps. */
  readonly owner: boolean;
  /** The agent came by a guest link, and no owner has made it a member like the others. */
  readonly guest: boolean;
  /** The agent lets agents in, and invites them. */
  readonly mayAdd: boolean;
  /** The agent's messages are shown. */
  readonly mayPost: boolean;
}

export function rightsOf(agentId: AgentId, binding: PolicyPlace): MemberRights {
  const { admission, posting } = policyOf(binding);
  const owner = binding.owners.includes(agentId);
  const guest = isGuest(binding.guests ?? [], agentId);
  const may = (scope: PolicyScope): boolean => owner || scope === "members";
  return { owner, guest, mayAdd: may(admission) && !guest, mayPost: may(posting) };
}

/** A commit, as far as it lets agents in. */
export interface AdmittingCommit {
  readonly added: readonly AgentId[];
  readonly committer: Pick<MemberRights, "guest" | "mayAdd">;
}

/** A member that comes back, with its own signature, is not a newcomer. Throws `MlsFault`. */
export function checkAdmission(
  { added, committer }: AdmittingCommit,
  rejoins: readonly MemberProof[],
): void {
  if (added.length === 0 || committer.mayAdd) return;
  const returning = new Set(rejoins.map(({ agentId }) => agentId));
  if (added.every((agentId) => returning.has(agentId))) return;
  throw new MlsFault(
    committer.guest ? "A guest lets nobody in" : "Only owners let agents into this channel",
  );
}

/** Members that could speak in the epoch before and cannot in this one. */
export function silencedIn(
  { context, tree }: Pick<Epoch, "context" | "tree">,
  before: PolicyPlace | undefined,
): AgentId[] {
  const now = decodeBinding(context.extensions);
  if (before === undefined || policyOf(now).posting === "members") return [];
  if (samePolicy(before.policy, now.policy) && before.owners.join() === now.owners.join()) {
    return [];
  }
  const members = Array.from(tree.leaves(), ([, { agentId }]) => agentId);
  return members.filter((agentId) =>
    rightsOf(agentId, before).mayPost && !rightsOf(agentId, now).mayPost
  );
}

/**
 * Members whose programs do not know such an extension yet. A commit of ours makes our own leaf
 * anew, and leaves these out.
 */
export function lacking(
  type: number,
  { tree, ownLeaf }: Epoch,
  leaving: readonly AgentId[] = [],
): AgentId[] {
  return Array.from(tree.leaves()).flatMap(([leafIndex, { agentId, node }]) =>
    leafIndex === ownLeaf || leaving.includes(agentId) || listsExtension(node, type)
      ? []
      : [agentId]
  );
}

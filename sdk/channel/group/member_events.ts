/**
 * Translates a commit to events: members that joined, left or were removed and by whom, and the new
 * owners, policy and issuers.
 */
import { type AgentId, agentIdOf, sameIssuers, samePolicy } from "../../../proto/mod.ts";
import { identityText } from "../../base/identity_text.ts";
import { policyOf } from "../../mls/policy_rules.ts";
import type { ChannelEventBody, EventAgent } from "../events.ts";
import type { CommitChanges, Membership } from "./membership.ts";

export function memberEvents(
  { added, removed, left, committer, owners }: CommitChanges,
  membership: Membership,
): ChannelEventBody[] {
  const events: ChannelEventBody[] = [];
  const agents = removed.length + added.length === 0 ? new Map() : knownAgents(membership);
  const named = (agentId: AgentId): EventAgent => ({
    agentId,
    identity: agents.get(agentId) ?? "",
  });
  for (const agentId of removed) {
    // A member that is removed and added in one commit has come back; for the others it was there
    // all the time.
    if (added.includes(agentId)) continue;
    const member = named(agentId);
    events.push(
      left.includes(agentId)
        ? { type: "member_left", member }
        : { type: "member_removed", member, by: committer },
    );
  }
  for (const agentId of added) {
    if (!removed.includes(agentId)) {
      events.push({ type: "member_joined", member: named(agentId), by: committer });
    }
  }
  if (owners !== undefined) events.push({ type: "owners_changed", owners, by: committer });
  const { parent, binding } = membership.group;
  const policy = policyOf(binding);
  if (parent !== undefined && !samePolicy(policyOf(parent.base), policy)) {
    events.push({ type: "policy_changed", policy, by: committer });
  }
  if (parent !== undefined && !sameIssuers(parent.base.issuers, binding.issuers)) {
    events.push({ type: "issuers_changed", by: committer });
  }
  return events;
}

/**
 * The identities of members, of members before the commit, and of agents whose keys are remembered.
 */
function knownAgents({ group, trust }: Membership): ReadonlyMap<AgentId, string> {
  const agents = new Map<AgentId, string>();
  for (
    const { identity, signatureKey } of [
      ...trust.keys,
      ...group.past.lastRoster?.credentials() ?? [],
    ]
  ) {
    agents.set(agentIdOf(signatureKey, identity), identityText(identity));
  }
  for (const { agentId, identity } of group.members()) agents.set(agentId, identityText(identity));
  return agents;
}

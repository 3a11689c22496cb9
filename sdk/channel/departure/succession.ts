/** The channel goes on when an owner leaves: who owns it then. */
import { type AgentId, openPolicy, samePolicy } from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import { policyOf } from "../../mls/policy_rules.ts";
import type { Membership } from "../group/membership.ts";
import { successorNeeded } from "../commits/ownership.ts";
import type { PlannedChange } from "../commits/plan.ts";

/** Members stay when this agent goes. */
export function doOthersStay(membership: Membership): boolean {
  const going = goingFrom(membership);
  return membership.group.members().some(({ agentId }) => !going.has(agentId));
}

/**
 * How a channel that is over can be left: it commits nothing any more. `kept_out`: somebody belongs
 * to it that this agent would have to make an owner, or let in, first; or it names a successor that
 * is no owner yet.
 */
export function wayOut(
  membership: Membership,
  successor: AgentId | undefined,
): "close" | "leave" | "kept_out" {
  const { self, binding: { owners } } = membership.group;
  if (self.owner && successor !== undefined && !owners.includes(successor)) return "kept_out";
  const isAlone = membership.group.members().length === 1;
  if (isAlone && membership.absent.length === 0) return "close";
  const isMissed = isLastOwner(membership) && doOthersStay(membership);
  return isMissed || (isAlone && self.owner) ? "kept_out" : "leave";
}

function goingFrom({ group, departures }: Membership): ReadonlySet<AgentId> {
  const { leavers, absentLeavers } = departures;
  return new Set([group.self.agentId, ...leavers.map(({ agentId }) => agentId), ...absentLeavers]);
}

/** No owner stays when this agent goes. */
export function isLastOwner(membership: Membership): boolean {
  const { self, binding } = membership.group;
  const going = goingFrom(membership);
  return self.owner && !binding.owners.some((owner) => !going.has(owner));
}

type IsHeard = (agentId: AgentId) => boolean;

/**
 * Before an owner leaves that has heard of no other owner lately, it makes another member an owner:
 * the one that it names, or the member with the lowest leaf of those that it has heard of, but no
 * guest. Where there are other owners, owners have rights that others lack, or nobody was heard of,
 * the caller has to name one. Throws `StaticError`.
 */
function successorOf(
  membership: Membership,
  named: AgentId | undefined,
  isHeard: IsHeard,
): AgentId | undefined {
  const { group } = membership;
  const going = goingFrom(membership);
  const staying = group.members().filter(({ agentId }) => !going.has(agentId));
  if (named !== undefined) {
    if (staying.some(({ agentId }) => agentId === named)) return named;
    throw createError(
      "invalid_request",
      `Cannot leave: ${named} is not a member, or is leaving too; name another successor`,
    );
  }
  const owners = staying.filter(({ owner }) => owner);
  // An absent owner has no keys to sign with before it is back; it stays an owner.
  const isOwned = group.binding.owners.some((owner) =>
    !going.has(owner) && membership.absent.includes(owner)
  );
  if (staying.length === 0 || isOwned || owners.some(({ agentId }) => isHeard(agentId))) {
    return undefined;
  }
  const [heir] = staying.filter(({ agentId, guest }) => isHeard(agentId) && !guest).sort((a, b) =>
    a.leafIndex - b.leafIndex
  );
  const isOpen = owners.length === 0 && samePolicy(policyOf(group.binding), openPolicy);
  if (heir !== undefined && isOpen) return heir.agentId;
  const who = owners.length > 0
    ? "no other owner"
    : heir === undefined
    ? "no other member that is no guest"
    : undefined;
  const why = who === undefined ? "" : `: this agent has heard of ${who} for 7 days`;
  throw successorNeeded(membership, `Cannot leave${why}`, "name one with leave({ successor })");
}

/**
 * Undefined when somebody is left that owns the channel, or nobody is left. Throws `StaticError`.
 */
export function succession(
  membership: Membership,
  named: AgentId | undefined,
  isHeard: IsHeard,
): PlannedChange | undefined {
  const { owners } = membership.group.binding;
  const successor = membership.group.self.owner
    ? successorOf(membership, named, isHeard)
    : undefined;
  if (successor === undefined || owners.includes(successor)) return undefined;
  // The commit also removes those that have left.
  const leaving = new Set(membership.departures.leavers.map(({ agentId }) => agentId));
  return { change: { owners: [...owners.filter((owner) => !leaving.has(owner)), successor] } };
}

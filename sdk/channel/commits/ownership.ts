/**
 * Changes by owners: the set of owners and the channel's policy. Each call states its goal and is
 * worked out anew for every attempt, so that a race with another owner loses neither change.
 */
import {
  type AgentId,
  type ChannelPolicy,
  limits,
  parseAgentId,
  type PolicyScope,
  samePolicy,
} from "../../../proto/mod.ts";
import { createError, invalidArgument, type StaticError } from "../../base/errors.ts";
import { signerOf } from "../../mls/owners_chain.ts";
import { policyExtension } from "../../mls/leaf.ts";
import { lacking, policyOf } from "../../mls/policy_rules.ts";
import type { Membership } from "../group/membership.ts";
import type { Plan, PlannedChange, Promotion } from "./plan.ts";

/**
 * To make a member an owner, or a guest a member. One that is that already, or more, stays as it
 * is.
 */
export function promote(agentId: string, to: Promotion): Plan {
  const wanted = parseAgentId(agentId);
  if (to !== "owner" && to !== "member") {
    throw invalidArgument(
      `A member is promoted to "owner", a guest to "member", and not to ${JSON.stringify(to)}`,
    );
  }
  return { is: "promote", agentId: wanted, to };
}

export function promotion(
  membership: Membership,
  { agentId: wanted, to }: { readonly agentId: AgentId; readonly to: Promotion },
): PlannedChange | undefined {
  if (to === "member") return release(membership, wanted);
  checkOwner(membership, "promote a member");
  const owners = stayingOwners(membership);
  if (owners.includes(wanted)) return undefined;
  if (membership.memberOf(wanted) === undefined || isLeaving(membership, wanted)) {
    throw createError(
      "not_found",
      `Cannot promote ${wanted}: it is not a member of the channel, or is leaving it`,
    );
  }
  if (owners.length >= limits.ownersPerChannel) {
    throw createError(
      "not_allowed",
      `Cannot promote ${wanted}: a channel has at most ${limits.ownersPerChannel} owners`,
    );
  }
  return { change: { owners: [...owners, wanted] } };
}

function release(membership: Membership, wanted: AgentId): PlannedChange | undefined {
  checkOwner(membership, "promote a guest");
  if (!membership.isMember(wanted)) {
    throw createError("not_found", `Cannot promote ${wanted}: it is not a member of the channel`);
  }
  const { guests = [] } = membership.group.binding;
  return guests.includes(wanted) ? { change: { released: [wanted] } } : undefined;
}

/** The agent stays a member. One that owns nothing stays as it is. */
export function demote(agentId: string): Plan {
  return { is: "demote", agentId: parseAgentId(agentId) };
}

export function demotion(membership: Membership, wanted: AgentId): PlannedChange | undefined {
  if (!membership.group.binding.owners.includes(wanted)) return undefined;
  checkOwner(membership, "demote an owner");
  const owners = stayingOwners(membership).filter((owner) => owner !== wanted);
  if (owners.length === 0) {
    throw successorNeeded(
      membership,
      "Cannot demote the last owner",
      "promote another member first",
    );
  }
  return { change: { owners } };
}

/** Fields that are not given stay as they are. */
export function setPolicy(wanted: Partial<ChannelPolicy>): Plan {
  for (const scope of [wanted.admission, wanted.posting]) checkScope(scope);
  return { is: "policy", wanted: { ...wanted } };
}

export function policyChange(
  membership: Membership,
  wanted: Partial<ChannelPolicy>,
): PlannedChange | undefined {
  checkOwner(membership, "change the policy");
  const before = policyOf(membership.group.binding);
  // Programs without types give a part as undefined that they do not mean to change.
  const { admission = before.admission, posting = before.posting } = wanted;
  const policy = { admission, posting };
  if (samePolicy(before, policy)) return undefined;
  const { current } = membership.group;
  const members = lacking(
    policyExtension,
    current,
    membership.departures.leavers.map((leaver) => leaver.agentId),
  );
  if (members.length > 0) throw mustUpdate(members, "change the policy", "policies");
  return { change: { policy } };
}

/** The last owner of a channel in which others stay names one of them. */
export function successorNeeded(membership: Membership, what: string, action: string): StaticError {
  const { self } = membership.group;
  const members = membership.group.members().flatMap(({ agentId }) =>
    agentId === self.agentId || isLeaving(membership, agentId) ? [] : [agentId]
  );
  const text = `${what}: a channel needs an owner that is there; ${action}. Members: ${
    members.join(", ")
  }`;
  return createError("successor_needed", text, { members });
}

function isLeaving({ departures: { leavers } }: Membership, agentId: AgentId): boolean {
  return leavers.some((leaver) => leaver.agentId === agentId);
}

/** Every commit removes those that leave on its way. */
function stayingOwners(membership: Membership): AgentId[] {
  return membership.group.binding.owners.filter((owner) => !isLeaving(membership, owner));
}

/**
 * Throws `StaticError`, which names the agent that demoted this one, if it was an owner and that is
 * known.
 */
export function checkOwner({ group }: Membership, what: string): void {
  const { self, changes } = group;
  if (self.owner) return;
  const last = changes.findLastIndex(({ owners }) => owners.includes(self.agentId));
  const struck = last < 0 ? undefined : changes[last + 1];
  const why = struck === undefined
    ? "only owners may"
    : `this agent is no longer an owner: ${signerOf(struck)} demoted it`;
  throw createError("not_allowed", `Cannot ${what}: ${why}; ask an owner of the channel`);
}

/** These members stand in the way of something that their programs do not know. */
export function mustUpdate(members: readonly AgentId[], what: string, lacked: string): StaticError {
  const text =
    `Cannot ${what}: these members run a version without ${lacked}, or have not renewed their keys since they ` +
    `were updated: ${
      members.join(", ")
    }. Update them, have them connect or call rotate(), and try again`;
  return createError("members_must_update", text, { members });
}

function checkScope(scope: PolicyScope | undefined): void {
  if (scope === undefined || scope === "members" || scope === "owners") return;
  throw invalidArgument(`A policy says "members" or "owners", and not ${JSON.stringify(scope)}`);
}

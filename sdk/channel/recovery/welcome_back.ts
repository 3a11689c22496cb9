/**
 * The group that a Welcome leads back into, judged by what this agent knew before. Anybody can make
 * a Welcome.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  equalBytes,
  foundingEpoch,
  generationOf,
  quoted,
  readWelcomeHeader,
  WireError,
} from "../../../proto/mod.ts";
import { identityText } from "../../base/identity_text.ts";
import type { KnownMembers } from "../../mls/admissions.ts";
import { isLetIn, requiredIssuers } from "../../mls/badge_rules.ts";
import { baseMembersOf } from "../../mls/base_epoch.ts";
import { stateOf } from "../../mls/epoch.ts";
import type { Group } from "../../mls/group.ts";
import type { OwnKeyPackage } from "../../mls/key_package.ts";
import type { Member } from "../../mls/members.ts";
import { rightsOf } from "../../mls/policy_rules.ts";
import { type BadCommit, blamedOf } from "./bad_commit.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "../group/membership.ts";
import type { Welcome } from "../runner/welcomes.ts";

/** The commit at which this agent is stopped, and whether that is soon after it was let in. */
export interface StoppedCommit {
  readonly stopped: BadCommit | undefined;
  readonly isAgain: boolean;
}

/**
 * Why a stopped agent does not take the group that a Welcome leads into. `maker`: of the Welcome.
 */
export function judgeReturn(
  { group, maker, welcome: { sender, state } }: {
    readonly group: Group;
    readonly maker: Member;
    readonly welcome: Welcome;
  },
  { stopped, isAgain }: StoppedCommit,
  membership: Membership,
): string | undefined {
  const isHere = group.epoch <= foundingEpoch(generationOf(membership.epoch) + 1);
  if (stopped === undefined || !isHere || membership.memberOf(sender)?.owner === true) {
    return undefined;
  }
  const why = beyondRights(group, maker, membership);
  if (why !== undefined) return `${why}, and it was not made by an owner`;
  if (isAgain) {
    return "this agent was stopped soon after it was let in, and it was not made by an owner";
  }
  // A stopped agent that takes it gives up the group from which the channel can begin anew.
  if (state !== undefined && equalBytes(state, stateOf(group.current))) return undefined;
  return "it leads into another group than the commit that carries it, and it was not made by an owner";
}

/**
 * Returns the known members of the expected group. `formerEpoch` is the epoch of this agent's
 * previous membership.
 */
export function knownMembers(
  { epoch, group }: Membership,
  { stopped, formerEpoch }: {
    readonly stopped: BadCommit | undefined;
    readonly formerEpoch: number;
  },
  self: AgentId,
): KnownMembers {
  return {
    self,
    entry: group.entry,
    members: group.members().map((member) => member.agentId),
    guests: group.binding.guests ?? [],
    epoch: Math.max(epoch, formerEpoch),
    blamed: stopped && blamedOf(stopped),
  };
}

/**
 * Returns a change of the group since we were stopped that owners alone may make. We saw neither
 * the commit nor those behind it. A member that broke a rule there, and answers us itself, would
 * else have it followed by all that it stopped.
 */
function beyondRights(
  group: Group,
  { agentId }: Member,
  membership: Membership,
): string | undefined {
  if (isMissing(group, membership)) return "members are missing from it";
  const { binding, current } = membership.group;
  const before = new Set(baseMembersOf(current));
  const after = baseMembersOf(group.current);
  const isOther = (member: AgentId): boolean => {
    const { owner, guest } = rightsOf(member, group.binding);
    return !owner && guest !== rightsOf(member, binding).guest;
  };
  if (after.some((member) => before.has(member) && isOther(member))) return "it has other guests";
  if (hasShutDoor(group, membership)) return "somebody has come into it by a closed issuer";
  // For members that a stranger let in, we know who let in the stranger itself.
  if (rightsOf(agentId, binding).mayAdd || after.every((member) => before.has(member))) {
    return undefined;
  }
  return "somebody has come into it, whom its maker may not let in";
}

/**
 * Members of our epoch may stand in it by a badge of a closed issuer, by one that we know; nobody
 * else.
 */
function hasShutDoor(group: Group, membership: Membership): boolean {
  const { context, tree } = group.current;
  const issuers = requiredIssuers(context.extensions);
  return issuers !== undefined && Array.from(tree.leaves()).some(([, { agentId, node }]) => {
    const before = membership.leafOf(agentId)?.leaf.node;
    const isAbsent = membership.absent.includes(agentId);
    return !isLetIn({ agentId, node, before, isAbsent }, issuers);
  });
}

/**
 * A commit that we cannot follow may have removed members that its sender may not remove: somebody
 * that owns nothing does not bring us into a group without them, nor without those that are absent
 * and would not be let in any more. Those that have signed that they leave may be gone.
 */
function isMissing(group: Group, membership: Membership): boolean {
  const present = new Set(group.members().map(({ agentId }) => agentId));
  const here = new Set(baseMembersOf(group.current));
  const left = new Set([
    ...membership.departures.leavers.map(({ agentId }) => agentId),
    ...membership.departures.absentLeavers,
  ]);
  return membership.group.members().some(({ agentId }) =>
    !present.has(agentId) && !left.has(agentId)
  ) ||
    membership.absent.some((agentId) => !here.has(agentId) && !left.has(agentId));
}

/** Whether a Welcome says that it was made for this KeyPackage. */
export function isFor({ welcome }: Welcome, { reference }: OwnKeyPackage): boolean {
  try {
    return readWelcomeHeader(welcome).recipients.some((each) => equalBytes(each, reference));
  } catch (error) {
    if (error instanceof WireError) return false;
    throw error;
  }
}

/**
 * Members that are gone without our having seen why, and agents that are back although we saw that
 * they were removed: after a log was set back, one of them may have been faster than those that
 * removed it. Those that came back under other keys are reported elsewhere.
 */
export function reportChanges(
  present: readonly Member[],
  membership: { readonly group: Pick<Group, "members">; readonly removed: readonly AgentId[] },
  health: HealthLog,
): void {
  const staying = new Set(present.map(({ identity }) => bytesToHex(identity)));
  for (const { agentId, identity } of membership.group.members()) {
    if (staying.has(bytesToHex(identity))) continue;
    const who = quoted(identityText(identity));
    health.report(
      "members_changed",
      `${who} (${agentId}) is no longer a member; it was one before this agent came back`,
    );
  }
  const removed = new Set(membership.removed);
  for (const { agentId, identity } of present) {
    if (!removed.has(agentId)) continue;
    const text =
      `${
        quoted(identityText(identity))
      } (${agentId}) was removed, and is a member again since this ` +
      "agent came back; if nobody has invited it again, an owner should remove it";
    health.report("members_changed", text);
  }
}

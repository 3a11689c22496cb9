/**
 * The rules of plans: a plan in the present epoch. Each rule that is longer stands beside its call.
 */
import { type AgentId, equalBytes, leafExtensions } from "../../../proto/mod.ts";
import { listsExtension } from "../../mls/leaf.ts";
import { changeFor } from "./adding.ts";
import { issuersChange } from "./issuers.ts";
import type { Membership } from "../group/membership.ts";
import { checkOwner, demotion, policyChange, promotion } from "./ownership.ts";
import { type Applicant, maxLetIn, type Plan, type PlanFacts, type PlannedChange } from "./plan.ts";
import { succession } from "../departure/succession.ts";

const pathAlone: PlannedChange = { change: {} };

/** Undefined when there is nothing to do any more. Throws `StaticError` when it may not be done. */
export function planOf(plan: Plan, facts: PlanFacts): PlannedChange | undefined {
  const { membership } = facts;
  switch (plan.is) {
    case "settle":
      return undefined;
    case "rotate":
      return pathAlone;
    case "heal":
      return facts.ownLeaf === plan.leaf ? pathAlone : undefined;
    case "renew":
      return isRenewalWanted(membership) ? pathAlone : undefined;
    case "remove":
      // Another owner may have demoted this agent meanwhile.
      checkOwner(membership, "remove the member");
      return membership.isMember(plan.agentId) ? { change: { remove: [plan.agentId] } } : undefined;
    case "promote":
      return promotion(membership, plan);
    case "demote":
      return demotion(membership, plan.agentId);
    case "policy":
      return policyChange(membership, plan.wanted);
    case "issuers":
      return issuersChange(membership, plan);
    case "add":
      return isIn(membership, plan.applicant)
        ? undefined
        : { change: changeFor(membership, [plan.applicant]) };
    case "admit":
      return admission(membership, plan);
    case "duties":
      return duties(plan.of, facts);
    case "succession":
      return succession(membership, plan.successor, facts.isHeard);
  }
}

/**
 * Returns whether the agent came in by this KeyPackage: our own commit was taken before our
 * membership was another one. Adding it once more would put it out.
 */
function isIn(membership: Membership, { agentId, keyPackage: { leafNode } }: Applicant): boolean {
  const leaf = membership.leafOf(agentId)?.leaf;
  return leaf !== undefined && equalBytes(leaf.node.signature, leafNode.signature);
}

/** Our leaf does not tell what this version is capable of. */
export function isRenewalWanted({ group: { current } }: Pick<Membership, "group">): boolean {
  const own = current.tree.leaf(current.ownLeaf);
  return own !== undefined && !leafExtensions.every((type) => listsExtension(own.node, type));
}

/**
 * An applicant that was added while we tried has its Welcome: adding it again would remove the
 * present member, or bring back one that was removed.
 */
function admission(
  membership: Membership,
  { admitted, invites }: Extract<Plan, { is: "admit" }>,
): PlannedChange | undefined {
  const open = admitted.filter(({ request, applicant, epoch }) =>
    !membership.mayHaveComeSince(applicant.agentId, epoch) &&
    invites.whyEnded(request, membership) === undefined
  );
  const applicants = new Map(open.map(({ applicant }) => [applicant.agentId, applicant]));
  return open.length === 0 ? undefined : {
    change: changeFor(membership, [...applicants.values()]),
    answers: open.map(({ request }) => request.requestId),
  };
}

function duties(
  of: Extract<Plan, { is: "duties" }>["of"],
  { membership, leavers, returning }: PlanFacts,
): PlannedChange | undefined {
  const rejoins = of === "none"
    ? []
    : returning.filter(({ requestId }) => of === "all" || requestId === of).slice(0, maxLetIn);
  const gone = goneAbsent(membership);
  const isForOwnLeaf = membership.wantsOwnLeaf && (of === "all" || of === "none");
  if (rejoins.length + leavers.length + gone.length === 0 && !isForOwnLeaf) return undefined;
  return {
    change: {
      add: rejoins.map(({ keyPackage }) => keyPackage),
      remove: [
        ...rejoins.map(({ agentId }) => agentId).filter((agentId) =>
          membership.leafOf(agentId) !== undefined
        ),
        ...gone,
      ],
      rejoins: rejoins.map(({ agentId, signature }) => ({ agentId, signature })),
    },
    answers: rejoins.map(({ requestId }) => requestId),
  };
}

/** Absent members that have left will not come back by themselves. Only an owner removes them. */
export function goneAbsent(
  { group, departures }: Pick<Membership, "group" | "departures">,
): AgentId[] {
  return group.self.owner ? departures.absentLeavers : [];
}

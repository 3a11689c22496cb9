/**
 * How an owner begins a new generation of its channel: KeyPackages of all members that have one, a
 * group on the last epoch that they shared, and a statement about it. The founding is durable
 * before it is sent, and is always sent unchanged.
 */
import {
  type AgentId,
  decodeClientEnvelope,
  encodeOwnersChange,
  encodeRequest,
  foundingHash,
  type FoundingStatement,
  foundingStatement,
  type OwnersChange,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { InterruptibleWork } from "../../base/interruptible_work.ts";
import { baseMembersOf, baseOf, identifiedMembersOf } from "../../mls/base_epoch.ts";
import { placeOf, stateOf } from "../../mls/epoch.ts";
import {
  addable,
  fitsWelcome,
  type FoundedGroup,
  foundGroup,
  type FoundingPlan,
} from "../../mls/founding.ts";
import type { Group } from "../../mls/group.ts";
import {
  encodeKeyPackageMessage,
  type KeyPackage,
  type OwnKeyPackage,
} from "../../mls/key_package.ts";
import { agentOf } from "../../mls/leaf.ts";
import { foundedChange, keepChanges, versionOf } from "../../mls/owners_chain.ts";
import { versionIn } from "../../mls/owners_rules.ts";
import { foundedSealing } from "../../mls/sealing_rules.ts";
import type { FoundingCandidate } from "../../mls/state_codec.ts";
import { type BadCommit, blamedOf, proofOf } from "./bad_commit.ts";
import { type ChannelDeps, memberDepsOf } from "../deps.ts";
import { createOwnLeaf } from "../entering.ts";
import type { Membership } from "../group/membership.ts";

type FoundGenerationRequest = RequestBody<"FoundGeneration">;

/**
 * Creates a founding from the current epoch. It includes only members whose KeyPackages were
 * claimed.
 */
export function* createFounding(
  membership: Membership,
  bad: BadCommit,
  claimed: readonly KeyPackage[],
  deps: ChannelDeps,
  without: readonly AgentId[] = [],
): InterruptibleWork<FoundingCandidate> {
  const { current, binding, changes } = membership.group;
  const blamed = blamedOf(bad);
  const members = baseMembersOf(current).filter((agentId) =>
    agentId !== blamed && !without.includes(agentId)
  );
  const basis = {
    current,
    binding,
    changes,
    members,
    blamed,
    bad,
    own: createOwnLeaf(deps, current.suiteId, placeOf(current)),
  };
  const { plan } = planFounding(claimed, basis, membership, deps);
  const add = yield* addable(plan, memberDepsOf(deps, membership.trust.policy));
  return yield* withoutLargest(add, (some) => foundWith(some, basis, membership, deps));
}

/**
 * Members of the present epoch that a founding may be with: all but this agent, and those that
 * leave.
 */
export function claimableOf(
  { group: { current }, departures }: Membership,
  self: AgentId,
): AgentId[] {
  const left = new Set(departures.leavers.map(({ agentId }) => agentId));
  return baseMembersOf(current).filter((agentId) => agentId !== self && !left.has(agentId));
}

/**
 * With as many as it is possible; those with the largest KeyPackages come in later, by themselves.
 */
export function* withoutLargest<T>(
  keyPackages: readonly KeyPackage[],
  make: (some: readonly KeyPackage[]) => InterruptibleWork<T | undefined>,
): InterruptibleWork<T> {
  const sizes = new Map(keyPackages.map((each) => [each, encodeKeyPackageMessage(each).length]));
  const bySize = keyPackages.toSorted((a, b) => (sizes.get(a) ?? 0) - (sizes.get(b) ?? 0));
  for (let some = keyPackages;; some = bySize.slice(0, Math.floor(some.length * 0.9))) {
    const made = yield* make(some);
    if (made !== undefined) return made;
  }
}

/** The request as it was made, to be sent once more. */
export function requestOf({ request }: FoundingCandidate): FoundGenerationRequest {
  const envelope = decodeClientEnvelope(request);
  if (envelope.operation !== "FoundGeneration") {
    throw new TypeError("A stored founding is another request");
  }
  return envelope.body;
}

/** The state of the channel at the moment in which a founding is begun. */
interface FoundingBasis extends Pick<Group, "current" | "binding" | "changes"> {
  readonly members: readonly AgentId[];
  readonly blamed: AgentId;
  readonly bad: BadCommit;
  /** Becomes the founder's leaf. */
  readonly own: OwnKeyPackage;
}

interface PlannedFounding {
  readonly plan: FoundingPlan;
  readonly statement: FoundingStatement;
  readonly change: OwnersChange;
  /** Ascending: those that are added, and those that are not. */
  readonly joining: readonly AgentId[];
  readonly absent: readonly AgentId[];
}

/** Plans the statement about a founding, before there is a group. */
function planFounding(
  add: readonly KeyPackage[],
  { current, binding, changes: before, members, blamed, bad, own }: FoundingBasis,
  { channelId }: Membership,
  { identity, signatures, agentId }: ChannelDeps,
): PlannedFounding {
  const base = baseOf(current);
  const generation = base.generation + 1;
  const owners = binding.owners.filter((owner) => members.includes(owner)).sort();
  const joining = add.map(({ leafNode }) => agentOf(leafNode)).sort();
  const absent = members.filter((member) => member !== agentId && !joining.includes(member));
  const statement = {
    channelId,
    generation,
    baseEpoch: base.epoch,
    transcriptHash: base.transcriptHash,
    badCommit: bad.declared.commitHash,
    blamed,
    signatureKey: identity.signatureKey,
    identity: identity.identity,
    members: [...members],
    without: baseMembersOf(current).filter((agentId) =>
      agentId !== blamed && !members.includes(agentId)
    ),
    owners,
    suite: base.suiteId,
  };
  const hash = foundingHash(statement);
  const founded = { generation, founding: hash };
  const { policy, issuers } = binding;
  const change = foundedChange(
    { channelId, before: versionIn(binding), owners, founded, policy, issuers },
    identity,
    signatures,
  );
  const { version, lastChange } = versionOf(change);
  const changes = keepChanges(before, [change]);
  const chain = { version, lastChange };
  const away = identifiedMembersOf(current).filter((member) => absent.includes(member.agentId));
  const guests = binding.guests?.filter((guest) => members.includes(guest)) ?? [];
  const next = {
    name: binding.name,
    owners,
    chain,
    generation: { channelId, generation, founding: hash, absent: away },
    ...(policy !== undefined && { policy }),
    ...(issuers !== undefined && { issuers }),
    sealing: foundedSealing(binding.sealing, add, generation),
    ...(guests.length > 0 && { guests }),
  };
  const plan = { channelId, base, binding: next, changes, own, add };
  return { plan, statement, change, joining, absent };
}

/** Undefined when the Welcome is too long to be sent. */
function* foundWith(
  add: readonly KeyPackage[],
  basis: FoundingBasis,
  membership: Membership,
  deps: ChannelDeps,
): InterruptibleWork<FoundingCandidate | undefined> {
  const { plan, statement, change, joining, absent } = planFounding(add, basis, membership, deps);
  const { channelId, changes } = plan;
  const { identity, signatures } = deps;
  const hash = foundingHash(statement);
  const made: FoundedGroup = yield* foundGroup(plan, memberDepsOf(deps, membership.trust.policy));
  if (!fitsWelcome(made)) return undefined;
  const { next, welcome } = made;
  const state = stateOf(next);
  const signature = signatures.sign(
    identity.signingSeed,
    foundingStatement({ ...statement, state }),
  );
  const { channelId: _, ...fields } = statement;
  const body: FoundGenerationRequest = {
    channelId,
    founding: { ...fields, state, signature },
    proof: proofOf(basis.bad),
    change: encodeOwnersChange(change),
    absent: [...absent],
    welcomes: welcome === undefined ? [] : [{ recipients: [...joining], welcome }],
  };
  return { hash, request: encodeRequest(1, "FoundGeneration", body), next, changes };
}

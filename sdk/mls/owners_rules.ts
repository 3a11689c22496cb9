/**
 * A commit and the owners, policy, issuers, sealing and guests of its channel: changes of ours, and
 * of others. An owner changes owners, policy and issuers with its own signature; a member that owns
 * nothing only strikes owners that leave, with what those signed. The GroupContext after a commit
 * is exactly the result of its changes, but for the guests, for which a commit has a choice.
 */
import {
  type AgentId,
  type ChannelIssuers,
  type ChannelPolicy,
  type CommitAad,
  decodeOwnersChanges,
  encodeOwnersChanges,
  hashOfIssuers,
  limits,
  type MemberProof,
  type OwnersChange,
  type OwnersVersion,
  sameIssuers,
  samePolicy,
} from "../../proto/mod.ts";
import {
  type ChannelBinding,
  channelIdOf,
  decodeBinding,
  encodeBinding,
} from "./channel_extensions.ts";
import { equalBytes, MlsFault } from "./codec.ts";
import type { Signatures } from "./crypto/signatures.ts";
import type { Epoch } from "./epoch.ts";
import type { MlsIdentity } from "./identity.ts";
import { agentOf, credentialOf } from "./leaf.ts";
import { checkGuests, guestsAfter } from "./guests_rules.ts";
import { type CommitSummary, type Member, memberAt } from "./members.ts";
import { followChanges, leaveChange, signChange, versionOf } from "./owners_chain.ts";
import { policyOf } from "./policy_rules.ts";
import { leafHashOf } from "./ratchet_tree.ts";
import { sameSealing, sealingAfter, withoutSealKey } from "./sealing_rules.ts";
import type { Extension, KeyPackage } from "./ts_mls.ts";

/** The part of our commit that may concern the owners. */
export interface OwnersIntent {
  readonly add?: readonly KeyPackage[];
  readonly remove?: readonly AgentId[];
  /** In the order of leaves. */
  readonly leaves?: readonly MemberProof[];
  readonly rejoins?: readonly MemberProof[];
  /** The owners that there shall be; otherwise those that remain. */
  readonly owners?: readonly AgentId[];
  /** The policy that there shall be; not together with owners. */
  readonly policy?: ChannelPolicy;
  /** The issuers that there shall be; not together with a policy or owners. */
  readonly issuers?: ChannelIssuers;
  /** The added members that come as guests. */
  readonly guests?: readonly AgentId[];
  /** Guests that become members like the others; by owners only. */
  readonly released?: readonly AgentId[];
}

export interface OwnersPlan {
  /** Undefined when the GroupContext stays as it is. */
  readonly binding: ChannelBinding | undefined;
  readonly changes: readonly OwnersChange[];
}

/**
 * Returns the effect of our commit on the owners, the absent members and the guests, with the
 * proofs for it.
 */
export function planBinding(
  epoch: Epoch,
  intent: OwnersIntent,
  deps: { readonly identity: MlsIdentity; readonly signatures: Signatures },
): OwnersPlan {
  const plan = planOwners(epoch, intent, deps);
  const before = decodeBinding(epoch.context.extensions);
  const added = intent.add?.map(({ leafNode }) => agentOf(leafNode)) ?? [];
  const { remove = [], rejoins = [], guests: marked = [], released = [] } = intent;
  const present = withoutAbsent(plan.binding ?? before, [...added, ...remove]);
  const { owners: ownersAfter, guests: guestsBefore = [] } = present;
  const guests = guestsAfter({ guestsBefore, added, removed: remove, rejoins, ownersAfter }, {
    marked,
    released,
  });
  const sealing = sealingAfter(before.sealing, withoutSealKey(intent.add ?? []));
  const binding = sameAgents(guests, guestsBefore) && sameSealing(sealing, before.sealing)
    ? present
    : { ...present, sealing, guests };
  return binding === before ? plan : { ...plan, binding };
}

/** The same binding when none of these is absent. */
function withoutAbsent(binding: ChannelBinding, gone: readonly AgentId[]): ChannelBinding {
  const { generation } = binding;
  if (
    generation === undefined || !generation.absent.some(({ agentId }) => gone.includes(agentId))
  ) return binding;
  const absent = generation.absent.filter(({ agentId }) => !gone.includes(agentId));
  return { ...binding, generation: { ...generation, absent } };
}

function planOwners(
  epoch: Epoch,
  intent: OwnersIntent,
  { identity, signatures }: { readonly identity: MlsIdentity; readonly signatures: Signatures },
): OwnersPlan {
  const { add = [], remove = [], leaves = [], policy, issuers } = intent;
  const before = decodeBinding(epoch.context.extensions);
  const self = memberAt(epoch, epoch.ownLeaf);
  const added = add.map(({ leafNode }) => agentOf(leafNode));
  const owners = intent.owners ??
    remainingOwners(before.owners, { added, removed: remove, leaves });
  const unchanged = sameAgents(owners, before.owners);
  const changed = [intent.owners, policy, issuers].filter((each) => each !== undefined).length;
  const isOfOwners = policy === undefined && issuers === undefined;
  if (!isOfOwners && (!self.owner || changed > 1)) {
    throw new MlsFault(
      "Only an owner changes policy or issuers, one of them, without other owners",
    );
  }
  if (unchanged && isOfOwners) return { binding: undefined, changes: [] };
  if (owners.length > limits.ownersPerChannel || (self.owner && owners.length === 0)) {
    throw new MlsFault(`A channel has 1 to ${limits.ownersPerChannel} owners`);
  }
  const version = versionIn(before);
  const byLeaves = leaveChanges(epoch, version, leaves);
  const isByLeaves = !self.owner && sameAgents(byLeaves.at(-1)?.owners ?? version.owners, owners);
  const changes = isByLeaves ? byLeaves : [
    signChange(
      { channelId: channelIdOf(epoch.context), before: version, owners, policy, issuers },
      identity,
      signatures,
    ),
  ];
  return { binding: bindingAfter(before, changes, issuers), changes };
}

/** A commit that verifies, as far as it concerns the owners. */
export interface OwnersCommit {
  readonly summary: Pick<CommitSummary, "added" | "keyless" | "removed">;
  readonly committer: Member;
  /** The epoch in which it was made. */
  readonly before: Epoch;
  /** The extensions of the GroupContext after the commit. */
  readonly extensions: readonly Extension[];
}

/**
 * Throws `MlsFault` or `WireError` for a commit that must not be followed. Its proofs have been
 * verified before.
 */
export function checkOwners(commit: OwnersCommit, aad: CommitAad, signatures: Signatures): void {
  const before = decodeBinding(commit.before.context.extensions);
  const changes = decodeOwnersChanges(aad.changes);
  const remaining = remainingOwners(before.owners, { ...commit.summary, leaves: aad.leaves });
  const made = commit.committer.owner
    ? signedChanges(commit, changes, remaining, signatures)
    : leftChanges(commit, aad);
  const { added, removed } = commit.summary;
  const { guests = [], issuers } = decodeBinding(commit.extensions);
  const binding = bindingAfter(before, made, issuers);
  const sealing = sealingAfter(before.sealing, commit.summary.keyless);
  const expected = { ...withoutAbsent(binding, [...added, ...removed]), sealing, guests };
  const members = { added, removed, rejoins: aad.rejoins, ownersAfter: expected.owners };
  checkGuests({ ...members, guestsBefore: before.guests ?? [] }, guests, commit.committer);
  if (!sameExtensions(commit.extensions, encodeBinding(expected))) {
    throw new MlsFault(
      "The owners, policy, issuers or sealing after the commit are not the result of its changes",
    );
  }
}

/**
 * An owner makes at most one change, and strikes every owner that its commit removes and does not
 * bring back.
 */
function signedChanges(
  { before: epoch, committer, extensions }: OwnersCommit,
  changes: readonly OwnersChange[],
  remaining: readonly AgentId[],
  signatures: Signatures,
): readonly OwnersChange[] {
  const [change, ...others] = changes;
  const binding = decodeBinding(epoch.context.extensions);
  const leaf = epoch.tree.leaf(committer.leafIndex);
  if (others.length > 0 || change?.kind === "left" || change?.kind === "founded") {
    throw new MlsFault("An owner changes owners, policy or issuers once, by signing it");
  }
  if (change !== undefined && leaf !== undefined) {
    const { signatureKey, identity } = credentialOf(leaf.node);
    if (!equalBytes(change.signatureKey, signatureKey) || !equalBytes(change.identity, identity)) {
      throw new MlsFault("A change of the owners was signed by another owner than the commit");
    }
  }
  const place = {
    channelId: channelIdOf(epoch.context),
    generation: binding.generation?.generation ?? 0,
  };
  const after = followChanges(place, versionIn(binding), changes, signatures);
  const struck = binding.owners.filter((owner) => !remaining.includes(owner));
  if (after.owners.some((owner) => struck.includes(owner))) {
    throw new MlsFault("The commit removes an owner and leaves it on the list");
  }
  if (change?.kind === "policy") checkPolicyChange(change, binding, remaining);
  if (change?.kind === "issuers") {
    checkIssuersChange(change, { before: binding, after: decodeBinding(extensions), remaining });
  }
  return changes;
}

/**
 * The change must be one of the policy, and of no owners but those that its commit removes. A
 * policy that is in force already would only fill the chain.
 */
function checkPolicyChange(
  { policy, owners }: OwnersChange & { readonly kind: "policy" },
  before: ChannelBinding,
  remaining: readonly AgentId[],
): void {
  if (!sameAgents(owners, remaining)) {
    throw new MlsFault("A change of the policy changes the owners");
  }
  if (samePolicy(policy, policyOf(before))) {
    throw new MlsFault("A change of the policy changes nothing");
  }
}

/** The same of the issuers. The change has their hash, the commit their bytes. */
function checkIssuersChange(
  { issuers, owners }: OwnersChange & { readonly kind: "issuers" },
  { before, after, remaining }: {
    readonly before: ChannelBinding;
    readonly after: ChannelBinding;
    readonly remaining: readonly AgentId[];
  },
): void {
  if (!sameAgents(owners, remaining)) {
    throw new MlsFault("A change of the issuers changes the owners");
  }
  if (after.issuers === undefined || !equalBytes(hashOfIssuers(after.issuers), issuers)) {
    throw new MlsFault("The issuers after the commit are not those of its change");
  }
  if (sameIssuers(before.issuers, after.issuers)) {
    throw new MlsFault("A change of the issuers changes nothing");
  }
}

/** There is one way to write the changes that leaves make. */
function leftChanges(
  { before: epoch }: OwnersCommit,
  { leaves, changes }: CommitAad,
): readonly OwnersChange[] {
  const binding = decodeBinding(epoch.context.extensions);
  const expected = leaveChanges(epoch, versionIn(binding), leaves);
  if (!equalBytes(encodeOwnersChanges(expected), changes)) {
    throw new MlsFault("Only owners change the owners, but for those that leave");
  }
  return expected;
}

/** One for each owner that leaves, in their order. */
function leaveChanges(
  epoch: Epoch,
  before: OwnersVersion,
  leaves: readonly MemberProof[],
): OwnersChange[] {
  const leafOf = new Map(Array.from(epoch.tree.leaves(), ([, leaf]) => [leaf.agentId, leaf]));
  const changes: OwnersChange[] = [];
  let version = before;
  for (const { agentId, signature } of leaves) {
    const leaf = leafOf.get(agentId);
    if (leaf === undefined || !version.owners.includes(agentId)) continue;
    const change = leaveChange(version, {
      ...credentialOf(leaf.node),
      leafHash: leafHashOf(leaf),
      signature,
    });
    changes.push(change);
    version = versionOf(change);
  }
  return changes;
}

/**
 * The owners after a commit that does not change them otherwise: without the removed, unless they
 * come back at once.
 */
export function remainingOwners(
  before: readonly AgentId[],
  change: Pick<CommitSummary, "added" | "removed"> & { readonly leaves: readonly MemberProof[] },
): AgentId[] {
  const left = new Set(change.leaves.map(({ agentId }) => agentId));
  return before.filter((owner) =>
    !change.removed.includes(owner) || (change.added.includes(owner) && !left.has(owner))
  );
}

/** The version of owners that a channel has. */
export function versionIn({ chain, owners }: ChannelBinding): OwnersVersion {
  return { ...chain, owners };
}

/**
 * Returns the channel's binding after allowed changes. `issuers` are those of one that changes
 * them, which has their hash alone.
 */
function bindingAfter(
  before: ChannelBinding,
  changes: readonly OwnersChange[],
  issuers: ChannelIssuers | undefined,
): ChannelBinding {
  const last = changes.at(-1);
  const { version, lastChange, owners } = last === undefined ? versionIn(before) : versionOf(last);
  return {
    ...before,
    owners,
    chain: { version, lastChange },
    ...(last?.kind === "policy" && { policy: last.policy }),
    ...(last?.kind === "issuers" && issuers !== undefined && { issuers }),
  };
}

function sameExtensions(a: readonly Extension[], b: readonly Extension[]): boolean {
  return a.length === b.length && a.every(({ extensionType, extensionData }, i) => {
    const other = b[i];
    return other?.extensionType === extensionType && equalBytes(other.extensionData, extensionData);
  });
}

export function sameAgents(a: readonly AgentId[], b: readonly AgentId[]): boolean {
  return a.length === b.length && [...a].sort().join() === [...b].sort().join();
}

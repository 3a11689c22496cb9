/**
 * The chain of a channel's owners, policy and issuers: which change may follow which version, and
 * what changes prove to whom. A joiner believes its inviter and checks that everything fits
 * together; a returning member follows the chain from the version that it knew and believes nobody.
 * Every verdict comes from bytes alone, so all members reach the same one.
 */
import {
  type AgentId,
  agentIdOf,
  type ChannelId,
  type ChannelIssuers,
  type ChannelPolicy,
  encodeOwnersChange,
  type FoundedGeneration,
  groupIdOf,
  hashOfIssuers,
  leaveStatement,
  limits,
  type OwnersChange,
  ownersStatement,
  type OwnersVersion,
  samePolicy,
} from "../../proto/mod.ts";
import { sha256, type SignedBytes } from "../../wasm/mod.ts";
import { equalBytes, MlsFault } from "./codec.ts";
import type { Signatures } from "./crypto/signatures.ts";
import type { MlsIdentity } from "./identity.ts";
import type { MemberCredential } from "./leaf.ts";
import type { Sealing } from "./sealing_rules.ts";

/** The number of changes of which members keep a copy. */
const keptChanges = limits.ownersChanges;

/** Before version 1: the founder of the chain signs as one of its first owners. */
export const noVersion: OwnersVersion = { version: 0, lastChange: new Uint8Array(32), owners: [] };

/**
 * A change by which these become the owners, signed by one of those before; with a policy or
 * issuers, by which those come into force.
 */
export function signChange(
  { channelId, before, owners, policy, issuers }: {
    readonly channelId: ChannelId;
    readonly before: OwnersVersion;
    readonly owners: readonly AgentId[];
    readonly policy?: ChannelPolicy | undefined;
    /** Not together with a policy. */
    readonly issuers?: ChannelIssuers | undefined;
  },
  { signingSeed, signatureKey, identity }: MlsIdentity,
  signatures: Signatures,
): OwnersChange {
  const fields = {
    version: before.version + 1,
    previous: before.lastChange,
    owners: inOrder(owners),
  };
  const said = issuers !== undefined
    ? { kind: "issuers", issuers: hashOfIssuers(issuers) } as const
    : policy === undefined
    ? { kind: "signed" } as const
    : { kind: "policy", policy } as const;
  const signature = signatures.sign(
    signingSeed,
    ownersStatement({ channelId, ...fields, ...said }),
  );
  return { ...said, ...fields, signatureKey, identity, signature };
}

/**
 * The change that a founding makes: its owners are those of the base without the blamed, policy and
 * issuers are those of the base.
 */
export function foundedChange(
  { channelId, before, owners, founded, policy, issuers }: {
    readonly channelId: ChannelId;
    readonly before: OwnersVersion;
    readonly owners: readonly AgentId[];
    readonly founded: FoundedGeneration;
    readonly policy?: ChannelPolicy | undefined;
    readonly issuers?: ChannelIssuers | undefined;
  },
  { signingSeed, signatureKey, identity }: MlsIdentity,
  signatures: Signatures,
): OwnersChange {
  const fields = {
    version: before.version + 1,
    previous: before.lastChange,
    owners: inOrder(owners),
  };
  const said = {
    founded,
    ...(policy !== undefined && { policy }),
    ...(issuers !== undefined && { issuers: hashOfIssuers(issuers) }),
  };
  const signature = signatures.sign(
    signingSeed,
    ownersStatement({ channelId, ...fields, ...said }),
  );
  return { kind: "founded", ...fields, signatureKey, identity, signature, ...said };
}

/** The signed statement of an owner that left. */
export interface OwnerLeave extends MemberCredential {
  readonly leafHash: Uint8Array;
  readonly signature: Uint8Array;
}

/** The change that an owner's leave makes: there is one way to write it. */
export function leaveChange(before: OwnersVersion, leave: OwnerLeave): OwnersChange {
  const { signatureKey, identity, leafHash, signature } = leave;
  const leaver = agentIdOf(signatureKey, identity);
  const owners = before.owners.filter((owner) => owner !== leaver);
  const fields = { version: before.version + 1, previous: before.lastChange, owners };
  return { kind: "left", ...fields, signatureKey, identity, leafHash, signature };
}

/** The version that a change makes. */
export function versionOf(change: OwnersChange): OwnersVersion {
  return {
    version: change.version,
    lastChange: sha256(encodeOwnersChange(change)),
    owners: change.owners,
  };
}

export function signerOf({ signatureKey, identity }: OwnersChange): AgentId {
  return agentIdOf(signatureKey, identity);
}

/**
 * The version after these changes. Throws `MlsFault` when one does not follow from the one before
 * it.
 */
export function followChanges(
  channel: Pick<ShownChain, "channelId" | "generation">,
  before: OwnersVersion,
  changes: readonly OwnersChange[],
  signatures: Signatures,
): OwnersVersion {
  const after = changes.reduce((version, change) => follow(version, change), before);
  checkSignatures({ ...channel, changes }, signatures);
  return after;
}

/** The owners as a member that comes back remembers them. */
export interface KnownOwners {
  readonly owners: readonly AgentId[];
  readonly chain: Pick<OwnersVersion, "version" | "lastChange">;
  /** Absent in generation 0. */
  readonly generation?: { readonly generation: number };
  readonly policy?: ChannelPolicy | undefined;
  readonly issuers?: ChannelIssuers | undefined;
  readonly sealing?: Sealing | undefined;
}

/**
 * A Welcome's statement about the owners, the policy and the issuers: those in its GroupContext,
 * and the changes that led there.
 */
export interface ShownChain {
  readonly channelId: ChannelId;
  readonly now: OwnersVersion;
  readonly generation: number;
  readonly policy?: ChannelPolicy | undefined;
  readonly issuers?: ChannelIssuers | undefined;
  /** Oldest first. */
  readonly changes: readonly OwnersChange[];
}

/**
 * Checks for a joiner, which starts from here, that all of the chain fits together. Throws
 * `MlsFault`.
 */
export function checkChain(shown: ShownChain, signatures: Signatures): void {
  const isWhole = shown.now.version <= keptChanges;
  checkLinks(shown, isWhole ? noVersion : undefined);
  const last = lastPolicy(shown.changes);
  if (last !== undefined || isWhole) checkPolicy(shown, last?.policy);
  const badges = lastIssuers(shown.changes);
  if (badges !== undefined || isWhole) checkIssuers(shown, badges?.issuers);
  checkSignatures(shown, signatures);
}

/**
 * Checks for a member that comes back that the chain leads on from what it knew, without a break.
 * Throws `MlsFault`.
 */
export function checkContinuation(
  known: KnownOwners,
  shown: ShownChain,
  signatures: Signatures,
): void {
  const { version, lastChange } = shown.now;
  const [first] = shown.changes;
  const { chain } = known;
  const founding = firstFoundingAfter(known, shown);
  const rolledBack = founding !== undefined && founding.version <= chain.version;
  if (version < chain.version && !rolledBack) {
    throw new MlsFault("The owners are of an older version than this agent knew");
  }
  if (version - chain.version > keptChanges) throw tooLong();
  const isJustBefore = first?.version === chain.version + 1;
  checkLinks(
    shown,
    version <= keptChanges
      ? noVersion
      : isJustBefore
      ? { ...chain, owners: known.owners }
      : undefined,
  );
  const last = chain.version === version
    ? lastChange
    : previousOf(shown.changes, chain.version + 1);
  const leadsOn = last !== undefined && equalBytes(last, chain.lastChange);
  // This agent's known version came from the commit that a new generation has undone: an owner that
  // it knew must have founded that generation.
  if (!leadsOn && (founding === undefined || !known.owners.includes(signerOf(founding)))) {
    throw new MlsFault(
      "The chain of owners does not lead on from the version that this agent knew",
    );
  }
  const from = leadsOn ? chain.version + 1 : founding?.version ?? 0;
  const since = shown.changes.filter((each) => each.version >= from);
  const later = lastPolicy(since);
  checkPolicy(shown, later === undefined ? known.policy : later.policy);
  const badges = lastIssuers(since);
  const before = known.issuers && hashOfIssuers(known.issuers);
  checkIssuers(shown, badges === undefined ? before : badges.issuers);
  checkSignatures(shown, signatures);
}

/**
 * Checks that every generation above the known one has its change; returns the first. Throws
 * `MlsFault`.
 */
function firstFoundingAfter(
  { generation }: KnownOwners,
  shown: ShownChain,
): OwnersChange | undefined {
  const from = generation?.generation ?? 0;
  if (shown.generation < from) {
    throw new MlsFault("The Welcome leads into an older generation than this agent knew");
  }
  const later = shown.changes.filter((each) =>
    each.kind === "founded" && each.founded.generation > from
  );
  const isWhole = later.length === shown.generation - from &&
    later.every((each, i) => each.kind === "founded" && each.founded.generation === from + 1 + i);
  if (!isWhole) {
    throw new MlsFault("The chain of owners does not show how a generation was founded");
  }
  return later[0];
}

/** Returns the changes that members keep after a commit. */
export function keepChanges(
  before: readonly OwnersChange[],
  more: readonly OwnersChange[],
): readonly OwnersChange[] {
  return more.length === 0 ? before : [...before, ...more].slice(-keptChanges);
}

/**
 * Whether these are the changes that members of this version keep, by their links alone: they were
 * judged before.
 */
export function isChainOf(now: OwnersVersion, changes: readonly OwnersChange[]): boolean {
  const last = changes.at(-1);
  return changes.length === Math.min(now.version, keptChanges) && last !== undefined &&
    equalBytes(versionOf(last).lastChange, now.lastChange);
}

export function inOrder(owners: readonly AgentId[]): AgentId[] {
  return [...new Set(owners)].sort();
}

/** `start` is the version before the first change, when that is known. */
function checkLinks({ now, changes }: ShownChain, start: OwnersVersion | undefined): void {
  if (changes.length !== Math.min(now.version, keptChanges)) {
    throw new MlsFault(`A chain of owners of version ${now.version} has ${changes.length} changes`);
  }
  let version = start;
  for (const change of changes) {
    version = version === undefined ? versionOf(change) : follow(version, change);
  }
  if (version?.version !== now.version || !equalBytes(version.lastChange, now.lastChange)) {
    throw new MlsFault("A chain of owners does not lead to its group's version");
  }
  if (version.owners.join() !== now.owners.join()) {
    throw new MlsFault("A chain of owners leads to other owners");
  }
}

/** Everything but the signature. */
function follow(before: OwnersVersion, change: OwnersChange): OwnersVersion {
  const { version, owners } = change;
  if (version !== before.version + 1 || !equalBytes(change.previous, before.lastChange)) {
    throw new MlsFault("A change of the owners does not follow the version before it");
  }
  const signer = signerOf(change);
  const may = version === 1 ? owners : before.owners;
  if (!may.includes(signer)) {
    throw new MlsFault("A change of the owners was not signed by an owner");
  }
  if (change.kind !== "left") {
    if (owners.length === 0) throw new MlsFault("A change leaves the channel without an owner");
    const isOfOwners = change.kind !== "policy" && change.kind !== "issuers";
    if (!isOfOwners && owners.some((owner) => !before.owners.includes(owner))) {
      throw new MlsFault(`A change of the ${change.kind} makes owners`);
    }
  } else if (
    version === 1 || owners.join() !== before.owners.filter((owner) => owner !== signer).join()
  ) {
    throw new MlsFault("An owner's leave changes other owners than itself");
  }
  return versionOf(change);
}

/** The last of these changes that says which policy is in force. */
function lastPolicy(
  changes: readonly OwnersChange[],
): { readonly policy?: ChannelPolicy } | undefined {
  return changes.flatMap((each) => each.kind === "policy" || each.kind === "founded" ? [each] : [])
    .at(-1);
}

/** The same of the issuers, by their hash. */
function lastIssuers(
  changes: readonly OwnersChange[],
): { readonly issuers?: Uint8Array } | undefined {
  return changes.flatMap((each) => each.kind === "issuers" || each.kind === "founded" ? [each] : [])
    .at(-1);
}

function checkIssuers({ issuers }: ShownChain, hash: Uint8Array | undefined): void {
  const isSame = issuers === undefined || hash === undefined
    ? issuers === undefined && hash === undefined
    : equalBytes(hashOfIssuers(issuers), hash);
  if (!isSame) throw new MlsFault("The issuers of the group are not those that its owners set");
}

function checkPolicy(shown: ShownChain, policy: ChannelPolicy | undefined): void {
  if (!samePolicy(shown.policy, policy)) {
    throw new MlsFault("The policy of the group is not the one that its owners set");
  }
}

/**
 * `generation` is that of the last change: what an owner signed that left names the group of its
 * own.
 */
function checkSignatures(
  { channelId, generation, changes }: Pick<ShownChain, "channelId" | "generation" | "changes">,
  signatures: Signatures,
): void {
  const first = changes.find((change) => change.kind === "founded");
  let current = first?.kind === "founded" ? first.founded.generation - 1 : generation;
  const signed = changes.map((change): SignedBytes => {
    if (change.kind === "founded") current = change.founded.generation;
    const message = statementOf({ channelId, groupId: groupIdOf(channelId, current) }, change);
    return { publicKey: change.signatureKey, message, signature: change.signature };
  });
  if (!signatures.verifyHandshakes(signed)) {
    throw new MlsFault("The signature of a change of the owners is wrong");
  }
}

function statementOf(
  { channelId, groupId }: { readonly channelId: ChannelId; readonly groupId: ChannelId },
  change: OwnersChange,
): Uint8Array {
  return change.kind === "left"
    ? leaveStatement({ channelId: groupId, agentId: signerOf(change), leafHash: change.leafHash })
    : ownersStatement({ channelId, ...change });
}

function previousOf(changes: readonly OwnersChange[], version: number): Uint8Array | undefined {
  return changes.find((change) => change.version === version)?.previous;
}

function tooLong(): MlsFault {
  return new MlsFault(
    `The owners changed more than ${keptChanges} times meanwhile; ask an owner for a new invite`,
  );
}

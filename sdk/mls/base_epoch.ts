/**
 * The rest of an epoch on which a new generation may be founded: enough to judge the founding, but
 * no keys to read or send with.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { AgentId, ChannelIssuers, ChannelPolicy, OwnersVersion } from "../../proto/mod.ts";
import { decodeBinding } from "./channel_extensions.ts";
import { equalBytes } from "./codec.ts";
import type { SuiteId } from "./crypto/suite.ts";
import type { Epoch } from "./epoch.ts";
import { type AbsentMember, identityHashOf } from "./generation.ts";
import { credentialOf } from "./leaf.ts";
import type { Sealing } from "./sealing_rules.ts";
import type { PreSharedKeyID } from "./ts_mls.ts";

/**
 * The part that a member keeps of the epoch before its present one, until the next commit: a new
 * generation may be founded on it.
 */
export interface BaseEpoch {
  readonly epoch: number;
  readonly groupId: Uint8Array;
  readonly suiteId: SuiteId;
  readonly transcriptHash: Uint8Array;
  /** SHA-256 of the ids of its members, with and without a leaf, ascending and joined. */
  readonly members: Uint8Array;
  readonly owners: readonly AgentId[];
  readonly chain: Pick<OwnersVersion, "version" | "lastChange">;
  readonly generation: number;
  readonly policy: ChannelPolicy | undefined;
  readonly issuers: ChannelIssuers | undefined;
  readonly sealing: Sealing | undefined;
  readonly guests: readonly AgentId[];
  readonly resumption: Uint8Array;
}

export function baseOf({ context, suiteId, secrets, tree }: Epoch): BaseEpoch {
  const { owners, chain, generation, policy, issuers, sealing, guests = [] } = decodeBinding(
    context.extensions,
  );
  return {
    epoch: Number(context.epoch),
    groupId: context.groupId,
    suiteId,
    transcriptHash: context.confirmedTranscriptHash,
    members: hashOfMembers(baseMembersOf({ context, tree })),
    owners,
    chain,
    generation: generation?.generation ?? 0,
    policy,
    issuers,
    sealing,
    guests,
    resumption: secrets.resumption,
  };
}

/** Returns the members with a leaf and those without, ascending. */
export function baseMembersOf({ context, tree }: Pick<Epoch, "context" | "tree">): AgentId[] {
  const present = Array.from(tree.leaves(), ([, { agentId }]) => agentId);
  const absent = decodeBinding(context.extensions).generation?.absent ?? [];
  return [...present, ...absent.map(({ agentId }) => agentId)].sort();
}

/** The same members, with what each calls itself. */
export function identifiedMembersOf(
  { context, tree }: Pick<Epoch, "context" | "tree">,
): AbsentMember[] {
  const present = Array.from(tree.leaves(), ([, { agentId, node }]): AbsentMember => ({
    agentId,
    identityHash: identityHashOf(credentialOf(node).identity),
  }));
  const all = [...present, ...decodeBinding(context.extensions).generation?.absent ?? []];
  return all.sort((a, b) => a.agentId < b.agentId ? -1 : 1);
}

export function hashOfMembers(members: readonly AgentId[]): Uint8Array {
  return sha256(utf8ToBytes([...members].sort().join("")));
}

/** The base's resumption secret, to a Welcome that asks for it. */
export function pskOf(
  { epoch, groupId, resumption }: BaseEpoch,
): (id: PreSharedKeyID) => Uint8Array | undefined {
  return (id) =>
    id.psktype === "resumption" && id.pskEpoch === BigInt(epoch) &&
      equalBytes(id.pskGroupId, groupId)
      ? resumption
      : undefined;
}

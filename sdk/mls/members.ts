/** Members and commits in the terms of a channel: agents instead of leaves. */
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type AgentId,
  agentIdOf,
  binaryIdToBytes,
  generationOf,
  groupIdOf,
} from "../../proto/mod.ts";
import { sha256 } from "../../wasm/mod.ts";
import { type ChannelBinding, decodeBinding } from "./channel_extensions.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { equalBytes, MlsFault } from "./codec.ts";
import type { CommitEffects } from "./commit.ts";
import type { Epoch } from "./epoch.ts";
import { identityHashOf } from "./generation.ts";
import { agentOf, type BadgedCredential, badgedOf, credentialOf } from "./leaf.ts";
import { encodeKeyPackageMessage } from "./key_package.ts";
import { type MemberRights, rightsOf } from "./policy_rules.ts";
import { checkSealing, withoutSealKey } from "./sealing_rules.ts";
import type { GroupContext } from "./ts_mls.ts";

export { agentOf };

export interface Member extends MemberRights {
  readonly leafIndex: number;
  readonly agentId: AgentId;
  readonly identity: Uint8Array;
  /** The badges as the member's leaf shows them: perhaps malformed, and by nobody verified. */
  readonly badges?: Uint8Array;
}

/** The changes of a commit. */
export interface CommitSummary {
  readonly committer: AgentId;
  readonly added: readonly AgentId[];
  /** SHA-256 of the KeyPackage, as it was uploaded, under which each came in. */
  readonly keyPackageHashes: ReadonlyMap<AgentId, Uint8Array>;
  /** The added members whose KeyPackages had no key for the layer of Welcomes. */
  readonly keyless: readonly AgentId[];
  readonly removed: readonly AgentId[];
  /** When the commit changed them. */
  readonly owners: readonly AgentId[] | undefined;
  readonly ownersBefore: readonly AgentId[];
}

type EpochView = Pick<Epoch, "tree" | "context">;

export function memberAt(place: EpochView, leafIndex: number): Member {
  return memberOf(leafIndex, credentialAt(place, leafIndex), place.context);
}

export function credentialAt(
  { tree }: Pick<EpochView, "tree">,
  leafIndex: number,
): BadgedCredential {
  const leaf = tree.leaf(leafIndex);
  if (leaf === undefined) throw new MlsFault("There is no member at this leaf of the group");
  return badgedOf(leaf.node);
}

export function memberOf(
  leafIndex: number,
  credential: BadgedCredential,
  context: GroupContext,
): Member {
  return describe(leafIndex, credential, decodeBinding(context.extensions));
}

/** The senders of one epoch, each described once and not with every message. */
export class DescribedMembers {
  #context: GroupContext | undefined;
  readonly #members = new Map<number, Member>();

  at(leafIndex: number, credential: BadgedCredential, context: GroupContext): Member {
    if (context !== this.#context) this.#members.clear();
    this.#context = context;
    const member = this.#members.get(leafIndex) ?? memberOf(leafIndex, credential, context);
    this.#members.set(leafIndex, member);
    return member;
  }
}

export function membersOf({ tree, context }: EpochView): Member[] {
  const binding = decodeBinding(context.extensions);
  return Array.from(
    tree.leaves(),
    ([leafIndex, { node }]) => describe(leafIndex, badgedOf(node), binding),
  );
}

/**
 * The effects of a commit that was made in `epoch`. Throws `MlsFault` when it renames the channel.
 */
export function summarise(
  epoch: Epoch,
  { committer, added, removed, extensions }: CommitEffects,
): CommitSummary {
  const [before, after] = [decodeBinding(epoch.context.extensions), decodeBinding(extensions)];
  if (before.name !== after.name) throw new MlsFault("A commit renames the channel");
  const joined = added.map(({ keyPackage }) => agentOf(keyPackage.leafNode));
  return {
    committer: memberAt(epoch, committer).agentId,
    added: joined,
    keyPackageHashes: new Map(
      added.map((
        { keyPackage },
      ) => [agentOf(keyPackage.leafNode), sha256(encodeKeyPackageMessage(keyPackage))]),
    ),
    keyless: withoutSealKey(added.map(({ keyPackage }) => keyPackage)),
    removed: [...removed.map(({ leaf }) => agentOf(leaf)), ...struckBetween(before, after, joined)],
    owners: before.owners.join() === after.owners.join() ? undefined : after.owners,
    ownersBefore: before.owners,
  };
}

/** Members that had no leaf, and are none any more. */
function struckBetween(
  before: ChannelBinding,
  after: ChannelBinding,
  joined: readonly AgentId[],
): AgentId[] {
  const staying = new Set([
    ...joined,
    ...(after.generation?.absent ?? []).map(({ agentId }) => agentId),
  ]);
  return (before.generation?.absent ?? []).map(({ agentId }) => agentId).filter((agentId) =>
    !staying.has(agentId)
  );
}

/** Checks the rules of a channel that go beyond MLS. Throws `MlsFault`. */
export function* checkChannel({ tree, context }: EpochView): InterruptibleWork<void> {
  const binding = decodeBinding(context.extensions);
  checkGroupId(context, binding);
  checkSealing(binding.sealing, Number(context.epoch));
  const [owners, guests] = [new Set(binding.owners), new Set(binding.guests)];
  const identities = new Set<string>();
  const claim = (identityHash: Uint8Array, agentId: AgentId): void => {
    const identity = bytesToHex(identityHash);
    if (identities.has(identity)) throw new MlsFault("An identity is in the channel twice");
    identities.add(identity);
    owners.delete(agentId);
    guests.delete(agentId);
  };
  for (const [, leaf] of tree.leaves()) {
    claim(identityHashOf(credentialOf(leaf.node).identity), leaf.agentId);
    yield;
  }
  for (const { agentId, identityHash } of binding.generation?.absent ?? []) {
    claim(identityHash, agentId);
  }
  // A removed owner must not be an owner again just because it is added later, nor a guest a guest.
  if (owners.size > 0) throw new MlsFault("An owner of the channel is not a member");
  if (guests.size > 0) throw new MlsFault("A guest of the channel is not a member");
  if (binding.guests?.some((guest) => binding.owners.includes(guest))) {
    throw new MlsFault("A guest owns the channel");
  }
}

/**
 * Epochs of a generation are numbered from its beginning on, and its group id follows from the
 * channel's.
 */
function checkGroupId(
  { groupId, epoch }: GroupContext,
  { generation: binding }: ChannelBinding,
): void {
  const generation = binding?.generation ?? 0;
  if (generationOf(Number(epoch)) !== generation) {
    throw new MlsFault("An epoch is of another generation than its group");
  }
  if (
    binding !== undefined &&
    !equalBytes(binaryIdToBytes(groupIdOf(binding.channelId, generation)), groupId)
  ) {
    throw new MlsFault("The group's id is not that of its channel and generation");
  }
}

function describe(
  leafIndex: number,
  credential: BadgedCredential,
  binding: ChannelBinding,
): Member {
  const { identity, signatureKey, badges } = credential;
  const agentId = agentIdOf(signatureKey, identity);
  const shown = badges === undefined ? {} : { badges };
  return { leafIndex, agentId, identity, ...shown, ...rightsOf(agentId, binding) };
}

/**
 * The group of a new generation. Its founder is alone in its first epoch and adds everybody by one commit that is never sent:
 * members come in by its Welcome. A pre-shared key of the base, the last epoch that they had in common, takes part in it, so
 * that only its members can.
 */
import type { PreSharedKeyID } from "ts-mls/presharedkey.js";
import { type ChannelId, foundingEpoch, groupIdOf, limits, type OwnersChange } from "../../proto/mod.ts";
import { type BaseEpoch, pskOf } from "./base_epoch.ts";
import type { ChannelBinding } from "./channel_extensions.ts";
import { createCommit } from "./commit.ts";
import type { Epoch } from "./epoch.ts";
import { Group, type MemberDeps } from "./group.ts";
import type { KeyPackage, OwnKeyPackage } from "./key_package.ts";
import { encodeShownChanges } from "./shown_owners.ts";

export interface FoundingPlan {
  readonly channelId: ChannelId;
  readonly base: BaseEpoch;
  readonly binding: ChannelBinding;
  /** How the owners came to be, the founding's own change last. */
  readonly changes: readonly OwnersChange[];
  /** Becomes the founder's leaf. */
  readonly own: OwnKeyPackage;
  readonly add: readonly KeyPackage[];
}

export interface FoundedGroup {
  /** The first epoch that members share. */
  readonly next: Epoch;
  /** Undefined when nobody was added. */
  readonly welcome: Uint8Array | undefined;
}

/** Throws `MlsFault` for a KeyPackage that cannot be added. */
export async function foundGroup(plan: FoundingPlan, deps: MemberDeps): Promise<FoundedGroup> {
  const { channelId, base, binding, changes, own, add } = plan;
  const generation = base.generation + 1;
  const start = { channelId: groupIdOf(channelId, generation), binding, changes, epoch: foundingEpoch(generation) };
  const alone = Group.begin(start, own, deps).current;
  const preSharedKeyId: PreSharedKeyID = {
    psktype: "resumption",
    usage: "application",
    pskGroupId: base.groupId,
    pskEpoch: BigInt(base.epoch),
    pskNonce: deps.randomBytes(32),
  };
  return await createCommit(alone, {
    proposals: [
      ...add.map((keyPackage) => ({ proposalType: "add" as const, add: { keyPackage } })),
      { proposalType: "psk", psk: { preSharedKeyId } },
    ],
    identity: deps.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: encodeShownChanges(changes),
  }, { ...deps, findPsk: pskOf(base) });
}

/** Whether a Welcome is small enough to be sent. */
export function fitsWelcome({ welcome }: FoundedGroup): boolean {
  return (welcome?.length ?? 0) <= limits.welcomeBytes;
}

/**
 * The group of a new generation. Its founder is alone in its first epoch and adds everybody by one
 * commit that is never sent: members come in by its Welcome. A pre-shared key of the base, the last
 * epoch that they had in common, takes part in it, so that only its members can.
 */
import {
  type ChannelId,
  foundingEpoch,
  groupIdOf,
  limits,
  type OwnersChange,
} from "../../proto/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import { checkMembersBadges, requiredIssuers, whyNoPlace } from "./badge_rules.ts";
import { type BaseEpoch, pskOf } from "./base_epoch.ts";
import { type ChannelBinding, decodeBinding } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import { createCommit } from "./commit.ts";
import type { Epoch } from "./epoch.ts";
import { Group, type MemberDeps } from "./group.ts";
import { type KeyPackage, type OwnKeyPackage, signedKeyPackage } from "./key_package.ts";
import { agentOf } from "./leaf.ts";
import { applyProposals } from "./proposals.ts";
import { isKeyMissing } from "./sealing_rules.ts";
import { encodeShownChanges } from "./shown_owners.ts";
import type { PreSharedKeyID, ProposalAdd } from "./ts_mls.ts";

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

/**
 * Returns those KeyPackages of the plan that one commit can add together. They are judged as the
 * commit will be, so that no member keeps the others out by a KeyPackage of its own: one that
 * cannot be added, alone or beside those before it, is left out, and so is one without a badge or
 * without a key that the channel requires.
 */
export function* addable(plan: FoundingPlan, deps: MemberDeps): InterruptibleWork<KeyPackage[]> {
  const alone = beginAlone(plan, deps);
  const { extensions } = alone.context;
  const issuers = requiredIssuers(extensions);
  const { sealing } = decodeBinding(extensions);
  const signed: KeyPackage[] = [];
  for (const keyPackage of plan.add) {
    const { leafNode: node } = keyPackage;
    const hasPlace = issuers === undefined ||
      whyNoPlace({ agentId: agentOf(node), node }, issuers, deps.signatures) === undefined;
    const isRefused = !hasPlace || isKeyMissing(keyPackage, sealing);
    if (!isRefused && deps.signatures.verifyHandshakes(signedKeyPackage(keyPackage))) {
      signed.push(keyPackage);
    }
    yield;
  }
  const verified = new Set(signed);
  const fit = function* (add: readonly KeyPackage[]): InterruptibleWork<boolean> {
    try {
      const proposals = add.map((keyPackage) => ({
        proposal: addOf(keyPackage),
        sender: alone.ownLeaf,
      }));
      yield* applyProposals(alone, alone.ownLeaf, proposals, deps, verified);
      return true;
    } catch (error) {
      if (error instanceof MlsFault) return false;
      throw error;
    }
  };
  const extend = function* (
    kept: readonly KeyPackage[],
    more: readonly KeyPackage[],
  ): InterruptibleWork<readonly KeyPackage[]> {
    const all = [...kept, ...more];
    if (more.length === 0 || (yield* fit(all))) return all;
    if (more.length === 1) return kept;
    const half = more.length >> 1;
    return yield* extend(yield* extend(kept, more.slice(0, half)), more.slice(half));
  };
  return [...yield* extend([], signed)];
}

/** Throws `MlsFault` for a KeyPackage that cannot be added. */
export function* foundGroup(plan: FoundingPlan, deps: MemberDeps): InterruptibleWork<FoundedGroup> {
  const { base, changes, add } = plan;
  const alone = beginAlone(plan, deps);
  const preSharedKeyId: PreSharedKeyID = {
    psktype: "resumption",
    usage: "application",
    pskGroupId: base.groupId,
    pskEpoch: BigInt(base.epoch),
    pskNonce: deps.randomBytes(32),
  };
  const founded = yield* createCommit(alone, {
    proposals: [
      ...add.map(addOf),
      { proposalType: "psk", psk: { preSharedKeyId } },
    ],
    identity: deps.identity,
    authenticatedData: new Uint8Array(0),
    padding: () => 0,
    groupInfoExtensions: encodeShownChanges(changes),
  }, { ...deps, findPsk: pskOf(base) });
  yield* checkMembersBadges(founded.next, deps.signatures);
  return founded;
}

function beginAlone(
  { channelId, base, binding, changes, own }: FoundingPlan,
  deps: MemberDeps,
): Epoch {
  const generation = base.generation + 1;
  const start = {
    channelId: groupIdOf(channelId, generation),
    binding,
    changes,
    epoch: foundingEpoch(generation),
  };
  return Group.begin(start, own, deps).current;
}

function addOf(keyPackage: KeyPackage): ProposalAdd {
  return { proposalType: "add", add: { keyPackage } };
}

/** Whether a Welcome is small enough to be sent. */
export function fitsWelcome({ welcome }: FoundedGroup): boolean {
  return (welcome?.length ?? 0) <= limits.welcomeBytes;
}

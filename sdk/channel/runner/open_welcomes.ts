/**
 * Welcomes that are opened with our keys. Whatever somebody wrote into one, it harms nobody: it is
 * worth nothing, and that is why.
 */
import type { OwnersChange } from "../../../proto/mod.ts";
import { type BaseEpoch, pskOf } from "../../mls/base_epoch.ts";
import type { Epoch } from "../../mls/epoch.ts";
import { Group } from "../../mls/group.ts";
import type { OwnKeyPackage } from "../../mls/key_package.ts";
import type { Member } from "../../mls/members.ts";
import { StoreFault } from "../../store/mod.ts";
import { anchorOf } from "../connection/anchor.ts";
import { type ChannelDeps, memberDepsOf } from "../deps.ts";
import { type DeliveredFounding, judgeOpened } from "../recovery/following.ts";
import type { Membership } from "../group/membership.ts";
import { judgeReturn, knownMembers, type StoppedCommit } from "../recovery/welcome_back.ts";
import type { Welcome } from "./welcomes.ts";
import { readRecords } from "./entrances.ts";

export interface OpenedFounding {
  readonly next: Epoch;
  readonly changes: readonly OwnersChange[];
  /** The KeyPackage that its Welcome was for. */
  readonly own: OwnKeyPackage;
}

/** The first epoch of the new generation, or why its Welcome is worth nothing. */
export function openFounding(
  entry: DeliveredFounding,
  base: BaseEpoch,
  membership: Membership,
  deps: ChannelDeps,
): Promise<OpenedFounding | string> {
  const { welcomes: [offered], sender } = entry;
  const { channelId, name, trust, group: { binding } } = membership;
  if (offered === undefined || !offered.recipients.includes(deps.agentId)) {
    return Promise.resolve("this agent is not among the welcomed");
  }
  return opening(async () => {
    const own = await deps.keyPackages.findFor(offered.welcome);
    const known = {
      owners: base.owners,
      chain: base.chain,
      policy: base.policy,
      issuers: base.issuers,
      sealing: base.sealing,
      ...(binding.generation && { generation: binding.generation }),
    };
    const memberDeps = { ...memberDepsOf(deps, trust.policy), findPsk: pskOf(base) };
    const expected = { channelId, name, inviter: sender, known };
    const group = await memberDeps.carryOut(
      Group.beginJoin(offered.welcome, own, memberDeps, expected),
    );
    const why = judgeOpened(group, entry, base);
    if (why !== undefined) return why;
    await deps.keyPackages.used(own, group.identifiers);
    return { next: group.current, changes: group.changes, own };
  });
}

export interface JoinableWelcome {
  /** The member that made the Welcome. */
  readonly maker: Member;
  readonly group: Group;
  readonly own: OwnKeyPackage;
}

/** The group that a Welcome leads back into, or why it is worth nothing. */
export function openWelcome(
  welcome: Welcome,
  { membership, recovery }: { readonly membership: Membership; readonly recovery: StoppedCommit },
  deps: ChannelDeps,
): Promise<JoinableWelcome | string> {
  const { channelId, name, trust } = membership;
  return opening(async () => {
    const own = await deps.keyPackages.findFor(welcome.welcome);
    const { formerEpoch } = anchorOf(await readRecords(deps.store, channelId));
    const members = knownMembers(
      membership,
      { stopped: recovery.stopped, formerEpoch },
      deps.agentId,
    );
    const expected = {
      channelId,
      name,
      inviter: welcome.sender,
      known: membership.group.binding,
      members,
    };
    const memberDeps = memberDepsOf(deps, trust.policy);
    const group = await memberDeps.carryOut(
      Group.beginJoin(welcome.welcome, own, memberDeps, expected),
    );
    const maker = group.members().find(({ agentId }) => agentId === welcome.sender);
    if (maker === undefined) throw new TypeError("The maker of a Welcome is not in its group");
    const why = judgeReturn({ group, maker, welcome }, recovery, membership);
    if (why !== undefined) return why;
    await deps.keyPackages.used(own, group.identifiers);
    return { group, own, maker };
  });
}

/** A disk that fails is another matter. */
function opening<Opened>(open: () => Promise<Opened | string>): Promise<Opened | string> {
  return open().catch((error) => {
    if (error instanceof StoreFault) throw error;
    return error instanceof Error ? error.message : String(error);
  });
}

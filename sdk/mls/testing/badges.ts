/** Leaves with badges, and channels that require them, for tests with real groups. */
import {
  type Badge,
  badgesExtension,
  type ChannelIssuers,
  encodeBadges,
  type Issuer,
} from "../../../proto/mod.ts";
import { Group } from "../group.ts";
import type { Extension } from "../ts_mls.ts";
import type { Issuer as TestIssuer } from "./issuer.ts";
import { signedAnew } from "./odd_key_package.ts";
import { type Agent, name, type World } from "./world.ts";

/** As a channel lists it. */
export function listed(
  { domain, key }: TestIssuer,
  more: Partial<Pick<Issuer, "closed" | "attribute">> = {},
): Issuer {
  return { domain, key, closed: false, ...more };
}

export function required(...issuers: readonly Issuer[]): ChannelIssuers {
  return { required: true, issuers };
}

/** The extension with this content. */
export function badges(extensionData: Uint8Array): Extension {
  return { extensionType: badgesExtension, extensionData };
}

/** The extensions of a leaf with these badges. */
export function showing(...each: readonly Badge[]): Extension[] {
  return each.length === 0 ? [] : [badges(encodeBadges(each))];
}

/** Makes it a KeyPackage with these badges, and shows them in every leaf from now on. */
export function withBadges(agent: Agent, ...each: readonly Badge[]): Agent {
  agent.badges = undefined;
  const leafNode = { extensions: showing(...each) };
  agent.own = signedAnew(agent.createKeyPackage(), { leafNode }, agent.identity);
  agent.badges = each.length === 0 ? undefined : encodeBadges(each);
  return agent;
}

/** A group of one, with a badge of this issuer. */
export async function createBadged(world: World, issuer: TestIssuer): Promise<Agent> {
  const creator = world.newAgent();
  const { own } = withBadges(creator, issuer.badge(creator.id));
  if (own === undefined) throw new Error("there is no KeyPackage");
  const start = { channelId: world.channelId, name, sealing: undefined };
  await creator.enter(Group.create(start, own, creator.deps), 0);
  world.members = new Set([creator.id]);
  return creator;
}

/** Lets them in by the KeyPackages that they have. */
export async function addAsTheyAre(world: World, by: Agent, ...agents: Agent[]): Promise<void> {
  const add = agents.flatMap(({ own }) => own === undefined ? [] : [own.keyPackage]);
  await world.commit(by, () => ({ add }));
  for (const agent of agents) await agent.join();
}

/** For worlds of letters, which judge by the real rules. */
export { atOnce, type InterruptibleWork } from "../../base/interruptible_work.ts";
export {
  type BadgedCommit,
  checkCommitBadges,
  checkMembersBadges,
  chooseBadges,
  isLetIn,
  type NewLeaf,
  requiredIssuers,
  whyNoPlace,
  whyShut,
} from "../badge_rules.ts";
export { shownBadges } from "../badges.ts";
export { encodeBinding } from "../channel_extensions.ts";
export { MlsFault } from "../codec.ts";
export type { Epoch } from "../epoch.ts";
export { identityHashOf } from "../generation.ts";
export type { KeyPackage } from "../key_package.ts";
export { portableSignatures } from "./portable_signatures.ts";
export type { Extension, LeafNode } from "../ts_mls.ts";

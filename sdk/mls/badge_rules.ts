/**
 * A channel that requires badges: who may be in it, and who may come in. Judged by leaves and by
 * the issuers in the GroupContext alone. No clock, no list of a reader and no word of the relay
 * counts, so all members come to one verdict, the removed ones too.
 */
import {
  type AgentId,
  type Badge,
  type ChannelIssuers,
  decodeCommitAad,
  encodeBadge,
  encodeBadges,
  type Issuer,
  limits,
  sameIssuers,
} from "../../proto/mod.ts";
import type { InterruptibleWork } from "../base/interruptible_work.ts";
import {
  type BadgeChoice,
  type BadgePlace,
  readBadges,
  shownBadges,
  withBadges,
} from "./badges.ts";
import { type ChannelBinding, decodeBinding, encodeBinding } from "./channel_extensions.ts";
import { equalBytes, MlsFault } from "./codec.ts";
import type { CommitEffects } from "./commit.ts";
import { areSigned, isSigned } from "./crypto/badge_signatures.ts";
import type { Signatures } from "./crypto/signatures.ts";
import type { Epoch, GroupDeps } from "./epoch.ts";
import type { KeyPackage } from "./key_package.ts";
import { agentOf } from "./leaf.ts";
import type { Extension, LeafNode } from "./ts_mls.ts";

type Issuers = readonly Issuer[];

/** A member's leaf, or that of one that wants in. */
export interface BadgedLeaf {
  readonly agentId: AgentId;
  readonly node: Pick<LeafNode, "extensions">;
}

/** A leaf that a commit brings in. */
export interface NewLeaf extends BadgedLeaf {
  /** The leaf in whose place it comes, of the same agent: by a path, or by its word to come back. */
  readonly before?: BadgedLeaf["node"] | undefined;
  /** The agent of this leaf is a member that has no leaf. */
  readonly isAbsent?: boolean;
}

/** Returns the issuers from which a leaf needs a badge, or undefined if it needs none. */
export function requiredIssuers(extensions: readonly Extension[]): Issuers | undefined {
  return requiredBy(decodeBinding(extensions));
}

export function requiredBy({ issuers }: Pick<ChannelBinding, "issuers">): Issuers | undefined {
  return issuers?.required === true ? issuers.issuers : undefined;
}

function badgesOf(node: BadgedLeaf["node"]): readonly Badge[] {
  return readBadges(shownBadges(node));
}

function isOf(badge: Badge, { domain, key }: Issuer): boolean {
  return badge.domain === domain && equalBytes(badge.issuerKey, key);
}

function matches(badge: Badge, issuer: Issuer): boolean {
  const { attribute } = issuer;
  return isOf(badge, issuer) && (attribute === undefined ||
    badge.attributes.some(({ type, value }) =>
      type === attribute.type && equalBytes(value, attribute.value)
    ));
}

function matchingOf(badges: readonly Badge[], issuers: Issuers): Badge[] {
  return badges.filter((badge) => issuers.some((issuer) => matches(badge, issuer)));
}

/**
 * When the last badge is over by which a leaf has its place in the channel. No rule of admission
 * asks: it is for people, who decide about members.
 */
export function badgeEndMs(shown: Uint8Array | undefined, issuers: Issuers): number | undefined {
  const matching = matchingOf(readBadges(shown), issuers);
  return matching.length === 0
    ? undefined
    : Math.max(...matching.map(({ notAfter }) => notAfter * 1000));
}

/**
 * Why a leaf has no place in the channel, as far as that shows without signatures; otherwise the
 * badges that must verify. Every badge of a listed key is among them, so that nobody has to look
 * for the good one of two.
 */
function judgeForm({ agentId, node }: BadgedLeaf, issuers: Issuers): string | readonly Badge[] {
  const badges = badgesOf(node);
  const listed = badges.filter((badge) => issuers.some((issuer) => isOf(badge, issuer)));
  if (matchingOf(badges, issuers).length === 0) {
    return `Agent ${agentId} has no badge of an issuer that the channel requires`;
  }
  const foreign = listed.find((badge) => badge.agentId !== agentId);
  return foreign === undefined ? listed : `Agent ${agentId} shows a badge of ${foreign.agentId}`;
}

/**
 * Returns whether a leaf is let in by an open issuer, or as a member that it is already: by a badge
 * of the leaf before, or as one of those without a leaf, whose ids the group names.
 */
export function isLetIn({ node, before, isAbsent = false }: NewLeaf, issuers: Issuers): boolean {
  const open = issuers.filter(({ closed }) => !closed);
  const badges = badgesOf(node);
  if (isAbsent || matchingOf(badges, open).length > 0) return true;
  const kept = before === undefined ? [] : badgesOf(before).map(encodeBadge);
  return matchingOf(badges, issuers).map(encodeBadge)
    .some((badge) => kept.some((each) => equalBytes(badge, each)));
}

function whyNotLetIn({ agentId }: NewLeaf): string {
  return `Agent ${agentId} has a badge of a closed issuer, by which nobody comes in any more`;
}

/** Throws `MlsFault` for the first leaf that has no place in the channel. */
function* checkPlaces(
  leaves: Iterable<BadgedLeaf>,
  issuers: Issuers,
  signatures: Pick<Signatures, "verifyHandshakes">,
): InterruptibleWork<void> {
  const badges: Badge[] = [];
  for (const leaf of leaves) {
    const judged = judgeForm(leaf, issuers);
    if (typeof judged === "string") throw new MlsFault(judged);
    badges.push(...judged);
    yield;
  }
  if (!(yield* areSigned(badges, signatures))) {
    throw new MlsFault("A badge in the channel was not signed by its issuer");
  }
}

/** Why this leaf has no place in the channel. One of a member is judged so again and again. */
export function whyNoPlace(
  leaf: BadgedLeaf,
  issuers: Issuers,
  signatures: Pick<Signatures, "verifyHandshakes">,
): string | undefined {
  const judged = judgeForm(leaf, issuers);
  if (typeof judged === "string") return judged;
  return judged.every((badge) => isSigned(badge, signatures))
    ? undefined
    : `Agent ${leaf.agentId} shows a badge that its issuer has not signed`;
}

/** Why this leaf may not come in. */
export function whyNotNew(
  leaf: NewLeaf,
  issuers: Issuers,
  signatures: Pick<Signatures, "verifyHandshakes">,
): string | undefined {
  const why = whyNoPlace(leaf, issuers, signatures);
  return why ?? (isLetIn(leaf, issuers) ? undefined : whyNotLetIn(leaf));
}

/**
 * Checks the badges of a group for an agent that comes in, or back, by a Welcome. Throws
 * `MlsFault`.
 */
export function* checkMembersBadges(
  { tree, context }: Pick<Epoch, "tree" | "context">,
  signatures: Signatures,
): InterruptibleWork<void> {
  const issuers = requiredIssuers(context.extensions);
  if (issuers === undefined) return;
  yield* checkPlaces(Array.from(tree.leaves(), ([, leaf]) => leaf), issuers, signatures);
}

/** A commit whose sender is known, as far as leaves and their badges are concerned. */
export interface BadgedCommit {
  /** The epoch in which it was made. */
  readonly before: Pick<Epoch, "tree" | "context">;
  readonly effects: CommitEffects;
  /** The sender's new leaf. */
  readonly pathLeaf: LeafNode | undefined;
  readonly authenticatedData: Uint8Array;
}

/**
 * Every new leaf must be let in; when the issuers change, every other leaf must have its place too.
 * Those that were judged before by the same issuers are not judged again. Throws `MlsFault` or
 * `WireError`.
 */
export function* checkCommitBadges(
  commit: BadgedCommit,
  signatures: Signatures,
): InterruptibleWork<void> {
  const { before, effects: { extensions } } = commit;
  const issuers = requiredIssuers(extensions);
  if (issuers === undefined) return;
  const leaves = newLeavesOf(commit);
  const isSame = sameIssuers(
    decodeBinding(before.context.extensions).issuers,
    decodeBinding(extensions).issuers,
  );
  yield* checkPlaces(isSame ? leaves : [...stayingOf(commit), ...leaves], issuers, signatures);
  const shut = leaves.find((leaf) => !isLetIn(leaf, issuers));
  if (shut !== undefined) throw new MlsFault(whyNotLetIn(shut));
}

/** One that is removed and added without its word comes anew, also a member. */
function newLeavesOf({ before, effects, pathLeaf, authenticatedData }: BadgedCommit): NewLeaf[] {
  const { tree, context } = before;
  const returning = new Set(
    decodeCommitAad(authenticatedData).rejoins.map(({ agentId }) => agentId),
  );
  const absent = new Set(
    decodeBinding(context.extensions).generation?.absent.map(({ agentId }) => agentId),
  );
  const left = new Map(effects.removed.map(({ leaf }) => [agentOf(leaf), leaf]));
  const added = effects.added.map(({ keyPackage: { leafNode: node } }): NewLeaf => {
    const agentId = agentOf(node);
    return {
      agentId,
      node,
      before: returning.has(agentId) ? left.get(agentId) : undefined,
      isAbsent: absent.has(agentId),
    };
  });
  const own = tree.leaf(effects.committer);
  return pathLeaf === undefined || own === undefined
    ? added
    : [{ agentId: own.agentId, node: pathLeaf, before: own.node }, ...added];
}

function stayingOf({ before, effects, pathLeaf }: BadgedCommit): BadgedLeaf[] {
  const gone = new Set(effects.removed.map(({ leafIndex }) => leafIndex));
  if (pathLeaf !== undefined) gone.add(effects.committer);
  return Array.from(before.tree.leaves()).flatMap(([leafIndex, leaf]) =>
    gone.has(leafIndex) ? [] : [leaf]
  );
}

/** Somebody that a commit of ours would let in. */
export interface BadgeApplicant {
  readonly keyPackage: KeyPackage;
  /** The agent says, in a signed statement, that it returns as the member that it is. */
  readonly isReturning: boolean;
}

/**
 * Why it cannot come into this epoch. Here alone are times judged, by all clocks, and only of one
 * that comes anew: members that follow the commit judge none.
 */
export function whyShut(
  { keyPackage: { leafNode: node }, isReturning }: BadgeApplicant,
  { tree, context }: Pick<Epoch, "tree" | "context">,
  { signatures, clocksMs }: {
    readonly signatures: Signatures;
    readonly clocksMs: readonly number[];
  },
): string | undefined {
  const issuers = requiredIssuers(context.extensions);
  if (issuers === undefined) return undefined;
  const agentId = agentOf(node);
  const { generation } = decodeBinding(context.extensions);
  const isAbsent = generation?.absent.some((each) => each.agentId === agentId) === true;
  const before = isReturning ? leafOf(tree, agentId) : undefined;
  const why = whyNotNew({ agentId, node, before, isAbsent }, issuers, signatures);
  if (why !== undefined || isReturning || isAbsent) return why;
  const open = matchingOf(badgesOf(node), issuers.filter(({ closed }) => !closed));
  return open.some((badge) => isInTime(badge, clocksMs))
    ? undefined
    : `Agent ${agentId} has a badge that is over, or not valid yet, or a clock is wrong`;
}

function leafOf(tree: Epoch["tree"], wanted: AgentId): LeafNode | undefined {
  for (const [, { agentId, node }] of tree.leaves()) if (agentId === wanted) return node;
  return undefined;
}

function isInTime({ notBefore, notAfter }: Badge, clocksMs: readonly number[]): boolean {
  return clocksMs.every((nowMs) =>
    nowMs + limits.clockSkewMs >= notBefore * 1000 && nowMs - limits.clockSkewMs <= notAfter * 1000
  );
}

/**
 * Members that have no place in the channel under issuers to come. Ours is judged by the leaf that
 * it would have: the commit that brings them in makes it anew.
 */
export function withoutPlace(
  issuers: ChannelIssuers,
  { tree, context, ownLeaf }: Pick<Epoch, "tree" | "context" | "ownLeaf">,
  { signatures, badges }: Pick<GroupDeps, "signatures" | "badges">,
): AgentId[] {
  if (!issuers.required) return [];
  const extensions = encodeBinding({ ...decodeBinding(context.extensions), issuers });
  return Array.from(tree.leaves()).flatMap(([leafIndex, { agentId, node }]) => {
    const why = leafIndex === ownLeaf
      ? whyNotNew(
        { agentId, node: { extensions: shownNext(node, extensions, badges) }, before: node },
        issuers.issuers,
        signatures,
      )
      : whyNoPlace({ agentId, node }, issuers.issuers, signatures);
    return why === undefined ? [] : [agentId];
  });
}

function shownNext(
  before: LeafNode,
  extensions: readonly Extension[],
  choose: BadgeChoice | undefined,
): Extension[] {
  return withBadges(before, choose?.({ before, extensions }) ?? shownBadges(before));
}

/**
 * The badges that our leaf shows where it is made: those that it is to show, if the channel lets
 * them in; else one that it showed, with a new one beside it; else those that it showed. The last
 * always may, as long as the issuers stay: a badge that is not renewed puts nobody out.
 */
export function chooseBadges(
  wanted: Uint8Array | undefined,
  agentId: AgentId,
  { before, extensions }: BadgePlace,
  signatures: Signatures,
): Uint8Array | undefined {
  const issuers = extensions.length === 0 ? undefined : requiredIssuers(extensions);
  if (issuers === undefined) return wanted;
  const old = before && shownBadges(before);
  const pairs = readBadges(old).flatMap((kept) =>
    readBadges(wanted).map((fresh) => encodeBadges([kept, fresh]))
  );
  const choices = [wanted, ...pairs, old].filter((each) => each !== undefined);
  const leafWith = (badges: Uint8Array): NewLeaf => ({
    agentId,
    node: { extensions: withBadges({ extensions: [] }, badges) },
    before,
  });
  // A member without a leaf comes by whichever it has.
  return choices.find((each) => whyNotNew(leafWith(each), issuers, signatures) === undefined) ??
    choices.find((each) => whyNoPlace(leafWith(each), issuers, signatures) === undefined) ?? wanted;
}

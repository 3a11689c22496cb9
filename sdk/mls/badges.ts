/**
 * Badges in a leaf: extension 0xf5c6. It binds nobody (RFC 9420, section 7.3): a leaf with one that
 * is malformed, or with two extensions of this type, is a leaf that shows no badges, and never a
 * fault. Whether a badge is believed is for its readers, and for channels that require one.
 */
import {
  type Badge,
  badgesExtension,
  decodeBadges,
  equalBytes,
  WireError,
} from "../../proto/mod.ts";
import { type Extension, extensionTypeToNumber, type LeafNode } from "./ts_mls.ts";

type WithExtensions = Pick<LeafNode, "extensions">;

/** A place where a leaf of ours is made. */
export interface BadgePlace {
  /** Our leaf that it takes the place of; undefined for a KeyPackage. */
  readonly before: LeafNode | undefined;
  /** The extensions of the group that the leaf will be in; none for a KeyPackage. */
  readonly extensions: readonly Extension[];
}

/** The place of a KeyPackage's leaf, which is in no group yet. */
export const nowhere: BadgePlace = { before: undefined, extensions: [] };

/**
 * Chooses the badges that a leaf of ours shows, as `encodeBadges` writes them. Undefined: those of
 * the leaf before.
 */
export type BadgeChoice = (place: BadgePlace) => Uint8Array | undefined;

/** The content of a leaf's only extension of this type, well formed or not. */
export function shownBadges({ extensions }: WithExtensions): Uint8Array | undefined {
  const [shown, ...more] = extensions.filter(isOfBadges);
  return more.length === 0 ? shown?.extensionData : undefined;
}

/** A leaf's other extensions, with these badges in place of its own. */
export function withBadges(
  { extensions }: WithExtensions,
  badges: Uint8Array | undefined,
): Extension[] {
  const others = extensions.filter((each) => !isOfBadges(each));
  return badges === undefined
    ? others
    : [...others, { extensionType: badgesExtension, extensionData: badges }];
}

/** Keeps badges by the bytes of a leaf, which stay as they are as long as the leaf is in memory. */
const known = new WeakMap<Uint8Array, readonly Badge[]>();

/** None for what is malformed. Nothing about them is verified. A leaf's are read once. */
export function readBadges(shown: Uint8Array | undefined): readonly Badge[] {
  if (shown === undefined) return [];
  const badges = known.get(shown) ?? decodeOrNone(shown);
  known.set(shown, badges);
  return badges;
}

function decodeOrNone(shown: Uint8Array): readonly Badge[] {
  try {
    return decodeBadges(shown);
  } catch (error) {
    if (error instanceof WireError) return [];
    throw error;
  }
}

/**
 * The end of a KeyPackage that shows these badges: no later than the last of them, so that nobody
 * is added by one that is over. A badge that is over now shortens nothing: its agent may have to
 * come back by the KeyPackage.
 */
export function keyPackageEndMs(
  shown: Uint8Array | undefined,
  { nowMs, latestMs }: { readonly nowMs: number; readonly latestMs: number },
): number {
  const endMs = Math.max(0, ...readBadges(shown).map(({ notAfter }) => notAfter * 1000));
  return endMs > nowMs ? Math.min(endMs, latestMs) : latestMs;
}

/** Whether two leaves show the same, byte for byte. */
export function showSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one === undefined || other === undefined ? one === other : equalBytes(one, other);
}

function isOfBadges({ extensionType }: Extension): boolean {
  return extensionTypeToNumber(extensionType) === badgesExtension;
}

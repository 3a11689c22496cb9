/**
 * Whether the signatures of badges are right: found once for each badge of a leaf. The rules of
 * admission and the reader's verdict have one answer.
 */
import { type Badge, badgeStatement } from "../../../proto/mod.ts";
import type { SignedBytes } from "../../../wasm/mod.ts";
import type { InterruptibleWork } from "../../base/interruptible_work.ts";
import { type Signatures, verifyInParts } from "./signatures.ts";

type BadgeVerifier = Pick<Signatures, "verifyHandshakes">;

/** Nothing here depends on issuers, readers or times: only on the bytes. */
const found = new WeakMap<Badge, boolean>();

export function isSigned(badge: Badge, signatures: BadgeVerifier): boolean {
  const known = found.get(badge);
  if (known !== undefined) return known;
  const isRight = signatures.verifyHandshakes([signed(badge)]);
  found.set(badge, isRight);
  return isRight;
}

/** The same of all. The first wrong one ends it. */
export function* areSigned(
  badges: readonly Badge[],
  signatures: BadgeVerifier,
): InterruptibleWork<boolean> {
  if (badges.some((badge) => found.get(badge) === false)) return false;
  const unknown = badges.filter((badge) => !found.has(badge));
  if (!(yield* verifyInParts(signatures, unknown.map(signed)))) return false;
  for (const badge of unknown) found.set(badge, true);
  return true;
}

/** More together take as long for each, and one that is wrong spoils them all. */
const verifiedTogether = 32;

/** So that `isSigned` knows each of them. */
export function* verifyBadges(
  badges: readonly Badge[],
  signatures: BadgeVerifier,
): InterruptibleWork<void> {
  const unknown = badges.filter((badge) => !found.has(badge));
  for (let at = 0; at < unknown.length; at += verifiedTogether) {
    const some = unknown.slice(at, at + verifiedTogether);
    if (some.length > 1 && signatures.verifyHandshakes(some.map(signed))) {
      for (const badge of some) found.set(badge, true);
    } else for (const badge of some) isSigned(badge, signatures);
    yield;
  }
}

function signed(badge: Badge): SignedBytes {
  const { issuerKey, signature } = badge;
  return { publicKey: issuerKey, message: badgeStatement(badge), signature };
}

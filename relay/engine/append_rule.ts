/**
 * The verdict on an entry whose key is new: the one rule of the log, pure, so that every engine and
 * every relay that reads the same entries comes to the same verdict. A known key is answered before
 * this, with the original.
 */
import type { AppendOutcome, NewEntry } from "./engine.ts";

/** Inputs of the verdict beside the entry. */
export interface Circumstances {
  /** The channel's epoch. */
  readonly epoch: number;
  /** The entry's charge can be paid, or it has none. */
  readonly isPaid: boolean;
  /** The part that has no room for the entry. */
  readonly full: "channel" | "account" | undefined;
  /** A change of members or owners stands behind the position by which this one was judged. */
  readonly isOvertaken: boolean;
}

export type RefusedAppend = Exclude<AppendOutcome, { readonly kind: "appended" | "duplicate" }>;

/**
 * Undefined for an entry that is taken. Checked in the order of `AppendOutcome`: epoch, charge,
 * room.
 */
export function judge(
  entry: Pick<NewEntry, "epoch" | "fromEpoch">,
  now: Circumstances,
): RefusedAppend | undefined {
  if (!isCurrent(entry, now.epoch) || now.isOvertaken) {
    return { kind: "conflict", epoch: now.epoch };
  }
  if (!now.isPaid) return { kind: "lease_spent" };
  return now.full === undefined ? undefined : { kind: "full", of: now.full };
}

/** Made for the channel's epoch; a founding is made for any epoch of its range. */
export function isCurrent(
  { epoch, fromEpoch = epoch }: Pick<NewEntry, "epoch" | "fromEpoch">,
  now: number,
): boolean {
  return now === epoch || (now >= fromEpoch && now < epoch);
}

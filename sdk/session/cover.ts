/** Cover traffic as the user may ask for it. */
import { type CoverMode, limits } from "../../proto/mod.ts";
import { createError } from "../errors.ts";
import type { CoverOptions } from "./options.ts";

export interface Cover {
  readonly mode: CoverMode;
  readonly intervalMs: number;
}

const defaultIntervalMs: Readonly<Record<CoverMode, number>> = { off: 0, poisson: 10_000, constant: 250 };

/** Throws `invalid_request`. */
export function parseCover({ mode, intervalMs }: CoverOptions = { mode: "poisson" }): Cover {
  if (!Object.hasOwn(defaultIntervalMs, mode)) throw refused("the mode is off, poisson or constant");
  if (mode === "off") return { mode, intervalMs: 0 };
  const chosenMs = intervalMs ?? defaultIntervalMs[mode];
  const { minCoverIntervalMs, maxCoverIntervalMs } = limits;
  if (!Number.isInteger(chosenMs) || chosenMs < minCoverIntervalMs || chosenMs > maxCoverIntervalMs) {
    throw refused(`the interval is a whole number of ${minCoverIntervalMs} to ${maxCoverIntervalMs} ms`);
  }
  return { mode, intervalMs: chosenMs };
}

function refused(why: string): Error {
  return createError("invalid_request", `Cannot use these cover options: ${why}`);
}

/**
 * Cover traffic as the user may ask for it: a profile by its name, or mode and interval, and what
 * it may cost.
 */
import {
  type BudgetPeriod,
  type CoverBudgetOptions,
  type CoverMode,
  limits,
} from "../../proto/mod.ts";
import { createError } from "../base/errors.ts";

/** Cover traffic by name. `docs/traffic.md` has the measured costs, and the protection of each. */
export type CoverProfile = "off" | "standard" | "strong";

const coverProfiles: Readonly<Record<CoverProfile, Cover>> = {
  off: { mode: "off", intervalMs: 0 },
  standard: { mode: "poisson", intervalMs: 10_000 },
  strong: { mode: "constant", intervalMs: 250 },
};

/** Cover traffic in detail: a profile, or mode and interval, and how much it may use. */
export interface CoverOptions {
  /** `standard` when neither it nor a mode is given. */
  readonly profile?: CoverProfile | undefined;
  /** Instead of a profile. */
  readonly mode?: CoverMode | undefined;
  /** Mean (`poisson`, 10 s when not given) or tick (`constant`, 250 ms). */
  readonly intervalMs?: number | undefined;
  /**
   * The budget for cover of both directions; when it is used up there is no cover until the period
   * ends, and messages go on.
   */
  readonly budget?: CoverBudgetOptions | undefined;
  /**
   * Called when a budget, the client's or the relay's, is used up. An exception ends the session
   * with `listener_died`.
   */
  readonly onStopped?: ((stop: CoverStop) => void) | undefined;
}

/** There is no cover for a while; messages go on. */
export interface CoverStop {
  /** Says whose budget it was. */
  readonly message: string;
  /** When cover goes on, by the clock of whose budget it is; the relay need not say. */
  readonly until: Date | undefined;
}

export interface Cover {
  readonly mode: CoverMode;
  readonly intervalMs: number;
}

export interface ParsedCover extends Cover {
  readonly budget: CoverBudgetOptions | undefined;
  readonly onStopped: ((stop: CoverStop) => void) | undefined;
}

const defaultIntervalMs: Readonly<Record<CoverMode, number>> = {
  off: 0,
  poisson: 10_000,
  constant: 250,
};
/** Authentication rides in ticks too, and a relay does not wait for it for long. */
const maxTickMs = 4_000;
const periods: readonly BudgetPeriod[] = ["day", "month"];

/** Throws `invalid_request`. */
export function parseCover(choice: CoverProfile | CoverOptions = {}): ParsedCover {
  const options: CoverOptions = typeof choice === "string" ? { profile: choice } : choice;
  return {
    ...parseChoice(options),
    budget: parseBudget(options.budget),
    onStopped: options.onStopped,
  };
}

function parseChoice({ profile, mode, intervalMs }: CoverOptions): Cover {
  if (mode === undefined) {
    if (intervalMs !== undefined) throw refused("an interval needs a mode");
    const name = profile ?? "standard";
    if (!Object.hasOwn(coverProfiles, name)) {
      throw refused("the profile is off, standard or strong");
    }
    return coverProfiles[name];
  }
  if (profile !== undefined) throw refused("give a profile or a mode, not both");
  if (!Object.hasOwn(defaultIntervalMs, mode)) {
    throw refused("the mode is off, poisson or constant");
  }
  if (mode === "off") return { mode, intervalMs: 0 };
  const chosenMs = intervalMs ?? defaultIntervalMs[mode];
  const [minMs, maxMs] = [
    limits.minCoverIntervalMs,
    mode === "constant" ? maxTickMs : limits.maxCoverIntervalMs,
  ];
  if (!Number.isInteger(chosenMs) || chosenMs < minMs || chosenMs > maxMs) {
    throw refused(`the interval of ${mode} is a whole number of ${minMs} to ${maxMs} ms`);
  }
  return { mode, intervalMs: chosenMs };
}

function parseBudget(budget: CoverBudgetOptions | undefined): CoverBudgetOptions | undefined {
  if (budget === undefined) return undefined;
  if (!Number.isSafeInteger(budget.bytes) || budget.bytes < 0) {
    throw refused("a budget is a whole number of bytes");
  }
  if (!periods.includes(budget.period)) throw refused("a budget's period is day or month");
  return budget;
}

function refused(why: string): Error {
  return createError("invalid_request", `Cannot use these cover options: ${why}`);
}

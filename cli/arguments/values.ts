/** Values of flags: numbers and durations. */
import { badInput } from "../failure.ts";

const unitMs: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** "90s", "10m", "12h", "7d". */
export function parseDurationMs(flag: string, text: string): number {
  const [, digits = "", unit = ""] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const ms = Number(digits) * (unitMs[unit] ?? 0);
  if (ms > 0) return ms;
  throw badInput(
    `--${flag} ${text} is not a duration`,
    "Write a number and s, m, h or d, as in 90s or 12h",
  );
}

export function parseCount(flag: string, text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw badInput(`--${flag} must be a number of at least 1, not ${text}`);
}

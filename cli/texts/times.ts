/** Times as people say them. */

const units = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], ["second", 1000]] as const;

/** "3 days", "1 hour": the largest unit, rounded. */
export function span(ms: number): string {
  const [unit, unitMs] = units.find(([, length]) => Math.abs(ms) >= length) ?? ["second", 1000];
  const count = Math.round(Math.abs(ms) / unitMs);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

export function ago(timeMs: number, nowMs: number): string {
  const ms = nowMs - timeMs;
  return ms < 1000 ? "just now" : `${span(ms)} ago`;
}

/** "2026-12-01T00:00:00.000Z", as the API writes it. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** "2026-12-01 00:00 UTC". */
export function utc(ms: number): string {
  return `${isoTime(ms).slice(0, 16).replace("T", " ")} UTC`;
}

/** "12:03:04", where the user is. */
export function clockTime(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8);
}

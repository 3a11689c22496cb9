/** Numbers, sizes and times as people read them. */

const grouping = new Intl.NumberFormat("en-US");
const units = [["day", 86_400_000], ["hour", 3_600_000], ["minute", 60_000], [
  "second",
  1000,
]] as const;

/** 10,000 */
export function grouped(count: number): string {
  return grouping.format(count);
}

/** 4.0 kB */
export function byteSize(bytes: number): string {
  const unit = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  const scaled = bytes / 1000 ** unit;
  return `${unit === 0 ? bytes : scaled.toFixed(1)} ${["B", "kB", "MB", "GB", "TB"][unit]}`;
}

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

/** The last moment that a date can be. */
const lastMs = 8.64e15;

/** "2026-12-01T00:00:00.000Z", as the API writes it. */
export function isoTime(ms: number): string {
  // Others may sign times that no calendar has.
  return new Date(Math.max(-lastMs, Math.min(lastMs, ms))).toISOString();
}

/** "2026-12-01 00:00 UTC". */
export function utc(ms: number): string {
  return `${isoTime(ms).slice(0, 16).replace("T", " ")} UTC`;
}

/** "12:03:04", where the user is. */
export function clockTime(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8);
}

/**
 * The rows of the list of limits (`docs/capacity.md`), and how they tell numbers. Each row takes
 * its number from the code that uses it.
 */

export const limitTopics = [
  "plans and sizes",
  "requests to the API",
  "storage",
  "sessions",
  "requests to join",
  "KeyPackages and Welcomes",
  "work",
] as const;

/** The party whose use is counted together. `relay` and `API` are one process. */
type CountedParty =
  | "account"
  | "address"
  | "agent"
  | "API"
  | "badge"
  | "channel"
  | "guest pass"
  | "invite"
  | "key"
  | "mailbox"
  | "member"
  | "message"
  | "relay"
  | "request"
  | "session"
  | "token"
  | "visitor";

/** `value` is the default, or fixed if nothing sets it: variables and commands are in `setBy`. */
export type Limit = readonly [
  name: string,
  value: string,
  of: CountedParty,
  above: string,
  ...setBy: string[],
];

export type Limits = Readonly<Partial<Record<(typeof limitTopics)[number], readonly Limit[]>>>;

export function tellCount(count: number): string {
  return count >= Number.MAX_SAFE_INTEGER ? "no limit" : count.toLocaleString("en");
}

export function tellBytes(bytes: number): string {
  if (bytes >= Number.MAX_SAFE_INTEGER) return "no limit";
  const units = [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]] as const;
  const [size, unit] = units.find(([size]) => bytes >= size) ?? [1, "bytes"];
  return `${tellCount(Math.round(100 * bytes / size) / 100)} ${unit}`;
}

const times = [[86_400_000, "day"], [3_600_000, "hour"], [60_000, "minute"], [
  1_000,
  "second",
]] as const;

/** `1 hour`, `90 minutes`. */
export function tellTime(ms: number): string {
  const [length, name] = times.find(([length]) => ms % length === 0) ?? [1_000, "second"];
  return `${tellCount(ms / length)} ${name}${ms === length ? "" : "s"}`;
}

/** `250 ms`. */
export function tellMs(ms: number): string {
  return `${tellCount(ms)} ms`;
}

/** `20 in an hour`, `5 in 10 minutes`. */
export function tellRate(count: number, windowMs: number): string {
  const known = times.find(([length]) => length === windowMs)?.[1];
  const article = known === "hour" ? "an" : "a";
  return `${tellCount(count)} in ${
    known === undefined ? tellTime(windowMs) : `${article} ${known}`
  }`;
}

/** `half`, `an eighth`; other parts as a percentage. */
export function tellPart(part: number): string {
  const names = new Map([[1 / 2, "half"], [1 / 4, "a quarter"], [1 / 8, "an eighth"], [
    1 / 10,
    "a tenth",
  ]]);
  return names.get(part) ?? `${tellCount(Math.round(1_000 * part) / 10)} %`;
}

/**
 * The step after an attempt to connect has failed: another attempt after so long, or the error is
 * told. One rule for `connect`, on its way over the API to the relay, and for sessions that
 * reconnect. It decides; waiting is its caller's.
 *
 * A service that is busy names a time. Nobody comes back before it, and everybody within as much
 * again, by chance: a fleet that was refused together must not come back together.
 */
import type { ErrorCode } from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";
import { wasCutOff } from "../transport/reason.ts";

/** How far an agent is with connecting. */
export type ConnectAttempts =
  /** `connect` waits, until a time. `isBusy`: the service has said so. */
  | {
    readonly kind: "first";
    readonly failures: number;
    readonly untilMs: number;
    readonly isBusy: boolean;
  }
  /** The agent was connected, or nobody waits: tried for as long as it makes sense. */
  | { readonly kind: "again"; readonly failures: number };

export type RetryVerdict =
  | { readonly kind: "wait"; readonly ms: number; readonly attempts: ConnectAttempts }
  /** Waiting mends nothing, or takes longer than the caller has. */
  | { readonly kind: "tell" };

/** Without a time of the service's own: doubles with each failure. */
export interface RetryTimes {
  readonly minMs: number;
  readonly maxMs: number;
}

export interface RetryMoment {
  readonly nowMs: number;
  /** Uniform in [0, 1). */
  readonly random: number;
}

/** A `StaticError`, as far as it counts here. */
export interface ConnectRefusal {
  readonly code: ErrorCode;
  readonly retryAfterMs?: number | undefined;
  /**
   * The relay was there, but closed the connection before it was open. A service does that when it
   * has no room for more connections of one address.
   */
  readonly isCutOff?: boolean | undefined;
}

/** A service cannot send its clients away for longer than twice this. */
const maxNamedMs = 5 * 60 * 1000;
/** While somebody waits, nobody is slower by itself. */
const maxFirstMs = 4_000;
/**
 * A balancer in front of a service that is down cuts connections off too, so this is told sooner
 * than the service's own word: after about twenty seconds. By then a fleet over TCP is in that is
 * twice as large as its address has room for at once.
 */
const maxCutOffs = 8;
const cutOffTimes: RetryTimes = { minMs: 1_000, maxMs: maxFirstMs };
const minAttemptMs = 2_000;
const final: ReadonlySet<string> = new Set([
  "auth_failed",
  "auth_key_invalid",
  "session_replaced",
  "listener_died",
]);
const busy: ReadonlySet<string> = new Set(["overloaded", "rate_limited", "relay_draining"]);

export function refusalOf(error: StaticError): ConnectRefusal {
  const { code, retryAfterMs } = error;
  return { code, retryAfterMs, isCutOff: code === "connection_error" && wasCutOff(error) };
}

export function startAttempts(untilMs: number | undefined): ConnectAttempts {
  return untilMs === undefined
    ? { kind: "again", failures: 0 }
    : { kind: "first", failures: 0, untilMs, isBusy: false };
}

/** There was a connection. After one that lasted, the next failure is a first one. */
export function afterConnection(
  { failures }: ConnectAttempts,
  hasLasted: boolean,
): ConnectAttempts {
  return { kind: "again", failures: hasLasted ? 0 : failures };
}

export function afterFailure(
  attempts: ConnectAttempts,
  error: ConnectRefusal,
  times: RetryTimes,
  moment: RetryMoment,
): RetryVerdict {
  if (final.has(error.code)) return { kind: "tell" };
  const failures = attempts.failures + 1;
  if (attempts.kind === "again") {
    const ms = waitMs(error, attempts.failures, times, moment.random);
    return { kind: "wait", ms, attempts: { kind: "again", failures } };
  }
  // A service that was busy and is out of reach then is restarting.
  const isBusy = busy.has(error.code) || (attempts.isBusy && error.code === "connection_error");
  const mayCome = isBusy || (error.isCutOff === true && failures <= maxCutOffs);
  const ownTimes = isBusy ? { ...times, maxMs: Math.min(times.maxMs, maxFirstMs) } : cutOffTimes;
  const leftMs = attempts.untilMs - moment.nowMs;
  const window = windowOf(error, attempts.failures, ownTimes);
  if (!mayCome || window.fromMs > leftMs) return { kind: "tell" };
  const ms = within({ ...window, toMs: Math.min(window.toMs, leftMs) }, moment.random);
  return { kind: "wait", ms, attempts: { ...attempts, failures, isBusy } };
}

/** An attempt that `connect` waits for ends with its time, but is never too short to succeed. */
export function attemptMs(attempts: ConnectAttempts, nowMs: number): number {
  return attempts.kind === "first" ? Math.max(minAttemptMs, attempts.untilMs - nowMs) : Infinity;
}

/** Returns how long to wait with work that is always tried again. */
export function waitMs(
  error: ConnectRefusal,
  failures: number,
  times: RetryTimes,
  random: number,
): number {
  return within(windowOf(error, failures, times), random);
}

interface DelayWindow {
  readonly fromMs: number;
  readonly toMs: number;
}

function windowOf(
  { code, retryAfterMs = 0 }: ConnectRefusal,
  failures: number,
  { minMs, maxMs }: RetryTimes,
): DelayWindow {
  const ownMs = Math.min(maxMs, minMs * 2 ** failures);
  const namedMs = Math.min(retryAfterMs, maxNamedMs);
  // A relay that goes away spreads its clients over the time it names; any other asks to be left
  // alone until then.
  const isFree = namedMs === 0 || code === "relay_draining";
  return isFree
    ? { fromMs: ownMs / 2, toMs: Math.max(ownMs, namedMs) }
    : { fromMs: namedMs, toMs: namedMs + Math.max(ownMs, namedMs) };
}

function within({ fromMs, toMs }: DelayWindow, random: number): number {
  return fromMs + random * (toMs - fromMs);
}

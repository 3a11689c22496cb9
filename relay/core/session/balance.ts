/**
 * When a relay sends sessions to others, so that one that was restarted gets its share again. Each
 * relay decides for itself, from what it hears of the others every second.
 *
 * 1. A relay says how many sessions it has and how many it may have. Its share of all sessions is
 *    its part of all that they may have. For its first 60 s it says less than it may: from 0
 *    upwards.
 * 2. A relay is over when it has more than 1.25 times its share, and another one has less than 0.8
 *    times its own. One session above the share is never too much: two relays cannot have half a
 *    session each.
 * 3. A relay that is over for more than 60 s sends away one session in a hundred each second, at
 *    least one, until it has 1.1 times its share, or nobody has less than its share.
 *    Where another relay sends already, 10 s above 1.1 times the share are enough: agents choose by
 *    chance, so a part of what that one sends comes here, and has to go on.
 * 4. It sends none while any relay is unsteady, itself included: it began less than 30 s ago,
 *    stops, is busy, or waits for the log. One that was sending is over for 60 s anew before it goes
 *    on.
 *    One that was not asked for 5 s stood still, and what it heard is old: it begins with nothing.
 * 5. Which ones go is not decided here (`moving_back.ts`): those without anything under way, and
 *    none that was moved in the last ten minutes.
 *
 * Nothing of it trusts a clock of another machine. A relay that says wrong numbers costs each
 * session one reconnection in ten minutes, at one in a hundred each second.
 */
import type { RelayLoad } from "../relay_load.ts";

export type BalanceState =
  | { readonly kind: "even" }
  | { readonly kind: "over"; readonly sinceMs: number }
  | { readonly kind: "sending" };

/** A state, and when it was last asked. */
export interface Balance {
  readonly state: BalanceState;
  readonly lookedMs: number;
}

export interface Look {
  /** The time by a clock that never jumps. */
  readonly nowMs: number;
  readonly own: RelayLoad;
  /** The loads of the other relays that are alive. */
  readonly others: readonly RelayLoad[];
}

export interface BalanceTimes {
  readonly overMs: number;
  /** While another relay sends. */
  readonly joinMs: number;
  readonly gapMs: number;
}

export const balanceTimes: BalanceTimes = { overMs: 60_000, joinMs: 10_000, gapMs: 5_000 };
const [beginsAbove, endsAbove, lackBelow] = [1.25, 1.1, 0.8];
/** One in so many each second. */
const sentAtOnce = 100;

export const startBalance: Balance = { state: { kind: "even" }, lookedMs: -Infinity };

/** Once a second. Returns how many sessions go now. */
export function step(
  balance: Balance,
  { nowMs, own, others }: Look,
  { overMs, joinMs, gapMs }: BalanceTimes = balanceTimes,
): { readonly balance: Balance; readonly send: number } {
  const stoodStill = nowMs - balance.lookedMs > gapMs;
  if (others.length === 0 || own.capacity <= 0) return { balance: even(nowMs), send: 0 };
  const before: BalanceState = stoodStill ? { kind: "even" } : balance.state;
  const facts = factsOf(own, others);
  const waitMs = isJoining(others) ? joinMs : overMs;
  const state = next(before, { facts, nowMs, waitMs });
  const send = state.kind === "sending"
    ? Math.min(
      Math.ceil(own.sessions - endsAbove * facts.share),
      Math.max(1, Math.floor(own.sessions / sentAtOnce)),
    )
    : 0;
  return { balance: { state, lookedMs: nowMs }, send };
}

const isJoining = (others: readonly RelayLoad[]): boolean =>
  others.some(({ isSending }) => isSending);

function even(nowMs: number): Balance {
  return { state: { kind: "even" }, lookedMs: nowMs };
}

interface Facts {
  readonly share: number;
  readonly isOver: boolean;
  /** Sending may go on. */
  readonly isAbove: boolean;
  /** All relays are steady. */
  readonly isCalm: boolean;
}

function factsOf(own: RelayLoad, others: readonly RelayLoad[]): Facts {
  const all = [own, ...others];
  const sum = (of: (load: RelayLoad) => number): number =>
    all.reduce((total, load) => total + of(load), 0);
  const each = sum(({ sessions }) => sessions) / sum(({ capacity }) => capacity);
  const share = each * own.capacity;
  const lacks = (part: number): boolean =>
    others.some(({ sessions, capacity }) => sessions < part * each * capacity);
  const isMore = (part: number): boolean =>
    own.sessions > part * share && own.sessions >= share + 1;
  return {
    share,
    isOver: isMore(isJoining(others) ? endsAbove : beginsAbove) && lacks(lackBelow),
    isAbove: isMore(endsAbove) && lacks(1),
    isCalm: all.every(({ isSteady }) => isSteady),
  };
}

function next(
  state: BalanceState,
  { facts: { isOver, isAbove, isCalm }, nowMs, waitMs }: {
    readonly facts: Facts;
    readonly nowMs: number;
    readonly waitMs: number;
  },
): BalanceState {
  switch (state.kind) {
    case "even":
      return isOver ? { kind: "over", sinceMs: nowMs } : state;
    case "over":
      if (!isOver) return { kind: "even" };
      return isCalm && nowMs - state.sinceMs > waitMs ? { kind: "sending" } : state;
    case "sending":
      if (!isAbove) return { kind: "even" };
      return isCalm ? state : { kind: "over", sinceMs: nowMs };
  }
}

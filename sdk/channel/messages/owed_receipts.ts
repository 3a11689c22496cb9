/**
 * Receipts on their way to those who asked: a machine without waits. A debt is written in one with
 * the acknowledgement of its message, and nothing is told that is not on disk: so a killed process
 * neither tells what did not happen nor forgets what did. It is told at least once, in batches. An
 * event that no case names changes nothing. A word that was told is kept while the message may come
 * again: else it is said to be `held` when it was `delivered`, and an honest member is blamed.
 */
import { limits, mayFollow } from "../../../proto/mod.ts";
import {
  keyOf,
  type OwedEffect,
  type OwedEvent,
  type OwedFacts,
  type OwedState,
  type ReceiptDebt,
} from "./owed_receipts_state.ts";

/** Between two receipts of a channel. */
const pauseMs = 5_000;
const maxRetryMs = 10 * 60_000;
/** In a channel: a sender that asks and asks must not fill the disk. */
const maxDebts = 4096;
/** The relay keeps a message for a week, and its asker waits for as long again. */
const maxAgeMs = 2 * limits.queueAgeMs;
const most = limits.contentReceipts;

interface OwedRun {
  readonly state: OwedState;
  readonly facts: OwedFacts;
  readonly effects: OwedEffect[];
}

export function stepOwed(
  state: OwedState,
  event: OwedEvent,
  facts: OwedFacts,
): readonly OwedEffect[] {
  const run: OwedRun = { state, facts, effects: [] };
  happen(run, event);
  goOn(run);
  return run.effects;
}

function happen(run: OwedRun, event: OwedEvent): void {
  const { state: { debts } } = run;
  switch (event.type) {
    case "acknowledged":
      return acknowledged(run, event);
    case "said":
      return said(run, event);
    case "written":
      for (const debt of event.debts) {
        const now = debts.get(keyOf(debt));
        // The debt may have changed while it was written: states never come back.
        if (now?.state !== debt.state || now.at !== "noted") continue;
        debts.set(keyOf(debt), { ...now, at: "due" });
      }
      return;
    case "look":
      return forgetOld(run);
    case "accepted":
      return accepted(run, event.call);
    case "refused":
      return refused(run, event);
    case "entered":
      for (const [key, { at }] of debts) if (at === "noted") debts.delete(key);
      return;
    case "time":
      return time(run, event.timer);
  }
}

/** A program's own word stays: a message that a rule holds is not delivered by that. */
function acknowledged(
  run: OwedRun,
  { id, asker, isLast }: Extract<OwedEvent, { type: "acknowledged" }>,
): void {
  const { state: { debts }, facts } = run;
  const known = debts.get(keyOf({ id, asker }));
  if (known === undefined) {
    return put(run, {
      id,
      asker,
      state: "delivered",
      isAcknowledged: isLast,
      at: "noted",
      sinceMs: facts.nowMs,
    });
  }
  if (isLast && !known.isAcknowledged) settle(run, { ...known, isAcknowledged: true });
}

/**
 * `delivered` is for messages that were held: else the acknowledgement says it. Of a message that
 * has gone only `done`, which may follow on whatever was said of it.
 */
function said(
  run: OwedRun,
  { id, asker, state, isHere }: Extract<OwedEvent, { type: "said" }>,
): void {
  const { state: { debts }, facts } = run;
  const known = debts.get(keyOf({ id, asker }));
  if (known !== undefined && !mayFollow(known.state, state)) return;
  if (known === undefined && state !== "done" && (!isHere || state === "delivered")) return;
  const isAcknowledged = known?.isAcknowledged ?? !isHere;
  const sinceMs = known?.sinceMs ?? facts.nowMs;
  put(run, { id, asker, state, isAcknowledged, at: "noted", sinceMs });
}

function put(run: OwedRun, debt: ReceiptDebt): void {
  const { state: { debts }, effects } = run;
  const keys = [keyOf(debt)];
  const [oldest] = debts.keys();
  if (debts.size >= maxDebts && !debts.has(keyOf(debt)) && oldest !== undefined) {
    debts.delete(oldest);
    keys.push(oldest);
  }
  debts.set(keyOf(debt), debt);
  effects.push({ type: "note", keys });
}

/**
 * One that was told, and does not come again, is forgotten: only `done` could follow. Before that,
 * another word about it would take this one back.
 */
function settle(run: OwedRun, debt: ReceiptDebt): void {
  const { state: { debts }, effects } = run;
  const { state, at, isAcknowledged } = debt;
  const isOver = at === "told" && isAcknowledged && state !== "held";
  const key = keyOf(debt);
  if (isOver) debts.delete(key);
  else debts.set(key, debt);
  effects.push({ type: "note", keys: [key] });
}

function accepted(run: OwedRun, call: number): void {
  const { state: { debts, telling } } = run;
  if (telling.at !== "sending" || telling.call !== call) return;
  for (const debt of telling.debts) {
    const now = debts.get(keyOf(debt));
    // Another state has to be told, too.
    if (now?.state === debt.state && now.at === "due") settle(run, { ...now, at: "told" });
  }
  pause(run, pauseMs, 0);
}

function refused(run: OwedRun, { call, waitMs }: Extract<OwedEvent, { type: "refused" }>): void {
  const { telling } = run.state;
  if (telling.at !== "sending" || telling.call !== call) return;
  const failures = telling.failures + 1;
  pause(run, Math.max(waitMs, Math.min(pauseMs * 2 ** (failures - 1), maxRetryMs)), failures);
}

function pause(run: OwedRun, afterMs: number, failures: number): void {
  run.state.telling = { at: "pausing", timer: wake(run, afterMs), failures };
}

function time(run: OwedRun, timer: number): void {
  const { state, facts } = run;
  const { telling } = state;
  if (!("timer" in telling) || telling.timer !== timer) return;
  const failures = telling.at === "pausing" ? telling.failures : 0;
  state.telling = { at: "resting" };
  if (!facts.mayTell) return;
  const debts = batch(run);
  if (debts.length === 0) return;
  if (facts.budgetMs > 0) return pause(run, facts.budgetMs, failures);
  send(run, debts, failures);
}

/** Begins to collect, and ends that when a message is full. */
function goOn(run: OwedRun): void {
  const { state, facts } = run;
  const { telling } = state;
  if (telling.at !== "resting" && telling.at !== "collecting") return;
  if (state.debts.size === 0 || !facts.mayTell) return;
  const debts = batch(run);
  if (debts.length === most && facts.budgetMs === 0) return send(run, debts, 0);
  if (debts.length > 0 && telling.at === "resting") {
    state.telling = { at: "collecting", timer: wake(run, facts.collectMs) };
  }
}

/**
 * The oldest that is due, and others for the same asker; all of one asker if they fill a message.
 * Whether somebody is a member is asked once, however much it is owed.
 */
function batch({ state: { debts }, facts }: OwedRun): readonly ReceiptDebt[] {
  const byAsker = new Map<string, ReceiptDebt[]>();
  const gone = new Set<string>();
  for (const debt of debts.values()) {
    const { asker } = debt;
    if (debt.at !== "due" || gone.has(asker)) continue;
    const theirs = byAsker.get(asker);
    if (theirs !== undefined) {
      if (theirs.push(debt) === most) return theirs;
    } else if (facts.isMember(asker)) byAsker.set(asker, [debt]);
    else gone.add(asker);
  }
  const [first = []] = byAsker.values();
  return first;
}

function send(run: OwedRun, debts: readonly ReceiptDebt[], failures: number): void {
  const { state, effects } = run;
  const [first] = debts;
  if (first === undefined) return;
  const call = ++state.numbers;
  state.telling = { at: "sending", call, debts, failures };
  const receipts = debts.map(({ id, state }) => ({ id, state }));
  effects.push({ type: "send", call, asker: first.asker, receipts });
}

/** Nobody waits for them any more. A time in the future is of a clock that was wrong. */
function forgetOld({ state: { debts }, facts, effects }: OwedRun): void {
  const isOld = ({ sinceMs }: ReceiptDebt): boolean => Math.abs(facts.nowMs - sinceMs) > maxAgeMs;
  const keys = [...debts].filter(([, debt]) => isOld(debt)).map(([key]) => key);
  for (const key of keys) debts.delete(key);
  if (keys.length > 0) effects.push({ type: "note", keys });
}

function wake({ state, effects }: OwedRun, afterMs: number): number {
  const timer = ++state.numbers;
  effects.push({ type: "wake", timer, afterMs });
  return timer;
}

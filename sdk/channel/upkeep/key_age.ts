/**
 * Fresh keys by the clock, and leaves of this version: a machine without waits. A thief that copied
 * an agent's directory reads along until that agent makes a commit with a path, so each member
 * makes one in every period, and one soon after a restart. Members agree on nothing for that: each
 * goes by the age of its own leaf, and draws that spread them keep the channel's rate below one
 * commit in ten minutes. An event that no case names changes nothing.
 */
import type { AgentId } from "../../../proto/mod.ts";
import { healingMs } from "./healing_pace.ts";
import type { SeenLeaf } from "./key_age_records.ts";
import {
  areKeysOld,
  type KeyAgeEffect,
  type KeyAgeEvent,
  type KeyAgeFacts,
  type KeyAgeState,
  type KeyAgeStep,
  type KeyAgeWrite,
  type KeyPlan,
  type KeysMoved,
  type KeysUnchanged,
  ownKeysOf,
} from "./key_age_state.ts";

const hourMs = 60 * 60_000;
/** However far away the moment is, it is worked out anew this often. */
const longestWaitMs = 6 * hourMs;
/** The latest moment for a renewal; in a large channel so that no more than six a minute come. */
const [renewedWithinMs, eachMs] = [5 * 60_000, 10_000] as const;

interface KeyAgeRun {
  readonly state: KeyAgeState;
  readonly facts: KeyAgeFacts;
  readonly write: KeyAgeWrite[];
  readonly effects: KeyAgeEffect[];
}

export function stepKeyAge(state: KeyAgeState, event: KeyAgeEvent, facts: KeyAgeFacts): KeyAgeStep {
  const run: KeyAgeRun = { state, facts, write: [], effects: [] };
  happen(run, event);
  return run;
}

function happen(run: KeyAgeRun, event: KeyAgeEvent): void {
  switch (event.type) {
    case "look":
      return look(run);
    case "rest":
      return rest(run);
    case "moved":
      return moved(run, event);
    case "turn":
      return turn(run, event);
    case "changed":
      return changed(run, event.change, event.why);
    case "time":
      return time(run, event.timer);
    case "finish":
      return finish(run, event.operation);
  }
}

function look(run: KeyAgeRun): void {
  const { at } = run.state.keys;
  if (at === "resting" || at === "waiting") wait(run);
  lookAtLeaf(run);
}

function rest(run: KeyAgeRun): void {
  settleWith(run);
  run.state.keys = { at: "resting" };
  run.state.renewal = { at: "none" };
}

/** Calls of a process that ends, and that wait for the change. */
function settleWith({ state: { keys }, effects }: KeyAgeRun): void {
  const waiting = keys.at === "changing"
    ? keys.finishing
    : keys.at === "asking_turn"
    ? [keys.finish]
    : [];
  for (const operation of waiting) {
    if (operation !== undefined) effects.push({ type: "settle", operation });
  }
}

/** Waits for the moment at which our keys are due, and not before this time has passed. */
function wait(run: KeyAgeRun, leastMs = 0): void {
  const ms = Math.max(leastMs, dueMs(run) - run.facts.nowMs);
  run.state.keys = { at: "waiting", timer: wake(run, Math.min(ms, longestWaitMs)) };
}

/** Returns when our keys are due, by the local clock. */
function dueMs(run: KeyAgeRun): number {
  const { state, facts } = run;
  const own = noteOwn(run);
  state.startLeaf ??= own.leaf;
  const start = own.leaf === state.startLeaf ? state.start : undefined;
  // Keys from the future: the clock was set back, by more than clocks are corrected, and would keep
  // them for ever.
  return own.atMs > facts.nowMs + hourMs ? 0 : healingMs(own, facts.members, start, facts.pace);
}

function noteOwn(run: KeyAgeRun): SeenLeaf {
  const own = ownKeysOf(run.state, run.facts);
  note(run, run.facts.self, own);
  return own;
}

function note({ state: { seen }, write }: KeyAgeRun, agentId: AgentId, now: SeenLeaf): void {
  if (seen.get(agentId)?.leaf === now.leaf) return;
  seen.set(agentId, now);
  write.push({ type: "seen", agentId, seen: now });
}

function moved(
  run: KeyAgeRun,
  { committer, added, removed, isNewGeneration, isOfBefore }: KeysMoved,
): void {
  const { state, facts } = run;
  const changed = isNewGeneration ? "all" : new Set([committer, ...added]);
  for (const [agentId, leaf] of facts.leavesOf(changed)) {
    note(run, agentId, { leaf, atMs: facts.nowMs });
  }
  for (const agentId of removed) {
    if (!added.includes(agentId) && state.seen.delete(agentId)) {
      run.write.push({ type: "gone", agentId });
    }
  }
  const isOwn = committer === facts.self;
  // As if this process had found these keys.
  if (isOwn && isOfBefore) state.startLeaf = undefined;
  const { at } = state.keys;
  if (isOwn && (at === "waiting" || at === "in_turn")) wait(run);
  lookAtLeaf(run);
}

/**
 * At a random moment, so that the members of a large channel do not commit all at once. Any other
 * commit does it on its way.
 */
function lookAtLeaf(run: KeyAgeRun): void {
  const { state, facts } = run;
  if (state.keys.at === "resting" || state.renewal.at !== "none" || !facts.isRenewalWanted) return;
  const spreadMs = Math.max(renewedWithinMs, eachMs * facts.members);
  state.renewal = { at: "waiting", timer: wake(run, spreadMs * facts.draw()) };
}

function time(run: KeyAgeRun, timer: number): void {
  const { state: { keys, renewal }, facts } = run;
  if (renewal.at === "waiting" && renewal.timer === timer) {
    run.state.renewal = { at: "renewing", change: change(run, { is: "renew" }) };
    return;
  }
  if (!("timer" in keys) || keys.timer !== timer) return;
  if (dueMs(run) > facts.nowMs) return wait(run);
  if (keys.at === "in_turn") return heal(run, []);
  ask(run, undefined);
}

/** A restart must not commit in all channels at once. */
function ask(run: KeyAgeRun, finish: number | undefined): void {
  const asked = numberOf(run);
  run.state.keys = { at: "asking_turn", turn: asked, finish };
  run.effects.push({ type: "ask_turn", turn: asked });
}

function turn(
  run: KeyAgeRun,
  { turn: asked, afterMs }: Extract<KeyAgeEvent, { type: "turn" }>,
): void {
  const { keys } = run.state;
  if (keys.at !== "asking_turn" || keys.turn !== asked) return;
  if (afterMs === 0) return heal(run, keys.finish === undefined ? [] : [keys.finish]);
  settleWith(run);
  run.state.keys = { at: "in_turn", timer: wake(run, afterMs) };
}

function heal(run: KeyAgeRun, finishing: readonly number[]): void {
  const { leaf } = noteOwn(run);
  run.state.keys = { at: "changing", change: change(run, { is: "heal", leaf }), finishing };
}

function changed(run: KeyAgeRun, number: number, why: KeysUnchanged | undefined): void {
  const { state, facts } = run;
  if (state.renewal.at === "renewing" && state.renewal.change === number) {
    state.renewal = { at: "none" };
    report(run, "renew", why);
    return lookAtLeaf(run);
  }
  if (state.keys.at !== "changing" || state.keys.change !== number) return;
  settleWith(run);
  report(run, "heal", why);
  wait(run, why === undefined ? 0 : facts.pace.retryMs);
}

/** A connection that is gone comes back by itself. */
function report({ effects }: KeyAgeRun, of: KeyPlan["is"], why: KeysUnchanged | undefined): void {
  if (why !== undefined && !why.isLost) effects.push({ type: "report", of, text: why.text });
}

function finish(run: KeyAgeRun, operation: number): void {
  const { state, facts, effects } = run;
  const { keys } = state;
  if (keys.at === "changing") {
    state.keys = { ...keys, finishing: [...keys.finishing, operation] };
    return;
  }
  const isOverdue = keys.at === "waiting" && areKeysOld(state, facts) &&
    facts.ownLeaf === state.startLeaf;
  if (isOverdue) ask(run, operation);
  else effects.push({ type: "settle", operation });
}

function change(run: KeyAgeRun, plan: KeyPlan): number {
  const number = numberOf(run);
  run.effects.push({ type: "change", change: number, plan });
  return number;
}

function wake(run: KeyAgeRun, afterMs: number): number {
  const timer = numberOf(run);
  run.effects.push({ type: "wake", timer, afterMs: Math.max(0, afterMs) });
  return timer;
}

function numberOf({ state }: KeyAgeRun): number {
  return ++state.numbers;
}

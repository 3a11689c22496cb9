/**
 * Which KeyPackages of this agent the relay holds for members that add it by its id: a machine
 * without waits. They are refilled when they run low, after the relay has restarted, and replaced
 * when our keys for them are gone. One refill after the other: two at once would upload twice as
 * many. An event that no case names changes nothing. The disk knows what the relay took: else keys
 * that were written for a failed upload count as there, and the relay goes on handing out
 * KeyPackages whose keys are lost. A refill goes to the connection whose word it follows. One that
 * failed is not tried again: the next connection looks anew.
 */
import { limits } from "../../../proto/mod.ts";
import {
  type KeyPackageEffect,
  type KeyPackageEvent,
  type KeyPackageFacts,
  type KeyPackageState,
  type KnownKeyPackage,
  poolSize,
  type RefillCause,
  type RefillJob,
  type Upload,
} from "./key_package_state.ts";

const dayMs = 24 * 60 * 60 * 1000;
export const lifetimeMs = 30 * dayMs;
/**
 * A KeyPackage of last resort may be handed out many times: it is renewed after a use, and while it
 * is still good.
 */
const lastResortAgeMs = 7 * dayMs;
/**
 * One that was used opens what a thief has recorded. It stays so long after the relay got its
 * successor: others may still hold it.
 */
const usedStaysMs = 7 * dayMs;
/**
 * KeyPackages that the relay was given and nobody has used so far. A relay that restarts, or lies,
 * asks for more without end. Then the oldest are deleted, and a member that adds this agent with
 * one of them has to try again.
 */
const maxPooled = 100;

interface KeyPackageRun {
  readonly state: KeyPackageState;
  readonly facts: KeyPackageFacts;
  readonly effects: KeyPackageEffect[];
}

type RefillFailure = Extract<KeyPackageEffect, { type: "answer" }>["failed"];

export function stepKeyPackages(
  state: KeyPackageState,
  event: KeyPackageEvent,
  facts: KeyPackageFacts,
): { readonly effects: readonly KeyPackageEffect[] } {
  const run: KeyPackageRun = { state, facts, effects: [] };
  happen(run, event);
  return run;
}

function happen(run: KeyPackageRun, event: KeyPackageEvent): void {
  const { state } = run;
  const { refill } = state;
  if (event.type === "asked") return asked(run, event.cause);
  if (refill.at === "resting" || refill.job !== event.job) return;
  switch (event.type) {
    case "looked":
      return refill.at === "looking" ? looked(run, refill, event.known) : undefined;
    case "written":
      if (refill.at !== "writing") return;
      return upload(run, refill, {
        wanted: refill.upload,
        there: [...refill.there, ...event.made],
      });
    case "uploaded":
      if (refill.at !== "uploading") return;
      // The relay said it before it had these.
      state.waiting = state.waiting.map((cause) => countedIn(cause, refill.upload));
      state.refill = { at: "noting", job: refill.job, cause: refill.cause };
      return void run.effects.push({ type: "note", job: refill.job, there: refill.there });
    case "noted":
      return done(run, refill, undefined);
    case "failed":
      return done(run, refill, { error: event.error });
  }
}

/** The relay's last word counts. */
function asked({ state, effects }: KeyPackageRun, cause: RefillCause): void {
  const { refill } = state;
  if (cause.of === "connection") state.wanted = Math.min(poolSize, cause.room);
  if (refill.at === "resting") return begin(state, effects, cause);
  if (refill.at === "looking" && isOver(refill.cause, cause)) state.refill = { ...refill, cause };
  else state.waiting = [...state.waiting.filter((each) => !isOver(each, cause)), cause];
}

/** The next one says it all. */
function isOver(before: RefillCause, next: RefillCause): boolean {
  return before.of === next.of
    ? before.of !== "program"
    : before.of === "reminder" && next.of === "connection";
}

function begin(state: KeyPackageState, effects: KeyPackageEffect[], cause: RefillCause): void {
  const job = ++state.jobs;
  state.refill = { at: "looking", job, cause };
  effects.push({ type: "look", job });
}

function looked(
  run: KeyPackageRun,
  { job, cause }: RefillJob,
  all: readonly KnownKeyPackage[],
): void {
  if (isPassed(run, cause)) return again(run, cause);
  const { state, facts: { nowMs }, effects } = run;
  const over = all.filter((each) =>
    nowMs > each.madeAtMs + lifetimeMs + limits.clockSkewMs || isUsedUp(each, all, nowMs) ||
    (isAhead(each, nowMs) && !each.isThere && each.purpose !== "handed")
  );
  const known = all.filter((each) => !over.includes(each));
  const wanted = uploadFor(run, cause, known);
  const there = thereWith(wanted, known);
  const forget = [...over, ...beyondPool(known, wanted?.pool ?? 0)].map(({ id }) => id);
  const [pool, lastResort] = [wanted?.pool ?? 0, wanted?.lastResort?.is === "new"];
  if (pool === 0 && !lastResort && forget.length === 0) {
    return upload(run, { job, cause }, { wanted, there });
  }
  state.refill = { at: "writing", job, cause, upload: wanted, there };
  effects.push({ type: "write", job, pool, lastResort, forget });
}

/** Made by a clock that was ahead: the relay takes it when its time has come, and no sooner. */
function isAhead({ madeAtMs }: KnownKeyPackage, nowMs: number): boolean {
  return madeAtMs > nowMs + limits.clockSkewMs;
}

function isUsedUp(
  { isUsed, madeAtMs }: KnownKeyPackage,
  all: readonly KnownKeyPackage[],
  nowMs: number,
): boolean {
  const isSuccessor = (each: KnownKeyPackage): boolean =>
    each.purpose === "last_resort" && each.isThere && each.madeAtMs > madeAtMs &&
    nowMs - each.madeAtMs > usedStaysMs;
  return isUsed && all.some(isSuccessor);
}

/** Beside those that are made for it. */
function thereWith(
  wanted: Upload | undefined,
  known: readonly KnownKeyPackage[],
): readonly string[] {
  const before = wanted?.replace === true
    ? []
    : known.filter(({ isThere }) => isThere).map(({ id }) => id);
  return wanted?.lastResort?.is === "known" ? [...before, wanted.lastResort.id] : before;
}

function uploadFor(
  { state: { wanted }, facts }: KeyPackageRun,
  cause: RefillCause,
  known: readonly KnownKeyPackage[],
): Upload | undefined {
  const fresh = freshLastResort(known, facts);
  const lastResort = fresh === undefined
    ? { is: "new" } as const
    : { is: "known", id: fresh.id } as const;
  switch (cause.of) {
    case "program":
      return { pool: wanted, lastResort: { is: "new" }, replace: true };
    case "use": {
      const hasNone = known.every(({ purpose }) => purpose !== "last_resort");
      return hasNone || fresh?.isThere === true
        ? undefined
        : { pool: 0, lastResort, replace: false };
    }
    case "reminder": {
      const pool = Math.max(0, Math.min(cause.room, poolSize - cause.held));
      if (pool === 0 && cause.hasLastResort) return undefined;
      return { pool, lastResort: cause.hasLastResort ? undefined : lastResort, replace: false };
    }
    case "connection": {
      // KeyPackages that an earlier version uploaded are replaced; their keys stay for a Welcome
      // that is on its way.
      const here =
        known.filter(({ purpose, isOlder, isThere }) => purpose === "pool" && !isOlder && isThere)
          .length;
      const replace = cause.held > here || (cause.hasLastResort && fresh?.isThere !== true);
      const missing = replace ? wanted : Math.max(0, wanted - cause.held);
      const needsLastResort = !cause.hasLastResort || replace;
      if (missing <= wanted / 2 && !needsLastResort) return undefined;
      return { pool: missing, lastResort: needsLastResort ? lastResort : undefined, replace };
    }
  }
}

/** The newest: others may be left from before they were replaced. */
function freshLastResort(
  known: readonly KnownKeyPackage[],
  { nowMs }: KeyPackageFacts,
): KnownKeyPackage | undefined {
  const isFresh = (each: KnownKeyPackage): boolean =>
    each.purpose === "last_resort" && !each.isUsed && !each.isOlder &&
    nowMs - each.madeAtMs < lastResortAgeMs && !isAhead(each, nowMs);
  return known.toSorted((a, b) => b.madeAtMs - a.madeAtMs).find(isFresh);
}

/** The oldest of the pool, beside so many new ones. */
function beyondPool(known: readonly KnownKeyPackage[], made: number): readonly KnownKeyPackage[] {
  const pool = known.filter(({ purpose }) => purpose === "pool").toSorted((a, b) =>
    b.madeAtMs - a.madeAtMs
  );
  return pool.slice(Math.max(0, maxPooled - made));
}

function upload(
  run: KeyPackageRun,
  { job, cause }: RefillJob,
  { wanted, there }: { readonly wanted: Upload | undefined; readonly there: readonly string[] },
): void {
  if (wanted === undefined) return done(run, { job, cause }, undefined);
  if (isPassed(run, cause)) return again(run, cause);
  run.state.refill = { at: "uploading", job, cause, upload: wanted, there };
  run.effects.push({ type: "upload", job, upload: wanted });
}

/**
 * Returns whether the refill was planned by the word of a connection that is over. A call of the
 * program waits for the next connection.
 */
function isPassed(
  { state: { waiting }, facts: { isOnline } }: KeyPackageRun,
  { of }: RefillCause,
): boolean {
  return waiting.some((each) => each.of === "connection") || (!isOnline && of !== "program");
}

/**
 * The relay has not heard of it, and the new connection tells all. A call of the program comes
 * behind that.
 */
function again({ state, effects }: KeyPackageRun, cause: RefillCause): void {
  if (cause.of === "program") state.waiting = [...state.waiting, cause];
  goOn(state, effects);
}

function countedIn(cause: RefillCause, { pool, lastResort, replace }: Upload): RefillCause {
  if (cause.of === "use" || cause.of === "program") return cause;
  const held = (replace ? 0 : cause.held) + pool;
  const room = cause.of === "reminder" ? Math.max(0, cause.room - pool) : cause.room;
  return { ...cause, held, room, hasLastResort: cause.hasLastResort || lastResort !== undefined };
}

/** A refill that failed is not tried again: the next connection looks anew. */
function done(
  { state, effects }: KeyPackageRun,
  { cause }: RefillJob,
  failed: RefillFailure,
): void {
  if (cause.of === "program") effects.push({ type: "answer", operation: cause.operation, failed });
  goOn(state, effects);
}

function goOn(state: KeyPackageState, effects: KeyPackageEffect[]): void {
  const [next, ...rest] = state.waiting;
  state.waiting = rest;
  if (next === undefined) state.refill = { at: "resting" };
  else begin(state, effects, next);
}

/**
 * When a model is woken: a pure machine. Something came that may wake; the host is asked whether a
 * session of the model has asked for messages since, and has therefore been given it; if not, the
 * model is woken. Then it is left alone until a session has asked, or for one minute, and for twice
 * as long each time. A member that writes without end must not spend the user's tokens.
 */

export interface PaceLimits {
  /** Between two wakes. */
  readonly minMs: number;
  readonly maxPerHour: number;
  /** Whether a wake that no session has come after is said again, though it was told. */
  readonly repeats: boolean;
}

export type PaceEvent =
  /** Something came that may wake, a moment ago. */
  | { readonly type: "came"; readonly channel: string; readonly atMs: number }
  /** The timer rings. */
  | { readonly type: "rang" }
  | { readonly type: "looked" } & SessionActivity
  /** The host did not answer. */
  | { readonly type: "missed" }
  /** The harness was told. */
  | { readonly type: "told" }
  /** It could not be. */
  | { readonly type: "failed" };

export interface SessionActivity {
  /** When a session last asked for messages, by channel; one that none has asked is not there. */
  readonly askedAtMs: ReadonlyMap<string, number>;
  /** When the host began: it knows nothing of what was before. */
  readonly sinceMs: number;
}

export type PaceEffect = { readonly type: "look" } | { readonly type: "tell" };

/** At most one thing is under way; what comes meanwhile is in `waiting`. */
type Phase =
  | { readonly kind: "resting" }
  | { readonly kind: "timed"; readonly atMs: number }
  | { readonly kind: "looking" }
  | { readonly kind: "telling" };

export interface PaceState {
  readonly phase: Phase;
  /** By channel, when the newest came that no session is known to have been given. */
  readonly waiting: ReadonlyMap<string, number>;
  /** When wakes of the last hour were, oldest first. */
  readonly wakes: readonly number[];
  readonly wokenAtMs: number;
  /** Wakes since a session last came. */
  readonly inVain: number;
  /** The last one reached the harness. */
  readonly isTold: boolean;
  readonly lookedAtMs: number;
}

export interface PaceStep {
  readonly pace: PaceState;
  readonly effects: readonly PaceEffect[];
}

const hourMs = 3_600_000;
/** After a wake, until it is said again; then twice as long, up to an hour. */
const patienceMs = 60_000;
/** Between two looks. */
const lookMs = 1000;
/** Until a host that did not answer is asked again. */
const retryMs = 5000;

export const restingPace: PaceState = {
  phase: { kind: "resting" },
  waiting: new Map(),
  wakes: [],
  wokenAtMs: -Infinity,
  inVain: 0,
  isTold: false,
  lookedAtMs: -Infinity,
};

/** When the timer rings, if it is to ring. */
export function timerOf({ phase }: PaceState): number | undefined {
  return phase.kind === "timed" ? phase.atMs : undefined;
}

export function step(
  before: PaceState,
  event: PaceEvent,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: PaceLimits },
): PaceStep {
  const pace = notAfter(before, nowMs);
  switch (event.type) {
    case "came": {
      // A session that asked since then has it.
      const waiting = new Map([...pace.waiting, [event.channel, Math.min(event.atMs, nowMs)]]);
      return look({ ...pace, waiting }, nowMs);
    }
    case "rang":
      return pace.phase.kind === "timed" && pace.phase.atMs <= nowMs
        ? begin({ ...pace, phase: { kind: "resting" } }, nowMs)
        : { pace, effects: [] };
    case "looked":
      return pace.phase.kind === "looking"
        ? decide(without(pace, event), { nowMs, limits })
        : { pace, effects: [] };
    case "missed":
      return pace.phase.kind === "looking"
        ? { pace: timed(pace, nowMs + retryMs), effects: [] }
        : { pace, effects: [] };
    case "told":
    case "failed":
      return pace.phase.kind === "telling"
        ? {
          pace: { ...timed(pace, nowMs + lookMs), isTold: event.type === "told" },
          effects: [],
        }
        : { pace, effects: [] };
  }
}

/** A clock that was set back: nothing that is noted lies in the future, or is far ahead. */
function notAfter(pace: PaceState, nowMs: number): PaceState {
  const phase: Phase = pace.phase.kind === "timed"
    ? { kind: "timed", atMs: Math.min(pace.phase.atMs, nowMs + hourMs) }
    : pace.phase;
  const waiting = new Map(Array.from(pace.waiting, ([name, at]) => [name, Math.min(at, nowMs)]));
  const wakes = pace.wakes.map((at) => Math.min(at, nowMs)).filter((at) => at > nowMs - hourMs);
  const wokenAtMs = Math.min(pace.wokenAtMs, nowMs);
  const lookedAtMs = Math.min(pace.lookedAtMs, nowMs);
  return { ...pace, phase, waiting, wakes, wokenAtMs, lookedAtMs };
}

/** Soon, unless it is under way. */
function look(pace: PaceState, nowMs: number): PaceStep {
  const { phase, lookedAtMs } = pace;
  if (phase.kind === "looking" || phase.kind === "telling") return { pace, effects: [] };
  const atMs = lookedAtMs + lookMs;
  if (atMs <= nowMs) return begin(pace, nowMs);
  const isSooner = phase.kind === "resting" || atMs < phase.atMs;
  return { pace: isSooner ? timed(pace, atMs) : pace, effects: [] };
}

function begin(pace: PaceState, nowMs: number): PaceStep {
  const looking = { ...pace, phase: { kind: "looking" }, lookedAtMs: nowMs } as const;
  return { pace: looking, effects: [{ type: "look" }] };
}

/** A session that asks is given all that came before. */
function without(pace: PaceState, { askedAtMs, sinceMs }: SessionActivity): PaceState {
  const isWaiting = ([channel, at]: readonly [string, number]): boolean =>
    (askedAtMs.get(channel) ?? -Infinity) < at;
  const hasCome = sinceMs > pace.wokenAtMs ||
    [...askedAtMs.values()].some((at) => at >= pace.wokenAtMs);
  const waiting = new Map([...pace.waiting].filter(isWaiting));
  return { ...pace, waiting, inVain: hasCome || waiting.size === 0 ? 0 : pace.inVain };
}

function decide(
  pace: PaceState,
  { nowMs, limits }: { readonly nowMs: number; readonly limits: PaceLimits },
): PaceStep {
  const { waiting, wakes, wokenAtMs, inVain, isTold } = pace;
  const resting: PaceState = { ...pace, phase: { kind: "resting" } };
  if (waiting.size === 0) return { pace: resting, effects: [] };
  // It has been told, and need not be told twice. A session that has come is seen when more comes.
  if (inVain > 0 && isTold && !limits.repeats) return { pace: resting, effects: [] };
  const first = wakes[wakes.length - limits.maxPerHour];
  const atMs = Math.max(
    wokenAtMs + Math.max(limits.minMs, pauseAfter(inVain)),
    first === undefined ? -Infinity : first + hourMs,
  );
  if (atMs > nowMs) return { pace: timed(pace, atMs), effects: [] };
  const woken = { wakes: [...wakes, nowMs], wokenAtMs: nowMs, inVain: inVain + 1 };
  return { pace: { ...pace, ...woken, phase: { kind: "telling" } }, effects: [{ type: "tell" }] };
}

function pauseAfter(inVain: number): number {
  return inVain === 0 ? 0 : Math.min(hourMs, patienceMs * 2 ** (inVain - 1));
}

function timed(pace: PaceState, atMs: number): PaceState {
  return { ...pace, phase: { kind: "timed", atMs } };
}

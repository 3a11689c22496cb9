/**
 * A relay whose shared log does not answer it. First it takes a new client, because the node or the
 * client may be deaf. Then it is not ready and says why. In the end it ends, but only when another
 * connection can write and read the log: then this process is what is wrong, and a new one helps.
 * Where nobody can, a new process could not either, so it stays.
 *
 * A pure machine: `step` takes an event, and returns the next state and effects for others to carry
 * out (`silence_watch.ts`).
 */
import { waits } from "../../../server/mod.ts";

export interface SilenceLimits {
  /** Silent for so long: a new client. */
  readonly clientMs: number;
  /**
   * Until the next new client, each time twice as long: on a busy machine every change loses
   * answers on their way.
   */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Silent for so long: the relay is not ready, and says why. */
  readonly readyMs: number;
  /** Silent for so long: agents are sent to other relays. */
  readonly awayMs: number;
  /**
   * Silent for so long: another connection tries the log, and the relay ends if that can write and
   * read it.
   */
  readonly endMs: number;
  /** Until it tries again after it could not. */
  readonly probePauseMs: number;
  /**
   * More between two looks is time in which this process did not run: it could not have heard an
   * answer.
   */
  readonly longestStepMs: number;
}

export const silenceLimits: SilenceLimits = {
  clientMs: waits.logClient.ms,
  firstPauseMs: 5_000,
  longestPauseMs: 40_000,
  readyMs: waits.logReady.ms,
  awayMs: waits.logAway.ms,
  endMs: waits.logEnd.ms,
  probePauseMs: 5_000,
  longestStepMs: 2_000,
};

/**
 * `kept`: no new one was asked for in this silence. `tried`: one was, and the next is due after the
 * pause.
 */
type ClientRenewal =
  | { readonly is: "kept" }
  | { readonly is: "opening"; readonly pauseMs: number }
  | { readonly is: "tried"; readonly atMs: number; readonly pauseMs: number };

/**
 * Another connection that tries the log. `why`: the reason for which it could not, this time or the
 * last. `endAtMs`: for how long the log will have been silent when the relay ends, so that a
 * process that did not run meanwhile still listens for the rest.
 */
type Probe =
  | { readonly is: "none" }
  | { readonly is: "asking"; readonly why?: string }
  | { readonly is: "failed"; readonly why: string; readonly atMs: number }
  | { readonly is: "worked"; readonly endAtMs: number }
  | { readonly is: "ended" };

export interface Silence {
  /** For how long the log has said nothing to this process while it ran and waited. */
  readonly silentMs: number;
  readonly lookedMs: number;
  /** The nodes answer, and refuse what is written. */
  readonly isRefused: boolean;
  readonly client: ClientRenewal;
  readonly probe: Probe;
}

export type SilenceEvent =
  /**
   * `waitingMs`: how long the oldest write has waited. A relay always has one soon: an idle one
   * writes marks.
   */
  | {
    readonly type: "look";
    readonly nowMs: number;
    readonly waitingMs: number;
    readonly isRefused: boolean;
  }
  /** The new client stands, or could not be had. */
  | { readonly type: "client_tried"; readonly nowMs: number }
  /**
   * The other connection has written and read. `spreadMs`: a random time, so that not all relays
   * end at once.
   */
  | { readonly type: "probe_worked"; readonly spreadMs: number }
  | { readonly type: "probe_failed"; readonly nowMs: number; readonly why: string };

export type SilenceEffect = "open_client" | "probe" | "send_agents_away" | "end";

export interface SilenceStep {
  readonly state: Silence;
  readonly effects: readonly SilenceEffect[];
}

export function createSilence(nowMs: number): Silence {
  return {
    silentMs: 0,
    lookedMs: nowMs,
    isRefused: false,
    client: { is: "kept" },
    probe: { is: "none" },
  };
}

export function step(
  state: Silence,
  event: SilenceEvent,
  limits: SilenceLimits = silenceLimits,
): SilenceStep {
  if (state.probe.is === "ended") return { state, effects: [] };
  switch (event.type) {
    case "look":
      return look(state, event, limits);
    case "client_tried": {
      if (state.client.is !== "opening") return { state, effects: [] };
      const { pauseMs } = state.client;
      return {
        state: { ...state, client: { is: "tried", atMs: event.nowMs, pauseMs } },
        effects: [],
      };
    }
    case "probe_worked":
      return probed(state, { is: "worked", endAtMs: state.silentMs + event.spreadMs }, limits);
    case "probe_failed":
      return probed(state, { is: "failed", why: event.why, atMs: event.nowMs }, limits);
  }
}

/** An answer that comes when the log has spoken again is forgotten. */
function probed(state: Silence, probe: Probe, { endMs }: SilenceLimits): SilenceStep {
  if (state.probe.is !== "asking") return { state, effects: [] };
  return { state: { ...state, probe: mayEnd(state, endMs) ? probe : { is: "none" } }, effects: [] };
}

function look(
  state: Silence,
  { nowMs, waitingMs, isRefused }: Extract<SilenceEvent, { type: "look" }>,
  limits: SilenceLimits,
): SilenceStep {
  const passedMs = Math.min(Math.max(0, nowMs - state.lookedMs), limits.longestStepMs);
  const silentMs = Math.min(waitingMs, state.silentMs + passedMs);
  const seen: Silence = { ...state, silentMs, lookedMs: nowMs, isRefused };
  const [client, opened] = nextClient(seen, limits);
  const [probe, asked] = nextProbe(seen, limits);
  const isAway = state.silentMs < limits.awayMs && silentMs >= limits.awayMs;
  const away: readonly SilenceEffect[] = isAway ? ["send_agents_away"] : [];
  return { state: { ...seen, client, probe }, effects: [...opened, ...away, ...asked] };
}

type SilenceTransition<Part> = readonly [Part, readonly SilenceEffect[]];

/** One at a time: one that is under way is waited for, also when the log has spoken meanwhile. */
function nextClient(
  { silentMs, lookedMs, isRefused, client }: Silence,
  limits: SilenceLimits,
): SilenceTransition<ClientRenewal> {
  if (client.is === "opening") return [client, []];
  if (silentMs < limits.clientMs) return [{ is: "kept" }, []];
  if (isRefused) return [client, []];
  if (client.is === "kept") {
    return [{ is: "opening", pauseMs: limits.firstPauseMs }, ["open_client"]];
  }
  if (lookedMs - client.atMs < client.pauseMs) return [client, []];
  return [{ is: "opening", pauseMs: Math.min(limits.longestPauseMs, 2 * client.pauseMs) }, [
    "open_client",
  ]];
}

function nextProbe(state: Silence, limits: SilenceLimits): SilenceTransition<Probe> {
  const { probe, lookedMs, silentMs } = state;
  if (probe.is === "asking") return [probe, []];
  if (!mayEnd(state, limits.endMs)) return [{ is: "none" }, []];
  if (probe.is === "worked") {
    return silentMs < probe.endAtMs ? [probe, []] : [{ is: "ended" }, ["end"]];
  }
  if (probe.is === "failed" && lookedMs - probe.atMs < limits.probePauseMs) return [probe, []];
  return [{ is: "asking", ...(probe.is === "failed" && { why: probe.why }) }, ["probe"]];
}

/** Nodes that refuse have answered: another process would be refused as well. */
function mayEnd({ silentMs, isRefused }: Silence, endMs: number): boolean {
  return silentMs >= endMs && !isRefused;
}

/**
 * Words for what is wrong with `what`; undefined while the relay is ready as far as it is
 * concerned. Anybody may read them, so nothing that nodes say is in them.
 */
export function wordsOf(
  { silentMs, isRefused, probe }: Silence,
  what: string,
  { readyMs }: SilenceLimits = silenceLimits,
): string | undefined {
  if (silentMs < readyMs) return undefined;
  const since = `for ${Math.floor(silentMs / 1_000)} s`;
  if (isRefused) {
    return `${what} has refused every write ${since}. The relay's log has the nodes' words. Look at them`;
  }
  const silent = `${what} has not answered this relay ${since}`;
  switch (probe.is) {
    case "none":
      return `${silent}. It tries new connections to the nodes`;
    case "asking":
    case "failed":
      return `${silent}${
        probe.why === undefined ? "" : `: ${probe.why}`
      }. It goes on when the nodes answer. Look at them`;
    case "worked":
    case "ended":
      return `${silent}, and answers others. This relay ends, so that a new process takes its place`;
  }
}

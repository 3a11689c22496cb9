/**
 * A relay whose shared log does not answer it. First it takes a new client, because the node or the client may be
 * deaf. Then it refuses new sessions and says why. In the end it ends, but only when another connection can read the log: then
 * this process is what is wrong, and a new one helps. Where nobody can read it, a new process could not either, so it stays.
 *
 * A pure machine: `step` takes an event, and returns the next state and effects for others to carry out (`silence_watch.ts`).
 */
import { waits } from "../../server/mod.ts";

export interface SilenceLimits {
  /** Silent for so long: a new client. */
  readonly clientMs: number;
  /** Until the next new client, each time twice as long: on a busy machine every change loses answers on their way. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Silent for so long: no new sessions. */
  readonly readyMs: number;
  /** Silent for so long: agents are sent to other relays. */
  readonly awayMs: number;
  /** Silent for so long: another connection is asked for the log, and the relay ends if that can read it. */
  readonly endMs: number;
  /** Until it is asked again after it could not read the log. */
  readonly probePauseMs: number;
  /** More between two looks is time in which this process did not run: it could not have heard an answer. */
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

/** `kept`: no new one was asked for in this silence. `tried`: one was, and the next is due after the pause. */
type Client =
  | { readonly is: "kept" }
  | { readonly is: "opening"; readonly pauseMs: number }
  | { readonly is: "tried"; readonly atMs: number; readonly pauseMs: number };

/** Another connection that asks for the log. `why`: the reason for which it could not be read, this time or the last. */
type Probe =
  | { readonly is: "none" }
  | { readonly is: "asking"; readonly why?: string }
  | { readonly is: "unread"; readonly why: string; readonly atMs: number }
  | { readonly is: "read"; readonly endAtMs: number }
  | { readonly is: "ended" };

export interface Silence {
  /** For how long the log has said nothing to this process while it ran and waited. */
  readonly silentMs: number;
  readonly lookedMs: number;
  /** The words of nodes that answer, and refuse what is written. */
  readonly refusal: string | undefined;
  readonly client: Client;
  readonly probe: Probe;
}

export type SilenceEvent =
  /** `waitingMs`: how long the oldest write has waited. A relay always has one soon: an idle one writes marks. */
  | {
    readonly type: "look";
    readonly nowMs: number;
    readonly waitingMs: number;
    readonly refusal?: string | undefined;
  }
  /** The new client stands, or could not be had. */
  | { readonly type: "client_tried"; readonly nowMs: number }
  /** The other connection has read the log's leader and position. `spreadMs`: a random time, so that not all relays end at once. */
  | { readonly type: "log_read"; readonly nowMs: number; readonly spreadMs: number }
  | { readonly type: "log_unread"; readonly nowMs: number; readonly why: string };

export type SilenceEffect = "open_client" | "probe" | "send_agents_away" | "end";

export interface SilenceStep {
  readonly state: Silence;
  readonly effects: readonly SilenceEffect[];
}

export function createSilence(nowMs: number): Silence {
  return { silentMs: 0, lookedMs: nowMs, refusal: undefined, client: { is: "kept" }, probe: { is: "none" } };
}

export function step(state: Silence, event: SilenceEvent, limits: SilenceLimits = silenceLimits): SilenceStep {
  if (state.probe.is === "ended") return { state, effects: [] };
  switch (event.type) {
    case "look":
      return look(state, event, limits);
    case "client_tried": {
      if (state.client.is !== "opening") return { state, effects: [] };
      const { pauseMs } = state.client;
      return { state: { ...state, client: { is: "tried", atMs: event.nowMs, pauseMs } }, effects: [] };
    }
    case "log_read":
      return probed(state, { is: "read", endAtMs: event.nowMs + event.spreadMs }, limits);
    case "log_unread":
      return probed(state, { is: "unread", why: event.why, atMs: event.nowMs }, limits);
  }
}

/** An answer that comes when the log has spoken again is forgotten. */
function probed(state: Silence, probe: Probe, { endMs }: SilenceLimits): SilenceStep {
  if (state.probe.is !== "asking") return { state, effects: [] };
  return { state: { ...state, probe: mayEnd(state, endMs) ? probe : { is: "none" } }, effects: [] };
}

function look(
  state: Silence,
  { nowMs, waitingMs, refusal }: Extract<SilenceEvent, { type: "look" }>,
  limits: SilenceLimits,
): SilenceStep {
  const passedMs = Math.min(Math.max(0, nowMs - state.lookedMs), limits.longestStepMs);
  const silentMs = Math.min(waitingMs, state.silentMs + passedMs);
  const seen: Silence = { ...state, silentMs, lookedMs: nowMs, refusal };
  const [client, opened] = nextClient(seen, limits);
  const [probe, asked] = nextProbe(seen, limits);
  const isAway = state.silentMs < limits.awayMs && silentMs >= limits.awayMs;
  const away: readonly SilenceEffect[] = isAway ? ["send_agents_away"] : [];
  return { state: { ...seen, client, probe }, effects: [...opened, ...away, ...asked] };
}

type Next<Part> = readonly [Part, readonly SilenceEffect[]];

/** One at a time: one that is under way is waited for, also when the log has spoken meanwhile. */
function nextClient({ silentMs, lookedMs, refusal, client }: Silence, limits: SilenceLimits): Next<Client> {
  if (client.is === "opening") return [client, []];
  if (silentMs < limits.clientMs) return [{ is: "kept" }, []];
  if (refusal !== undefined) return [client, []];
  if (client.is === "kept") return [{ is: "opening", pauseMs: limits.firstPauseMs }, ["open_client"]];
  if (lookedMs - client.atMs < client.pauseMs) return [client, []];
  return [{ is: "opening", pauseMs: Math.min(limits.longestPauseMs, 2 * client.pauseMs) }, ["open_client"]];
}

function nextProbe(state: Silence, limits: SilenceLimits): Next<Probe> {
  const { probe, lookedMs } = state;
  if (probe.is === "asking") return [probe, []];
  if (!mayEnd(state, limits.endMs)) return [{ is: "none" }, []];
  if (probe.is === "read") return lookedMs < probe.endAtMs ? [probe, []] : [{ is: "ended" }, ["end"]];
  if (probe.is === "unread" && lookedMs - probe.atMs < limits.probePauseMs) return [probe, []];
  return [{ is: "asking", ...(probe.is === "unread" && { why: probe.why }) }, ["probe"]];
}

/** Nodes that refuse have answered: another process would be refused as well. */
function mayEnd({ silentMs, refusal }: Silence, endMs: number): boolean {
  return silentMs >= endMs && refusal === undefined;
}

/** Words for what is wrong; undefined while new sessions are taken. */
export function wordsOf(
  { silentMs, refusal, probe }: Silence,
  { readyMs }: SilenceLimits = silenceLimits,
): string | undefined {
  if (silentMs < readyMs) return undefined;
  const since = `for ${Math.floor(silentMs / 1_000)} s`;
  if (refusal !== undefined) return `The nodes have refused every write to the shared log ${since}: ${refusal}`;
  const silent = `The shared log has not answered this relay ${since}`;
  switch (probe.is) {
    case "none":
      return `${silent}. It tries new connections to the nodes`;
    case "asking":
    case "unread":
      return `${silent}${
        probe.why === undefined ? "" : `: ${probe.why}`
      }. It goes on when the nodes answer. Look at them`;
    case "read":
    case "ended":
      return `${silent}, and answers others. This relay ends, so that a new process takes its place`;
  }
}

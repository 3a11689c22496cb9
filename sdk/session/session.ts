/**
 * The session that channels hold: it outlives its connections. One loop connects, serves until the
 * connection is lost, waits and connects again; it stops only when trying again is useless: the
 * credential is not accepted, another session of this agent has taken its place, or the client is
 * closed.
 */
import {
  type AgentId,
  agentIdOf,
  type CallName,
  limits as protocolLimits,
  type NoticeBody,
  type NoticeEnvelope,
  type RelayLimits,
  type ReplyBody,
  type RequestBody,
  tokenCovers,
} from "../../proto/mod.ts";
import { createError, StaticError } from "../base/errors.ts";
import { uniform } from "../base/runtime.ts";
import { CallGate } from "./call_gate.ts";
import type { RelayConnection } from "./connection.ts";
import { parseCover } from "./cover.ts";
import { CoverKeeper } from "./cover_keeper.ts";
import { Dialer, type OnlineConnection } from "./dialer.ts";
import type { SessionDeps, SessionOptions, SessionTiming } from "./options.ts";
import type { ConnectionInfo, RelaySession, SessionState } from "./relay_session.ts";
import { RelayClock } from "./relay_clock.ts";
import { ReturnWaits } from "./returning.ts";
import {
  afterConnection,
  afterFailure,
  attemptMs,
  type ConnectAttempts,
  refusalOf,
  startAttempts,
} from "./retry_rule.ts";
import { startUpkeep } from "./upkeep.ts";

export const defaultTiming: SessionTiming = {
  connectMs: 8_000,
  callMs: 30_000,
  minRetryMs: 250,
  maxRetryMs: 15_000,
};
const maxCallsUnderWay = 64;
const maxCallsWaiting = 1_024;
/** Above this, requests wait for the network instead of in its queue. */
const maxPendingBytes = 4 * 1024 * 1024;
/** A connection that lasted this long was a good one: waiting times start anew. */
const stableMs = 10_000;

/** Starts to connect at once. Throws `StaticError` for options that can never work. */
export function createRelaySession(options: SessionOptions, deps: SessionDeps): RelaySession {
  return new ReconnectingSession(options, deps);
}

class ReconnectingSession implements RelaySession {
  readonly agentId: AgentId;
  readonly usage: RelaySession["usage"];
  readonly service: RelaySession["service"];
  readonly #deps: SessionDeps;
  readonly #timing: SessionTiming;
  readonly #cover: CoverKeeper;
  readonly #opening: Dialer;
  readonly #returning: ReturnWaits;
  readonly #gate: CallGate;
  readonly #noticeListeners = new Set<(notice: NoticeEnvelope) => void>();
  readonly #connectionListeners = new Set<(connection: ConnectionInfo | undefined) => void>();
  readonly #stateListeners = new Set<(state: SessionState) => void>();
  /** Ends whatever the loop is doing. */
  readonly #closing = new AbortController();
  #attempts: ConnectAttempts;
  #state: SessionState;
  #connection: RelayConnection | undefined;
  #token = "";
  readonly #clock: RelayClock;
  #lastError: StaticError | undefined;
  #stopUpkeep: () => void = () => {};

  constructor(options: SessionOptions, deps: SessionDeps) {
    this.agentId = agentIdOf(options.publicKey, options.identity);
    this.#deps = deps;
    this.#clock = new RelayClock(deps);
    const intervals = { ...deps, nowMs: deps.steadyMs };
    this.usage = deps.usage;
    this.service = deps.service;
    this.#timing = { ...defaultTiming, ...options.timing };
    const cover = parseCover(options.cover);
    this.#cover = new CoverKeeper(cover, {
      ...deps,
      onStopped: (body) => this.#coverStopped(body),
    });
    this.#noticeListeners.add((notice) => {
      if (notice.operation !== "CoverStopped") return;
      const { message, untilMs } = notice.body;
      cover.onStopped?.({ message, until: untilMs === undefined ? undefined : new Date(untilMs) });
    });
    this.#gate = new CallGate({
      underWay: maxCallsUnderWay,
      waiting: maxCallsWaiting,
      hasRoom: () => (this.#connection?.pendingBytes ?? 0) < maxPendingBytes,
    });
    const { minRetryMs: minMs, maxRetryMs: maxMs } = this.#timing;
    this.#returning = new ReturnWaits({ minMs, maxMs }, { ...intervals, random: this.#random });
    this.#attempts = startAttempts(options.untilMs);
    this.#opening = new Dialer(options, {
      ...intervals,
      random: this.#random,
      connectMs: this.#timing.connectMs,
      cover: () => this.#cover.wanted,
      onNotice: (notice) => {
        if (notice.operation === "CoverStopped") {
          this.#cover.relayStopped(notice.body, this.#clock.nowMs);
        }
        this.#notice(notice);
      },
      onRoom: () => {
        this.#cover.count();
        this.#gate.admit();
      },
      onOnline: (online) => this.#goOnline(online),
    });
    this.#state = { kind: "connecting" };
    void this.#run();
  }

  get state(): SessionState {
    return this.#state;
  }

  relayNowMs(): number {
    return this.#clock.nowMs;
  }

  get suspension(): StaticError | undefined {
    if (this.#state.kind === "online") return undefined;
    return this.#lastError?.code === "account_suspended" ? this.#lastError : undefined;
  }

  covers(channel: Parameters<typeof tokenCovers>[1]): boolean {
    return tokenCovers(this.#token, channel);
  }

  async call<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
    { timeoutMs = this.#timing.callMs, signal }: {
      readonly timeoutMs?: number;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<ReplyBody<Name>> {
    signal?.throwIfAborted();
    const controller = new AbortController();
    let sent = false;
    const cancel = this.#deps.after(timeoutMs, () => {
      controller.abort(
        sent ? noAnswer(operation, timeoutMs) : this.#unreachable(operation, timeoutMs),
      );
    });
    const abort = (): void => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    this.#returning.hurry();
    try {
      return await this.#gate.pass(() => {
        sent = true;
        return this.#online().request(operation, body, { signal: controller.signal });
      }, controller.signal);
    } finally {
      cancel();
      signal?.removeEventListener("abort", abort);
    }
  }

  /** The gate is open only while there is one. */
  #online(): RelayConnection {
    if (this.#connection === undefined) throw new Error("The gate is open without a connection");
    return this.#connection;
  }

  acknowledge(body: RequestBody<"Acknowledge">): void {
    this.#connection?.acknowledge(body);
  }

  confirm(body: RequestBody<"Confirm">): void {
    this.#connection?.confirm(body);
  }

  onNotice(listener: (notice: NoticeEnvelope) => void): () => void {
    this.#noticeListeners.add(listener);
    return () => void this.#noticeListeners.delete(listener);
  }

  onConnection(listener: (connection: ConnectionInfo | undefined) => void): () => void {
    this.#connectionListeners.add(listener);
    return () => void this.#connectionListeners.delete(listener);
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  #enter(state: SessionState): void {
    this.#state = state;
    for (const listener of [...this.#stateListeners]) listener(state);
  }

  async close(): Promise<void> {
    if (this.#state.kind === "ended") return;
    const connection = this.#connection;
    this.#finish(undefined);
    await connection?.close(createError("transport_error", "The session was closed by its client"));
  }

  async #run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      this.#enter({ kind: "connecting" });
      const { error, lossMs } = await this.#connectAndServe();
      if (this.#closing.signal.aborted) return;
      this.#lastError = error;
      // Another relay need not wait until this one is back.
      const refusal = this.#opening.leave(error) ? { code: error.code } : refusalOf(error);
      const moment = { nowMs: this.#deps.nowMs(), random: this.#random() };
      const verdict = afterFailure(this.#attempts, refusal, this.#returning.times, moment);
      if (verdict.kind === "tell") return this.#finish(error);
      this.#attempts = verdict.attempts;
      const ms = lossMs ?? verdict.ms;
      this.#enter({ kind: "offline", error, retryAtMs: moment.nowMs + ms });
      const signal = this.#closing.signal;
      const pause = this.#returning.pause(ms, { signal, mayHurry: lossMs !== undefined });
      if (this.#gate.isWanted) this.#returning.hurry();
      await pause;
    }
  }

  /** Returns the reason why it is not, or no longer, connected, and how long a loss waits. */
  async #connectAndServe(): Promise<{ error: StaticError; lossMs?: number | undefined }> {
    const connection = await this.#opening.open(
      this.#closing.signal,
      attemptMs(this.#attempts, this.#deps.nowMs()),
    );
    if (connection instanceof StaticError) return { error: connection };
    const sinceMs = this.#deps.steadyMs();
    const error = await connection.ended;
    this.#attempts = afterConnection(this.#attempts, this.#deps.steadyMs() - sinceMs >= stableMs);
    if (error.code === "session_expired") this.#opening.refuse(this.#token);
    const fault = this.#goOffline();
    // Whatever the relay says itself has another code.
    const lossMs = this.#returning.afterLoss(error.code === "transport_error");
    return fault === undefined ? { error, lossMs } : { error: fault };
  }

  #goOnline(online: OnlineConnection): void {
    const { keyPackages, hasLastResort, relayTimeMs } = online.reply;
    const limits = withinProtocol(online.reply.limits);
    const { cellBytes, features, transport } = online;
    this.#connection = online.connection;
    this.#token = online.token;
    this.#clock.told(relayTimeMs, online.steadyMs);
    this.#returning.told(online.reply.returnWithinMs);
    this.#cover.attach(online.connection);
    this.#stopUpkeep = startUpkeep({
      online,
      limits,
      deps: this.#deps,
      random: this.#random,
      onRenewed: (token) => this.#token = token,
      onAnswer: ({ returnWithinMs }) => this.#returning.told(returnWithinMs),
      clock: this.#clock,
    });
    const connection = {
      limits,
      features,
      cellBytes,
      keyPackages,
      hasLastResort,
      transport,
    };
    this.#state = { kind: "online", connection };
    const fault = this.#tell(connection);
    if (fault !== undefined) throw fault;
    this.#gate.open();
    this.#enter(this.#state);
  }

  /** Returns the error of a listener that failed. */
  #goOffline(): StaticError | undefined {
    if (this.#connection === undefined) return undefined;
    this.#connection = undefined;
    this.#clock.lost();
    this.#cover.detach();
    this.#stopUpkeep();
    this.#gate.close();
    return this.#tell(undefined);
  }

  /** Told like the relay's own notices, and a listener that fails has the same consequence. */
  #coverStopped(body: NoticeBody<"CoverStopped">): void {
    try {
      this.#notice({ kind: "notice", operation: "CoverStopped", body });
    } catch (cause) {
      const text = "Handling CoverStopped failed; close the client and open it again";
      this.#connection?.abandon(createError("listener_died", text, { cause }));
    }
  }

  #notice(notice: NoticeEnvelope): void {
    for (const listener of this.#noticeListeners) listener(notice);
  }

  #tell(connection: ConnectionInfo | undefined): StaticError | undefined {
    try {
      for (const listener of this.#connectionListeners) listener(connection);
      return undefined;
    } catch (cause) {
      const text = "Handling a change of the connection failed; close the client and open it again";
      return createError("listener_died", text, { cause });
    }
  }

  #finish(error: StaticError | undefined): void {
    this.#state = { kind: "ended", error };
    this.#gate.end(
      error ?? createError("transport_error", "The session is closed; open a new client"),
    );
    // Also when it was offline before: callers that wait for the connection must learn that the
    // session is over.
    if (this.#connection === undefined) this.#tell(undefined);
    else this.#goOffline();
    this.#cover.close();
    this.#closing.abort();
    this.#enter(this.#state);
  }

  #unreachable(operation: CallName, timeoutMs: number): StaticError {
    if (this.suspension !== undefined) return this.suspension;
    const why = this.#lastError === undefined ? "it has not answered yet" : this.#lastError.message;
    const text =
      `Cannot send ${operation}: no session with the relay within ${timeoutMs} ms: ${why}`;
    return createError("connection_error", text, this.#lastError && { cause: this.#lastError });
  }

  /** Uniform in [0, 1). */
  readonly #random = (): number => uniform(this.#deps);
}

function noAnswer(operation: CallName, timeoutMs: number): StaticError {
  const text =
    `The relay has not answered ${operation} within ${timeoutMs} ms; it may or may not have happened`;
  return createError("transport_error", text);
}

/** A relay has smaller limits than the protocol, never larger ones. */
function withinProtocol(told: RelayLimits): RelayLimits {
  const { payloadBytes, queueAgeMs } = protocolLimits;
  return {
    ...told,
    payloadBytes: Math.min(told.payloadBytes, payloadBytes),
    queueAgeMs: Math.min(told.queueAgeMs, queueAgeMs),
  };
}

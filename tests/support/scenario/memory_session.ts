/**
 * A client's session with the relay's real core, without sockets. Everything between the two can be
 * tampered with: so the relay behind it may be honest, and the client sees a malicious one.
 */
import type {
  AgentId,
  CallName,
  ChannelId,
  NoticeEnvelope,
  ReplyBody,
  RequestBody,
  TokenGrant,
} from "../../../proto/mod.ts";
import { CallRefused, type TestAgent, TestClient } from "../../../relay/core/testing/client.ts";
import { tokenOf, type World } from "../../../relay/core/testing/world.ts";
import {
  type ConnectionInfo,
  createError,
  errorFromRelay,
  pause,
  type RelaySession,
  type Runtime,
  type SessionState,
  type StaticError,
} from "../../../sdk/testing/agents.ts";

/** Attacks of a malicious relay. Each returns what really happens. */
export interface Tampering {
  /** The notices that the client gets instead of this one. */
  notice?: (notice: NoticeEnvelope) => readonly NoticeEnvelope[];
  /** Instead of the call; `forward` asks the honest relay, with another body if one is given. */
  call?: (
    operation: CallName,
    body: unknown,
    forward: (changed?: unknown) => Promise<unknown>,
  ) => Promise<unknown>;
  /** The client's statement about an epoch, changed or left out. */
  confirm?: (body: RequestBody<"Confirm">) => RequestBody<"Confirm"> | undefined;
}

/**
 * The content of a session's token: its account, and its rights, undefined for all that the account
 * has.
 */
export interface SessionKey {
  readonly account: number;
  readonly grant?: TokenGrant;
}

const dayMs = 24 * 60 * 60 * 1000;

export class MemorySession implements RelaySession {
  readonly agentId: AgentId;
  tampering: Tampering = {};
  /** From the next connection on. */
  key: SessionKey;
  /** Replies that are lost from now on: the relay acts, the client never hears of it. */
  loseReplies = 0;
  readonly #agent: TestAgent;
  readonly #world: () => World;
  readonly #runtime: Runtime;
  readonly #noticeListeners = new Set<(notice: NoticeEnvelope) => void>();
  readonly #connectionListeners = new Set<(connection: ConnectionInfo | undefined) => void>();
  readonly #stateListeners = new Set<(state: SessionState) => void>();
  readonly #riding = new Map<ChannelId, RequestBody<"Confirm">>();
  #state: SessionState = { kind: "connecting" };
  #knowsTime = false;
  #client: TestClient | undefined;
  #connecting: Promise<void> | undefined;
  #online = Promise.withResolvers<void>();
  /** Rejects when the connection is lost. */
  #lost = Promise.withResolvers<never>();

  /** `runtime` has the agent's own clock. */
  constructor(agent: TestAgent, key: SessionKey, world: () => World, runtime: Runtime) {
    this.#agent = agent;
    this.key = key;
    this.#world = world;
    this.#runtime = runtime;
    this.agentId = agent.agentId;
  }

  get state(): SessionState {
    return this.#state;
  }

  relayNowMs(): number {
    return this.#knowsTime ? this.#world().time.nowMs() : this.#runtime.nowMs();
  }

  /** Connects (again). Notices that come before the listeners know of the connection wait. */
  connect(): Promise<void> {
    if (this.#isSettled()) return Promise.resolve();
    this.#connecting ??= this.#connect();
    return this.#connecting;
  }

  async #connect(): Promise<void> {
    while (!this.#isSettled()) {
      try {
        await this.#open();
      } catch {
        // wait: the relay has gone away meanwhile; the next one takes its place in a moment
        await pause(this.#runtime, 5);
      }
    }
    // In one with the last look: a connection that is lost in the next moment is opened by another
    // one.
    this.#connecting = undefined;
  }

  #isSettled(): boolean {
    return this.#state.kind === "online" || this.#state.kind === "ended";
  }

  async #open(): Promise<void> {
    const world = this.#world();
    const client = world.connect();
    this.#client = client;
    const early: NoticeEnvelope[] = [];
    client.onNotice = (notice) => void early.push(notice);
    const token = tokenOf(this.key.account, world.time.nowMs() + dayMs, this.key.grant);
    const reply = await client.authenticate(this.#agent, token);
    // It was closed meanwhile: a process that is gone must not come back.
    if (this.#state.kind === "ended") return client.close();
    const { limits, features, keyPackages, hasLastResort } = reply;
    this.#knowsTime = true;
    const connection = {
      limits,
      features,
      cellBytes: 4096,
      keyPackages,
      hasLastResort,
      transport: "quic" as const,
    };
    this.#state = { kind: "online", connection };
    for (const listener of this.#connectionListeners) listener(connection);
    this.#enter(this.#state);
    client.onNotice = (notice) => this.#push(notice);
    for (const notice of early) this.#push(notice);
    this.#online.resolve();
  }

  /** The connection breaks. */
  disconnect(): void {
    if (this.#state.kind !== "online") return;
    const error = createError("transport_error", "The connection was lost");
    this.#state = { kind: "offline", error, retryAtMs: 0 };
    this.#online = Promise.withResolvers();
    this.#lost.promise.catch(() => {});
    this.#lost.reject(error);
    this.#lost = Promise.withResolvers();
    this.#client?.close();
    this.#client = undefined;
    this.#riding.clear();
    for (const listener of this.#connectionListeners) listener(undefined);
    this.#enter(this.#state);
  }

  onState(listener: (state: SessionState) => void): () => void {
    this.#stateListeners.add(listener);
    return () => void this.#stateListeners.delete(listener);
  }

  #enter(state: SessionState): void {
    for (const listener of this.#stateListeners) listener(state);
  }

  async call<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
    { timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {},
  ): Promise<ReplyBody<Name>> {
    if (this.#state.kind === "ended") throw createError("transport_error", "The session is closed");
    await this.#waitOnline(timeoutMs);
    // cast: a test that changes a body keeps its shape
    const forward = (changed: unknown = body): Promise<ReplyBody<Name>> =>
      this.#forward(operation, changed as RequestBody<Name>);
    // A test that tampers answers in the shape of the operation.
    const answer = this.tampering.call?.(operation, body, forward) as
      | Promise<ReplyBody<Name>>
      | undefined;
    return await Promise.race([answer ?? forward(), this.#lost.promise]);
  }

  acknowledge(body: RequestBody<"Acknowledge">): void {
    this.#client?.notify("Acknowledge", body);
  }

  /** Waits for a cell that leaves anyway; see `ride`. */
  confirm(body: RequestBody<"Confirm">): void {
    const said = this.tampering.confirm === undefined ? body : this.tampering.confirm(body);
    if (said !== undefined) this.#riding.set(said.channelId, said);
  }

  /** A cell leaves each way, with what has waited for one. */
  ride(): void {
    for (const body of this.#riding.values()) this.#client?.notify("Confirm", body);
    this.#riding.clear();
    for (const notice of this.#client?.ride() ?? []) this.#push(notice);
  }

  onNotice(listener: (notice: NoticeEnvelope) => void): () => void {
    this.#noticeListeners.add(listener);
    return () => void this.#noticeListeners.delete(listener);
  }

  onConnection(listener: (connection: ConnectionInfo | undefined) => void): () => void {
    this.#connectionListeners.add(listener);
    return () => void this.#connectionListeners.delete(listener);
  }

  close(): Promise<void> {
    this.end(undefined);
    return Promise.resolve();
  }

  /** Nothing more will be tried. */
  end(error: StaticError | undefined): void {
    this.disconnect();
    if (this.#state.kind === "ended") return;
    this.#state = { kind: "ended", error };
    this.#online.resolve();
    for (const listener of this.#connectionListeners) listener(undefined);
  }

  /** Tells the client what the relay never said. */
  inject(notice: NoticeEnvelope): void {
    for (const listener of this.#noticeListeners) listener(notice);
  }

  #push(notice: NoticeEnvelope): void {
    for (const each of this.tampering.notice?.(notice) ?? [notice]) this.inject(each);
  }

  async #waitOnline(timeoutMs: number): Promise<void> {
    if (this.#state.kind === "online") return;
    const stop = new AbortController();
    const unreachable = createError("connection_error", "The relay cannot be reached");
    const late = pause(this.#runtime, timeoutMs, stop.signal).then(() => unreachable);
    const error = await Promise.race([this.#online.promise, late]);
    stop.abort();
    if (error !== undefined) throw error;
    if (this.#state.kind === "ended") throw createError("transport_error", "The session is closed");
  }

  async #forward<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
  ): Promise<ReplyBody<Name>> {
    if (this.#client === undefined) throw createError("transport_error", "The connection was lost");
    try {
      const reply = await this.#client.call(operation, body);
      if (this.loseReplies === 0) return reply;
    } catch (error) {
      if (error instanceof CallRefused) throw errorFromRelay(error.body);
      throw createError("transport_error", "The connection was lost", { cause: error });
    }
    this.loseReplies--;
    this.disconnect();
    queueMicrotask(() => void this.connect());
    throw createError("transport_error", "The connection was lost before the reply");
  }
}

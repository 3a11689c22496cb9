/**
 * One connection to the relay, from the first cell to the last: cells and envelopes, requests
 * matched with their replies, notices in order. It trusts nothing that arrives: whatever breaks the
 * contract ends it, and the session opens another.
 */
import {
  type CallName,
  calls,
  CellReader,
  CellSender,
  decodeRelayEnvelope,
  encodeClientNotice,
  encodeRequest,
  type ErrorCode,
  errorCodes,
  limits,
  type NoticeEnvelope,
  type RelayEnvelope,
  type ReplyBody,
  type ReplyEnvelope,
  type RequestBody,
  WireError,
} from "../../proto/mod.ts";
import { createError, errorFromRelay, StaticError } from "../base/errors.ts";
import type { Outlet, OutletEvents, ThreadedStream } from "../transport/outlet.ts";
import { RiderQueue } from "../transport/rider_queue.ts";
import type { CellStream } from "../transport/transport.ts";
import type { Cover } from "./cover.ts";

export interface RelayConnectionDeps {
  readonly nowMs: () => number;
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Called in order. An exception ends the connection with `listener_died`. */
  readonly onNotice: (notice: NoticeEnvelope) => void;
  /** There may be room for more requests. */
  readonly onRoom: () => void;
}

export interface RequestOptions<Name extends CallName> {
  /**
   * The caller has lost interest: its promise rejects with the signal's reason, a late reply is
   * ignored.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called before anything that arrived behind the reply is read. An exception ends the connection.
   */
  readonly onReply?: (body: ReplyBody<Name>) => void;
}

interface PendingReply {
  readonly operation: CallName;
  readonly resolve: (envelope: ReplyEnvelope) => void;
  readonly reject: (error: unknown) => void;
}

/** The relay said that it ends the session; what it still has to say, it says within this time. */
const goodbyeMs = 2_000;
const flushMs = 1_000;
/** Control goes first, so one would do; what has waited longest gets a few more. */
const ticksForGoodbye = 4;
const maxEarlyNotices = 64;

export class RelayConnection {
  readonly #stream: CellStream;
  readonly #deps: RelayConnectionDeps;
  readonly #reader = new CellReader({
    cellBytes: limits.cellBytes,
    maxEnvelopeBytes: limits.handshakeEnvelopeBytes,
  });
  readonly #sender: Outlet;
  readonly #offer: (key: string, envelope: Uint8Array) => void;
  readonly #pending = new Map<number, PendingReply>();
  /** The last of each channel that has not left yet: only the last one counts. */
  readonly #acknowledgements = new Map<string, RequestBody<"Acknowledge">>();
  #nextId = 1;
  #cellBytes: number | undefined;
  #cover: Cover = { mode: "off", intervalMs: 0 };
  /** Notices that came while Authenticate was under way; undefined once it is answered. */
  #early: NoticeEnvelope[] | undefined = [];
  #authenticating = false;
  #ending: StaticError | undefined;
  #cancelGoodbye: (() => void) | undefined;
  #received = 0;
  #end: StaticError | undefined;
  #settleEnded: (error: StaticError) => void = () => {};
  /** A request has left. */
  onRequest: () => void = () => {};
  /** Why it ended. Never rejects. */
  readonly ended: Promise<StaticError>;

  constructor(stream: CellStream, deps: RelayConnectionDeps) {
    this.#stream = stream;
    this.#deps = deps;
    this.ended = new Promise((resolve) => this.#settleEnded = resolve);
    const events = { onWritten: deps.onRoom, onFailed: () => void this.#streamEnded() };
    const { outlet, offer } = openOutlet(stream, deps, events);
    this.#sender = outlet;
    this.#offer = offer;
    void this.#readAll();
  }

  /** Bytes that wait for the network. */
  get pendingBytes(): number {
    return this.#sender.pendingBytes;
  }

  /** A request has no reply yet. */
  get isWaiting(): boolean {
    return this.#pending.size > 0;
  }

  get received(): number {
    return this.#received;
  }

  /**
   * Rejects with the relay's error, `transport_error` when the connection is lost first, or the
   * signal's reason.
   */
  request<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
    { signal, onReply }: RequestOptions<Name> = {},
  ): Promise<ReplyBody<Name>> {
    return new Promise((resolve, reject) => {
      if (this.#end !== undefined) return reject(lost(operation, this.#end));
      if (signal?.aborted) return reject(signal.reason);
      this.#sendAcknowledgements();
      const id = this.#nextId++;
      const abort = (): void => settle(() => reject(signal?.reason));
      const settle = (finish: () => void): void => {
        this.#pending.delete(id);
        signal?.removeEventListener("abort", abort);
        finish();
      };
      if (operation === "Authenticate") this.#acceptAll();
      this.#push(operation, encodeRequest(id, operation, body));
      this.onRequest();
      signal?.addEventListener("abort", abort);
      this.#pending.set(id, {
        operation,
        resolve: (envelope) => {
          // cast: the reply's operation was compared with the request's
          const reply = envelope.body as ReplyBody<Name>;
          try {
            onReply?.(reply);
          } catch (error) {
            settle(() => reject(error));
            throw error;
          }
          settle(() => resolve(reply));
        },
        reject: (error) => settle(() => reject(error)),
      });
    });
  }

  /** Leaves with whatever else leaves in this turn. */
  acknowledge(body: RequestBody<"Acknowledge">): void {
    if (this.#end !== undefined) return;
    if (this.#acknowledgements.size === 0) queueMicrotask(() => this.#sendAcknowledgements());
    // Deleted first, so that the order is that of the last change.
    this.#acknowledgements.delete(body.channelId);
    this.#acknowledgements.set(body.channelId, body);
  }

  /** Rides in a cell that leaves anyway: the newest of each channel. Never answered. */
  confirm(body: RequestBody<"Confirm">): void {
    if (this.#end === undefined) {
      this.#offer(body.channelId, encodeClientNotice(this.#nextId++, "Confirm", body));
    }
  }

  /** Cover traffic towards the relay. */
  cover({ mode, intervalMs }: Cover): void {
    this.#cover = { mode, intervalMs };
    this.#sender.configure(mode, intervalMs);
  }

  /** Whether cover is sent when nothing else is. */
  setCovering(covering: boolean): void {
    this.#sender.setCovering(covering);
  }

  /** Cover so far, both ways. */
  get coverBytes(): number {
    return this.#sender.counts.coverBytes + this.#reader.counts.coverBytes;
  }

  /**
   * An ordinary end, of our own will. With `constant` cover the goodbye takes its tick like
   * everything else.
   */
  async close(reason: StaticError): Promise<void> {
    if (this.#end !== undefined) return;
    this.#sender.push("control", encodeClientNotice(this.#nextId++, "EndSession", {}));
    await this.#sender.flush(
      this.#cover.mode === "constant" ? ticksForGoodbye * this.#cover.intervalMs : flushMs,
    );
    this.abandon(reason, 0);
  }

  /** Ends it at once. */
  abandon(reason: StaticError, closeCode: number = errorCodes[reason.code].close): void {
    if (this.#end !== undefined) return;
    this.#end = reason;
    this.#sender.stop();
    this.#cancelGoodbye?.();
    this.#acknowledgements.clear();
    this.#stream.close(closeCode);
    for (const { operation, reject } of [...this.#pending.values()]) {
      reject(lost(operation, reason));
    }
    this.#settleEnded(reason);
  }

  #push(operation: CallName, envelope: Uint8Array): void {
    try {
      this.#sender.push(calls[operation].lane, envelope);
    } catch (cause) {
      if (!(cause instanceof WireError)) throw cause;
      throw createError(cause.code, `Cannot send ${operation}: ${cause.message}`, { cause });
    }
  }

  #sendAcknowledgements(): void {
    for (const body of this.#acknowledgements.values()) {
      this.#sender.push("control", encodeClientNotice(this.#nextId++, "Acknowledge", body));
    }
    this.#acknowledgements.clear();
  }

  async #readAll(): Promise<void> {
    try {
      for (;;) {
        const chunk = await this.#stream.read();
        if (chunk === undefined || this.#end !== undefined) break;
        this.#received++;
        this.#reader.read(chunk, (envelope) => this.#receive(envelope));
      }
    } catch (error) {
      return this.abandon(error instanceof StaticError ? error : explain(error));
    }
    await this.#streamEnded();
  }

  async #streamEnded(): Promise<void> {
    const { code, message, retryAfterMs } = await this.#stream.closed;
    const text = `The connection to the relay ended: ${message}`;
    const options = retryAfterMs === undefined ? {} : { retryAfterMs };
    this.abandon(this.#ending ?? createError(code ?? "transport_error", text, options), 0);
  }

  #receive(bytes: Uint8Array): void {
    if (this.#end !== undefined) return;
    const envelope = decodeRelayEnvelope(bytes);
    switch (envelope.kind) {
      case "reply":
        return this.#receiveReply(envelope);
      case "error":
        return this.#receiveError(envelope);
      case "notice":
        return this.#receiveNotice(envelope);
    }
  }

  #receiveReply(envelope: ReplyEnvelope): void {
    const pending = this.#pendingOf(envelope.id);
    if (pending === undefined) return;
    if (pending.operation !== envelope.operation) {
      throw broken(`answered ${pending.operation} with ${envelope.operation}`);
    }
    if (envelope.operation === "GetChallenge") this.#useCellBytes(envelope.body.cellBytes);
    pending.resolve(envelope);
    if (envelope.operation === "Authenticate") this.#deliverEarly();
  }

  #receiveError({ id, body }: Extract<RelayEnvelope, { kind: "error" }>): void {
    const error = errorFromRelay(body);
    if (id === 0) throw error;
    this.#pendingOf(id)?.reject(error);
  }

  #receiveNotice(notice: NoticeEnvelope): void {
    if (notice.operation === "SessionEnding") {
      this.#ending = errorFromRelay(notice.body);
      this.#cancelGoodbye ??= this.#deps.after(
        goodbyeMs,
        () => this.abandon(this.#ending ?? broken("never ended")),
      );
    } else if (!this.#authenticating) {
      throw broken(`sent ${notice.operation} before authentication`);
    }
    if (this.#early === undefined) return this.#deliver(notice);
    if (this.#early.push(notice) > maxEarlyNotices) {
      throw broken(`sent more than ${maxEarlyNotices} notices before answering Authenticate`);
    }
  }

  #deliverEarly(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const notice of early) this.#deliver(notice);
  }

  #deliver(notice: NoticeEnvelope): void {
    try {
      this.#deps.onNotice(notice);
    } catch (cause) {
      const text = `Handling ${notice.operation} failed; close the client and open it again`;
      throw createError("listener_died", text, { cause });
    }
  }

  /** Undefined for a call that nobody waits for any more, and for notices of ours that failed. */
  #pendingOf(id: number): PendingReply | undefined {
    if (id >= this.#nextId) throw broken("answered a request that was never made");
    return this.#pending.get(id);
  }

  /** From now on cells have this size, in both directions. */
  #useCellBytes(cellBytes: number): void {
    if (this.#cellBytes !== undefined && this.#cellBytes !== cellBytes) {
      throw broken("changed the cell size");
    }
    if (this.#cellBytes === cellBytes) return;
    this.#cellBytes = cellBytes;
    this.#reader.configure({ cellBytes, maxEnvelopeBytes: limits.handshakeEnvelopeBytes });
    this.#sender.setCellBytes(cellBytes);
  }

  /** Notices of the session may overtake the answer to Authenticate, and may be as long as any. */
  #acceptAll(): void {
    this.#authenticating = true;
    const cellBytes = this.#cellBytes ?? limits.cellBytes;
    this.#reader.configure({ cellBytes, maxEnvelopeBytes: limits.envelopeBytes });
  }
}

/** The stream's own thread, if it has one, else a scheduler in this one. */
function openOutlet(
  stream: CellStream | ThreadedStream,
  { after, nowMs, random }: RelayConnectionDeps,
  events: OutletEvents,
): { readonly outlet: Outlet; readonly offer: ThreadedStream["offer"] } {
  if ("attach" in stream) {
    stream.attach(events);
    return { outlet: stream, offer: (key, envelope) => stream.offer(key, envelope) };
  }
  const riders = new RiderQueue();
  const rider = (room: number): Uint8Array | undefined => riders.take(room);
  const write = (cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void> =>
    stream.write(cells, cellBytes);
  const outlet = new CellSender({
    cellBytes: limits.cellBytes,
    write,
    after,
    nowMs,
    random,
    rider,
    ...events,
  });
  return { outlet, offer: (key, envelope) => riders.offer(key, envelope) };
}

/** Returns the error for calls under way. */
function lost(operation: CallName, cause: StaticError): StaticError {
  const text =
    `The connection to the relay was lost before ${operation} was answered; it may or may not have happened`;
  return createError("transport_error", text, { cause });
}

function broken(what: string): StaticError {
  return createError(
    "protocol_error",
    `The relay ${what}; it is not a relay of this protocol, or it is broken`,
  );
}

function explain(cause: unknown): StaticError {
  const code: ErrorCode = cause instanceof WireError ? "protocol_error" : "internal";
  const text = cause instanceof Error ? cause.message : String(cause);
  return createError(
    code,
    `The relay sent bytes that cannot be read (${text}); it is not a relay of this protocol`,
    {
      cause,
    },
  );
}

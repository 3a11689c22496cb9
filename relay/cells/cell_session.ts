/**
 * One session over a stream of bytes: cells to envelopes for the core, envelopes to cells for the
 * peer. It owns the stream's limits (handshake size until authenticated, silence, a bounded time to
 * say goodbye) and knows no socket: every transport that carries cells uses it. Whatever a peer
 * sends, only its own session ends.
 */
import {
  type AccountId,
  CellReader,
  CellSender,
  type CoverMode,
  encodeNotice,
  type Lane,
  limits,
  WireError,
} from "../../proto/mod.ts";
import type { ClientLink, CoreSession, EndReason, TransportKind } from "../core/client_link.ts";
import type { LinkHost } from "./link_host.ts";

export interface CellTransport {
  readonly transport: TransportKind;
  readonly remoteAddress: string;
  /** Whole cells of one size; the bytes may be used again when the promise settles. */
  write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void>;
  /** The peer has proved who it is: limits on strangers no longer count it. */
  authenticated(): void;
  /** Called at most once, after the last write: tell the peer why and close. Never throws. */
  close(reason: EndReason | undefined): void;
}

/** Timers take no more than 2^31 - 1 ms. */
const longestWaitMs = 24 * 60 * 60 * 1000;

export class CellSession implements ClientLink {
  readonly transport: TransportKind;
  readonly remoteAddress: string;
  readonly #host: LinkHost;
  readonly #stream: CellTransport;
  readonly #reader: CellReader;
  readonly #sender: CellSender;
  readonly #session: CoreSession;
  #state: "open" | "ending" | "closed" = "open";
  /** Envelopes that the core has not finished with; the stream is not read meanwhile. */
  #busy: Promise<void>[] = [];
  #aboveLowWater = false;
  #lastByteMs: number;
  #cancelWatch: () => void = () => {};
  #account: AccountId | undefined;
  #counted = { padding: 0, cover: 0 };
  #spentCover = 0;
  /** Cover is stopped; what it waits for. */
  #cancelResume: (() => void) | undefined;

  constructor(host: LinkHost, stream: CellTransport) {
    this.#host = host;
    this.#stream = stream;
    this.transport = stream.transport;
    this.remoteAddress = stream.remoteAddress;
    this.#reader = new CellReader({
      cellBytes: limits.cellBytes,
      maxEnvelopeBytes: limits.handshakeEnvelopeBytes,
    });
    this.#sender = new CellSender({
      cellBytes: limits.cellBytes,
      write: (cells, cellBytes) => stream.write(cells, cellBytes),
      after: host.after,
      nowMs: host.nowMs,
      random: host.random,
      rider: (room) => this.#state === "open" ? this.#session.rider(room) : undefined,
      onWritten: () => this.#written(),
      onFailed: () =>
        this.#close({
          code: "transport_error",
          message: "The stream was cut while cells were written",
        }),
    });
    this.#lastByteMs = host.nowMs();
    this.#watch(host.idleTimeoutMs);
    this.#session = host.open(this);
  }

  // From the transport

  /** The size of the cell that the peer sends next. */
  get cellBytes(): number {
    return this.#reader.cellBytes;
  }

  /**
   * Bytes in pieces of any size. When it returns a promise, keep them and read no more until it
   * resolves; never rejects.
   */
  receive(chunk: Uint8Array): Promise<void> | undefined {
    this.#lastByteMs = this.#host.nowMs();
    for (let at = 0; at < chunk.length && this.#state === "open";) {
      const part = chunk.subarray(at, at + this.#reader.cellBytes);
      at += part.length;
      this.#read(part);
      if (this.#busy.length > 0) return this.#rested().then(() => this.receive(chunk.subarray(at)));
    }
    this.#spendCover();
    return undefined;
  }

  /** The peer will send nothing more: a goodbye without words. */
  ended(): void {
    this.end(undefined);
  }

  /** The connection is gone. */
  lost(): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#sender.stop();
    this.#cancelWatch();
    this.#cancelResume?.();
    this.#countBytes();
    this.#session.closed();
  }

  // From the core

  get pendingBytes(): number {
    return this.#sender.pendingBytes;
  }

  send(lane: Lane, envelope: Uint8Array): void {
    if (this.#state !== "open") return;
    this.#sender.push(lane, envelope);
    if (this.#sender.pendingBytes >= this.#host.lowWaterBytes) this.#aboveLowWater = true;
  }

  challenged(): void {
    this.#sender.setCellBytes(this.#host.cellBytes);
    this.#configureReader(this.#host.cellBytes, limits.handshakeEnvelopeBytes);
  }

  authenticated(account: AccountId): void {
    this.#account = account;
    this.#stream.authenticated();
    this.#configureReader(this.#reader.cellBytes, limits.envelopeBytes);
  }

  configureCover(mode: CoverMode, intervalMs: number): void {
    this.#sender.configure(mode, intervalMs);
    this.#spendCover();
  }

  end(reason: EndReason | undefined): void {
    if (this.#state !== "open") return;
    this.#state = "ending";
    void this.#sender.flush(this.#host.flushMs).then(() => this.#close(reason));
  }

  // Inside

  #read(part: Uint8Array): void {
    try {
      this.#reader.read(part, (envelope) => {
        const busy = this.#state === "open" ? this.#session.receive(envelope) : undefined;
        if (busy !== undefined) this.#busy.push(busy);
      });
    } catch (error) {
      this.#refuse(error);
    }
  }

  async #rested(): Promise<void> {
    await Promise.all(this.#busy);
    this.#busy = [];
    this.#lastByteMs = this.#host.nowMs();
  }

  #configureReader(cellBytes: number, maxEnvelopeBytes: number): void {
    try {
      this.#reader.configure({ cellBytes, maxEnvelopeBytes });
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Bytes that are no cells cost their sender its session. */
  #refuse(error: unknown): void {
    if (!(error instanceof WireError)) throw error;
    this.#fail({ code: error.code, message: error.message });
  }

  /** Ends for a reason of this side of the core, so the peer hears it from here. */
  #fail(reason: EndReason): void {
    this.send("control", encodeNotice("SessionEnding", reason));
    this.end(reason);
  }

  #written(): void {
    this.#spendCover();
    if (!this.#aboveLowWater || this.#sender.pendingBytes >= this.#host.lowWaterBytes) return;
    this.#aboveLowWater = false;
    if (this.#state === "open") this.#session.writable();
  }

  #close(reason: EndReason | undefined): void {
    if (this.#state === "closed") return;
    this.lost();
    this.#stream.close(reason);
  }

  /**
   * Charges the cover since the last call. When the account's budget is used up, cover stops and
   * the peer is told.
   */
  #spendCover(): void {
    const account = this.#account;
    if (this.#host.spendCover === undefined || account === undefined || this.#state !== "open") {
      return;
    }
    const cover = this.#reader.counts.coverBytes + this.#sender.counts.coverBytes;
    const untilMs = this.#host.spendCover(account, cover - this.#spentCover);
    this.#spentCover = cover;
    if (untilMs === undefined || this.#cancelResume !== undefined) return;
    this.#sender.setCovering(false);
    const message = "The budget for cover traffic is used up; messages go on without it";
    this.send("control", encodeNotice("CoverStopped", { message, untilMs }));
    this.#resumeCover(account, untilMs);
  }

  #resumeCover(account: AccountId, untilMs: number): void {
    const waitMs = Math.min(Math.max(1, untilMs - this.#host.nowMs()), longestWaitMs);
    this.#cancelResume = this.#host.after(waitMs, () => {
      const laterMs = this.#host.spendCover?.(account, 0);
      if (laterMs !== undefined) return this.#resumeCover(account, laterMs);
      this.#cancelResume = undefined;
      this.#sender.setCovering(true);
    });
  }

  /** One timer per idle time, not per byte. */
  #watch(ms: number): void {
    this.#cancelWatch = this.#host.after(ms, () => {
      this.#countBytes();
      const { idleTimeoutMs } = this.#host;
      const leftMs = this.#lastByteMs + idleTimeoutMs - this.#host.nowMs();
      if (leftMs > 0 || this.#busy.length > 0) return this.#watch(Math.max(leftMs, 1_000));
      const message = `Nothing arrived for ${
        idleTimeoutMs / 1_000
      } s: send cover, or Ping, more often`;
      this.#fail({ code: "transport_error", message });
    });
  }

  #countBytes(): void {
    if (this.#account === undefined) return;
    const [up, down] = [this.#reader.counts, this.#sender.counts];
    const padding = up.paddingBytes + down.paddingBytes;
    const cover = up.coverBytes + down.coverBytes;
    const bytes = { padding: padding - this.#counted.padding, cover: cover - this.#counted.cover };
    this.#counted = { padding, cover };
    if (bytes.padding > 0 || bytes.cover > 0) this.#host.countBytes(this.#account, bytes);
  }
}

/**
 * One scheduler per direction of a session: it takes envelopes and decides when cells leave. With
 * cover `off` a cell leaves as soon as the transport has room; with `poisson` cover cells leave in
 * between, at exponential intervals; with `constant` every tick carries exactly one cell, real or
 * cover, so that a backlog delays and never shows as a burst. There is one write at a time: the
 * promise of `write` is the back-pressure.
 *
 * A tick comes at a random time in the last half of its slot. Ticks at exact times would be moved,
 * by a little and every time, by the work that real cells cost, and a patient observer could
 * average that out (Fu et al., "On effectiveness of link padding", 2003); drawn from half a slot,
 * and before it is known what they carry, they drown it.
 */
import {
  type CellCounts,
  cellHeaderBytes,
  CellPacker,
  checkCellBytes,
  checkEnvelopeBytes,
  envelopePrefixBytes,
  riderPrefixBytes,
  writeRider,
} from "./cell.ts";
import type { CoverMode, Lane } from "./operations.ts";

export interface CellSenderOptions {
  readonly cellBytes: number;
  /**
   * Whole cells, all of this size. The bytes are the sender's again when the promise settles;
   * rejecting stops the sender.
   */
  readonly write: (cells: Uint8Array<ArrayBuffer>, cellBytes: number) => Promise<void>;
  /** Runs once after the time; returns a function to cancel it. */
  readonly after: (ms: number, run: () => void) => () => void;
  readonly nowMs: () => number;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /**
   * Asked when a cell is about to leave with so many bytes of room: an envelope of at most that
   * length, to ride in it. It never makes a cell, and nothing waits for it.
   */
  readonly rider?: (room: number) => Uint8Array | undefined;
  /** A write was done: `pendingBytes` may have fallen. */
  readonly onWritten?: () => void;
  /** A write was rejected: the transport is gone, and so is what was pending. */
  readonly onFailed?: (error: unknown) => void;
}

/**
 * Cells that share one write, so that a backlog costs few system calls and a control cell never
 * waits long behind them.
 */
const maxWriteBytes = 64 * 1024;
/** The part of a slot in which its tick may come. */
const tickShare = 0.5;
/** A larger buffer is let go when nothing is pending: most sessions are idle most of the time. */
const keptCells = 2;

type SenderStep = { readonly lane: Lane; readonly envelope: Uint8Array } | {
  readonly cellBytes: number;
};

export class CellSender {
  readonly #options: CellSenderOptions;
  readonly #packer: CellPacker;
  /**
   * Envelopes pushed behind a change of the cell size that waits for the packer to be empty. The
   * first one is that change.
   */
  #later: SenderStep[] = [];
  #laterBytes = 0;
  #inFlightBytes = 0;
  #buffer = new Uint8Array(0);

  #mode: CoverMode = "off";
  #intervalMs = 0;
  #cancelTimer: (() => void) | undefined;
  /** The end of the slot whose tick comes next. */
  #slotMs = 0;
  #covering = true;
  /**
   * A cover cell (`poisson`) or the cell of a tick (`constant`) that is due. Never more than one:
   * missed ones are skipped.
   */
  #due = false;

  #running = false;
  #stopped = false;
  readonly #flushes = new Set<(flushed: boolean) => void>();
  #counts = { cells: 0, coverCells: 0, coverBytes: 0, paddingBytes: 0 };

  constructor(options: CellSenderOptions) {
    this.#options = options;
    this.#packer = new CellPacker(options.cellBytes);
  }

  /**
   * Bytes of envelopes that were pushed and that the transport has not taken yet: the measure for
   * back-pressure.
   */
  get pendingBytes(): number {
    return this.#packer.pendingBytes + this.#laterBytes + this.#inFlightBytes;
  }

  /** Cells written so far. */
  get counts(): CellCounts {
    return { ...this.#counts };
  }

  /**
   * Keeps the bytes until they are sent; do not change them. Throws `WireError` for a length that
   * no reader accepts.
   */
  push(lane: Lane, envelope: Uint8Array): void {
    if (this.#stopped) return;
    if (this.#later.length === 0) {
      this.#packer.push(lane, envelope);
    } else {
      checkEnvelopeBytes(envelope.length);
      this.#later.push({ lane, envelope });
      this.#laterBytes += envelope.length + envelopePrefixBytes;
    }
    this.#wake();
  }

  /** Sets the size of cells for everything that is pushed from now on, and for cover behind it. */
  setCellBytes(cellBytes: number): void {
    this.#later.push({ cellBytes: checkCellBytes(cellBytes) });
    this.#applyLater();
  }

  /**
   * From now on; what is pending stays. `intervalMs` is the mean (`poisson`) or the tick
   * (`constant`).
   */
  configure(mode: CoverMode, intervalMs: number): void {
    if (this.#stopped) return;
    if (mode !== "off" && !(intervalMs > 0)) {
      throw new RangeError(`Cover needs an interval above 0, not ${intervalMs}`);
    }
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#mode = mode;
    this.#intervalMs = intervalMs;
    this.#due = false;
    this.#slotMs = this.#options.nowMs();
    if (mode !== "off") this.#schedule();
    this.#wake();
  }

  /**
   * Without cover, ticks and intervals for which nothing waits pass unused; what waits leaves as
   * before.
   */
  setCovering(covering: boolean): void {
    this.#covering = covering;
  }

  /** True when everything was written, false when the time ran out or the sender stopped first. */
  flush(timeoutMs: number): Promise<boolean> {
    if (this.#stopped) return Promise.resolve(this.pendingBytes === 0);
    if (!this.#running && this.pendingBytes === 0) return Promise.resolve(true);
    return new Promise((resolve) => {
      const settle = (flushed: boolean): void => {
        this.#flushes.delete(settle);
        cancel();
        resolve(flushed);
      };
      const cancel = this.#options.after(timeoutMs, () => settle(false));
      this.#flushes.add(settle);
    });
  }

  /** Nothing is written from now on, beyond what the transport already has. */
  stop(): void {
    this.#stopped = true;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#buffer = new Uint8Array(0);
    for (const settle of this.#flushes) settle(false);
  }

  #wake(): void {
    if (this.#running || this.#stopped || !this.#hasWork()) return;
    this.#running = true;
    void this.#run();
  }

  #hasWork(): boolean {
    return this.#due || (this.#mode !== "constant" && this.#packer.pendingBytes > 0);
  }

  async #run(): Promise<void> {
    // Envelopes that are pushed in one turn share a cell.
    await undefined;
    try {
      while (!this.#stopped && this.#hasWork()) {
        const cells = this.#mode === "constant" ? this.#takeTick() : this.#takeBatch();
        await this.#options.write(cells, this.#packer.cellBytes);
        this.#inFlightBytes = 0;
        if (this.#stopped) break;
        this.#applyLater();
        this.#options.onWritten?.();
      }
    } catch (error) {
      this.#inFlightBytes = 0;
      const reported = this.#stopped;
      this.stop();
      if (!reported) this.#options.onFailed?.(error);
    }
    this.#running = false;
    this.#rest();
  }

  #rest(): void {
    if (this.#stopped || this.pendingBytes > 0) return;
    if (this.#buffer.length > keptCells * this.#packer.cellBytes) this.#buffer = new Uint8Array(0);
    for (const settle of this.#flushes) settle(true);
  }

  /** The cell of this tick. */
  #takeTick(): Uint8Array<ArrayBuffer> {
    this.#due = false;
    const cell = this.#room(1);
    return this.#fill(cell) ? cell : this.#cover(cell);
  }

  /** All that waits, up to one write; a cover cell when nothing does. */
  #takeBatch(): Uint8Array<ArrayBuffer> {
    const { cellBytes, pendingBytes } = this.#packer;
    if (pendingBytes === 0) {
      this.#due = false;
      return this.#cover(this.#room(1));
    }
    // One cell more than the bytes need: each lane may end in a cell that is not full.
    const wanted = Math.ceil(pendingBytes / (cellBytes - cellHeaderBytes)) + 1;
    const buffer = this.#room(Math.min(wanted, Math.max(1, Math.floor(maxWriteBytes / cellBytes))));
    let at = 0;
    while (at < buffer.length && this.#fill(buffer.subarray(at, at + cellBytes))) at += cellBytes;
    return buffer.subarray(0, at);
  }

  #room(cells: number): Uint8Array<ArrayBuffer> {
    const bytes = cells * this.#packer.cellBytes;
    if (this.#buffer.length < bytes) this.#buffer = new Uint8Array(bytes);
    return this.#buffer.subarray(0, bytes);
  }

  #fill(cell: Uint8Array<ArrayBuffer>): boolean {
    const before = this.#packer.pendingBytes;
    if (this.#packer.next(cell) === undefined) return false;
    const content = before - this.#packer.pendingBytes;
    this.#inFlightBytes += content;
    this.#counts.cells++;
    this.#counts.paddingBytes += cell.length - cellHeaderBytes - content;
    this.#addRiders(cell, cellHeaderBytes + content);
    return true;
  }

  #cover(cell: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    this.#counts.cells++;
    this.#counts.coverCells++;
    this.#counts.coverBytes += cell.length;
    this.#addRiders(cell.fill(0), cellHeaderBytes);
    return cell;
  }

  /** In the zeros from here on. */
  #addRiders(cell: Uint8Array, from: number): void {
    const { rider } = this.#options;
    if (rider === undefined) return;
    for (let at = from; cell.length - at > riderPrefixBytes;) {
      const envelope = rider(cell.length - at - riderPrefixBytes);
      if (envelope === undefined) return;
      at = writeRider(cell, at, envelope);
    }
  }

  #schedule(): void {
    const nowMs = this.#options.nowMs();
    this.#cancelTimer = this.#options.after(
      this.#mode === "poisson" ? this.#pauseMs() : this.#tickMs(nowMs),
      () => {
        this.#due = this.#covering || (this.#mode === "constant" && this.#packer.pendingBytes > 0);
        this.#schedule();
        this.#wake();
      },
    );
  }

  /** Until the next cover cell. */
  #pauseMs(): number {
    return -Math.log(1 - this.#options.random()) * this.#intervalMs;
  }

  /**
   * Until the tick of the next slot. Also after a late one it is no nearer than ticks can be: two
   * would show as a burst.
   */
  #tickMs(nowMs: number): number {
    this.#slotMs = nextSlot(this.#slotMs, this.#intervalMs, nowMs);
    const earlyMs = this.#options.random() * tickShare * this.#intervalMs;
    return Math.max((1 - tickShare) * this.#intervalMs, this.#slotMs - earlyMs - nowMs);
  }

  /**
   * Changes of the size, and what waits behind them, as soon as everything before them is in cells.
   */
  #applyLater(): void {
    while (this.#packer.pendingBytes === 0 && this.#later.length > 0) {
      const next = this.#later.findIndex((step, i) => i > 0 && "cellBytes" in step);
      for (const step of this.#later.splice(0, next < 0 ? this.#later.length : next)) {
        if ("cellBytes" in step) {
          this.#packer.cellBytes = step.cellBytes;
        } else {
          this.#laterBytes -= step.envelope.length + envelopePrefixBytes;
          this.#packer.push(step.lane, step.envelope);
        }
      }
    }
  }
}

/** Slots stay on their grid however late a timer fires; those that have passed are skipped. */
function nextSlot(slotMs: number, intervalMs: number, nowMs: number): number {
  // The clock was set back: waiting for it to return could take hours.
  if (nowMs < slotMs - intervalMs) return nowMs + intervalMs;
  const passed = Math.max(0, Math.floor((nowMs - slotMs) / intervalMs));
  return slotMs + (passed + 1) * intervalMs;
}

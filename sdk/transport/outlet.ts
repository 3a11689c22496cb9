/**
 * Where a session's envelopes leave as cells: a `CellSender` in this thread, or one in a thread of
 * its own.
 */
import type { CellCounts, CoverMode, Lane } from "../../proto/mod.ts";
import type { CellStream } from "./transport.ts";

/** The interface of `CellSender`; see there. */
export interface Outlet {
  readonly pendingBytes: number;
  readonly counts: CellCounts;
  push(lane: Lane, envelope: Uint8Array): void;
  setCellBytes(cellBytes: number): void;
  configure(mode: CoverMode, intervalMs: number): void;
  setCovering(covering: boolean): void;
  flush(timeoutMs: number): Promise<boolean>;
  stop(): void;
}

export interface OutletEvents {
  /** A write was done: `pendingBytes` may have fallen. */
  readonly onWritten: () => void;
  /** The stream is gone, and so is what was pending. */
  readonly onFailed: () => void;
}

/** A stream whose cells are scheduled, and written, by a thread of its own. */
export interface ThreadedStream extends CellStream, Outlet {
  /** May ride in a cell that leaves anyway, in place of one that waits under the same key. */
  offer(key: string, envelope: Uint8Array): void;
  /** Sets the listener for its writes from now on. */
  attach(events: OutletEvents): void;
}

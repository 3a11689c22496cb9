/**
 * The messages between a session and the thread of its stream. Everything here survives a
 * structured clone.
 */
import type { CellCounts, CoverMode, Lane } from "../../proto/mod.ts";
import type { ConnectTarget, StreamEnd, TransportName } from "./transport.ts";

export type ToWorker =
  /** Reports each cell that it sends when `isTapped`. */
  | {
    readonly kind: "connect";
    readonly transport: TransportName;
    readonly target: ConnectTarget;
    readonly isTapped: boolean;
  }
  | { readonly kind: "push"; readonly lane: Lane; readonly envelope: Uint8Array }
  | { readonly kind: "offer"; readonly key: string; readonly envelope: Uint8Array }
  | { readonly kind: "cellBytes"; readonly cellBytes: number }
  | { readonly kind: "configure"; readonly mode: CoverMode; readonly intervalMs: number }
  | { readonly kind: "covering"; readonly covering: boolean }
  | { readonly kind: "flush"; readonly id: number; readonly timeoutMs: number }
  /** Wants the next bytes. */
  | { readonly kind: "read" }
  | { readonly kind: "stop" }
  | { readonly kind: "close"; readonly closeCode: number };

export type FromWorker =
  | { readonly kind: "connected" }
  | { readonly kind: "refused"; readonly message: string }
  /** Undefined at the end. */
  | { readonly kind: "chunk"; readonly bytes: Uint8Array | undefined }
  | { readonly kind: "written"; readonly takenBytes: number; readonly counts: CellCounts }
  /** Cells that are being written, for a tap. */
  | { readonly kind: "sent"; readonly cells: Uint8Array; readonly cellBytes: number }
  | { readonly kind: "failed" }
  | { readonly kind: "flushed"; readonly id: number; readonly flushed: boolean }
  | { readonly kind: "closed"; readonly end: StreamEnd };

/** One end of a worker, whatever the runtime calls it. */
export interface MessagePipe<Out, In> {
  post(message: Out): void;
  listen(receive: (message: In) => void): void;
}

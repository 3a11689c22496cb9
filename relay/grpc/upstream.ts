/**
 * Where the service's sessions lead: to the core in this process, or to a relay across the network.
 * Typed calls exchange envelopes; `Session`, `CellUp` and `CellDown` pass cells through unread.
 * Both ways to open answer at once; whatever goes wrong is told through `ended` or `close`.
 */
import type { Lane, RelayEnvelope } from "../../proto/mod.ts";
import type { EndReason } from "../core/client_link.ts";

export interface Upstream {
  /** Typed replies are padded to this size. */
  readonly cellBytes: number;
  openTyped(client: TypedClient): TypedLink;
  openCells(client: CellClient): CellPipe;
}

/** The service's side of a session of typed calls. Nothing here throws. */
export interface TypedClient {
  readonly remoteAddress: string;
  /** Bytes of notices that nobody has taken yet. */
  readonly pendingBytes: number;
  receive(envelope: RelayEnvelope, bytes: number): void;
  authenticated(): void;
  /** Nothing more comes. Called once, never from inside `openTyped`. */
  ended(reason: EndReason | undefined): void;
}

/** The upstream's side of it. */
export interface TypedLink {
  /** When it returns a promise, send no more until it resolves. */
  send(lane: Lane, envelope: Uint8Array): Promise<void> | undefined;
  /** `pendingBytes` has fallen. */
  taken(): void;
  /** The client is gone. `ended` is not called any more. */
  close(): void;
}

export interface CellClient {
  readonly transport: "grpc" | "cells";
  readonly remoteAddress: string;
  /** Whole cells of one size; the bytes may be used again when the promise settles. */
  write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void>;
  authenticated(): void;
  /** Called at most once, after the last write, never from inside `openCells`. */
  close(reason: EndReason | undefined): void;
}

export interface CellPipe {
  /** The size of the cell that the client sends next. */
  readonly cellBytes: number;
  /** When it returns a promise, pass no more until it resolves. Never rejects. */
  receive(cell: Uint8Array): Promise<void> | undefined;
  /** The client will send nothing more. */
  ended(): void;
  /** The client is gone. `close` is not called any more. */
  lost(): void;
}

/**
 * The one small door between a session and a network: a stream of cells both ways. Connectors come
 * from `sdk/platform`, because every runtime has its own sockets; what they all share is in this
 * folder.
 */
import type { ErrorCode } from "../../proto/mod.ts";

/** `grpc` is the gRPC stream `Session`; `cells` is `CellUp` and `CellDown`, in browsers. */
export type TransportName = "quic" | "webtransport" | "grpc" | "cells";

/**
 * Cells as bytes, both ways, in order. Whatever goes wrong ends it, once, and `closed` says why.
 */
export interface CellStream {
  /**
   * Returns the bytes that have arrived, in pieces of any size; undefined at the end. Not called
   * again before it has settled; bytes that are not asked for hold the relay back. The bytes are
   * valid until the next call. Never rejects: a broken stream ends, and `closed` tells why.
   */
  read(): Promise<Uint8Array | undefined>;
  /**
   * Whole cells of this size. Settles when there is room for more; rejects when the stream is gone.
   */
  write(cells: Uint8Array<ArrayBuffer>, cellBytes: number): Promise<void>;
  /** Ends both directions; 0 is an ordinary end. Safe to repeat. */
  close(closeCode: number): void;
  /** Never rejects. */
  readonly closed: Promise<StreamEnd>;
}

export interface StreamEnd {
  /** The relay's reason, if it gave one. */
  readonly code?: ErrorCode;
  /** For people; no secrets. */
  readonly message: string;
  /** When the relay wants to be asked again. */
  readonly retryAfterMs?: number | undefined;
}

/** Certificates to trust for the relay, beyond those that the runtime trusts. */
export interface CertificateTrust {
  /** Certificates in PEM form. */
  readonly caCerts: readonly string[];
  /** SHA-256 of the relay's own certificate (DER); when given, nothing else is believed. */
  readonly certificateHashes: readonly Uint8Array<ArrayBuffer>[];
}

export interface ConnectTarget {
  /** A name or an address; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly trust: CertificateTrust;
}

/**
 * Hears of cells that go to the relay, whole, and of those that come from it, in pieces of any
 * size. The bytes are valid during the call only.
 */
export type CellTap = (
  cells: Uint8Array,
  cellBytes: number,
  direction: "sent" | "received",
) => void;

export interface ThreadOptions {
  /**
   * In browsers: the address of the thread's script. Where none is given, the SDK starts the script
   * that it carries.
   */
  readonly workerUrl?: string | undefined;
  readonly tap?: CellTap | undefined;
}

/** One way to reach a relay in this runtime. */
export interface Connector {
  readonly transport: TransportName;
  /** Which of the relay's ports it needs. */
  readonly carrier: "udp" | "tcp";
  /** Why it cannot work here or with this trust; undefined when it can. */
  unusable(trust: CertificateTrust): string | undefined;
  /**
   * Resolves when the relay can be written to. Rejects when it cannot be reached, is not who it
   * should be, or on abort.
   */
  connect(target: ConnectTarget, signal: AbortSignal): Promise<CellStream>;
  /**
   * The same, with cells scheduled in a thread of its own: a `ThreadedStream`, unless no thread can
   * be had.
   */
  readonly connectInThread?: (
    target: ConnectTarget,
    signal: AbortSignal,
    options?: ThreadOptions,
  ) => Promise<CellStream>;
}

/** The standard `fetch`, as far as it is used, on connections of its own. */
export interface HttpClient {
  request(url: string, init: RequestInit): Promise<Response>;
  /** Lets go of the connections. */
  close(): void;
}

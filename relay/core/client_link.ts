/**
 * A session as the core and its client's connection see each other: a listener gives the core a
 * `Link` and hands the `RelaySession` that it gets back every envelope. Nothing here knows a
 * socket.
 */
import type { AccountId, CoverMode, ErrorCode, Lane } from "../../proto/mod.ts";

export type TransportKind = "quic" | "webtransport" | "grpc" | "cells" | "typed";

/** Why a session ends, for the client's eyes. */
export interface EndReason {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/**
 * One session's way to its client. All calls are synchronous and never throw; after `closed()` they
 * do nothing.
 */
export interface ClientLink {
  readonly transport: TransportKind;
  /** Host without port, of IPv6 its /64; for limits and nothing else. */
  readonly remoteAddress: string;
  /** Envelope bytes that were given to `send` and not yet to the network. */
  readonly pendingBytes: number;
  /** The bytes may be shared by many links: they are not changed. */
  send(lane: Lane, envelope: Uint8Array): void;
  /**
   * The reply to the first GetChallenge was given to `send`: what follows it, both ways, has the
   * relay's cell size.
   */
  challenged(): void;
  /** From now on envelopes may have their full size. */
  authenticated(account: AccountId): void;
  configureCover(mode: CoverMode, intervalMs: number): void;
  /** Writes what is pending (for a bounded time), then closes with the code of the reason, or 0. */
  end(reason: EndReason | undefined): void;
}

/** The core's side of a session. */
export interface CoreSession {
  /**
   * One envelope, valid only during this call. When it returns a promise the session has enough to
   * do: read no more until it resolves. Never rejects.
   */
  receive(envelope: Uint8Array): Promise<void> | undefined;
  /**
   * An envelope that may ride in a cell which leaves anyway, of at most so many bytes. Links
   * without cells never ask.
   */
  rider(room: number): Uint8Array | undefined;
  /**
   * Call when `pendingBytes` has fallen below `CoreConfig.lowWaterBytes` after having been above
   * it.
   */
  writable(): void;
  /** The connection is gone, from either side. Call once; `send` is useless from here on. */
  closed(): void;
}

/**
 * The core's doors. Listeners give it a `Link` per session and hand it envelopes; clock, timers, randomness, tokens, quota
 * and storage come in as `CoreDeps`. Nothing here knows a socket.
 */
import type { AccountId, AgentId, ChannelId, CoverMode, ErrorCode, Lane } from "../../proto/mod.ts";
import type { Charge, Engine } from "../engine/engine.ts";
import type { Meter } from "./meter.ts";

export type Transport = "quic" | "webtransport" | "grpc" | "cells" | "typed";

/** Why a session ends, for the client's eyes. */
export interface EndReason {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retryAfterMs?: number;
}

/** One session's way to its client. All calls are synchronous and never throw; after `closed()` they do nothing. */
export interface Link {
  readonly transport: Transport;
  /** Host without port; for limits and nothing else. */
  readonly remoteAddress: string;
  /** Envelope bytes that were given to `send` and not yet to the network. */
  readonly pendingBytes: number;
  /** The bytes may be shared by many links: they are not changed. */
  send(lane: Lane, envelope: Uint8Array): void;
  /** The reply to the first GetChallenge was given to `send`: what follows it, both ways, has the relay's cell size. */
  challenged(): void;
  /** From now on envelopes may have their full size. */
  authenticated(account: AccountId): void;
  configureCover(mode: CoverMode, intervalMs: number): void;
  /** Writes what is pending (for a bounded time), then closes with the code of the reason, or 0. */
  end(reason: EndReason | undefined): void;
}

/** The core's side of a session. */
export interface RelaySession {
  /**
   * One envelope, valid only during this call. When it answers a promise the session has enough to do: read no more until it
   * resolves. Never rejects.
   */
  receive(envelope: Uint8Array): Promise<void> | undefined;
  /** Call when `pendingBytes` has fallen below `CoreConfig.lowWaterBytes` after having been above it. */
  writable(): void;
  /** The connection is gone, whoever ended it. Call once; `send` is useless from here on. */
  closed(): void;
}

export interface VerifiedToken {
  readonly account: AccountId;
  readonly plan: string;
  readonly expiresAtMs: number;
}

export interface TokenVerifier {
  /** Why not, in words for the client, when it does not verify; throws only when keys cannot be had. */
  verify(token: string): Promise<VerifiedToken | { readonly refused: string }>;
}

/** A reservation of one message. */
export type Reservation =
  | { readonly kind: "reserved"; readonly charge: Charge }
  /** The plan's limit is reached; `untilMs` is when the period ends. */
  | { readonly kind: "exhausted"; readonly untilMs?: number }
  /** The API cannot be reached and nothing is left of what was leased. */
  | { readonly kind: "unavailable" };

export interface Quota {
  /** Answers at once while a lease has room: the usual case. */
  reserve(account: AccountId, payloadBytes: number): Reservation | Promise<Reservation>;
  /** The entry was appended (its charge is durable), or it was not and the message goes back. */
  settle(account: AccountId, charge: Charge, appended: boolean): void;
  /** Fill of cells and cover cells, counted for the account's usage; may be lost in a crash. */
  countBytes(account: AccountId, bytes: { readonly padding: number; readonly cover: number }): void;
}

export interface CoreDeps {
  readonly engine: Engine;
  readonly tokens: TokenVerifier;
  readonly quota: Quota;
  readonly nowMs: () => number;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Ed25519, of statements that are for this relay alone. */
  readonly verifySignature: (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean;
  /** Runs once after the time; answers how to cancel. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** How late the event loop runs, for load shedding. */
  readonly loopLagMs: () => number;
  readonly log: (event: CoreEvent) => void;
  readonly meter: Meter;
}

/** For the log: no payloads, no identities beyond agent ids. */
export type CoreEvent =
  | { readonly event: "session_open"; readonly agentId: AgentId; readonly transport: Transport }
  | { readonly event: "session_end"; readonly agentId?: AgentId; readonly code?: ErrorCode; readonly ms: number }
  | { readonly event: "channel_created" | "channel_closed"; readonly channelId: ChannelId; readonly agentId: AgentId }
  | { readonly event: "fault"; readonly where: string; readonly error: unknown };

/**
 * The core's dependencies: clock, timers, randomness, tokens, quota and storage come in as
 * `CoreDeps`.
 */
import type {
  AccountId,
  AgentId,
  ChannelId,
  ErrorCode,
  KeyId,
  TokenGrant,
} from "../../proto/mod.ts";
import type { Charge, ChargedAmount, Engine } from "../engine/engine.ts";
import type { Cluster } from "./cluster.ts";
import type { TransportKind } from "./client_link.ts";
import type { Meter } from "./meter.ts";

export interface VerifiedToken {
  readonly account: AccountId;
  readonly plan: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  /** The rights of the token, if they are limited, and the key that it is counted under. */
  readonly grant?: TokenGrant | undefined;
}

export interface TokenVerifier {
  /**
   * Why not, in words for the client, when it does not verify; throws only when keys cannot be had.
   */
  verify(token: string): Promise<VerifiedToken | { readonly refused: string }>;
}

/** A reservation of one message, or of several that go together. */
export type Reservation =
  | { readonly kind: "reserved"; readonly charge: Charge }
  /** The plan's limit is reached; `untilMs` is when the period ends. */
  | { readonly kind: "exhausted"; readonly untilMs?: number }
  /** The API cannot be reached and nothing is left of what was leased. */
  | { readonly kind: "unavailable" };

export interface Quota {
  /**
   * Returns at once while a lease has room: the usual case. With a key, it is counted under that as
   * well. All or none.
   */
  reserve(account: AccountId, cost: ChargedAmount, key?: KeyId): Reservation | Promise<Reservation>;
  /**
   * The entry was appended (its charge is durable), or it was not and the message goes back;
   * undefined: nobody knows.
   */
  settle(account: AccountId, charge: Charge, appended: boolean | undefined, key?: KeyId): void;
  /** Fill of cells and cover cells, counted for the account's usage; may be lost in a crash. */
  countBytes(account: AccountId, bytes: { readonly padding: number; readonly cover: number }): void;
}

export interface CoreDeps {
  readonly engine: Engine;
  /** The relays that share the engine's log; undefined where this relay is alone. */
  readonly cluster?: Cluster | undefined;
  readonly tokens: TokenVerifier;
  readonly quota: Quota;
  readonly nowMs: () => number;
  /** Reads a clock that is never set. */
  readonly elapsedMs: () => number;
  /** Processor time of this process; not given: logins are not limited by it. */
  readonly cpuMs?: (() => number) | undefined;
  readonly randomBytes: (length: number) => Uint8Array;
  /** Ed25519, of statements that are for this relay alone. */
  readonly verifySignature: (
    publicKey: Uint8Array,
    message: Uint8Array,
    signature: Uint8Array,
  ) => boolean;
  /** Runs once after the time; returns a function to cancel it. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** Runs when everything that waits for the event loop has had its turn. */
  readonly soon: (run: () => void) => void;
  /** How late the event loop runs, for load shedding. */
  readonly loopLagMs: () => number;
  readonly log: (event: CoreEvent) => void;
  readonly meter: Meter;
  /** Undefined: nobody wants any. */
  readonly traces?: CoreTraces | undefined;
}

/** Spans of requests, for a collector. Names and values are out of closed lists. */
export interface CoreTraces {
  begin(kind: "server"): CoreSpan;
}

export interface CoreSpan {
  end(name: string, values: Readonly<Record<string, string | undefined>>, isFault: boolean): void;
}

/** Events for the log: no payloads, no identities beyond agent ids. */
export type CoreEvent =
  | { readonly event: "session_open"; readonly agentId: AgentId; readonly transport: TransportKind }
  | {
    readonly event: "session_end";
    readonly agentId?: AgentId;
    readonly code?: ErrorCode;
    readonly ms: number;
  }
  | {
    readonly event: "channel_created" | "channel_closed";
    readonly channelId: ChannelId;
    readonly agentId: AgentId;
  }
  | { readonly event: "fault"; readonly where: string; readonly error: unknown };

/**
 * The relay as channels see it: one session per client that outlives its connections. Connecting,
 * authenticating, renewing the token, heartbeats and reconnecting happen behind it; channels are
 * only told that it is online again, and catch up.
 */
import type {
  AgentId,
  CallName,
  ChannelId,
  ChannelName,
  NoticeEnvelope,
  RelayLimits,
  ReplyBody,
  RequestBody,
  Usage,
} from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";
import type { TransportName } from "../transport/transport.ts";
import type { AgentService } from "./service.ts";

export interface RelaySession {
  readonly agentId: AgentId;
  readonly state: SessionState;
  /** The relay's time; by our own clock until the first connection. */
  relayNowMs(): number;
  /**
   * The account is suspended, as far as is known: the session is not online, and will be when that
   * is over.
   */
  readonly suspension?: StaticError | undefined;
  /**
   * One request and its reply, once: nothing is sent again behind the caller's back. Waits for the
   * session to be online. Rejects with a `StaticError`: the relay's own, `transport_error` when the
   * connection was lost before the reply (the relay may have acted on it), `connection_error` when
   * it could not be reached within the timeout.
   */
  call<Name extends CallName>(
    operation: Name,
    body: RequestBody<Name>,
    options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal | undefined },
  ): Promise<ReplyBody<Name>>;
  /**
   * An acknowledgement. Lost with the connection: after `online` the sender repeats those that
   * still count.
   */
  acknowledge(body: RequestBody<"Acknowledge">): void;
  /**
   * A confirmation, which rides in a cell that leaves anyway. Lost with the connection, and never
   * answered.
   */
  confirm(body: RequestBody<"Confirm">): void;
  /** Everything that the relay pushes, in order. */
  onNotice(listener: (notice: NoticeEnvelope) => void): () => void;
  /**
   * Called at every (re)connection, after authentication and before any notice; with undefined when
   * it is lost, and when the session has ended for good.
   */
  onConnection(listener: (connection: ConnectionInfo | undefined) => void): () => void;
  /** Called whenever `state` has changed. */
  onState(listener: (state: SessionState) => void): () => void;
  /**
   * Whether the present token is for this channel: of others the relay says that they do not exist.
   * Not given: it is for all.
   */
  readonly covers?:
    | ((channel: { readonly name: ChannelName; readonly channelId: ChannelId }) => boolean)
    | undefined;
  /** How much of the plan is used, where there is an API key to ask with. */
  readonly usage?: (() => Promise<Usage | undefined>) | undefined;
  /** The API, where its address is known. */
  readonly service?: AgentService | undefined;
  /** Says goodbye and ends. Calls under way are rejected. */
  close(): Promise<void>;
}

export interface ConnectionInfo {
  readonly limits: RelayLimits;
  /** Features of `proto/wire/features.ts` that this session has. */
  readonly features: readonly number[];
  readonly cellBytes: number;
  /** KeyPackages that the relay holds for this agent. */
  readonly keyPackages: number;
  readonly hasLastResort: boolean;
  readonly transport: TransportName;
}

export type SessionState =
  | { readonly kind: "connecting" }
  | { readonly kind: "online"; readonly connection: ConnectionInfo }
  /** The next attempt is at `retryAtMs`. */
  | { readonly kind: "offline"; readonly error: StaticError; readonly retryAtMs: number }
  /** Nothing more will be tried: revoked key, replaced by another session of this agent, closed. */
  | { readonly kind: "ended"; readonly error: StaticError | undefined };

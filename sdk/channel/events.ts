/** Events of a channel and of a client, for `events()`. */
import type {
  AgentId,
  ChannelName,
  ChannelPolicy,
  MessageId,
  ReceiptState,
} from "../../proto/mod.ts";
import type { StaticError } from "../base/errors.ts";
import type { MissedEvents } from "../base/event_stream.ts";
import type { EnvelopeKind } from "../content/incoming.ts";
import type { TransportName } from "../transport/transport.ts";
import type { HealthIssue } from "./issues.ts";

export type { MissedEvents };

/** The connection to the relay. */
export type ConnectionEvent =
  | {
    readonly type: "connected";
    /** How: `quic`, `webtransport`, `grpc` or `cells`. */
    readonly transport: TransportName;
  }
  | {
    readonly type: "disconnected";
    /** Why; undefined when the client was closed. */
    readonly error: StaticError | undefined;
  }
  | {
    readonly type: "reconnecting";
    /** Why the last attempt failed. */
    readonly error: StaticError;
    /** When it is tried again, by the local clock. */
    readonly retryAtMs: number;
  };

/** An agent that an event is about. */
export interface EventAgent {
  /** How the relay and other agents name it. */
  readonly agentId: AgentId;
  /** The name that it chose for itself: a claim that nobody has checked. */
  readonly identity: string;
}

/** Two agents that do not confirm the same group: one of them may be this agent. */
export interface Fork {
  /** The epoch of which they have different states. */
  readonly epoch: number;
  /** The agents that signed them. */
  readonly signers: readonly [AgentId, AgentId];
}

/** An event of a channel. */
export type ChannelEventBody =
  /** The channel is connected and knows all changes of its members. */
  | { readonly type: "ready" }
  | { readonly type: "member_joined"; readonly member: EventAgent; readonly by: AgentId }
  | { readonly type: "member_left"; readonly member: EventAgent }
  | { readonly type: "member_removed"; readonly member: EventAgent; readonly by: AgentId }
  | { readonly type: "owners_changed"; readonly owners: readonly string[]; readonly by: AgentId }
  | { readonly type: "policy_changed"; readonly policy: ChannelPolicy; readonly by: AgentId }
  | { readonly type: "issuers_changed"; readonly by: AgentId }
  /**
   * The channel prefers post-quantum keys, and an agent without one came in: from now on it is not
   * protected against recordings; see `health().postQuantum`.
   */
  | {
    readonly type: "post_quantum_lost";
    /** The agent without a key; unknown when the channel began anew. */
    readonly because: AgentId | undefined;
    /** The member that let it in; unknown when this agent was away. */
    readonly by: AgentId | undefined;
  }
  /**
   * Members are recognised otherwise, as `members()` has it: by another name or issuer of the
   * user's list (where a host is told so by the CLI), by a new badge, or because one is over.
   */
  | { readonly type: "names_changed" }
  /** An identity is in the channel with another key; `trusted` when an owner brought it in. */
  | { readonly type: "key_changed"; readonly identity: string; readonly trusted: boolean }
  /**
   * A member came in whose name looks like another member's, by its case, blanks or letters: it may
   * want to pass for it.
   */
  | { readonly type: "look_alike"; readonly member: EventAgent; readonly resembles: EventAgent }
  /**
   * Members, or a member and this agent, signed different states of an epoch; see
   * `health().forked`. Nothing is stopped.
   */
  | { readonly type: "forked" } & Fork
  | { readonly type: "issue"; readonly issue: HealthIssue }
  /** The relay gave up messages: too old, or too many. */
  | { readonly type: "gap"; readonly messages: number; readonly reason: "age" | "size" }
  /** A message or request that was too late. */
  | {
    readonly type: "expired";
    readonly kind: EnvelopeKind;
    readonly id: MessageId;
    readonly sender: AgentId;
  }
  /** The message is from a later version of the SDK, or broken. */
  | {
    readonly type: "skipped";
    readonly why: string;
    readonly id: MessageId;
    readonly sender: AgentId;
  }
  /** An agent that a message was for says what became of it; see `Channel.receiptsOf`. */
  | {
    readonly type: "receipt";
    readonly id: MessageId;
    readonly agentId: AgentId;
    readonly state: ReceiptState;
  }
  /** More requests came than may wait. */
  | { readonly type: "request_dropped"; readonly id: MessageId; readonly sender: AgentId }
  | {
    readonly type: "handler_failed";
    readonly id: MessageId;
    readonly sender: AgentId;
    readonly error: unknown;
  }
  | {
    readonly type: "reply_failed";
    readonly id: MessageId;
    readonly sender: AgentId;
    readonly error: StaticError;
  }
  /**
   * Nothing more will come: with the error that ended it, or without one after leaving or closing.
   */
  | { readonly type: "ended"; readonly error: StaticError | undefined };

/** Something that happened in a channel, or to its connection. */
export type ChannelEvent =
  & (ChannelEventBody | ConnectionEvent)
  & {
    /** When, by the local clock. */
    readonly atMs: number;
    /** Which channel. */
    readonly channel: ChannelName;
  };

/** Something that happened to a client, or in one of its channels. */
export type ClientEvent =
  | ChannelEventBody & { readonly atMs: number; readonly channel: ChannelName }
  | (ConnectionEvent | QuotaEvent | WelcomeEvent) & {
    readonly atMs: number;
    readonly channel?: undefined;
  };

/** The plan's messages of this month are used to 80 %, or used up. */
export interface QuotaEvent {
  /** The kind of event. */
  readonly type: "quota";
  /** Messages that the account has sent this month. */
  readonly used: number;
  /** How many the plan has. */
  readonly limit: number;
}

/** A member has added this agent to a channel: `joinChannel(name)` takes the Welcome. */
export interface WelcomeEvent {
  /** The kind of event. */
  readonly type: "welcome";
  /** The channel that it is for. */
  readonly name: ChannelName;
}

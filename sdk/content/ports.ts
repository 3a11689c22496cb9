/** The interface that requests and replies need of their channel. */
import type { AgentId, MessageId } from "../../proto/mod.ts";
import type { Runtime } from "../base/runtime.ts";
import type { RecordChange } from "../store/mod.ts";
import type { StaticError } from "../base/errors.ts";
import type { IncomingEnvelope } from "./incoming.ts";

/** A request or a reply that arrived. */
export interface HandedMessage {
  readonly incoming: IncomingEnvelope;
  /** The program is done with it. `changes` are written with that. */
  readonly done: (changes?: readonly RecordChange[]) => void;
}

/** How a plaintext goes out. Under the same id the relay takes it once. */
export interface OutgoingPlaintext {
  readonly id: MessageId;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A request of this agent that the relay may have. */
export interface SentRequest {
  readonly id: MessageId;
  /** The key that a program gives to a request, so that it can ask it again after a crash. */
  readonly key: string | undefined;
  /** The secret of the replies' ids. */
  readonly secret: Uint8Array;
  readonly to: readonly AgentId[];
  readonly deadlineMs: number;
}

/**
 * Requests that may be asked, or run, again after a crash, on disk. Everything here rejects with
 * `StaticError`.
 */
export interface RequestRecords {
  /** Requests that this agent has asked under a key. */
  asked(): Promise<readonly SentRequest[]>;
  putAsked(asked: SentRequest & { readonly key: string }): RecordChange;
  /** With the replies to it. */
  deleteAsked(asked: SentRequest): readonly RecordChange[];
  putReply(request: MessageId, reply: IncomingEnvelope): RecordChange;
  reply(request: MessageId, from: AgentId): Promise<IncomingEnvelope | undefined>;
  /** How often each request was run that came to this agent, by requester and id. */
  attempts(): Promise<ReadonlyMap<string, AttemptCount>>;
  putAttempts(key: string, attempts: AttemptCount): RecordChange;
  deleteAttempts(key: string): RecordChange;
  write(changes: readonly RecordChange[]): Promise<void>;
}

export interface AttemptCount {
  readonly count: number;
  /** After it the record is of no use. */
  readonly deadlineMs: number;
}

export interface ContentPorts {
  readonly agentId: AgentId;
  readonly runtime: Runtime;
  readonly relayNowMs: () => number;
  /** How long the relay keeps a message: no request has more time. */
  readonly maxAgeMs: () => number;
  readonly records: RequestRecords;
  /** Resolves when the relay has it. */
  readonly send: (plaintext: Uint8Array, outgoing: OutgoingPlaintext) => Promise<unknown>;
  /**
   * Writes changes together with what else waits to be written, and at once. Rejects with
   * `StaticError`.
   */
  readonly writeAlong: (changes: readonly RecordChange[]) => Promise<void>;
  readonly isMember: (agentId: AgentId) => boolean;
  /**
   * Resolves when our group is where the channel is now: an agent that was let in a moment ago is
   * in it then.
   */
  readonly catchUp: (timeoutMs: number) => Promise<void>;
  /**
   * Whether a message of ours under this id is in the log. Throws `StaticError` when the relay
   * cannot be asked.
   */
  readonly stands: (id: MessageId) => Promise<boolean>;
  readonly tell: (event: RequestEvent) => void;
  /** Called when the sender of a message broke the rules. */
  readonly refuse: (incoming: IncomingEnvelope, why: string) => void;
}

export type RequestEvent =
  | {
    readonly type: "expired";
    readonly kind: "request";
    readonly id: MessageId;
    readonly sender: AgentId;
  }
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
  };

/** How messages are sent, as callers say it, and what they are told. */
import type { AgentId, MessageId, ReceiptState, ReceiptWanted } from "../../../proto/mod.ts";
import type { MessageOptions } from "../../content/values.ts";
import type { SendGroup } from "./bundles.ts";

/** How a message is sent, and what it says about itself. */
export interface SendOptions extends MessageOptions {
  /**
   * While the relay cannot be reached, keep the message in memory and send it later, instead of
   * failing after a while.
   */
  readonly queue?: boolean | undefined;
  /** How long to try; 30 seconds when not given. */
  readonly timeoutMs?: number | undefined;
  /**
   * Gives up; the call then rejects with the signal's reason. A message that the relay already has
   * may be delivered.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Asks those that `to` names to say what becomes of the message: `delivered` when a program of
   * theirs has acknowledged it, `held` or `refused` when a rule or a person prevents that, and with
   * `done` also that the work is done (`envelope.done()`). Receipts come as events `receipt`, and
   * `receiptsOf()` has them.
   */
  readonly receipt?: ReceiptWanted | undefined;
  /**
   * @internal Under which the relay takes it once; a new one when not given. A host is told it, to
   * be told twice.
   */
  readonly id?: MessageId | undefined;
  /** @internal The messages that a program gave its host with this one, which go as one. */
  readonly group?: SendGroup | undefined;
}

/** The result of sending a message. */
export interface Sent {
  /** The message's id, which receivers see too. */
  readonly id: MessageId;
  /** False when it waits in the outbox: the relay cannot be reached now. */
  readonly accepted: boolean;
  /**
   * Only for a message with `receipt`. `asked`, or `unsupported` while a member of the channel runs
   * a version without receipts; then nobody sends any.
   */
  readonly receipts?: "asked" | "unsupported";
}

/** An agent that a message was for, and what has become of the message there. */
export interface ReceiptOf {
  /** The addressee. */
  readonly agentId: AgentId;
  /**
   * `delivered`: a program has acknowledged it. `held`: a rule holds it for a person. `refused`: a
   * rule or a person refused it, or it expired unread. `done`: the program said so. Undefined:
   * nothing was heard.
   */
  readonly state?: ReceiptState;
  /** When this agent heard it, by the local clock. */
  readonly atMs?: number;
}

/** How a plaintext goes out. */
export interface PostOptions
  extends Pick<SendOptions, "queue" | "timeoutMs" | "signal" | "id" | "group"> {
  /** The relay has to know it by its own id: it does not go with others. */
  readonly alone?: boolean;
  /** The message asks these agents for receipts. */
  readonly asks?: readonly AgentId[] | undefined;
}

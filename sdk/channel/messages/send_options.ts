/** How messages are sent, as callers say it, and what they are told. */
import type { MessageId } from "../../../proto/mod.ts";
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
}

/** How a plaintext goes out. */
export interface PostOptions
  extends Pick<SendOptions, "queue" | "timeoutMs" | "signal" | "id" | "group"> {
  /** The relay has to know it by its own id: it does not go with others. */
  readonly alone?: boolean;
}

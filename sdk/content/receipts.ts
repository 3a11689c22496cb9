/** The interface behind an envelope, of which a program says what became of its message. */
import type { AgentId, MessageId, ReceiptState, ReceiptWanted } from "../../proto/mod.ts";
import type { RecordChange } from "../store/mod.ts";

/** A message whose sender asks, as far as a receipt is about it. */
export interface AskingMessage {
  readonly id: MessageId;
  readonly sender: AgentId;
  readonly receipt: ReceiptWanted;
  readonly to: readonly string[] | undefined;
}

/** A debt, to be written in one with the acknowledgement that it tells of. */
export interface OwedChange {
  /** Returns the debt as it is when it is written. */
  readonly change: () => RecordChange;
  /** The debt is on disk. */
  readonly written: () => void;
}

/** The channel of a message that its sender wants to hear of. */
export interface ReceiptPort {
  /** One of several readers is done with it. */
  owe(about: AskingMessage): OwedChange | undefined;
  /** Resolves when it is on disk. */
  say(about: AskingMessage, state: ReceiptState): Promise<void>;
}

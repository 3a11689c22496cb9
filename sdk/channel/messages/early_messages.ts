/**
 * Requests and replies that were handed on before their turn, because messages in front of them
 * wait for a loop. When the log comes to one of them, it is not handed on again: it holds the place
 * in the log from then on, until its handler is done.
 */
import type { MessageId } from "../../../proto/mod.ts";
import type { IncomingEnvelope, IncomingHead } from "../../content/incoming.ts";
import type { HandedMessage } from "../../content/ports.ts";
import type { RecordChange } from "../../store/mod.ts";

interface EarlyMessage {
  /** Nothing more of it is kept: there may be many that are done with. */
  readonly id: MessageId;
  /** The changes that its handler asked to write; undefined until the handler is done. */
  changes: readonly RecordChange[] | undefined;
  /** Set when the turn of the message has come. */
  done: HandedMessage["done"] | undefined;
}

/** Messages beyond this number wait for their turn. */
const maxAhead = 65_536;

export class EarlyMessages {
  readonly #bySequence = new Map<number, EarlyMessage>();

  hand(incoming: IncomingEnvelope, hand: (handed: HandedMessage) => void): void {
    if (this.#bySequence.size >= maxAhead) return;
    const ahead: EarlyMessage = { id: incoming.id, changes: undefined, done: undefined };
    this.#bySequence.set(incoming.sequence, ahead);
    const done = (changes: readonly RecordChange[] = []): void => {
      ahead.changes ??= changes;
      ahead.done?.(ahead.changes);
    };
    hand({ incoming, done });
  }

  /** The turn of a message has come. Returns false when the message was not handed on before. */
  arrived(incoming: IncomingEnvelope, done: HandedMessage["done"]): boolean {
    const ahead = this.#take(incoming);
    if (ahead === undefined) return false;
    ahead.done = done;
    if (ahead.changes !== undefined) done(ahead.changes);
    return true;
  }

  /**
   * The turn of a message has come, and its time is over. Returns false when the message was not
   * handed on before.
   */
  isOver(opened: IncomingHead): boolean {
    return this.#take(opened) !== undefined;
  }

  /** None of them will come again. */
  clear(): void {
    this.#bySequence.clear();
  }

  #take({ sequence, id }: IncomingHead): EarlyMessage | undefined {
    const ahead = this.#bySequence.get(sequence);
    if (ahead?.id !== id) return undefined;
    this.#bySequence.delete(sequence);
    return ahead;
  }
}

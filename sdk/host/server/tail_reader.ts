/**
 * A reader without a position: what comes from now on, and nothing is held back for it. It may
 * begin with what waits for a durable reader, of which it takes nothing.
 */
import type { MissedEvents } from "../../base/event_stream.ts";
import type { MessageReader } from "./agent_handle.ts";
import type { ReaderEntry } from "./reader_entry.ts";

export interface TailParts {
  readonly entries: AsyncIterableIterator<ReaderEntry | MissedEvents, undefined>;
  /** Behind this number, what waits for the durable reader that was named. */
  readonly waiting: (after: number) => readonly ReaderEntry[];
  readonly wants: (entry: ReaderEntry) => boolean;
  /** With which the channel ended. */
  readonly error: () => unknown;
}

export function openTail({ entries, waiting, wants, error }: TailParts): MessageReader {
  const end = async (): Promise<void> => void await entries.return?.();
  let last = -1;
  let queue = [...waiting(last)];
  return {
    next: async () => {
      for (;;) {
        const { done, value } = queue.length > 0 ? { value: queue.shift() } : await entries.next();
        if (done === true || value === undefined) {
          return error() === undefined ? undefined : Promise.reject(error());
        }
        // The reader was too slow, and looks for what it lost among those that wait.
        if ("type" in value) queue = [...waiting(last)];
        // An entry may have been there when the reader looked, and be told as well.
        else if (value.number > last) {
          last = value.number;
          if (wants(value)) return { envelope: value.envelope, ack: () => Promise.resolve() };
        }
      }
    },
    finish: end,
    end,
  };
}

/** A reader without a position: what comes from now on, and nothing is held back for it. */
import type { MissedEvents } from "../../base/event_stream.ts";
import type { Envelope } from "../../content/envelope.ts";
import type { MessageReader } from "./held.ts";
import type { Entry } from "./reader_entry.ts";

export interface TailParts {
  readonly entries: AsyncIterableIterator<Entry | MissedEvents, undefined>;
  readonly wants: (envelope: Envelope) => boolean;
  /** With which the channel ended. */
  readonly error: () => unknown;
}

export function openTail({ entries, wants, error }: TailParts): MessageReader {
  const end = async (): Promise<void> => void await entries.return?.();
  return {
    next: async () => {
      for (;;) {
        const { done, value } = await entries.next();
        if (done === true) return error() === undefined ? undefined : Promise.reject(error());
        if ("type" in value || !wants(value.envelope)) continue;
        return { envelope: value.envelope, ack: () => Promise.resolve() };
      }
    },
    finish: end,
    end,
  };
}

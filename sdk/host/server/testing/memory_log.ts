/**
 * Durable readers over a source in memory that delivers again what was not acknowledged, as a
 * channel does after a crash.
 */
import {
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  type MessageId,
} from "../../../../proto/mod.ts";
import type { Runtime } from "../../../base/runtime.ts";
import type { InboxReader } from "../../../channel/runner/inbox_runner.ts";
import { Envelope } from "../../../content/envelope.ts";
import type { LoadedRecord, RecordChange } from "../../../store/mod.ts";
import type { MessageReader } from "../agent_handle.ts";
import { createReaderRecords, type ReaderRecord, type ReaderRecords } from "../reader_records.ts";
import { Readers } from "../readers.ts";

export const me = agentIdOf(new Uint8Array(32), Uint8Array.of(1));
export const [first, second] = [2, 3].map((byte) =>
  agentIdOf(new Uint8Array(32), Uint8Array.of(byte))
);
const others = [first ?? me, second ?? me];

/** A channel's log, and what is acknowledged of it. */
export class Log {
  readonly #messages: {
    text: string;
    sender: number;
    timeMs: number;
    sequence: number;
    to?: typeof me;
  }[] = [];
  readonly acknowledged = new Set<number>();
  #wake = (): void => {};

  say(
    text: string,
    { sender = 0, timeMs = 1000, to }: { sender?: number; timeMs?: number; to?: typeof me } = {},
  ): void {
    const count = this.#messages.length;
    const entry = { text, sender, timeMs: timeMs + count, sequence: count + 1 };
    this.#messages.push({ ...entry, ...(to !== undefined && { to }) });
    this.#wake();
  }

  /** At a place and a time of its own. */
  sayAt(text: string, place: { readonly sequence: number; readonly timeMs: number }): void {
    this.#messages.push({ text, sender: 0, ...place });
    this.#wake();
  }

  /** Messages that were sent as one: they have one place. */
  sayAsOne(...texts: readonly string[]): void {
    const sequence = this.#messages.length + 1;
    for (const text of texts) {
      this.#messages.push({ text, sender: 0, timeMs: 1000 + sequence, sequence });
    }
    this.#wake();
  }

  /** Returns the source of a process that lives from now on. */
  source(): InboxReader {
    let at = 0;
    let ended = false;
    const poll = (): Envelope | undefined => {
      while (at < this.#messages.length) {
        const index = at++;
        if (!this.acknowledged.has(index)) return this.#envelope(index);
      }
      return undefined;
    };
    const next = async (): Promise<IteratorResult<Envelope, undefined>> => {
      for (;;) {
        if (ended) return { done: true, value: undefined };
        const value = poll();
        if (value !== undefined) return { done: false, value };
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
    };
    return {
      next,
      poll,
      begun: () => Promise.resolve(),
      finish: () => Promise.resolve(),
      return: () => {
        ended = true;
        this.#wake();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator](): InboxReader {
        return this;
      },
    };
  }

  #envelope(index: number): Envelope {
    const { text, sender, timeMs, sequence, to } = this.#messages[index] ??
      { text: "", sender: 0, timeMs: 0, sequence: 0 };
    const id = new Uint8Array(16);
    new DataView(id.buffer).setUint32(0, index);
    return new Envelope({
      kind: "message",
      lane: "message",
      id: binaryIdFromBytes<MessageId>(id),
      sender: others[sender] ?? me,
      identity: new TextEncoder().encode("sender"),
      keyUnchanged: true,
      knownAs: undefined,
      timeMs,
      sequence,
      fields: { ...(to !== undefined && { to: [to] }) },
      body: new TextEncoder().encode(text),
    }, {
      ack: () => {
        this.acknowledged.add(index);
        return Promise.resolve();
      },
    });
  }
}

/** Records as they lie in an agent's store, encoded. */
export class MemoryRecords implements ReaderRecords {
  readonly disk = new Map<string, Uint8Array<ArrayBuffer>>();
  writes = 0;
  /** Bytes of all that was ever written. */
  bytes = 0;
  readonly #records = createReaderRecords(binaryIdFromBytes<ChannelId>(new Uint8Array(16)), {
    list: () =>
      Promise.resolve(Array.from(this.disk, ([id, value]): LoadedRecord => ({ id, value }))),
    batch: (changes) => Promise.resolve(changes.forEach((change) => this.#change(change))),
    delete: (_, id) => Promise.resolve(void this.disk.delete(id)),
  });

  list(): Promise<ReaderRecord[]> {
    return this.#records.list();
  }

  write(records: readonly ReaderRecord[]): Promise<void> {
    this.writes++;
    return this.#records.write(records);
  }

  delete(name: string): Promise<void> {
    return this.#records.delete(name);
  }

  #change(change: RecordChange): void {
    if (change.type !== "put") return;
    this.bytes += change.value.length;
    this.disk.set(change.id, change.value.slice());
  }
}

export interface Place {
  readonly log: Log;
  readonly records: MemoryRecords;
}

export function place(): Place {
  return { log: new Log(), records: new MemoryRecords() };
}

/** Nothing waits to be written with what comes later. */
export const runtime: Pick<Runtime, "nowMs" | "after"> = {
  nowMs: () => Date.now(),
  after: (_: number, run: () => void) => {
    run();
    return () => {};
  },
};

/** A host's life: what was in memory before is gone. */
export function live(
  { log, records }: Place,
  limits = { messagesOfSender: 1000, messages: 3072, bytes: 1e9, ageMs: 1e9 },
  time: Pick<Runtime, "nowMs" | "after"> = runtime,
): Readers {
  return new Readers({ agentId: me, records, source: () => log.source(), runtime: time, limits });
}

export function open(readers: Readers, as?: string, more = {}): Promise<MessageReader> {
  return readers.open({ as, tail: false, all: false, manual: false, ...more });
}

export async function take(reader: MessageReader, count: number): Promise<string[]> {
  const texts: string[] = [];
  while (texts.length < count) texts.push((await reader.next())?.envelope.text() ?? "end");
  return texts;
}

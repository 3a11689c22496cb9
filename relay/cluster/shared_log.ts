/**
 * One stream of JetStream as a log that many relays write and all read in one order. Entries come by a subject to which the
 * stream's leader repeats what it has stored. That way is fast and not reliable, so positions are counted: what is missing is
 * read from the stream, and now and then the leader is asked where the log ends.
 */
import { DiscardPolicy, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import type { Msg, NatsConnection, Subscription } from "@nats-io/nats-core";
import { after } from "../../server/mod.ts";
import { patiently } from "./patience.ts";

export interface SharedLogOptions {
  readonly connection: NatsConnection;
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  /** Of the stream. */
  readonly name: string;
  /** Where entries are published, and where the leader repeats them. */
  readonly subject: string;
  readonly tail: string;
  readonly storage: "file" | "memory";
  readonly replicas: number;
  /** How long entries are kept; for ever unless told. */
  readonly keptMs?: number;
  /** An entry, in order, each once. */
  readonly onEntry: (position: number, bytes: Uint8Array) => void;
  /** The log has no more what this reader needs next: only a new life of the relay can go on. */
  readonly onHole: (next: number, first: number) => void;
}

const answerMs = 2_000;
const retryMs = 200;
const readAtOnce = 256;
const readBytes = 8 * 1024 * 1024;
/** Entries that came early and are kept until those before them are there; more are read again. */
const maxEarly = 1_000;
const nanosecondsPerMs = 1_000_000;

export class SharedLog {
  readonly #options: SharedLogOptions;
  #subscription: Subscription | undefined;
  #next = 1;
  /** The log is known to reach as far. */
  #known = 0;
  readonly #early = new Map<number, Uint8Array>();
  #reading: Promise<void> | undefined;
  #closed = false;

  constructor(options: SharedLogOptions) {
    this.#options = options;
  }

  /** The last position that was handed on. */
  get position(): number {
    return this.#next - 1;
  }

  /** How far this reader is behind, as far as it knows. */
  get lag(): number {
    return Math.max(0, this.#known - this.position);
  }

  /** Makes the stream unless it is there. Waits while nodes elect its leader. */
  async create(): Promise<void> {
    const { manager, name, subject, tail, storage, replicas, keptMs = 0 } = this.#options;
    const config = {
      name,
      subjects: [subject],
      storage,
      num_replicas: replicas,
      allow_direct: true,
      discard: DiscardPolicy.New,
      max_age: keptMs * nanosecondsPerMs,
      republish: { src: subject, dest: tail },
    };
    await patiently(async () => {
      const found = await manager.streams.info(name).catch(() => undefined);
      if (found === undefined) await manager.streams.add(config);
    });
    await patiently(() => this.end());
  }

  /** Hands on every entry behind a position, from now on; resolves when all that was there at the call has been. */
  async follow(after: number): Promise<void> {
    const { connection, tail } = this.#options;
    this.#next = after + 1;
    this.#known = after;
    this.#early.clear();
    this.#subscription ??= connection.subscribe(tail, {
      callback: (error, message) => {
        if (error === null) this.#repeated(message);
      },
    });
    await connection.flush();
    await this.catchUp();
  }

  async end(): Promise<{ readonly first: number; readonly last: number }> {
    const { state } = await this.#options.manager.streams.info(this.#options.name);
    return { first: state.first_seq, last: state.last_seq };
  }

  /** Asks the leader where the log ends, and resolves when this reader is there. */
  async catchUp(): Promise<void> {
    const { last } = await this.end();
    this.#known = Math.max(this.#known, last);
    while (!this.#closed && this.#next <= last) await this.#read();
  }

  /** Resolves with the position when a majority has it on disk. May be there although this rejects. */
  async publish(bytes: Uint8Array): Promise<number> {
    const { jetstream, subject, storage } = this.#options;
    try {
      return (await jetstream.publish(subject, bytes, { timeout: answerMs, retries: 1 })).seq;
    } catch (error) {
      // A node that is alone forgets the stream itself with its memory.
      if (storage === "memory") await this.create().catch(() => {});
      throw error;
    }
  }

  /** Deletes everything up to a position. */
  async purge(through: number): Promise<void> {
    await this.#options.manager.streams.purge(this.#options.name, { seq: through + 1 });
  }

  close(): void {
    this.#closed = true;
    this.#subscription?.unsubscribe();
  }

  #repeated(message: Msg): void {
    const position = Number(message.headers?.get("Nats-Sequence"));
    if (!Number.isSafeInteger(position)) return;
    this.#arrived(position, message.data);
    if (this.#next <= this.#known) void this.#read();
  }

  #arrived(position: number, bytes: Uint8Array): void {
    this.#known = Math.max(this.#known, position);
    if (this.#closed || position < this.#next) return;
    if (position > this.#next) {
      if (this.#early.size < maxEarly) this.#early.set(position, bytes);
      return;
    }
    for (let entry: Uint8Array | undefined = bytes; entry !== undefined; entry = this.#early.get(this.#next)) {
      this.#early.delete(this.#next);
      this.#options.onEntry(this.#next++, entry);
    }
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readMissing().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /** A node may be behind the leader, and the one that is asked may die: asked again until it is done. */
  async #readMissing(): Promise<void> {
    while (!this.#closed && this.#next <= this.#known) {
      const before = this.#next;
      try {
        await this.#readPage();
      } catch {
        // Asked again below.
      }
      if (this.#next > before || this.#closed) continue;
      const first = await this.end().then(({ first }) => first, () => 0);
      if (first > this.#next) {
        this.close();
        return this.#options.onHole(this.#next, first);
      }
      await new Promise<void>((resolve) => void after(retryMs, resolve));
    }
  }

  async #readPage(): Promise<void> {
    const { manager, name } = this.#options;
    const page = await manager.direct.getBatch(name, { seq: this.#next, batch: readAtOnce, max_bytes: readBytes });
    for await (const { seq, data } of page) this.#arrived(seq, data);
  }
}

/** How the log on the nodes' disks is called there. */
export function logNames(prefix: string): Pick<SharedLogOptions, "name" | "subject" | "tail"> {
  return { name: `${prefix}_LOG`, subject: `${prefix}.log`, tail: `${prefix}.log_tail` };
}

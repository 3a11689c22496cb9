/**
 * One stream of JetStream as a log that many relays write and all read in one order. Entries come
 * by a subject to which the stream's leader repeats what it has stored. That way is fast and not
 * reliable, so positions are counted: what is missing is read from the stream, and now and then the
 * leader is asked where the log ends.
 */
import { DiscardPolicy } from "@nats-io/jetstream";
import type { Msg } from "@nats-io/nats-core";
import { after, waits, within } from "../../../server/mod.ts";
import { readPage } from "./log_page.ts";
import { makeStream } from "./make_stream.ts";
import type { Nodes } from "../nodes/nodes.ts";
import { isMissing, isTooLargeForNode, isUnanswered, patiently } from "../nodes/retry.ts";

export interface SharedLogOptions {
  readonly nodes: Nodes;
  /** The stream's name. */
  readonly name: string;
  /** Where entries are published, and where the leader repeats them. */
  readonly subject: string;
  readonly tail: string;
  readonly storage: "file" | "memory";
  readonly replicas: number;
  /** How long entries are kept; for ever unless told. */
  readonly keptMs?: number;
  /**
   * The most that is kept: beyond it the oldest entries go, and a reader that needed them begins
   * anew.
   */
  readonly keptBytes?: number;
  /** An entry, in order, each once. */
  readonly onEntry: (position: number, bytes: Uint8Array) => void;
  /** Resolves when more entries can be taken. */
  readonly room?: () => Promise<void>;
  /** For tests: how long the leader says that it does not have an entry, until it is lost. */
  readonly lostMs?: number;
  /**
   * The log begins at `first` and has not what this reader needs next: only a new life of the relay
   * can go on.
   */
  readonly onHole: (next: number, first: number) => void;
}

const retryMs = 200;
const readAtOnce = 256;
const readBytes = 8 * 1024 * 1024;
/** Single entries that the leader is asked for at once. */
const askedOfLeader = 32;
/** Entries that came early and are kept until those before them are there; more are read again. */
const maxEarly = 1_000;
const nanosecondsPerMs = 1_000_000;

export class SharedLog {
  readonly #options: SharedLogOptions;
  #unsubscribe: (() => void) | undefined;
  #refusal: string | undefined;
  #next = 1;
  /** The log is known to reach as far. */
  #known = 0;
  readonly #early = new Map<number, Uint8Array>();
  #last: { readonly position: number; readonly bytes: Uint8Array } | undefined;
  #reading: Promise<void> | undefined;
  #closed = false;

  constructor(options: SharedLogOptions) {
    this.#options = options;
  }

  /** The last position that was handed on. */
  get position(): number {
    return this.#next - 1;
  }

  /**
   * The words with which the nodes refused the last entry; undefined when they took it, did not
   * answer, or were not asked.
   */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** How far this reader is behind, as far as it knows. */
  get lag(): number {
    return Math.max(0, this.#known - this.position);
  }

  /** Makes the stream unless it is there. Waits while nodes elect its leader. */
  async create(): Promise<void> {
    const { nodes, name, subject, tail, storage, replicas, keptMs = 0, keptBytes } = this.#options;
    const config = {
      name,
      subjects: [subject],
      storage,
      num_replicas: replicas,
      allow_direct: true,
      ...(keptBytes === undefined
        ? { discard: DiscardPolicy.New }
        : { discard: DiscardPolicy.Old, max_bytes: keptBytes }),
      max_age: keptMs * nanosecondsPerMs,
      republish: { src: subject, dest: tail },
    };
    const found = await makeStream(nodes, config);
    // Made by a relay with another setting.
    if (keptBytes !== undefined && found.max_bytes !== keptBytes) {
      await patiently(() => nodes.manager.streams.update(name, { ...found, max_bytes: keptBytes }));
    }
    await patiently(() => this.end(), {
      isPassing: (error) => isUnanswered(error) || isMissing(error),
    });
  }

  /**
   * Hands on every entry behind a position, from now on; resolves when all that was there at the
   * call has been.
   */
  async follow(after: number): Promise<void> {
    const { nodes, tail } = this.#options;
    this.#next = after + 1;
    this.#known = after;
    this.#early.clear();
    this.#last = undefined;
    this.#unsubscribe ??= nodes.subscribe(tail, (message) => this.#repeated(message));
    // So that the node has the subscription. An entry that is missed all the same is read from the
    // stream.
    await within(waits.nodeAnswer.ms, nodes.connection.flush()).catch(() => false);
    await patiently(() => this.catchUp());
  }

  async end(): Promise<{ readonly first: number; readonly last: number }> {
    const { state } = await this.#options.nodes.manager.streams.info(this.#options.name);
    return { first: state.first_seq, last: state.last_seq };
  }

  /** Asks the leader where the log ends, and resolves when this reader is there. */
  async catchUp(): Promise<void> {
    const { last } = await this.end();
    this.#known = Math.max(this.#known, last);
    // A leader that was deposed may have told of more than there is.
    while (!this.#closed && this.#next <= Math.min(last, this.#known)) await this.#read();
  }

  /**
   * Whether the leader has another entry where this reader took its last one: the nodes have lost a
   * part of the log and filled its place. False also when nobody can tell.
   */
  async hasChanged(): Promise<boolean> {
    const last = this.#last;
    if (last === undefined) return false;
    const { nodes: { manager }, name } = this.#options;
    const found = await manager.streams.getMessage(name, { seq: last.position }).catch(() =>
      undefined
    );
    if (found === undefined || found === null || this.#last !== last) return false;
    return !isEqual(found.data, last.bytes);
  }

  /**
   * Resolves with the position when a majority has it on disk. May be there although this rejects.
   */
  async publish(bytes: Uint8Array): Promise<number> {
    const { nodes: { jetstream }, subject, storage } = this.#options;
    try {
      const { seq } = await jetstream.publish(subject, bytes, {
        timeout: waits.nodeAnswer.ms,
        retries: 1,
      });
      this.#refusal = undefined;
      return seq;
    } catch (error) {
      this.#refusal = isUnanswered(error) || isTooLargeForNode(error) ? undefined : String(error);
      // A node that is alone forgets the stream itself with its memory.
      if (storage === "memory") await this.create().catch(() => {});
      throw error;
    }
  }

  /** Deletes everything up to a position. */
  async purge(through: number): Promise<void> {
    await this.#options.nodes.manager.streams.purge(this.#options.name, { seq: through + 1 });
  }

  close(): void {
    this.#closed = true;
    this.#unsubscribe?.();
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
    for (
      let entry: Uint8Array | undefined = bytes;
      entry !== undefined;
      entry = this.#early.get(this.#next)
    ) {
      this.#early.delete(this.#next);
      this.#last = { position: this.#next, bytes: entry };
      this.#options.onEntry(this.#next++, entry);
    }
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readMissing().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  /**
   * The node that is asked first is the nearest one. It may die, and it may be behind for long:
   * then the leader is asked. Asked again until it is done.
   */
  async #readMissing(): Promise<void> {
    const { lostMs = waits.logLost.ms } = this.#options;
    let lostSinceMs: number | undefined;
    while (!this.#closed && this.#next <= this.#known) {
      await this.#options.room?.();
      const before = this.#next;
      await this.#readPage().catch(() => {});
      const isLost = this.#next === before && await this.#askLeader();
      if (this.#next > before || this.#closed) {
        lostSinceMs = undefined;
        continue;
      }
      const end = await this.end().catch(() => undefined);
      if (end === undefined || this.#next > before) lostSinceMs = undefined;
      else if (end.last < this.#next) this.#shorten(end.last);
      else if (end.first > this.#next) return this.#miss(end.first);
      else if (!isLost) lostSinceMs = undefined;
      else if (performance.now() - (lostSinceMs ??= performance.now()) > lostMs) {
        return this.#miss(end.first);
      }
      if (this.#next <= this.#known) {
        await new Promise<void>((resolve) => void after(retryMs, resolve));
      }
    }
  }

  async #readPage(): Promise<void> {
    const { nodes: { connection }, name } = this.#options;
    const query = { seq: this.#next, batch: readAtOnce, max_bytes: readBytes };
    await readPage(connection, {
      stream: name,
      query,
      onEntry: (position, bytes) => this.#arrived(position, bytes),
    });
  }

  /**
   * Returns whether the leader says that it does not have the next entry. One that does not answer
   * in time may have it.
   */
  async #askLeader(): Promise<boolean> {
    const { nodes: { manager }, name } = this.#options;
    const count = Math.min(askedOfLeader, this.#known - this.#next + 1);
    const wanted = Array.from({ length: count }, (_, index) => this.#next + index);
    const [next] = await Promise.allSettled(wanted.map(async (seq) => {
      const found = await manager.streams.getMessage(name, { seq });
      if (found !== null) this.#arrived(seq, found.data);
      return found !== null;
    }));
    return next?.status === "fulfilled" && !next.value;
  }

  /**
   * The log ends earlier than was known: what came early of the rest may be replaced by something
   * else.
   */
  #shorten(last: number): void {
    this.#known = last;
    this.#early.clear();
  }

  #miss(first: number): void {
    this.close();
    this.#options.onHole(this.#next, first);
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

/** How the log on the nodes' disks is called there. */
export function logNames(prefix: string): Pick<SharedLogOptions, "name" | "subject" | "tail"> {
  return { name: `${prefix}_LOG`, subject: `${prefix}.log`, tail: `${prefix}.log_tail` };
}

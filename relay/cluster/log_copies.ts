/**
 * Copies of the fold beside the log, so that the log can be shortened and a relay that begins need not read all of it. A copy is
 * what `copy.sqlite` has at a position, in parts, and counts when its head names all of them. The log is kept from the copy before
 * the newest on: a relay that is a little behind finds what it needs.
 */
import { createHash } from "node:crypto";
import { DiscardPolicy, type JetStreamClient, type JetStreamManager } from "@nats-io/jetstream";
import { patiently } from "./patience.ts";

export interface LogCopiesOptions {
  readonly jetstream: JetStreamClient;
  readonly manager: JetStreamManager;
  readonly prefix: string;
  readonly replicas: number;
}

export interface CopyHead {
  readonly position: number;
  /** Of the copy before it, if there was one. */
  readonly before?: number;
  readonly parts: number;
  readonly sha256: string;
}

const partBytes = 1024 * 1024;
const answerMs = 10_000;
/** The node that answers found nothing. */
const isMissing = /no message found|not found/i;

export class LogCopies {
  readonly #options: LogCopiesOptions;
  readonly #name: string;

  constructor(options: LogCopiesOptions) {
    this.#options = options;
    this.#name = `${options.prefix}_COPY`;
  }

  /** Makes the stream unless it is there. */
  async create(): Promise<void> {
    const { manager, prefix, replicas } = this.#options;
    await patiently(async () => {
      if (await manager.streams.info(this.#name).catch(() => undefined) !== undefined) return;
      await manager.streams.add({
        name: this.#name,
        subjects: [`${prefix}.copy.>`],
        num_replicas: replicas,
        max_msgs_per_subject: 1,
        discard: DiscardPolicy.Old,
      });
    });
  }

  async newest(): Promise<CopyHead | undefined> {
    const bytes = await this.#read(`${this.#options.prefix}.copy.head`);
    return bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes));
  }

  /** Stores a file as the copy at a position. Returns the position up to which the log may be shortened. */
  async save(path: string, position: number): Promise<number> {
    const { prefix } = this.#options;
    const before = await this.newest();
    const hash = createHash("sha256");
    let parts = 0;
    using file = await Deno.open(path);
    for (const buffer = new Uint8Array(partBytes);;) {
      const length = await file.read(buffer);
      if (length === null) break;
      const part = buffer.slice(0, length);
      hash.update(part);
      await this.#write(`${prefix}.copy.${position}.${parts++}`, part);
    }
    const head: CopyHead = { position, ...(before && { before: before.position }), parts, sha256: hash.digest("hex") };
    await this.#write(`${prefix}.copy.head`, new TextEncoder().encode(JSON.stringify(head)));
    if (before?.before !== undefined) {
      await this.#options.manager.streams.purge(this.#name, { filter: `${prefix}.copy.${before.before}.*` });
    }
    return head.before ?? 0;
  }

  /** Writes a copy to a file. Throws when a part is missing or damaged. */
  async load({ position, parts, sha256 }: CopyHead, path: string): Promise<void> {
    const hash = createHash("sha256");
    using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    for (let number = 0; number < parts; number++) {
      const part = await this.#read(`${this.#options.prefix}.copy.${position}.${number}`);
      if (part === undefined) throw new Error(`Part ${number} of the copy at ${position} is missing`);
      hash.update(part);
      for (let at = 0; at < part.length;) at += await file.write(part.subarray(at));
    }
    if (hash.digest("hex") !== sha256) throw new Error(`The copy at ${position} is damaged`);
  }

  async #write(subject: string, bytes: Uint8Array): Promise<void> {
    await this.#options.jetstream.publish(subject, bytes, { timeout: answerMs });
  }

  /** Asks the leader: another node may not have it yet. */
  async #read(subject: string): Promise<Uint8Array | undefined> {
    try {
      const { manager } = this.#options;
      return (await patiently(() => manager.streams.getMessage(this.#name, { last_by_subj: subject })))?.data;
    } catch (error) {
      if (error instanceof Error && isMissing.test(error.message)) return undefined;
      throw error;
    }
  }
}

/**
 * Copies of the fold beside the log, so that the log can be shortened and a relay that begins need
 * not read all of it. A copy is what `copy.sqlite` has at a position, in parts, and counts when its
 * head names all of them. The log is kept from the copy before the newest on: a relay that is a
 * little behind finds what it needs.
 */
import { createHash } from "node:crypto";
import { DiscardPolicy, JetStreamApiError, type StoredMsg } from "@nats-io/jetstream";
import { waits } from "../../../server/mod.ts";
import { makeStream } from "./make_stream.ts";
import type { Nodes } from "../nodes/nodes.ts";
import { patiently } from "../nodes/retry.ts";

export interface LogCopiesOptions {
  readonly nodes: Pick<Nodes, "jetstream" | "manager">;
  readonly prefix: string;
  readonly replicas: number;
}

export interface CopyHead {
  readonly position: number;
  /**
   * Names the parts of this attempt alone: two relays, or a late answer, must not mix their parts.
   */
  readonly name: string;
  /** The position of the copy before it, if there was one. */
  readonly before?: number;
  readonly beforeName?: string;
  readonly parts: number;
  readonly sha256: string;
}

const partBytes = 1024 * 1024;
/** A code of the nodes: the head is not the expected one. */
const wrongLastSequence = 10071;
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
    const { nodes, prefix, replicas } = this.#options;
    await makeStream(nodes, {
      name: this.#name,
      subjects: [`${prefix}.copy.>`],
      num_replicas: replicas,
      max_msgs_per_subject: 1,
      discard: DiscardPolicy.Old,
    });
  }

  async newest(): Promise<CopyHead | undefined> {
    return (await this.#newest()).head;
  }

  /** `revision` changes with the head; 0 while there is none. */
  async #newest(): Promise<{ readonly head: CopyHead | undefined; readonly revision: number }> {
    const found = await this.#read(`${this.#options.prefix}.copy.head`);
    if (found === undefined) return { head: undefined, revision: 0 };
    return { head: JSON.parse(new TextDecoder().decode(found.data)), revision: found.seq };
  }

  /**
   * Stores a file as the copy at a position, behind all others. Returns the position up to which
   * the log may be shortened.
   */
  async save(path: string, position: number): Promise<number> {
    const { prefix } = this.#options;
    const { head: before, revision } = await this.#newest();
    // One that stood still, or was given up: the log between the two is gone, or is about to go.
    if (before !== undefined && before.position >= position) {
      throw new Error(
        `A copy at ${before.position} is there already; the one at ${position} is late`,
      );
    }
    const name = `${position}-${crypto.randomUUID()}`;
    const content = await this.#saveParts(path, name).catch(async (error) => {
      await this.#purge(name).catch(() => {});
      throw error;
    });
    const head: CopyHead = {
      position,
      name,
      ...(before && { before: before.position, beforeName: before.name }),
      ...content,
    };
    const stored = await this.#stored();
    // Not over the head of another relay: one that was frozen here must not bring back a copy whose
    // log is gone.
    const expect = { lastSubjectSequence: revision };
    await this.#write(`${prefix}.copy.head`, new TextEncoder().encode(JSON.stringify(head)), expect)
      .catch(
        async (error) => {
          // Only then is it certain that no head names them.
          if (isLate(error)) await this.#purge(name).catch(() => {});
          throw error;
        },
      );
    // Older ones, and those of attempts that had no head or cannot have it any more.
    const kept = new Set([name, head.beforeName]);
    for (const other of stored) if (!kept.has(other)) await this.#purge(other);
    return head.before ?? 0;
  }

  async #saveParts(path: string, name: string): Promise<Pick<CopyHead, "parts" | "sha256">> {
    const hash = createHash("sha256");
    let parts = 0;
    using file = await Deno.open(path);
    for (const buffer = new Uint8Array(partBytes);;) {
      const length = await file.read(buffer);
      if (length === null) break;
      const part = buffer.slice(0, length);
      hash.update(part);
      await this.#write(`${this.#options.prefix}.copy.${name}.${parts++}`, part);
    }
    return { parts, sha256: hash.digest("hex") };
  }

  /** The names of copies that have a part here. */
  async #stored(): Promise<readonly string[]> {
    const { nodes: { manager }, prefix } = this.#options;
    const { state } = await manager.streams.info(this.#name, {
      subjects_filter: `${prefix}.copy.*.*`,
    });
    const names = Object.keys(state.subjects ?? {}).flatMap((subject) =>
      subject.split(".").slice(-2, -1)
    );
    return [...new Set(names)];
  }

  async #purge(name: string): Promise<void> {
    await this.#options.nodes.manager.streams.purge(this.#name, {
      filter: `${this.#options.prefix}.copy.${name}.*`,
    });
  }

  /** Writes a copy to a file. Throws when a part is missing or damaged. */
  async load(head: CopyHead, path: string): Promise<void> {
    const { position, name, parts, sha256 } = head;
    const hash = createHash("sha256");
    using file = await Deno.open(path, { write: true, createNew: true, mode: 0o600 });
    for (let number = 0; number < parts; number++) {
      const part = (await this.#read(`${this.#options.prefix}.copy.${name}.${number}`))?.data;
      if (part === undefined) {
        throw new Error(`Part ${number} of the copy at ${position} is missing`);
      }
      hash.update(part);
      for (let at = 0; at < part.length;) at += await file.write(part.subarray(at));
    }
    if (hash.digest("hex") !== sha256) throw new Error(`The copy at ${position} is damaged`);
  }

  async #write(
    subject: string,
    bytes: Uint8Array,
    expect?: { readonly lastSubjectSequence: number },
  ): Promise<void> {
    const { jetstream } = this.#options.nodes;
    await jetstream.publish(subject, bytes, {
      timeout: waits.copyPart.ms,
      ...(expect && { expect }),
    });
  }

  /** Asks the leader: another node may not have it yet. */
  async #read(subject: string): Promise<StoredMsg | undefined> {
    try {
      const { nodes } = this.#options;
      return await patiently(() =>
        nodes.manager.streams.getMessage(this.#name, { last_by_subj: subject })
      ) ??
        undefined;
    } catch (error) {
      if (error instanceof Error && isMissing.test(error.message)) return undefined;
      throw error;
    }
  }
}

/** Another head was there first. */
function isLate(error: unknown): boolean {
  return error instanceof JetStreamApiError && error.code === wrongLastSequence;
}

/** Takes away the file that a copy is loaded to, with what SQLite keeps beside it. */
export async function removeCopy(path: string): Promise<void> {
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    await Deno.remove(file).catch((error: unknown) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
  }
}

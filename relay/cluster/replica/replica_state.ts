/**
 * The state of a copy of the log beside the engine's content, in the same file and written with it:
 * its position, the writers, the sessions, and the chain of its results.
 */
import { type CborValue, decodeCbor, encodeCbor } from "../../../proto/mod.ts";
import type { ReplicaStore } from "../../engine/mod.ts";
import { ReplicaSessions } from "./sessions.ts";
import { type Writer, Writers } from "../log/writers.ts";

type Commits = ReplicaStore["commits"];
type ReplicaDatabase = ReplicaStore["database"];
type PreparedWrite = { run(...values: (string | number | null | Uint8Array)[]): number };

const digestBytes = 32;
/** A digest is kept, and told, at every position that this divides. */
export const digestEvery = 128;
const keptDigests = 64;

export class ReplicaState {
  readonly writers: Writers;
  readonly sessions: ReplicaSessions;
  position = 0;
  digest: Uint8Array = new Uint8Array(digestBytes);
  readonly #digests = new Map<number, Uint8Array>();
  readonly #commits: Commits;
  readonly #save: PreparedWrite;
  #isSaving = false;

  constructor(database: ReplicaDatabase, commits: Commits) {
    this.#commits = commits;
    database.prepare(
      "CREATE TABLE IF NOT EXISTS replica (id INTEGER PRIMARY KEY, state BLOB NOT NULL) STRICT",
    ).run();
    this.#save = database.prepare("INSERT OR REPLACE INTO replica (id, state) VALUES (1, ?)");
    this.sessions = new ReplicaSessions(database);
    const stored = database.prepare<{ state: Uint8Array }>("SELECT state FROM replica WHERE id = 1")
      .get();
    this.writers = stored === undefined ? new Writers() : this.#restore(stored.state);
  }

  /** Resolves when everything before it is carried out and can be read. */
  passed(): Promise<void> {
    return this.#commits.write(() => {});
  }

  /** The log was begun with up to here: written soon, at the latest before a rest. */
  async reached(position: number): Promise<void> {
    this.position = position;
    // One write at a time, behind what it tells of: entries that come meanwhile share the next.
    if (this.#isSaving) return;
    this.#isSaving = true;
    for (let saved = -1; saved !== this.position;) {
      saved = this.position;
      await this.save();
    }
    this.#isSaving = false;
  }

  /** Written with what was carried out so far. */
  save(): Promise<void> {
    const changed = this.sessions.takeChanged();
    const state = this.#encode();
    return this.#commits.write(() => {
      this.#save.run(state);
      this.sessions.write(changed);
    });
  }

  chained(position: number, digest: Uint8Array): void {
    this.digest = digest;
    if (position % digestEvery !== 0) return;
    this.#digests.set(position, digest);
    const [oldest] = this.#digests.keys();
    if (this.#digests.size > keptDigests && oldest !== undefined) this.#digests.delete(oldest);
  }

  /** The chain at a position, if it is remembered. */
  digestAt(position: number): Uint8Array | undefined {
    return this.#digests.get(position);
  }

  get newestDigest(): { readonly position: number; readonly digest: Uint8Array } | undefined {
    const newest = [...this.#digests].at(-1);
    return newest && { position: newest[0], digest: newest[1] };
  }

  #encode(): Uint8Array {
    const writers = [...this.writers].map((
      [id, { relay, last, at }],
    ): CborValue => [id, relay, last, at]);
    const endings = this.writers.endings.relays.map((ending): CborValue => [...ending]);
    return encodeCbor([this.position, this.digest, writers, endings]);
  }

  #restore(bytes: Uint8Array): Writers {
    const fields = decodeCbor(bytes);
    const [position, digest, writers, endings = []] = Array.isArray(fields) ? fields : [];
    const isWhole = Array.isArray(writers) && Array.isArray(endings);
    if (typeof position !== "number" || !(digest instanceof Uint8Array) || !isWhole) {
      throw new TypeError("The relay's copy of the log is damaged");
    }
    this.position = position;
    this.digest = digest;
    const known = writers.map((item): [string, Writer] => {
      const [id, relay, last, at = 0] = Array.isArray(item) ? item : [];
      return [String(id), { relay: String(relay), last: Number(last), at: Number(at) }];
    });
    const relays = endings.map((item): [string, number] => {
      const [relay, at] = Array.isArray(item) ? item : [];
      return [String(relay), Number(at)];
    });
    return new Writers(known, { relays, floor: 0 });
  }
}

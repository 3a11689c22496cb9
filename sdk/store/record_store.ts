/**
 * The encrypted store: get, put, delete, atomic batches, the list of one kind, and its end. Every
 * acknowledged batch is durable and complete. After any damage by a disk, a crash or a person, a
 * read returns what was written or throws.
 */
import { type Aes256Gcm, keyBytes, maxSeals, nonceBytes } from "../../wasm/mod.ts";
import { decodeKeyFile } from "./data_key.ts";
import { damageOf, StoreFault } from "./errors.ts";
import { ForgettingSchedule } from "./forgetting_schedule.ts";
import { BatchWriter } from "./batch_writer.ts";
import { encodeHead, encodeWitness } from "./store_head.ts";
import { firstFormat, newestFormat, upgradeValue } from "./migrations.ts";
import { headName, kindPrefixBytes, Names, recordPrefix } from "./names.ts";
import type { OpenPeriods } from "./open_periods.ts";
import {
  destroyTools,
  type OpenedStore,
  openParts,
  type StoreOptions,
  writeDataKey,
} from "./open_store.ts";
import type { BlobChange, StoreParts } from "./store_backend.ts";
import { emptyPlace, encodePlace, placeOf } from "./periods.ts";
import { isPlain } from "./plain_kinds.ts";
import {
  claimedGeneration,
  claimsSecret,
  createRecordScratch,
  decodeRecord,
  encodeRecord,
  lastOfEach,
  type LoadedRecord,
  maxValueBytes,
  type RecordChange,
  type RecordContent,
  type RecordScratch,
} from "./record.ts";
import { bytesOf, textOf } from "./record_index.ts";

export interface Verification {
  readonly records: number;
  readonly damaged: readonly StoreFault[];
}

/** A record, as the index has it. */
interface ExpectedRecord {
  readonly name: Uint8Array;
  readonly kind: string;
  readonly expected: number;
}

const maxChanges = 10_000;
/** Deletions in one write. */
const maxCleared = 1000;
const maxBatchBytes = 64 * 1024 * 1024;
const decoder = new TextDecoder("utf-8", { fatal: true });

export class RecordStore {
  /** Faults of the store as a whole that were accepted when it was opened. */
  readonly faults: readonly StoreFault[];
  readonly #parts: StoreParts;
  readonly #options: StoreOptions;
  readonly #opened: OpenedStore;
  readonly #names: Names;
  readonly #scratch: RecordScratch = createRecordScratch();
  readonly #commits: BatchWriter;
  /** Undefined where nothing can be overwritten: then no record has a key of its own. */
  #periods: OpenPeriods | undefined;
  readonly #forgetting: ForgettingSchedule | undefined;
  /** The format of what is read and written now. */
  #format: number;
  #generation: number;
  #seals: number;
  #closed = false;

  private constructor(parts: StoreParts, options: StoreOptions, opened: OpenedStore) {
    this.#parts = parts;
    this.#options = options;
    this.#opened = opened;
    this.#names = new Names(opened.tools.nameMac);
    this.#format = opened.format;
    this.#generation = opened.generation;
    this.#seals = opened.seals;
    this.faults = opened.faults;
    this.#commits = new BatchWriter((changes) => this.#commit(changes));
    const periods = this.#periods = opened.periods;
    this.#forgetting = periods && new ForgettingSchedule({
      after: periods.storage.after,
      end: (turned) => this.#endPeriod(turned),
      onFault: (cause) => this.#commits.fail(cause),
    });
  }

  /**
   * Opens a store, or creates it where there is none. Takes over the parts: they are closed with
   * the store, or on failure.
   */
  static async open(parts: StoreParts, options: StoreOptions = {}): Promise<RecordStore> {
    let opened: OpenedStore | undefined;
    try {
      opened = await openParts(parts, options);
      const store = new RecordStore(parts, options, opened);
      await store.#begin();
      await store.#migrate();
      return store;
    } catch (error) {
      if (opened !== undefined) destroyTools(opened.tools);
      await parts.blobs.close();
      throw error;
    }
  }

  /**
   * Resolves when the disk has refused a write: nothing more can be written until the store is
   * opened again.
   */
  get failed(): Promise<StoreFault> {
    return this.#commits.failed;
  }

  async get(kind: string, id: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
    this.#checkOpen();
    return (await this.#read(this.#names.recordName(kind, id).name, kind))?.value;
  }

  /** Whether there is such a record. Reads nothing of the disk. */
  has(kind: string, id: string): boolean {
    this.#checkOpen();
    return this.#opened.index.get(this.#names.recordName(kind, id).name) !== undefined;
  }

  async put(kind: string, id: string, value: Uint8Array): Promise<void> {
    await this.batch([{ type: "put", kind, id, value }]);
  }

  async delete(kind: string, id: string): Promise<void> {
    await this.batch([{ type: "delete", kind, id }]);
  }

  /**
   * All changes or none; of several to one record the last. Values are encrypted before this
   * returns, so they may be reused; its promise resolves when all is durable.
   */
  batch(changes: readonly RecordChange[]): Promise<void> {
    try {
      this.#checkWritable(changes);
      const generation = this.#generation + 1;
      const blobs = lastOfEach(changes).map((change) => this.#encode(change, generation));
      return this.#write(blobs, {
        generation,
        secrets: changes.filter(({ kind }) => !isPlain(kind)).length,
      });
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * Deletes every record of a kind, in several writes when they are many. Reads none: one that is
   * damaged goes like the others.
   */
  async clear(kind: string): Promise<void> {
    this.#checkWritable([]);
    const texts = this.#opened.index.texts(this.#names.kindPrefix(kind));
    for (let at = 0; at < texts.length; at += maxCleared) {
      const blobs = texts.slice(at, at + maxCleared).map((text): BlobChange => ({
        type: "del",
        key: bytesOf(text),
      }));
      await this.#write(blobs, {
        generation: this.#generation + 1,
        secrets: isPlain(kind) ? 0 : blobs.length,
      });
    }
  }

  /**
   * Every record of one kind, in no particular order. A damaged record fails the whole list, unless
   * `onDamaged` takes note of it: then the others are answered.
   */
  async list(kind: string, onDamaged?: (error: StoreFault) => void): Promise<LoadedRecord[]> {
    this.#checkOpen();
    const records: LoadedRecord[] = [];
    for await (const result of this.#readAll(this.#names.kindPrefix(kind), () => kind)) {
      if (!(result instanceof StoreFault)) {
        records.push({ id: decoder.decode(result.id), value: result.value });
      } else if (onDamaged !== undefined) onDamaged(result);
      else throw result;
    }
    return records;
  }

  /** Reads every record. Kinds must be given for their damage to carry a name. */
  async verify(kinds: readonly string[] = []): Promise<Verification> {
    this.#checkOpen();
    const known = new Map(kinds.map((kind) => [this.#names.kindPrefix(kind).join(), kind]));
    const kindOf = (name: Uint8Array): string =>
      known.get(name.subarray(0, kindPrefixBytes).join()) ?? "unknown";
    let records = 0;
    const damaged: StoreFault[] = [];
    for await (const result of this.#readAll(recordPrefix, kindOf)) {
      records++;
      if (result instanceof StoreFault) damaged.push(result);
    }
    return { records, damaged };
  }

  /**
   * Wraps the data key anew; no record is touched. `undefined` stands for no passphrase, before or
   * after.
   */
  async changePassphrase(
    { from, to }: { from: string | undefined; to: string | undefined },
  ): Promise<void> {
    this.#checkOpen();
    const file = await this.#parts.keys.read();
    if (file === undefined) {
      throw new StoreFault(
        "store_corrupt",
        "Cannot change the passphrase: the key file is missing",
      );
    }
    const key = await decodeKeyFile(file, from);
    try {
      await writeDataKey(this.#parts, key, { passphrase: to, cost: this.#options.cost });
    } finally {
      key.fill(0);
    }
  }

  /**
   * Waits for what was begun, then wipes the keys and releases the lock. Closing twice is harmless.
   */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#forgetting?.settle();
    await this.#commits.settle();
    this.#periods?.period.destroy();
    destroyTools(this.#opened.tools);
    await this.#parts.blobs.close();
  }

  /**
   * One batch a migration, with the number of its format in the head: after a crash the next
   * opening goes on from there.
   */
  async #migrate(): Promise<void> {
    const { migrations = [] } = this.#options;
    if (this.#isReadOnly()) this.#format = newestFormat(migrations);
    for (const { changes } of migrations.slice(this.#format - firstFormat)) {
      const wanted = await changes?.(this) ?? [];
      this.#format++;
      await this.batch(wanted);
    }
  }

  /**
   * A period begins with each opening: it ends what a crash has interrupted, and what the process
   * before had to forget. And no key is made twice by a store that a crash or a copy has set back.
   */
  async #begin(): Promise<void> {
    if (this.#opened.isNew) return await this.#commits.add(this.#keyList());
    if (this.#isReadOnly()) return;
    if (this.#forgetting !== undefined) await this.#forgetting.endNow();
    else if (this.faults.length > 0) await this.#commits.add([]);
    this.#commits.check();
  }

  /**
   * See README.md: nothing is sealed under the new secret before it is on disk, and the old
   * one goes last.
   */
  async #endPeriod(turned: () => void): Promise<void> {
    const before = this.#periods;
    if (before === undefined) return turned();
    this.#commits.check();
    const { storage, period } = before;
    const { random } = this.#parts;
    const next = { number: period.number + 1, secret: random(keyBytes) };
    await storage.overwrite(
      placeOf(next),
      encodePlace(next, { gcm: this.#opened.tools.periodGcm, random }),
    );
    this.#commits.check();
    turned();
    this.#generation++;
    this.#periods = { ...before, period: period.followedBy(next) };
    await this.#commits.add(this.#keyList());
    await storage.overwrite(placeOf(period), emptyPlace);
  }

  #keyList(): BlobChange[] {
    const periods = this.#periods;
    if (periods === undefined) return [];
    const list = periods.period.encodeList(this.#generation, periods.parts, this.#parts.random);
    this.#periods = { ...periods, parts: list.filter(({ type }) => type === "put").length };
    return list;
  }

  /** The index knows them at once; the promise resolves when they are durable. */
  #write(
    blobs: readonly BlobChange[],
    of: { readonly generation: number; readonly secrets: number },
  ): Promise<void> {
    this.#generation = of.generation;
    for (const blob of blobs) {
      const isSecret = blob.type === "put" && claimsSecret(blob.value);
      this.#periods?.period.changed(blob.key, isSecret ? of.generation : undefined);
      if (blob.type === "put") this.#opened.index.set(blob.key, of.generation, isSecret);
      else this.#opened.index.delete(blob.key);
    }
    const written = this.#commits.add(blobs);
    this.#forgetting?.noted(of.secrets);
    return written;
  }

  /** Writes a group of batches with the head that counts them, then tells the witness. */
  async #commit(changes: BlobChange[]): Promise<void> {
    const { tools, index } = this.#opened;
    const generation = this.#generation;
    const head = { format: this.#format, generation, seals: ++this.#seals, digest: index.digest() };
    const value = encodeHead(head, { ...tools, nonce: this.#parts.random(nonceBytes) });
    await this.#parts.blobs.write([...changes, { type: "put", key: headName, value }]);
    await this.#parts.witness?.write(encodeWitness(generation, tools.witnessMac));
  }

  /**
   * Reads until what lies on disk is what the index expects. They differ while a write is on its
   * way; when none is, the disk has lost or exchanged the record.
   */
  async #read(name: Uint8Array, kind: string): Promise<RecordContent | undefined> {
    const { index } = this.#opened;
    for (;;) {
      const expected = index.get(name);
      if (expected === undefined) return undefined;
      const wasIdle = this.#commits.isIdle();
      const bytes = await this.#parts.blobs.get(name);
      const unchanged = index.get(name) === expected;
      const asExpected = bytes !== undefined && claimedGeneration(bytes) === expected;
      if (unchanged && (asExpected || (wasIdle && this.#commits.isIdle()))) {
        if (!asExpected) this.#commits.check();
        return this.#decode(bytes, { name, kind, expected });
      }
      await this.#commits.settle();
    }
  }

  /**
   * In one scan of the disk. A record that it does not show as the index expects is read by itself:
   * it is being written, or damaged.
   */
  async *#readAll(
    prefix: Uint8Array,
    kindOf: (name: Uint8Array) => string,
  ): AsyncIterable<RecordContent | StoreFault> {
    const { index } = this.#opened;
    const left = new Set(index.texts(prefix));
    if (left.size === 0) return;
    try {
      for await (const { key: name, value } of this.#parts.blobs.list(prefix)) {
        const text = textOf(name);
        const expected = index.generationOf(text);
        if (expected === undefined || claimedGeneration(value) !== expected) continue;
        left.delete(text);
        yield this.#decodeOrDamage(value, { name, kind: kindOf(name), expected });
      }
    } catch (error) {
      damageOf(error); // whatever the scan has not shown is read below
    }
    for (const text of left) {
      const name = bytesOf(text);
      const record = await this.#read(name, kindOf(name)).catch(damageOf);
      if (record !== undefined) yield record;
    }
  }

  #encode(change: RecordChange, generation: number): BlobChange {
    const { id, name } = this.#names.recordName(change.kind, change.id);
    if (change.type === "delete") return { type: "del", key: name };
    this.#seals++;
    const period = isPlain(change.kind) ? undefined : this.#periods?.period;
    const nonce = this.#parts.random(nonceBytes);
    const encode = (gcm: Aes256Gcm): Uint8Array => {
      const by = { gcm, isSecret: period !== undefined, nonce, name, scratch: this.#scratch };
      return encodeRecord({ schema: this.#format, generation, id, value: change.value }, by);
    };
    const value = period?.seal(name, generation, encode) ?? encode(this.#opened.tools.gcm);
    return { type: "put", key: name, value };
  }

  #decode(bytes: Uint8Array | undefined, of: ExpectedRecord): RecordContent {
    const { kind } = of;
    if (bytes === undefined) {
      throw new StoreFault(
        "store_corrupt",
        `Cannot read a record of kind "${kind}": it has vanished`,
        { kind },
      );
    }
    const decode = (gcm: Aes256Gcm): RecordContent => decodeRecord(bytes, { ...of, gcm });
    const period = claimsSecret(bytes) ? this.#periods?.period : undefined;
    const record = period?.open(of.name, of.expected, decode) ?? decode(this.#opened.tools.gcm);
    if (record.generation !== of.expected) {
      const text =
        `Cannot trust a record of kind "${kind}": it was replaced by another version of itself`;
      throw new StoreFault("store_corrupt", text, { kind });
    }
    if (record.schema === this.#format) return record;
    if (record.schema > this.#format) {
      const text =
        `Cannot read a record of kind "${kind}": it has format ${record.schema}, its store ${this.#format}. A ` +
        "newer version of this library wrote it: update this one";
      throw new StoreFault("unsupported_version", text, { kind });
    }
    const older = { kind, id: decoder.decode(record.id), value: record.value, from: record.schema };
    return { ...record, value: upgradeValue(this.#options.migrations ?? [], older, this.#format) };
  }

  #decodeOrDamage(bytes: Uint8Array, of: ExpectedRecord): RecordContent | StoreFault {
    try {
      return this.#decode(bytes, of);
    } catch (error) {
      return damageOf(error);
    }
  }

  #isReadOnly(): boolean {
    return this.faults.length > 0 && this.#options.damaged === "read";
  }

  #checkWritable(changes: readonly RecordChange[]): void {
    this.#checkOpen();
    this.#commits.check();
    if (this.#isReadOnly()) {
      throw new StoreFault(
        "store_corrupt",
        "Cannot write: the store is damaged and was opened for reading",
      );
    }
    const bytes = changes.reduce(
      (sum, change) => sum + (change.type === "put" ? change.value.length : 0),
      0,
    );
    const tooLarge = changes.some((change) =>
      change.type === "put" && change.value.length > maxValueBytes
    );
    if (changes.length > maxChanges || bytes > maxBatchBytes || tooLarge) {
      const limits =
        `${maxChanges} changes, ${maxBatchBytes} bytes in all, ${maxValueBytes} a value`;
      throw new StoreFault(
        "payload_too_large",
        `Cannot write a batch beyond ${limits}; write several`,
      );
    }
    if (this.#seals + changes.length + 1 > maxSeals) {
      throw new StoreFault(
        "store_failed",
        "Cannot write: the data key has sealed all it may; move to a new store",
      );
    }
  }

  #checkOpen(): void {
    if (this.#closed) {
      throw new StoreFault("transport_error", "The client was closed; connect again");
    }
  }
}

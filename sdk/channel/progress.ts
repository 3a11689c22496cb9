/**
 * How far the application has come. Processed messages are written to disk (their senders' keys moved on, the position
 * in the log) and acknowledged to the relay after that. Writes collect for a moment, so that a fast reader neither
 * waits for the disk with every message nor wears it out. A position that only moved past entries which are not for the
 * application causes no write of its own for a while: after a crash they are passed over once more.
 */
import type { ChannelId } from "../../proto/mod.ts";
import { createDeferred, type Deferred } from "../base/deferred.ts";
import { createError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { RecordChange } from "../store/mod.ts";
import type { LogPosition } from "./reading/log_place.ts";
import { type ChannelStore, putPosition } from "./records.ts";

/** A reader that is further than this ahead of the disk waits for it: so many messages may come again after a crash. */
const maxAhead = 64;

const notWritten = "The channel ended before the acknowledgement was on disk; the message comes again";

/** Before a write, and between two, unless many messages or somebody waits for it. */
const collectMs = 50;
/** The same, when somebody waits: the first is written at once, and those that come meanwhile go together. */
const paceMs = 4;
/** For a position alone. */
const laterMs = 1_000;

/** To be written. A function is asked when it is written: others may write the same record before that. */
export type Noted = RecordChange | (() => RecordChange);

export interface ProgressDeps {
  readonly channelId: ChannelId;
  readonly store: Pick<ChannelStore, "batch">;
  /** Where the application stands now. */
  readonly position: () => LogPosition;
  /** Called after each write, with the position that is durable. */
  readonly onDurable: (position: number) => Promise<void>;
  readonly onFault: (fault: unknown) => void;
  readonly after: Runtime["after"];
}

export class Progress {
  readonly #deps: ProgressDeps;
  #changes: Noted[] = [];
  #ahead = 0;
  #durable: number;
  /** It was of another log, and none of this one is on disk yet. */
  #isVoid = false;
  /** A write that began before the place was set anew says nothing about it. */
  #life = 0;
  #writing: Promise<void> | undefined;
  /** Resolved when a write must not wait any longer. */
  #hurry = createDeferred<void>();
  #cancelLater: (() => void) | undefined;
  /** A write has just been made, or is being made: the next one is not hurried by those who wait. */
  #isPaced = false;
  #cancelPace: (() => void) | undefined;
  #stopped = false;
  /** A write failed: what it held is nowhere. */
  #failed = false;
  /** They wait for the write that holds what was noted before they asked. */
  #waiting: Deferred<void>[] = [];

  constructor(position: number, deps: ProgressDeps) {
    this.#durable = position;
    this.#deps = deps;
  }

  /** Never delivered again. */
  get durable(): number {
    return this.#durable;
  }

  /** The last entry that we may have acknowledged. While our place was in another log, that may be any of this one. */
  get reached(): number {
    return this.#isVoid ? Infinity : this.#durable;
  }

  /** Messages that the application is done with, and that would come again after a crash now. */
  get ahead(): number {
    return this.#ahead;
  }

  /** The application is done with something, or the log moved on past entries that are not for it. */
  note(changes: readonly Noted[] = [], messages = 0): Promise<void> | undefined {
    for (const change of changes) this.#changes.push(change);
    this.#ahead += messages;
    if (!this.#isWorthAWrite()) return this.#writeLater();
    if (this.#ahead >= maxAhead / 2) this.#hurry.resolve();
    this.#writing ??= this.#write();
    return this.#ahead > maxAhead ? this.#writing : undefined;
  }

  /** Resolves when what was noted so far is on disk, and rejects with `StaticError` when it will not be. Urgent: without a rest. */
  written({ isUrgent = false }: { readonly isUrgent?: boolean } = {}): Promise<void> {
    const waiting = createDeferred<void>();
    this.#waiting.push(waiting);
    if (this.#isPaced && !isUrgent) this.#cancelPace ??= this.#deps.after(paceMs, () => this.#hurry.resolve());
    else this.#hurry.resolve();
    this.#writing ??= this.#write();
    return waiting.promise;
  }

  /** Resolves when everything noted is on disk. */
  async flush(): Promise<void> {
    while (this.#writing !== undefined || (!this.#stopped && this.#hasNews())) {
      this.#hurry.resolve();
      await (this.#writing ??= this.#write());
    }
  }

  /** The relay's log goes on behind this entry, which may be before the place where we were. The place is written again. */
  async lose(position: number): Promise<void> {
    await this.flush();
    this.#durable = Math.min(this.#durable, position - 1);
  }

  /** The position is void, because it belongs to another log. Pending writes do not count for this one. */
  forget(): void {
    this.#durable = 0;
    this.#isVoid = true;
    this.#life++;
    this.#ahead = 0;
  }

  /** After a rejoin: what came before is not read any more. */
  restart(position: number): void {
    this.#durable = position;
    this.#isVoid = false;
    this.#life++;
    this.#changes = [];
    this.#ahead = 0;
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelLater?.();
    this.#hurry.resolve();
  }

  /** Of those who still wait, all is on disk, or nothing more will be. */
  #release(): void {
    const isLost = this.#stopped && (this.#failed || this.#ahead > 0 || this.#changes.length > 0);
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (isLost) reject(createError("transport_error", notWritten));
      else resolve();
    }
  }

  #hasNews(): boolean {
    return this.#changes.length > 0 || this.#deps.position().sequence > this.#durable;
  }

  /** More than a position that moved a little. */
  #isWorthAWrite(): boolean {
    const isFar = this.#deps.position().sequence - this.#durable >= maxAhead;
    return isFar || this.#changes.length > 0 || this.#waiting.length > 0;
  }

  /** With the next write, or after a short time. */
  #writeLater(): undefined {
    if (this.#writing !== undefined) return;
    this.#cancelLater ??= this.#deps.after(laterMs, () => {
      this.#cancelLater = undefined;
      if (!this.#stopped && this.#hasNews()) this.#writing ??= this.#write();
    });
  }

  async #write(): Promise<void> {
    try {
      await this.#collect();
      while (!this.#stopped && this.#hasNews()) {
        const changes = this.#changes.map((change) => typeof change === "function" ? change() : change);
        const now = this.#deps.position();
        const position = Math.max(now.sequence, this.#durable);
        const messages = this.#ahead;
        const life = this.#life;
        this.#changes = [];
        const moved = now.sequence < this.#durable ? [] : [putPosition(this.#deps.channelId, now)];
        const waiting = this.#waiting.splice(0);
        this.#isPaced = true;
        await this.#deps.store.batch([...changes, ...moved]).catch((fault) => {
          this.#failed = true;
          this.#waiting.push(...waiting);
          throw fault;
        });
        for (const { resolve } of waiting) resolve();
        if (life !== this.#life) continue;
        this.#durable = position;
        if (position > 0) this.#isVoid = false;
        this.#ahead -= messages;
        await this.#deps.onDurable(position);
        if (!this.#isWorthAWrite()) break;
        await this.#collect();
      }
    } catch (fault) {
      this.#stopped = true;
      this.#deps.onFault(fault);
    } finally {
      this.#writing = undefined;
      this.#endPace();
      this.#release();
      if (!this.#stopped && this.#hasNews()) this.#writeLater();
    }
  }

  async #collect(): Promise<void> {
    // At least everything that is noted in this turn of the event loop goes into one write.
    await Promise.resolve();
    const cancel = this.#deps.after(collectMs, () => this.#hurry.resolve());
    await this.#hurry.promise;
    cancel();
    this.#endPace();
    this.#hurry = createDeferred<void>();
  }

  #endPace(): void {
    this.#isPaced = false;
    this.#cancelPace?.();
    this.#cancelPace = undefined;
  }
}

/**
 * Writes commands to a shared log, in the order in which they were given, and answers each with
 * what this relay's own reading of the log made of it. Commands that come while others are under
 * way go together. Whatever is not seen in the log is sent again, with the same numbers, so that it
 * counts once.
 */
import { after, waits, within } from "../../../server/mod.ts";
import { EngineError } from "../../engine/mod.ts";
import { encodeBatch, maxBatchBytes } from "./batch.ts";
import { BatchPace } from "./batch_pace.ts";
import type { BatchVerdict } from "./writers.ts";

export interface LogWriterOptions {
  readonly writer: string;
  readonly relay: string;
  /** Resolves with the position that a majority has given it. */
  readonly publish: (bytes: Uint8Array) => Promise<number>;
  /** The last entry of the log that was carried out. */
  readonly position: () => number;
  /** Looks whether the log has more than was read. */
  readonly catchUp: () => Promise<void>;
  readonly nowMs: () => number;
  /** For simulated time. */
  readonly after?: typeof after;
  /**
   * The log has other entries where this relay has read some already: the nodes have lost a part of
   * it.
   */
  readonly onSetBack: () => void;
  /** This writer was given up by the others. */
  readonly onFenced: () => void;
}

interface QueuedCommand {
  readonly bytes: Uint8Array;
  readonly sinceMs: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  /** Takes the verdict when it comes after the command was given up. */
  readonly late?: LateResultHandler | undefined;
}

/** A verdict that nobody waits for any more. */
export type LateResultHandler = (result: unknown) => void;

interface SentBatch {
  readonly number: number;
  readonly bytes: Uint8Array;
  readonly commands: readonly QueuedCommand[];
  readonly sinceMs: number;
  /** The log has it without its predecessor: it was read, and does not count. */
  wasVoid: boolean;
  /** The callers of its commands were told that nobody knows. */
  isGivenUp: boolean;
  /** The nodes have said that they have the batch. */
  isStored: boolean;
}

/** More under way at once would make batches smaller and not be faster. */
const batchesUnderWay = 4;
const commandsPerBatch = 256;
/** Beyond this a batch takes no more; one large command is a batch of its own. */
const batchBytes = 512 * 1024;
const lookMs = 500;

export class LogWriter {
  readonly #options: LogWriterOptions;
  #waiting: QueuedCommand[] = [];
  #sent: SentBatch[] = [];
  #number = 0;
  #writtenMs = 0;
  /** The last verdict came then. */
  #heardMs = -Infinity;
  readonly #pace: BatchPace;
  #resending = false;
  #resentMs = 0;
  #cancelLook: (() => void) | undefined;
  #begun = false;
  #closed = false;
  #drained: PromiseWithResolvers<void> | undefined;
  resends = 0;

  constructor(options: LogWriterOptions) {
    this.#options = options;
    const { nowMs, after: inTime = after } = options;
    this.#pace = new BatchPace({ nowMs, after: inTime, flush: () => this.#flush() });
  }

  /** How long the oldest command has waited for its verdict. */
  get waitingMs(): number {
    const oldest = this.#sent[0] ?? this.#waiting[0];
    return oldest === undefined ? 0 : this.#options.nowMs() - oldest.sinceMs;
  }

  /**
   * How long a verdict has been waited for and none has come: one for an older batch is the log's
   * voice too.
   */
  get silentMs(): number {
    return Math.min(this.waitingMs, this.#options.nowMs() - this.#heardMs);
  }

  /**
   * The batch that has waited longest. Others may publish it too, as this writer does itself when
   * it has no answer: it counts once, and nothing before it is missing.
   */
  get oldest(): Uint8Array | undefined {
    return this.#sent[0]?.bytes;
  }

  /** The nodes have the oldest command, and this relay has not read so far yet. */
  get isStored(): boolean {
    return this.#sent[0]?.isStored ?? false;
  }

  /** Since when nothing was written. */
  get idleMs(): number {
    return this.#sent.length > 0 ? 0 : this.#options.nowMs() - this.#writtenMs;
  }

  /**
   * Says that the writer is there; resolves when the log has it. Commands wait for it, and for
   * `first`, if there is one.
   */
  async begin(first?: Uint8Array): Promise<void> {
    if (this.#closed) throw new EngineError("closed", "The relay's engine is closed");
    const sinceMs = this.#options.nowMs();
    const begun = new Promise((resolve, reject) => {
      this.#send(
        [{ bytes: new Uint8Array(0), sinceMs, resolve, reject }],
        [],
        this.#options.position(),
      );
    });
    const done = new Promise<unknown>((resolve, reject) => {
      if (first === undefined) resolve(undefined);
      else this.#waiting.unshift({ bytes: first, sinceMs, resolve, reject });
    });
    this.#begun = true;
    this.#flush();
    await Promise.all([begun, done]);
  }

  /**
   * Resolves with what the command came to. Rejects with `unavailable` when nobody knows; the
   * command may still count afterwards, and `late` is told then.
   */
  write(command: Uint8Array, late?: LateResultHandler): Promise<unknown> {
    if (this.#closed) {
      return Promise.reject(new EngineError("closed", "The relay's engine is closed"));
    }
    if (command.length > maxBatchBytes) {
      const text = `A command of ${command.length} bytes is too large for the shared log`;
      return Promise.reject(new EngineError("invalid", text));
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ bytes: command, sinceMs: this.#options.nowMs(), resolve, reject, late });
      this.#pace.came();
      this.#lookSoon();
    });
  }

  /** The log has a batch of this writer. `results` are what its commands came to, if it counts. */
  seen(number: number, standing: BatchVerdict, results: readonly Promise<unknown>[]): void {
    if (standing === "fenced") return this.#options.onFenced();
    if (standing === "void") {
      for (const sent of this.#sent) {
        if (sent.number === number) [sent.wasVoid, sent.isStored] = [true, false];
      }
      return this.#resendSoon();
    }
    if (standing !== "counts") return;
    this.#heardMs = this.#options.nowMs();
    const batch = this.#sent.shift();
    if (batch === undefined || batch.number !== number) return this.#options.onFenced();
    if (results.length === 0) batch.commands.forEach(({ resolve }) => resolve(undefined));
    else {
      batch.commands.forEach(({ resolve, reject, late }, index) => {
        void results[index]?.then(batch.isGivenUp ? late : resolve, reject);
      });
    }
    this.#flush();
    if (this.#sent.length === 0 && this.#waiting.length === 0) this.#drained?.resolve();
  }

  /** Takes no more; resolves when everything has its verdict. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#sent.length + this.#waiting.length > 0) {
      this.#drained = Promise.withResolvers();
      await this.#drained.promise;
    }
    this.#cancelLook?.();
  }

  /** Gives up everything. */
  abort(error: EngineError): void {
    this.#closed = true;
    this.#cancelLook?.();
    this.#pace.stop();
    for (
      const { reject } of [...this.#sent.flatMap(({ commands }) => commands), ...this.#waiting]
    ) reject(error);
    this.#sent = [];
    this.#waiting = [];
    this.#drained?.resolve();
  }

  /**
   * While batches are sent again, a new one would overtake them and be void, and so would the next:
   * it waits.
   */
  get #maySend(): boolean {
    return this.#begun && !this.#resending && !this.#sent.some(({ wasVoid }) => wasVoid);
  }

  #flush(): void {
    while (this.#maySend && this.#waiting.length > 0 && this.#sent.length < batchesUnderWay) {
      if (this.#waitsForMore()) return;
      let [count, bytes] = [0, 0];
      for (const command of this.#waiting) {
        if (
          count === commandsPerBatch || (count > 0 && bytes + command.bytes.length > batchBytes)
        ) break;
        count++;
        bytes += command.bytes.length;
      }
      const commands = this.#waiting.splice(0, count);
      this.#send(commands, commands.map((command) => command.bytes));
    }
  }

  #waitsForMore(): boolean {
    const [oldest] = this.#waiting;
    return oldest !== undefined && this.#waiting.length < commandsPerBatch &&
      this.#pace.waits(oldest.sinceMs);
  }

  #send(commands: readonly QueuedCommand[], encoded: readonly Uint8Array[], began?: number): void {
    const { writer, relay, nowMs } = this.#options;
    const number = ++this.#number;
    const bytes = encodeBatch({ writer, relay, number, began, commands: encoded });
    this.#writtenMs = nowMs();
    this.#sent.push({
      number,
      bytes,
      commands,
      sinceMs: this.#writtenMs,
      wasVoid: false,
      isGivenUp: false,
      isStored: false,
    });
    this.#lookSoon();
    this.#publish(number, bytes).catch(() => this.#resendSoon());
  }

  async #publish(number: number, bytes: Uint8Array): Promise<void> {
    const position = await this.#options.publish(bytes);
    for (const sent of this.#sent) if (sent.number === number) sent.isStored = true;
    // One that overtook its predecessor is there, and was read, and waits for its next copy.
    const isUnseen = this.#sent.some((sent) => sent.number === number && !sent.wasVoid);
    if (isUnseen && position <= this.#options.position()) this.#options.onSetBack();
  }

  #resendSoon(): void {
    const { nowMs } = this.#options;
    if (nowMs() - this.#resentMs < lookMs) return; // the next look does it
    void this.#resend();
  }

  async #resend(): Promise<void> {
    if (this.#resending) return;
    this.#resending = true;
    this.#resentMs = this.#options.nowMs();
    try {
      for (const { number, bytes } of [...this.#sent]) {
        if (!this.#sent.some((sent) => sent.number === number)) continue;
        this.resends++;
        await this.#publish(number, bytes);
      }
    } catch {
      // Looked at again soon.
    } finally {
      this.#resending = false;
      this.#flush();
    }
  }

  #lookSoon(): void {
    const { after: inTime = after } = this.#options;
    this.#cancelLook ??= inTime(lookMs, () => {
      this.#cancelLook = undefined;
      this.#look().finally(() => {
        if (this.#sent.length + this.#waiting.length > 0) this.#lookSoon();
      });
    });
  }

  async #look(): Promise<void> {
    const { nowMs, catchUp } = this.#options;
    if (this.waitingMs < lookMs) return;
    if (this.waitingMs > waits.logVerdict.ms) {
      // A batch that was sent may still count and keeps its number; commands that were not sent are
      // given up for good, with all behind them: those would overtake what is asked for again.
      const isOld = ({ sinceMs }: { readonly sinceMs: number }): boolean =>
        nowMs() - sinceMs > waits.logVerdict.ms;
      for (const sent of this.#sent.filter(isOld)) {
        sent.isGivenUp = true;
        sent.commands.forEach(giveUp);
      }
      if (this.#waiting.some(isOld)) this.#waiting.splice(0).forEach(giveUp);
    }
    try {
      // A reader that does not get on must not keep the writer from sending again: others may wait
      // for that.
      await within(waits.logCatchUp.ms, catchUp());
    } catch {
      // No leader, or a node that does not answer.
    }
    // A void batch is known not to count: no reason to wait.
    const dueMs = this.#sent.some(({ wasVoid }) => wasVoid) ? lookMs : waits.logResend.ms;
    if (this.waitingMs >= dueMs && nowMs() - this.#resentMs >= dueMs) await this.#resend();
  }
}

function giveUp({ reject }: QueuedCommand): void {
  reject(
    new EngineError(
      "unavailable",
      "The relays' shared log has not answered: it has no majority, or cannot be reached",
    ),
  );
}

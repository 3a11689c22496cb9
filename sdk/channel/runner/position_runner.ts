/**
 * Carries out what `stepPosition` says: writes, timers, and what follows a write. The changes themselves wait here. Promises of the
 * application's progress are here alone.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { createError } from "../../base/errors.ts";
import type { Runtime } from "../../base/runtime.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { LogPosition } from "../reading/log_place.ts";
import { hasNews, isFarAhead, stepPosition } from "../messages/position.ts";
import {
  type PositionEffect,
  type PositionEvent,
  type PositionFacts,
  type PositionState,
  restorePosition,
} from "../messages/position_state.ts";
import { type ChannelStore, putPosition } from "../records.ts";

const notWritten = "The channel ended before the acknowledgement was on disk; the message comes again";

/** To be written. A function is asked when it is written: others may write the same record before that. */
export type Noted = RecordChange | (() => RecordChange);

export interface PositionParts {
  readonly channelId: ChannelId;
  readonly store: Pick<ChannelStore, "batch">;
  /** Where the application stands now. */
  readonly position: () => LogPosition;
  /** Called after each write, with the position that is durable. */
  readonly onDurable: (position: number) => Promise<void>;
  readonly onFault: (fault: unknown) => void;
  readonly after: Runtime["after"];
}

export class PositionRunner {
  readonly #parts: PositionParts;
  readonly #state: PositionState;
  readonly #facts: PositionFacts;
  readonly #timers = new Map<number, () => void>();
  readonly #operations = new Map<number, Deferred<void>>();
  #changes: Noted[] = [];
  /** For those that wait until no write is under way. */
  #rested: Deferred<void> | undefined;
  #numbers = 0;

  constructor(position: number, parts: PositionParts) {
    this.#parts = parts;
    this.#state = restorePosition(position);
    this.#facts = {
      get position() {
        return parts.position().sequence;
      },
    };
  }

  /** Never delivered again. */
  get durable(): number {
    return this.#state.durable;
  }

  /** The last entry that we may have acknowledged. While our place was in another log, that may be any of this one. */
  get reached(): number {
    return this.#state.isVoid ? Infinity : this.#state.durable;
  }

  /** Messages that the application is done with, and that would come again after a crash now. */
  get ahead(): number {
    return this.#state.ahead;
  }

  /**
   * The application is done with something, or the log moved on past entries that are not for it. One that is far ahead of the disk
   * waits for the promise.
   */
  note(changes: readonly Noted[] = [], messages = 0): Promise<void> | undefined {
    for (const change of changes) this.#changes.push(change);
    this.#step({ type: "noted", changes: changes.length, messages });
    return isFarAhead(this.#state) && this.#isBusy ? this.#rest() : undefined;
  }

  /** Resolves when what was noted so far is on disk, and rejects with `StaticError` when it will not be. Urgent: without a rest. */
  written({ isUrgent = false }: { readonly isUrgent?: boolean } = {}): Promise<void> {
    const waiting = createDeferred<void>();
    const operation = ++this.#numbers;
    this.#operations.set(operation, waiting);
    this.#step({ type: "asked", operation, isUrgent });
    return waiting.promise;
  }

  /** Resolves when everything noted is on disk. */
  async flush(): Promise<void> {
    while (this.#isBusy || (this.#state.end === "none" && hasNews(this.#state, this.#facts))) {
      this.#step({ type: "hurry" });
      if (this.#isBusy) await this.#rest();
    }
  }

  /** The relay's log goes on behind this entry, which may be before the place where we were. The place is written again. */
  async lose(position: number): Promise<void> {
    await this.flush();
    this.#step({ type: "lost", position });
  }

  /** The position is void, because it belongs to another log. Pending writes do not count for this one. */
  forget(): void {
    this.#step({ type: "forgotten" });
  }

  /** After a rejoin: what came before is not read any more. */
  restart(position: number): void {
    this.#changes = [];
    this.#step({ type: "entered", position });
  }

  stop(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.#step({ type: "stop" });
  }

  get #isBusy(): boolean {
    return this.#state.writing.at !== "resting";
  }

  #rest(): Promise<void> {
    return (this.#rested ??= createDeferred<void>()).promise;
  }

  #step(event: PositionEvent): void {
    for (const effect of stepPosition(this.#state, event, this.#facts)) this.#perform(effect);
  }

  #perform(effect: PositionEffect): void {
    switch (effect.type) {
      case "gather": {
        const { turn } = effect;
        return queueMicrotask(() => this.#step({ type: "gathered", turn }));
      }
      case "wake":
        return this.#wakeAfter(effect.afterMs, effect.timer);
      case "write":
        return this.#write(effect.call, effect.hasPosition);
      case "tell":
        this.#parts.onDurable(effect.position).then(
          () => this.#step({ type: "told", call: effect.call }),
          (fault) => this.#fail(effect.call, fault),
        );
        return;
      case "settle": {
        const waiting = this.#operations.get(effect.operation);
        this.#operations.delete(effect.operation);
        return effect.isLost ? waiting?.reject(createError("transport_error", notWritten)) : waiting?.resolve();
      }
      case "rested":
        this.#rested?.resolve();
        this.#rested = undefined;
    }
  }

  #wakeAfter(ms: number, timer: number): void {
    const cancel = this.#parts.after(ms, () => {
      this.#timers.delete(timer);
      this.#step({ type: "time", timer });
    });
    this.#timers.set(timer, cancel);
  }

  #write(call: number, hasPosition: boolean): void {
    // Those of the moment before are over.
    this.#forgetTimers();
    this.#batch(hasPosition).then(
      () => this.#step({ type: "written", call }),
      (fault) => this.#fail(call, fault),
    );
  }

  async #batch(hasPosition: boolean): Promise<void> {
    const { channelId, store, position } = this.#parts;
    const changes = this.#changes.map((change) => typeof change === "function" ? change() : change);
    this.#changes = [];
    if (hasPosition) changes.push(putPosition(channelId, position()));
    await store.batch(changes);
  }

  #forgetTimers(): void {
    for (const [timer, cancel] of this.#timers) {
      if (timer === this.#state.later?.timer) continue;
      cancel();
      this.#timers.delete(timer);
    }
  }

  #fail(call: number, fault: unknown): void {
    this.#step({ type: "failed", call });
    this.#parts.onFault(fault);
  }
}

/**
 * Carries out what `stepPosition` says: writes, timers, and what follows a write. The changes
 * themselves wait here. Promises of the application's progress are here alone.
 */
import type { ChannelId } from "../../../proto/mod.ts";
import { createError } from "../../base/errors.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { LogPosition } from "../reading/log_place.ts";
import { isFarAhead, stepPosition } from "../messages/position.ts";
import {
  type PositionEffect,
  type PositionEvent,
  type PositionFacts,
  type PositionState,
  restorePosition,
  timersOf,
} from "../messages/position_state.ts";
import { type ChannelStore, putPosition } from "../records.ts";
import { Calls } from "./calls.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";

const notWritten =
  "The channel ended before the acknowledgement was on disk; the message comes again";

/**
 * To be written. A function is asked when it is written, and once however often it was noted:
 * others may write the same record before that, and it may have nothing to say any more.
 */
export type NotedChange = RecordChange | (() => RecordChange | undefined);

export interface PositionParts {
  readonly channelId: ChannelId;
  readonly store: Pick<ChannelStore, "batch">;
  /** Where the application stands now. */
  readonly position: () => LogPosition;
  /** To be written in one with a position. */
  readonly alongside: (position: number) => readonly RecordChange[];
  /** Called after each write, with the position that is durable. */
  readonly onDurable: (position: number) => Promise<void>;
  /** No reader is far ahead of the disk any more. */
  readonly onNear: () => void;
  readonly onFault: (fault: unknown) => void;
  readonly queue: ChannelQueue;
}

export class PositionRunner {
  readonly #parts: PositionParts;
  readonly #state: PositionState;
  readonly #facts: PositionFacts;
  readonly #steps: Steps<PositionEvent, PositionEffect>;
  readonly #waiting = new Calls();
  /**
   * Changes for the next write, whatever stands in the queue before it: the position of that moment
   * is behind them.
   */
  readonly #changes = new Set<NotedChange>();
  /** Messages that are noted, and wait for their step while another room writes. */
  #unstepped = 0;

  constructor(position: number, parts: PositionParts) {
    this.#parts = parts;
    this.#state = restorePosition(position);
    this.#facts = {
      get position() {
        return parts.position().sequence;
      },
    };
    this.#steps = parts.queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
    });
  }

  /** Never delivered again. */
  get durable(): number {
    return this.#state.durable;
  }

  /**
   * The last entry that we may have acknowledged. While our place was in another log, that may be
   * any of this one.
   */
  get reached(): number {
    return this.#state.isVoid ? Infinity : this.#state.durable;
  }

  /** Messages that the application is done with, and that would come again after a crash now. */
  get ahead(): number {
    return this.#state.ahead + this.#unstepped;
  }

  /** Readers wait until `onNear`. */
  get isFarAhead(): boolean {
    return isFarAhead(this.ahead);
  }

  /**
   * The application is done with something, or the log moved on past entries that are not for it.
   */
  note(changes: readonly NotedChange[] = [], messages = 0): void {
    for (const change of changes) this.#changes.add(change);
    this.#unstepped += messages;
    this.#steps.push({ type: "noted", changes: changes.length, messages });
  }

  /**
   * Resolves when what was noted so far is on disk, and rejects with `StaticError` when it will not
   * be. Urgent: without a rest.
   */
  written({ isUrgent = false }: { readonly isUrgent?: boolean } = {}): Promise<void> {
    return this.#waiting.begin((operation) =>
      this.#steps.push({ type: "asked", operation, isUrgent })
    );
  }

  /** Resolves when what was noted so far is on disk, or will not be. */
  flush(): Promise<void> {
    return this.written({ isUrgent: true }).catch(() => {});
  }

  /**
   * The relay's log goes on behind this entry, which may be before the place where we were. The
   * place is written again.
   */
  lose(position: number): void {
    this.#steps.push({ type: "lost", position });
  }

  /**
   * The position is void, because it belongs to another log. Pending writes do not count for this
   * one.
   */
  forget(): void {
    this.#steps.push({ type: "forgotten" });
  }

  /** After a rejoin: what came before is not read any more. */
  restart(position: number): void {
    this.#changes.clear();
    this.#steps.pushFirst({ type: "entered", position });
  }

  stop(): void {
    this.#steps.push({ type: "stop" });
  }

  #step(event: PositionEvent): StepResult<PositionEffect> {
    if (event.type === "noted") this.#unstepped -= event.messages;
    return { effects: stepPosition(this.#state, event, this.#facts) };
  }

  #perform(effect: PositionEffect): void {
    switch (effect.type) {
      case "gather": {
        const { turn } = effect;
        return queueMicrotask(() => this.#steps.push({ type: "gathered", turn }));
      }
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "write":
        return this.#write(effect.call, effect.hasPosition);
      case "tell":
        return this.#tell(effect.call, effect.position);
      case "near":
        return this.#parts.onNear();
      case "settle":
        if (!effect.isLost) return this.#waiting.settle(effect.operation, undefined);
        return this.#waiting.fail(effect.operation, createError("transport_error", notWritten));
    }
  }

  /** The queue goes on meanwhile: no message waits for the disk. */
  #write(call: number, hasPosition: boolean): void {
    const { channelId, store, position, alongside } = this.#parts;
    const changes = Array.from(
      this.#changes,
      (change) => typeof change === "function" ? change() : change,
    )
      .filter((change) => change !== undefined);
    this.#changes.clear();
    if (hasPosition) {
      const reached = position();
      changes.push(putPosition(channelId, reached), ...alongside(reached.sequence));
    }
    store.batch(changes).then(
      () => this.#steps.push({ type: "written", call }),
      (fault) => this.#fail(call, fault),
    );
  }

  #tell(call: number, position: number): void {
    this.#parts.onDurable(position).then(
      () => this.#steps.push({ type: "told", call }),
      (fault) => this.#fail(call, fault),
    );
  }

  #fail(call: number, fault: unknown): void {
    this.#steps.push({ type: "failed", call });
    this.#parts.onFault(fault);
  }
}

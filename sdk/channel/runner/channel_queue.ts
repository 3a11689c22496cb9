/**
 * The one queue of a channel: every event of its rooms is a step here, one after the other. A
 * step's write is on disk before its effects begin, and before the next step of any room, so that
 * no room acts on what a crash could take back. A step that writes nothing is made at once, and
 * without a promise. Events that effects bring about are stepped behind them, in their order, and
 * before those that waited: nothing comes between a finding and what it causes.
 */
import type { Runtime } from "../../base/runtime.ts";
import { Calls } from "./calls.ts";

/** The time of this timer has come. */
interface TimerEvent {
  readonly type: "time";
  readonly timer: number;
}

export interface StepResult<Effect> {
  readonly effects: readonly Effect[];
  /**
   * Only for a step that writes. Resolves when the write is durable, with the effects if they are
   * others now.
   */
  readonly written?: Promise<readonly Effect[] | void>;
}

export interface Room<Event, Effect> {
  readonly step: (event: Event | TimerEvent) => StepResult<Effect>;
  readonly perform: (effect: Effect) => void;
  /** Returns the timers that the state still holds. The queue cancels all others. */
  readonly timers?: () => readonly (number | undefined)[];
  /** Behind the effects of each step. */
  readonly stepped?: () => void;
}

/** `isCaused`: comes before what waits. */
type EventPusher<Event> = (event: Event | TimerEvent, isCaused: boolean) => void;

/** A step that waits for its turn. */
interface QueuedStep {
  readonly steps: Steps<unknown, unknown>;
  readonly event: unknown;
}

export class ChannelQueue {
  readonly #after: Runtime["after"];
  /** The channel cannot go on. */
  readonly #onFault: (fault: unknown) => void;
  readonly #waiting: QueuedStep[] = [];
  #at: "rest" | "step" | "write" = "rest";
  /** So many of those that wait come from the present step. */
  #caused = 0;

  readonly #idle = new Calls();
  readonly #idling: Steps<{ readonly operation: number }, never>;

  constructor(after: Runtime["after"], onFault: (fault: unknown) => void) {
    this.#after = after;
    this.#onFault = onFault;
    this.#idling = this.add({ step: (event) => this.#stepIdle(event), perform: () => {} });
  }

  #stepIdle(event: { readonly operation: number } | TimerEvent): StepResult<never> {
    if ("operation" in event) this.#idle.settle(event.operation, undefined);
    return nothing;
  }

  /** Resolves when all that waits now is stepped, and written. */
  idle(): Promise<void> {
    return this.#idle.begin((operation) => this.#idling.push({ operation }));
  }

  /** A room steps here from now on. */
  add<Event, Effect>(room: Room<Event, Effect>): Steps<Event, Effect> {
    const push: EventPusher<Event> = (event, isCaused) => this.#push(steps, event, isCaused);
    const steps = new Steps(room, push, this.#after);
    return steps;
  }

  #push<Event, Effect>(
    to: Steps<Event, Effect>,
    event: Event | TimerEvent,
    isCaused: boolean,
  ): void {
    // cast: an event goes back to the room that it came with
    const steps = to as Steps<unknown, unknown>;
    if (this.#at !== "rest") {
      const at = this.#at === "step" || isCaused ? this.#caused++ : this.#waiting.length;
      // With each message nothing else waits.
      if (at === this.#waiting.length) this.#waiting.push({ steps, event });
      else this.#waiting.splice(at, 0, { steps, event });
      return;
    }
    try {
      if (this.#take(steps, event)) this.#run();
    } catch (fault) {
      this.#fail(fault);
    }
  }

  #run(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      if (!this.#take(next.steps, next.event)) return;
    }
    this.#at = "rest";
  }

  /** Returns whether the next step may be made. */
  #take(steps: Steps<unknown, unknown>, event: unknown): boolean {
    this.#at = "step";
    this.#caused = 0;
    const { effects, written } = steps.step(event);
    if (written === undefined) {
      steps.perform(effects);
      return true;
    }
    this.#at = "write";
    written.then((others) => {
      this.#at = "step";
      steps.perform(others ?? effects);
      this.#run();
    }).catch((fault) => this.#fail(fault));
    return false;
  }

  /** Steps that are left are made: they tell those that wait. */
  #fail(fault: unknown): void {
    this.#at = "step";
    try {
      this.#onFault(fault);
      this.#run();
    } catch (next) {
      this.#fail(next);
    }
  }
}

/** The place of one room in the queue, with its timers. */
export class Steps<Event, Effect> {
  readonly #room: Room<Event, Effect>;
  readonly #push: EventPusher<Event>;
  readonly #after: Runtime["after"];
  readonly #timers = new Map<number, () => void>();
  #isOver = false;

  constructor(room: Room<Event, Effect>, push: EventPusher<Event>, after: Runtime["after"]) {
    this.#room = room;
    this.#push = push;
    this.#after = after;
  }

  push(event: Event): void {
    if (!this.#isOver) this.#push(event, false);
  }

  /** The group has moved: nothing that waits is to be looked at as if it had not. */
  pushFirst(event: Event): void {
    if (!this.#isOver) this.#push(event, true);
  }

  /** An effect of the room. */
  wake(timer: number, afterMs: number): void {
    const run = (): void => {
      this.#timers.delete(timer);
      this.#push({ type: "time", timer }, false);
    };
    this.#timers.set(timer, this.#after(afterMs, run));
  }

  /**
   * Pushes an event after the patience of a caller, which is no part of the state. Returns what
   * ends it.
   */
  pushLater(event: Event, ms: number): () => void {
    return this.#after(ms, () => this.push(event));
  }

  /** Nothing happens any more, but a write that is under way. */
  end(): void {
    this.#isOver = true;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** For the queue. */
  step(event: Event | TimerEvent): StepResult<Effect> {
    return this.#isOver ? nothing : this.#room.step(event);
  }

  /** For the queue. An effect may end it. */
  perform(effects: readonly Effect[]): void {
    for (const effect of effects) if (!this.#isOver) this.#room.perform(effect);
    if (this.#timers.size > 0) this.#forgetTimers();
    if (!this.#isOver) this.#room.stepped?.();
  }

  #forgetTimers(): void {
    const held = this.#room.timers?.() ?? [];
    for (const [timer, cancel] of this.#timers) {
      if (held.includes(timer)) continue;
      cancel();
      this.#timers.delete(timer);
    }
  }
}

const nothing = Object.freeze({ effects: Object.freeze([]) });

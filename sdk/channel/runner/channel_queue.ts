/**
 * The one queue of a channel: every event of its rooms is a step here, one after the other. A step's write is on disk before its
 * effects begin, and before the next step of any room, so that no room acts on what a crash could take back. A step that writes
 * nothing is made at once, and without a promise.
 */
import type { Runtime } from "../../base/runtime.ts";

/** The time of this timer has come. */
interface TimeOver {
  readonly type: "time";
  readonly timer: number;
}

export interface Stepped<Effect> {
  readonly effects: readonly Effect[];
  /** Of a step that writes: resolves when that is durable, with the effects if they are others now. */
  readonly written?: Promise<readonly Effect[] | void>;
}

export interface Room<Event, Effect> {
  readonly step: (event: Event | TimeOver) => Stepped<Effect>;
  readonly perform: (effect: Effect) => void;
  /** Those that the state holds; the others are cancelled. */
  readonly timers?: () => readonly (number | undefined)[];
}

/** A step that waits for its turn. */
interface Waiting {
  readonly steps: Steps<unknown, unknown>;
  readonly event: unknown;
}

export class ChannelQueue {
  readonly #after: Runtime["after"];
  /** The channel cannot go on. */
  readonly #onFault: (fault: unknown) => void;
  readonly #waiting: Waiting[] = [];
  #isStepping = false;

  constructor(after: Runtime["after"], onFault: (fault: unknown) => void) {
    this.#after = after;
    this.#onFault = onFault;
  }

  /** A room steps here from now on. */
  add<Event, Effect>(room: Room<Event, Effect>): Steps<Event, Effect> {
    const push = (event: Event | TimeOver): void => this.#push(steps, event);
    const steps = new Steps(room, push, this.#after);
    return steps;
  }

  #push<Event, Effect>(steps: Steps<Event, Effect>, event: Event | TimeOver): void {
    // cast: an event goes back to the room that it came with
    if (this.#isStepping) return void this.#waiting.push({ steps: steps as Steps<unknown, unknown>, event });
    this.#isStepping = true;
    try {
      const written = steps.take(event);
      if (written === undefined) this.#run();
      else this.#hold(written);
    } catch (fault) {
      this.#fail(fault);
    }
  }

  #run(): void {
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const written = next.steps.take(next.event);
      if (written !== undefined) return this.#hold(written);
    }
    this.#isStepping = false;
  }

  /** Nothing is stepped until then. */
  #hold(written: Promise<void>): void {
    written.then(() => this.#run()).catch((fault) => this.#fail(fault));
  }

  /** Steps that are left are made: they tell those that wait. */
  #fail(fault: unknown): void {
    this.#onFault(fault);
    try {
      this.#run();
    } catch (next) {
      this.#fail(next);
    }
  }
}

/** The place of one room in the queue, with its timers. */
export class Steps<Event, Effect> {
  readonly #room: Room<Event, Effect>;
  readonly #push: (event: Event | TimeOver) => void;
  readonly #after: Runtime["after"];
  readonly #timers = new Map<number, () => void>();
  #isOver = false;

  constructor(room: Room<Event, Effect>, push: (event: Event | TimeOver) => void, after: Runtime["after"]) {
    this.#room = room;
    this.#push = push;
    this.#after = after;
  }

  push(event: Event): void {
    if (!this.#isOver) this.#push(event);
  }

  /** An effect of the room. */
  wake(timer: number, afterMs: number): void {
    const run = (): void => {
      this.#timers.delete(timer);
      this.#push({ type: "time", timer });
    };
    this.#timers.set(timer, this.#after(afterMs, run));
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

  /** For the queue. Returns a promise when the step writes. */
  take(event: Event | TimeOver): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    const { effects, written } = this.#room.step(event);
    if (written !== undefined) return written.then((others) => this.#perform(others ?? effects));
    this.#perform(effects);
    return undefined;
  }

  /** An effect may end it. */
  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) if (!this.#isOver) this.#room.perform(effect);
    if (this.#timers.size > 0) this.#forgetTimers();
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

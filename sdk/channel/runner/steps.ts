/**
 * Steps of a machine, one after the other: what a step writes is on disk before its effects begin, and before the next step. A step
 * that writes nothing is made at once. Timers that no state holds any more are cancelled.
 */
import type { RecordChange } from "../../store/mod.ts";
import type { ChannelDeps } from "../deps.ts";

/** The time of this timer has come. */
interface TimeOver {
  readonly type: "time";
  readonly timer: number;
}

export interface StepsParts<Event, Effect> {
  readonly step: (event: Event | TimeOver) => Stepped<Effect>;
  readonly perform: (effect: Effect) => void;
  /** Those that the state holds. */
  readonly timers: () => readonly (number | undefined)[];
  readonly onFault: (fault: unknown) => void;
}

interface Stepped<Effect> {
  readonly changes: readonly RecordChange[];
  readonly effects: readonly Effect[];
}

export class Steps<Event, Effect> {
  readonly #parts: StepsParts<Event, Effect>;
  readonly #deps: Pick<ChannelDeps, "store" | "runtime">;
  readonly #queue: (Event | TimeOver)[] = [];
  readonly #timers = new Map<number, () => void>();
  #stage: "idle" | "stepping" | "over" = "idle";

  constructor(parts: StepsParts<Event, Effect>, deps: Pick<ChannelDeps, "store" | "runtime">) {
    this.#parts = parts;
    this.#deps = deps;
  }

  push(event: Event | TimeOver): void {
    if (this.#stage === "over") return;
    this.#queue.push(event);
    if (this.#stage === "idle") this.#run();
  }

  wake(timer: number, afterMs: number): void {
    const run = (): void => {
      this.#timers.delete(timer);
      this.push({ type: "time", timer });
    };
    this.#timers.set(timer, this.#deps.runtime.after(afterMs, run));
  }

  /** Nothing happens any more, but a write that is under way. */
  end(): void {
    this.#stage = "over";
    this.#queue.length = 0;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #run(): void {
    this.#stage = "stepping";
    try {
      for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) {
        const { changes, effects } = this.#parts.step(event);
        if (changes.length > 0) return this.#write(changes, effects);
        this.#perform(effects);
      }
      if (!this.#isOver) this.#stage = "idle";
      this.#forgetTimers();
    } catch (fault) {
      this.#parts.onFault(fault);
    }
  }

  #write(changes: readonly RecordChange[], effects: readonly Effect[]): void {
    this.#deps.store.batch(changes).then(() => {
      this.#perform(effects);
      if (!this.#isOver) this.#run();
    }).catch((fault) => this.#parts.onFault(fault));
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) if (!this.#isOver) this.#parts.perform(effect);
  }

  /** It may be ended by what it performs. */
  get #isOver(): boolean {
    return this.#stage === "over";
  }

  #forgetTimers(): void {
    if (this.#timers.size === 0) return;
    const held = this.#parts.timers();
    for (const [timer, cancel] of this.#timers) {
      if (held.includes(timer)) continue;
      cancel();
      this.#timers.delete(timer);
    }
  }
}

/** Calls that wait for the group to reach an epoch, each with its own patience. */
import type { StaticError } from "../../base/errors.ts";
import type { Membership } from "../group/membership.ts";
import { Calls } from "./calls.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";

type Event =
  | {
    readonly type: "waits";
    readonly operation: number;
    readonly epoch: number;
    readonly timeoutMs: number;
  }
  | { readonly type: "moved" }
  | { readonly type: "time"; readonly timer: number };

type Effect =
  | { readonly type: "wake"; readonly operation: number; readonly afterMs: number }
  | { readonly type: "arrived"; readonly operation: number }
  | { readonly type: "late"; readonly operation: number; readonly epoch: number };

export class EpochWaiters {
  readonly #membership: Membership;
  readonly #steps: Steps<Event, Effect>;
  readonly #calls = new Calls();
  /** Epochs, by the calls that wait for them. The timer of a call has its number. */
  readonly #waiting = new Map<number, number>();
  /** Why no further epoch will come. */
  #over: StaticError | undefined;

  constructor(
    { membership, queue }: { readonly membership: Membership; readonly queue: ChannelQueue },
  ) {
    this.#membership = membership;
    this.#steps = queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => [...this.#waiting.keys()],
    });
    membership.onMoved(() => this.look());
  }

  /**
   * Resolves once the group is at this epoch or a later one. Rejects with `StaticError` when it has
   * waited in vain.
   */
  wait(epoch: number, timeoutMs: number): Promise<void> {
    if (this.#over !== undefined) return Promise.reject(this.#over);
    return this.#calls.begin((operation) =>
      this.#steps.push({ type: "waits", operation, epoch, timeoutMs })
    );
  }

  /** The group may be at another epoch. */
  look(): void {
    this.#steps.push({ type: "moved" });
  }

  end(error: StaticError): void {
    this.#over = error;
    this.#steps.end();
    this.#calls.failAll(error);
  }

  #step(event: Event): StepResult<Effect> {
    switch (event.type) {
      case "waits": {
        const { operation, epoch, timeoutMs } = event;
        if (this.#membership.epoch >= epoch) return { effects: [{ type: "arrived", operation }] };
        this.#waiting.set(operation, epoch);
        return { effects: [{ type: "wake", operation, afterMs: timeoutMs }] };
      }
      case "moved": {
        const arrived = [...this.#waiting].filter(([, epoch]) => this.#membership.epoch >= epoch);
        for (const [operation] of arrived) this.#waiting.delete(operation);
        return { effects: arrived.map(([operation]) => ({ type: "arrived", operation })) };
      }
      case "time": {
        const epoch = this.#waiting.get(event.timer);
        this.#waiting.delete(event.timer);
        return {
          effects: epoch === undefined ? [] : [{ type: "late", operation: event.timer, epoch }],
        };
      }
    }
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case "wake":
        return this.#steps.wake(effect.operation, effect.afterMs);
      case "arrived":
        return this.#calls.settle(effect.operation, undefined);
      case "late":
        return this.#calls.fail(effect.operation, this.#membership.notArrived(effect.epoch));
    }
  }
}

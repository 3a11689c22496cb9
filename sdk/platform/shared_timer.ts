/**
 * One timer for all long waits. Most of them guard an answer and are cancelled when it comes; a
 * timer of its own for each costs ten times as much, with every message. A wait ends late by up to
 * a slot, never early.
 */

const slotMs = 250;
/** Beyond it, `setTimeout` runs at once. */
const longestMs = 2 ** 31 - 1;

interface TimedWait {
  readonly run: () => void;
}

type Timer = ReturnType<typeof setTimeout>;

export class SharedTimer {
  /** Waits by the slot in which they end. */
  readonly #slots = new Map<number, Set<TimedWait>>();
  #timer: Timer | undefined;
  /** The slot for which the timer is set. */
  #armed = Infinity;
  #waiting = 0;

  /** Runs once after the time; returns a function to cancel it. */
  after(ms: number, run: () => void): () => void {
    const slot = Math.ceil((performance.now() + ms) / slotMs);
    const wait: TimedWait = { run };
    const waits = this.#slots.get(slot);
    if (waits === undefined) this.#slots.set(slot, new Set([wait]));
    else waits.add(wait);
    this.#waiting++;
    if (slot < this.#armed) this.#arm(slot);
    else if (this.#waiting === 1) this.#hold(true);
    return () => void this.#take(slot, wait);
  }

  /** Returns whether it was still waiting. The timer stays set: the next wait needs it soon. */
  #take(slot: number, wait: TimedWait): boolean {
    const waits = this.#slots.get(slot);
    if (waits === undefined || !waits.delete(wait)) return false;
    if (waits.size === 0) this.#slots.delete(slot);
    this.#waiting--;
    if (this.#waiting === 0) this.#hold(false);
    return true;
  }

  /**
   * Decides whether the timer keeps the process alive. In browsers timers are numbers, and nothing
   * keeps a page.
   */
  #hold(isHeld: boolean): void {
    if (typeof this.#timer !== "object") return;
    if (isHeld) this.#timer.ref();
    else this.#timer.unref();
  }

  #arm(slot: number): void {
    clearTimeout(this.#timer);
    this.#armed = slot;
    const ms = Math.max(0, slot * slotMs - performance.now());
    this.#timer = setTimeout(() => this.#fire(), Math.min(ms, longestMs));
  }

  #fire(): void {
    this.#timer = undefined;
    this.#armed = Infinity;
    const nowMs = performance.now();
    let next = Infinity;
    for (const [slot, waits] of this.#slots) {
      if (slot * slotMs > nowMs) next = Math.min(next, slot);
      // Each by itself, so that one that throws ends no other.
      else for (const wait of waits) queueMicrotask(() => this.#take(slot, wait) && wait.run());
    }
    if (next < Infinity) this.#arm(next);
  }
}

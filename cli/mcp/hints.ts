/**
 * Hints that something waits in a channel, and nothing of what was said: for `static mcp`, whose
 * resource was updated, and for `static wake`. A reader without a position looks on, so a hint
 * takes no message from anybody; one that is lost costs nothing, because `wait` has the messages.
 */
import type { Channel, Envelope } from "../../sdk/mod.ts";

export interface HintParts {
  readonly channel: (name: string) => Promise<Channel>;
  readonly agentId: () => Promise<string>;
  /** The durable reader of the model's sessions: what waits for it is told first. */
  readonly reader: string;
  /**
   * Whether the policy lets this sender reach the model: one that is held or refused must not wake
   * it.
   */
  readonly mayWake: (message: Envelope) => Promise<boolean>;
  /** `heardAtMs`: when the newest of them was. */
  readonly tell: (channel: string, heardAtMs: number) => void;
  readonly nowMs: () => number;
  readonly deadline: (ms: number) => AbortSignal;
}

/** Between two hints of one channel; what comes meanwhile is told at its end. */
const quietMs = 1000;
/** Before a channel that cannot be looked at is tried again: longer each time. */
const [retryMs, maxRetryMs] = [2000, 60_000];
/** More than an agent has channels to subscribe to; each is a reader at the host. */
const maxWatched = 64;

export class Hints {
  readonly #parts: HintParts;
  readonly #watched = new Map<string, AbortController>();

  constructor(parts: HintParts) {
    this.#parts = parts;
  }

  /** False when too many are watched. Watching twice is watching once. */
  watch(name: string): boolean {
    if (this.#watched.has(name)) return true;
    if (this.#watched.size >= maxWatched) return false;
    const stop = new AbortController();
    this.#watched.set(name, stop);
    void this.#look(name, stop.signal);
    return true;
  }

  unwatch(name: string): void {
    this.#watched.get(name)?.abort();
    this.#watched.delete(name);
  }

  close(): void {
    for (const name of [...this.#watched.keys()]) this.unwatch(name);
  }

  async #look(name: string, signal: AbortSignal): Promise<void> {
    const told = new HintThrottle(
      (heardAtMs) => this.#parts.tell(name, heardAtMs),
      this.#parts.deadline,
      signal,
    );
    for (let tries = 0; !signal.aborted; tries++) {
      try {
        const [channel, agentId] = await Promise.all([
          this.#parts.channel(name),
          this.#parts.agentId(),
        ]);
        tries = 0;
        const { reader: as } = this.#parts;
        for await (const message of channel.envelopes({ tail: true, as, all: true, signal })) {
          const heardAtMs = this.#parts.nowMs();
          if (isFor(message, agentId) && await this.#parts.mayWake(message)) told.tell(heardAtMs);
        }
      } catch {
        // The tools say what is wrong; a hint is not the place.
      }
      await passed(
        AbortSignal.any([signal, this.#parts.deadline(Math.min(maxRetryMs, retryMs * 2 ** tries))]),
      );
    }
  }
}

/** Whether a session of the model is given it. */
function isFor({ kind, to, sender }: Envelope, agentId: string): boolean {
  return sender.keyUnchanged && ((kind === "message" && to === undefined) ||
    ((kind === "message" || kind === "request") && to?.some((each) => each === agentId) === true));
}

/** At once, and then no more than once in a while. */
class HintThrottle {
  readonly #act: (heardAtMs: number) => void;
  readonly #deadline: (ms: number) => AbortSignal;
  readonly #signal: AbortSignal;
  #isQuiet = false;
  /** When something was heard that is not told yet. */
  #heardAtMs: number | undefined;

  constructor(
    act: (heardAtMs: number) => void,
    deadline: (ms: number) => AbortSignal,
    signal: AbortSignal,
  ) {
    this.#act = act;
    this.#deadline = deadline;
    this.#signal = signal;
  }

  tell(heardAtMs: number): void {
    this.#heardAtMs = heardAtMs;
    if (!this.#isQuiet) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isQuiet = true;
    while (this.#heardAtMs !== undefined && !this.#signal.aborted) {
      const heardAtMs = this.#heardAtMs;
      this.#heardAtMs = undefined;
      this.#act(heardAtMs);
      await passed(AbortSignal.any([this.#signal, this.#deadline(quietMs)]));
    }
    this.#isQuiet = false;
  }
}

function passed(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

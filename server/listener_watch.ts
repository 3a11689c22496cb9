/**
 * Notices a listener that is dead although its process lives: Node's servers stop accepting,
 * without an event, when the process has been out of files for a moment. The watch connects to the
 * listener from time to time and waits until anybody is accepted: when strangers fill the system's
 * queue, the watch does not get in, and a listener that accepts them is not dead.
 */
import { every, within } from "./timers.ts";

export interface ListenerWatchOptions {
  readonly host: string;
  readonly port: number;
  /** Called once, when the listener has accepted nobody for two turns. */
  readonly onDead: () => void;
  readonly intervalMs?: number;
}

const maxMisses = 2;

export class ListenerWatch {
  readonly #options: ListenerWatchOptions;
  readonly #stop: () => void;
  /** While it knocks. */
  #onAccepted: (() => void) | undefined;
  #misses = 0;

  constructor(options: ListenerWatchOptions) {
    this.#options = options;
    const { intervalMs = 5_000 } = options;
    this.#stop = every(intervalMs, () => this.#knock(intervalMs));
  }

  /** To be told of every accepted connection, also of one that has gone by now. */
  accepted(): void {
    this.#onAccepted?.();
  }

  stop(): void {
    this.#stop();
  }

  async #knock(withinMs: number): Promise<void> {
    const { host, port } = this.#options;
    const { promise: accepted, resolve } = Promise.withResolvers<void>();
    this.#onAccepted = resolve;
    // limit: below. A full queue of a listener that takes nobody lets the system try for minutes.
    const connecting = Deno.connect({ hostname: reachable(host), port }).catch(() => undefined);
    const isAlive = await within(withinMs, accepted);
    void connecting.then((connection) => connection?.close());
    this.#onAccepted = undefined;
    this.#misses = isAlive ? 0 : this.#misses + 1;
    if (this.#misses < maxMisses) return;
    this.stop();
    this.#options.onDead();
  }
}

/** A listener on all addresses is reached on loopback. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" || host === "[::]" ? "::1" : host;
}

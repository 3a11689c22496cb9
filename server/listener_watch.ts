/**
 * Notices a listener that is dead although its process lives: Node's servers stop accepting, without an event, when the process
 * has been out of files for a moment. The watch connects to the listener from time to time and waits to hear of it.
 */
import { every, within } from "./timers.ts";

export interface ListenerWatchOptions {
  readonly host: string;
  readonly port: number;
  /** Called once, when the listener has not accepted for two turns. */
  readonly onDead: () => void;
  readonly intervalMs?: number;
}

const maxMisses = 2;

export class ListenerWatch {
  readonly #options: ListenerWatchOptions;
  readonly #stop: () => void;
  /** While it knocks: whom the listener has accepted, because it may do so before this end knows its own port. */
  #heard: { readonly ports: Set<number>; onHeard: (port: number) => void } | undefined;
  #misses = 0;

  constructor(options: ListenerWatchOptions) {
    this.#options = options;
    const { intervalMs = 5_000 } = options;
    this.#stop = every(intervalMs, () => this.#knock(intervalMs));
  }

  /** To be told of every accepted connection, by the peer's port. */
  accepted(remotePort: number | undefined): void {
    if (this.#heard === undefined || remotePort === undefined) return;
    this.#heard.ports.add(remotePort);
    this.#heard.onHeard(remotePort);
  }

  stop(): void {
    this.#stop();
  }

  async #knock(withinMs: number): Promise<void> {
    const isHeard = await this.#isHeard(withinMs).catch(() => false);
    this.#heard = undefined;
    this.#misses = isHeard ? 0 : this.#misses + 1;
    if (this.#misses < maxMisses) return;
    this.stop();
    this.#options.onDead();
  }

  async #isHeard(withinMs: number): Promise<boolean> {
    const { host, port } = this.#options;
    const heard = { ports: new Set<number>(), onHeard: (_port: number): void => {} };
    this.#heard = heard;
    // limit: below
    const connecting = Deno.connect({ hostname: reachable(host), port });
    // A full queue of a listener that takes nobody lets the system try for minutes.
    if (!await within(withinMs, connecting.then(() => {}))) {
      void connecting.then((late) => late.close(), () => {});
      return false;
    }
    using connection = await connecting;
    const own = connection.localAddr.port;
    if (heard.ports.has(own)) return true;
    const { promise, resolve } = Promise.withResolvers<void>();
    heard.onHeard = (port) => port === own && resolve();
    return await within(withinMs, promise);
  }
}

/** A listener on all addresses is reached on loopback. */
function reachable(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" || host === "[::]" ? "::1" : host;
}

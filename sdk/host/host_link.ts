/**
 * A program's connection to its agent's host, also when that host dies: the next call starts
 * another one. Calls that are safe to repeat are repeated to it; all others fail with
 * `listener_died`, and the caller decides.
 */
import {
  type OperationExtras,
  type OperationName,
  operations,
} from "../../proto/host/operations.ts";
import { abortable } from "../base/abortable.ts";
import { createError, isCode, type StaticError } from "../base/errors.ts";
import { pause, type Runtime } from "../base/runtime.ts";
import type { HostAnswer, HostConnection } from "./connection.ts";
import type { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";

/** Between two tries to find a host, when the first did not help. */
const againMs = 500;
/**
 * A call at which so many hosts die in turn is what they die of, unless the last one bore it for a
 * while.
 */
const [maxDeaths, borneMs] = [4, 5_000] as const;

export interface LinkParts {
  readonly runtime: Runtime;
  /** Connects to the host, starting it if need be. */
  readonly find: (onEvent: OnEvent, signal: AbortSignal) => Promise<HostConnection>;
}

export type OnEvent = (connection: HostConnection, name: string, fields: HeaderFields) => void;

type OnRefused = (error: unknown) => Promise<HostAnswer>;

export interface LinkListener {
  readonly onEvent?: OnEvent;
  /** The host has gone. */
  readonly onLost?: (error: StaticError) => void;
}

export class HostLink {
  readonly #parts: LinkParts;
  readonly #listeners = new Set<LinkListener>();
  #current: Promise<HostConnection> | undefined;
  /** It, once it is there. */
  #live: HostConnection | undefined;
  /** Calls that wait for a connection. */
  #waiting = 0;
  readonly #never = new AbortController().signal;
  readonly #stop = new AbortController();

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  listen(listener: LinkListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get isClosed(): boolean {
    return this.#stop.signal.aborted;
  }

  /**
   * Returns the present connection, or opens another one, with `later` after a pause. A caller that
   * gives up does not end the search for others. Throws `StaticError`.
   */
  async connection(signal?: AbortSignal, { later = false } = {}): Promise<HostConnection> {
    if (this.isClosed) throw closed();
    if (this.#waiting === 0 && this.#live?.isOver === false) return this.#live;
    const current = this.#current ??= this.#open(later);
    this.#waiting++;
    try {
      // With and without a signal in the same way, and nobody past those that wait: calls keep
      // their order.
      return await abortable(signal ?? this.#never, () => current);
    } finally {
      this.#waiting--;
    }
  }

  /** The clock and the console of this program. */
  get runtime(): Runtime {
    return this.#parts.runtime;
  }

  /** Before the next try. */
  async pause(): Promise<void> {
    await pause(this.#parts.runtime, againMs, this.#stop.signal);
  }

  /**
   * Asks for an operation of the table, with those of its fields that are given. If it is safe to
   * say twice, it is said to the next host, when this one goes first. `onRefused` hears the refusal
   * of a repeated call, which the host before may have done already.
   */
  async ask(
    op: OperationName,
    given: FrameHeader,
    options?: OperationExtras,
    onRefused?: OnRefused,
  ): Promise<HostAnswer> {
    const { fields, again } = operations[op];
    const told = Object.fromEntries(Object.keys(fields).map((name) => [name, given[name]]));
    const isSafe = again === true || (again !== undefined && told[again] !== undefined);
    if (isSafe) return await this.#repeat(op, told, options, onRefused);
    return await (await this.connection(options?.signal)).call(op, told, options);
  }

  /** With `again`, from the second host on. */
  async #repeat(
    op: string,
    fields: FrameHeader,
    options?: OperationExtras,
    onRefused: OnRefused = (error) => Promise.reject(error),
  ): Promise<HostAnswer> {
    for (let deaths = 0;;) {
      let askedAtMs = Infinity;
      try {
        // All calls wait for the pause, not this one alone: a newer message must not reach the next
        // host first.
        const connection = await this.connection(options?.signal, { later: deaths > 1 });
        askedAtMs = this.#parts.runtime.nowMs();
        return await connection.call(
          op,
          deaths === 0 ? fields : { ...fields, again: true },
          options,
        );
      } catch (error) {
        if (this.isClosed) throw error;
        if (!isGone(error)) {
          return deaths === 0 ? await Promise.reject(error) : await onRefused(error);
        }
        const isBorne = this.#parts.runtime.nowMs() - askedAtMs > borneMs;
        deaths = isBorne ? 1 : deaths + 1;
        if (deaths >= maxDeaths) throw error;
      }
    }
  }

  /** Ends the program's connection; the host goes on. */
  async close(): Promise<void> {
    if (this.isClosed) return;
    this.#stop.abort();
    const connection = await this.#current?.catch(() => undefined);
    // Messages that were received count as read.
    await connection?.call("close").catch(() => {});
    connection?.end(closed());
  }

  async #open(later: boolean): Promise<HostConnection> {
    try {
      if (later) await this.pause();
      if (this.isClosed) throw closed();
      const connection = await this.#parts.find((...event) => this.#tell(event), this.#stop.signal);
      this.#live = connection;
      void connection.over.then((error) => this.#lost(error));
      return connection;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  #lost(error: StaticError): void {
    this.#current = undefined;
    if (!this.isClosed) { for (const { onLost } of [...this.#listeners]) onLost?.(error); }
  }

  #tell(event: Parameters<OnEvent>): void {
    for (const { onEvent } of this.#listeners) onEvent?.(...event);
  }
}

function closed(): StaticError {
  return createError("transport_error", "The client was closed; connect again");
}

/** The host went while the call was under way. */
export function isGone(error: unknown): boolean {
  return isCode(error, "listener_died");
}

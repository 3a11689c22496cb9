/**
 * A program's way to its agent's host, also when that host dies: the next call starts another one. What is safe to say twice is
 * repeated to it; everything else fails with `listener_died`, and its caller decides.
 */
import { createError, isCode, type StaticError } from "../base/errors.ts";
import type { Answered, CallOptions, HostConnection } from "./connection.ts";
import type { Fields } from "./fields.ts";
import type { Header } from "./frames.ts";

export interface LinkParts {
  /** Connects to the host, starting it if need be. */
  readonly find: (onEvent: OnEvent, signal?: AbortSignal) => Promise<HostConnection>;
}

export type OnEvent = (connection: HostConnection, name: string, fields: Fields) => void;

export interface LinkListener {
  readonly onEvent?: OnEvent;
  /** The host has gone. */
  readonly onLost?: (error: StaticError) => void;
}

export class HostLink {
  readonly #parts: LinkParts;
  readonly #listeners = new Set<LinkListener>();
  #current: Promise<HostConnection> | undefined;
  #closed = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  listen(listener: LinkListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** The connection that there is, or another one. Throws `StaticError`. */
  async connection(signal?: AbortSignal): Promise<HostConnection> {
    if (this.#closed) throw createError("transport_error", "The client was closed; connect again");
    this.#current ??= this.#open(signal);
    return await this.#current;
  }

  async call(op: string, fields?: Header, options?: CallOptions): Promise<Answered> {
    return await (await this.connection(options?.signal)).call(op, fields, options);
  }

  /** For what is safe to say twice: to the next host, when this one goes first. */
  async repeat(op: string, fields?: Header, options?: CallOptions): Promise<Answered> {
    for (;;) {
      try {
        return await this.call(op, fields, options);
      } catch (error) {
        if (!isCode(error, "listener_died") || this.#closed) throw error;
      }
    }
  }

  /** Ends the program's connection; the host goes on. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const connection = await this.#current?.catch(() => undefined);
    // What was received counts as read.
    await connection?.call("close").catch(() => {});
    connection?.end(createError("transport_error", "The client was closed; connect again"));
  }

  async #open(signal: AbortSignal | undefined): Promise<HostConnection> {
    try {
      const connection = await this.#parts.find((...event) => this.#tell(event), signal);
      void connection.over.then((error) => this.#lost(error));
      return connection;
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  #lost(error: StaticError): void {
    this.#current = undefined;
    if (!this.#closed) { for (const { onLost } of [...this.#listeners]) onLost?.(error); }
  }

  #tell(event: Parameters<OnEvent>): void {
    for (const { onEvent } of this.#listeners) onEvent?.(...event);
  }
}

/** The host went while the call was under way. */
export function isGone(error: unknown): boolean {
  return isCode(error, "listener_died");
}

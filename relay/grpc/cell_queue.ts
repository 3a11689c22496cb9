/**
 * Hands cells from a sender to a response stream, one message each. A write is done when its last
 * cell has been taken.
 */
import type { EndReason } from "../core/client_link.ts";
import { endedError } from "./errors.ts";

export class CellQueue {
  #cells: Uint8Array[] = [];
  #written: (() => void) | undefined;
  #end: { readonly reason: EndReason | undefined } | undefined;
  #wake: () => void = () => {};

  /** One at a time: the next write comes when this one is done. */
  write(cells: Uint8Array, cellBytes: number): Promise<void> {
    for (let at = 0; at < cells.length; at += cellBytes) {
      this.#cells.push(cells.slice(at, at + cellBytes));
    }
    this.#wake();
    return new Promise((resolve) => this.#written = resolve);
  }

  /**
   * Written cells are still delivered; then the stream ends, with an error if there is a reason.
   */
  end(reason: EndReason | undefined): void {
    this.#end ??= { reason };
    this.#wake();
  }

  /** Why it has ended. */
  get reason(): EndReason | undefined {
    return this.#end?.reason;
  }

  /** Nobody takes cells any more. */
  abort(): void {
    this.#cells = [];
    this.end(undefined);
    this.#written?.();
  }

  async *cells(): AsyncGenerator<{ cell: Uint8Array }> {
    for (;;) {
      const cell = this.#cells.shift();
      if (cell !== undefined) {
        yield { cell };
        if (this.#cells.length === 0) this.#written?.();
        continue;
      }
      if (this.#end !== undefined) break;
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    if (this.#end.reason !== undefined) throw endedError(this.#end.reason);
  }
}

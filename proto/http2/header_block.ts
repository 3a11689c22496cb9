/**
 * Gathers a header block that is split over HEADERS and CONTINUATION frames (RFC 9113 §4.3), within
 * its two budgets.
 */
import { ConnectionError, ErrorCode } from "./errors.ts";

/** Limits of one block. */
export interface HeaderBudgets {
  readonly headerBlockBytes: number;
  readonly headerBlockFrames: number;
}

export class HeaderBlock {
  readonly streamId: number;
  readonly endStream: boolean;
  readonly #budgets: HeaderBudgets;
  readonly #parts: Uint8Array[] = [];
  #bytes = 0;
  #frames = 0;

  constructor(stream: { id: number; endStream: boolean }, budgets: HeaderBudgets) {
    this.streamId = stream.id;
    this.endStream = stream.endStream;
    this.#budgets = budgets;
  }

  /** Copies the part: it lies in a buffer that outlives the frame only by luck. */
  add(bytes: Uint8Array, start: number, end: number): void {
    checkBlockBytes(this.#bytes += end - start, this.#budgets);
    if (++this.#frames > this.#budgets.headerBlockFrames) {
      throw new ConnectionError(
        ErrorCode.enhanceYourCalm,
        `A header block of more than ${this.#budgets.headerBlockFrames} frames is above the limit`,
      );
    }
    this.#parts.push(bytes.slice(start, end));
  }

  join(): Uint8Array {
    const block = new Uint8Array(this.#bytes);
    let at = 0;
    for (const part of this.#parts) {
      block.set(part, at);
      at += part.length;
    }
    return block;
  }
}

export function checkBlockBytes(bytes: number, budgets: HeaderBudgets): void {
  if (bytes > budgets.headerBlockBytes) {
    throw new ConnectionError(
      ErrorCode.enhanceYourCalm,
      `A header block of more than ${budgets.headerBlockBytes} bytes is above the limit`,
    );
  }
}

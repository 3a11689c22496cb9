/**
 * Work that takes long in a large group, in parts: between them the event loop belongs to others.
 */
import type { Runtime } from "./runtime.ts";

/** Yields wherever it may rest. */
export type InterruptibleWork<T> = Generator<undefined, T, undefined>;

/** Does all the parts, in this call or with rests between them. */
export type CarryOut = <T>(parts: InterruptibleWork<T>) => T | Promise<T>;

/** Without a rest. */
export function atOnce<T>(parts: InterruptibleWork<T>): T {
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
  }
}

/**
 * How long one turn of the loop may be. A longer one is felt: by those who type, by calls, by the
 * pace of constant cover.
 */
const longestMs = 8;

/** Work that fits into one turn is done in this call. */
export function createCarryOut(runtime: Pick<Runtime, "nowMs" | "rest">): CarryOut {
  const { rest } = runtime;
  if (rest === undefined) return atOnce;
  return <T>(parts: InterruptibleWork<T>): T | Promise<T> => {
    const turn = (): IteratorResult<undefined, T> => {
      for (const since = runtime.nowMs();;) {
        const next = parts.next();
        // A clock that is set back counts as late.
        if (next.done === true || Math.abs(runtime.nowMs() - since) >= longestMs) return next;
      }
    };
    const turns = async (): Promise<T> => {
      for (;;) {
        await rest();
        const next = turn();
        if (next.done === true) return next.value;
      }
    };
    const first = turn();
    return first.done === true ? first.value : turns();
  };
}

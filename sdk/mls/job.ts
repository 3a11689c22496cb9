/**
 * Operations on messages in two halves. A runtime may sign and verify with promises, and everything
 * else of a group is done at once: `work` is the part that may wait, `finish` changes the group by
 * its result. Between the two nothing else may happen to the group; the caller sees to that.
 */
import { atOnce, type CarryOut, type InterruptibleWork } from "../base/interruptible_work.ts";

export interface Job<Work, Result> {
  readonly work: () => Work | Promise<Work>;
  readonly finish: (done: Work) => Result;
}

/**
 * An operation after its first half, or behind both when there is nothing to sign or verify; or
 * long work, in parts.
 */
export type StartedJob<Work, Result> = Job<Work, Result> | { readonly result: Result } | {
  readonly parts: InterruptibleWork<Result>;
};

/**
 * Both halves: in this call where the runtime's work does not wait. A promise is known by its
 * `then`: a page may have put a class of its own in the place of `Promise`, and the promises of
 * async functions are not of it.
 */
export function perform<Work, Result>(
  begun: StartedJob<Work, Result>,
  carryOut: CarryOut = atOnce,
): Result | Promise<Result> {
  if ("result" in begun) return begun.result;
  if ("parts" in begun) return carryOut(begun.parts);
  const { work, finish } = begun;
  const done = work();
  return isPromise(done) ? done.then(finish) : finish(done);
}

function isPromise<Work>(done: Work | Promise<Work>): done is Promise<Work> {
  return typeof done === "object" && done !== null && "then" in done;
}

/** The same operation with something behind it. */
export function followedBy<Work, Result, Then>(
  begun: StartedJob<Work, Result>,
  next: (result: Result) => Then,
): StartedJob<Work, Then> {
  if ("result" in begun) return { result: next(begun.result) };
  if ("parts" in begun) return { parts: thenOf(begun.parts, next) };
  const { work, finish } = begun;
  return { work, finish: (done) => next(finish(done)) };
}

function* thenOf<Result, Then>(
  parts: InterruptibleWork<Result>,
  next: (result: Result) => Then,
): InterruptibleWork<Then> {
  return next(yield* parts);
}

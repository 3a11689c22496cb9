/** The results of a request: one for each agent that was asked, as they come. */
import type { AgentId } from "../../proto/mod.ts";
import { RemoteError, type StaticError } from "../base/errors.ts";
import { Serial } from "../base/serial.ts";
import { Envelope } from "./envelope.ts";
import type { IncomingEnvelope } from "./incoming.ts";

/** The result of a request for one of the agents that were asked. */
export type Answer =
  | { readonly from: AgentId; readonly ok: true; readonly reply: Envelope }
  | { readonly from: AgentId; readonly ok: false; readonly error: StaticError };

/** One answer for each of those who were asked, as they come. */
export type Answers = AsyncIterableIterator<Answer, undefined>;

/** Queue of results on their way to the caller. */
export interface AnswerQueue {
  readonly answers: Answer[];
  wake: () => void;
  /** Nobody waits any more. */
  readonly stop: () => void;
}

const maxErrorText = 1024;

export function answerOf(reply: IncomingEnvelope): Answer {
  const { kind, sender, fields, body } = reply;
  if (kind !== "error") {
    return {
      from: sender,
      ok: true,
      reply: new Envelope(reply, { ack: () => Promise.resolve() }),
    };
  }
  const { error: remoteCode = "failed", retryAfterMs } = fields;
  const text = new TextDecoder().decode(body.subarray(0, 4 * maxErrorText)).slice(0, maxErrorText);
  const retry = retryAfterMs === undefined
    ? { retryable: false }
    : { retryable: true, ...(retryAfterMs > 0 && { retryAfterMs }) };
  return { from: sender, ok: false, error: new RemoteError(text, { remoteCode, ...retry }) };
}

/** Ends after `count` of them, and rejects with the signal's reason. */
export function answersOf(
  queue: AnswerQueue,
  count: number,
  signal: AbortSignal | undefined,
): Answers {
  let given = 0;
  const next = async (): Promise<IteratorResult<Answer, undefined>> => {
    while (given < count) {
      const answer = queue.answers.shift();
      if (answer !== undefined) {
        given++;
        return { done: false, value: answer };
      }
      signal?.throwIfAborted();
      await new Promise<void>((resolve) => queue.wake = resolve);
    }
    return { done: true, value: undefined };
  };
  const calls = new Serial();
  return {
    next: () => calls.run(next),
    return: () => {
      queue.stop();
      given = count;
      queue.wake();
      return Promise.resolve({ done: true, value: undefined });
    },
    [Symbol.asyncIterator](): Answers {
      return this;
    },
  };
}

/**
 * Errors that handlers throw, for both sides. A `RemoteError` is an answer. So is the refusal of a
 * request that does not fit the handler's schema. Anything else is a mistake of the program: the
 * process that runs the handler shows it on its console, because nobody may listen for the event.
 */
import { agentInWords, shownLines } from "../../proto/mod.ts";
import { messageOf, RemoteError } from "../base/errors.ts";
import type { Runtime } from "../base/runtime.ts";
import type { IncomingRequest } from "./incoming_request.ts";

const maxCauses = 8;

/** The failure of a handler in another process, which has told its user. */
export class RemoteHandlerFailure extends Error {}

/**
 * Returns what the requester is told; undefined for a mistake of the program, of which the
 * requester hears no details. Never throws: the handler has run, and would run again.
 */
export function answerToFailure(
  thrown: unknown,
  request: IncomingRequest,
  runtime: Pick<Runtime, "show">,
): RemoteError | undefined {
  try {
    if (thrown instanceof RemoteError) return thrown;
    if (thrown instanceof Error && request.isRefusedBy(thrown)) {
      return new RemoteError(thrown.message, { remoteCode: "content_invalid", cause: thrown });
    }
    // A handler that gives up with its signal makes no mistake.
    const isGivenUp = request.signal.aborted && thrown === request.signal.reason;
    if (!isGivenUp && !(thrown instanceof RemoteHandlerFailure)) {
      runtime.show?.(wordsOn(thrown, request));
    }
  } catch {
    // The console fails, or the value is one that cannot be looked at.
  }
  return undefined;
}

function wordsOn(thrown: unknown, { id, sender }: IncomingRequest): string {
  const of = `${sender.agentId} (${agentInWords(sender)})`;
  const words = shownLines(`The handler of request ${id} of ${of} failed: ${wordsOf(thrown)}`);
  // An error may repeat words of the requester: none of its lines can pass for a line of ours.
  return words.replaceAll("\n", "\n  ");
}

/**
 * With its place in the program, and with its causes. Some runtimes leave the message out of the
 * stack.
 */
function wordsOf(thrown: unknown, depth = 0): string {
  const message = messageOf(thrown);
  try {
    if (!(thrown instanceof Error)) return message;
    const { name, stack = "", cause } = thrown;
    const words = stack.includes(message) ? stack : `${name}: ${message}\n${stack}`;
    return cause === undefined || depth === maxCauses
      ? words
      : `${words}\nCaused by: ${wordsOf(cause, depth + 1)}`;
  } catch {
    return message;
  }
}

/** A request as its handler gets it. */
import { Envelope } from "./envelope.ts";
import type { IncomingEnvelope } from "./incoming.ts";

/**
 * A request as its handler gets it: an envelope, and what is known about handling it.
 *
 * @example
 * ```ts
 * import type { IncomingRequest } from "static-sdk";
 *
 * function describeRequest(request: IncomingRequest): string {
 *   const { sender, attempt, deadlineMs } = request;
 *   return `${sender.identity} asks, attempt ${attempt}, until ${new Date(deadlineMs).toISOString()}`;
 * }
 * ```
 */
export class IncomingRequest extends Envelope {
  /**
   * 1 for the first. Above it, an earlier attempt was begun, and may have had effects, before this
   * agent was stopped.
   */
  readonly attempt: number;
  /** When the requester stops waiting, by the relay's clock. No reply is sent after it. */
  readonly deadlineMs: number;
  /** Aborted when the deadline is over, and when the channel ends here. */
  readonly signal: AbortSignal;

  /** @internal Requests come from `serve`. */
  constructor(
    incoming: IncomingEnvelope,
    { attempt, signal }: { readonly attempt: number; readonly signal: AbortSignal },
  ) {
    super(incoming, { ack: () => Promise.resolve() });
    this.attempt = attempt;
    this.deadlineMs = incoming.fields.deadlineMs ?? 0;
    this.signal = signal;
  }
}

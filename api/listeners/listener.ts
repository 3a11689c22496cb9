/**
 * Common to both listeners: plain HTTP and TLS differ in how bytes arrive, not in what a client may
 * do.
 */
import type { ConnectionLimits } from "./connections.ts";

/**
 * `received` is to be called when the body has come whole: until then it is the client that takes
 * its time.
 */
export type HttpHandler = (
  request: Request,
  peer: string | undefined,
  received: () => void,
) => Response | Promise<Response>;

/** A request without a body is whole with its head. */
export function firstStage(header: (name: string) => string | undefined): "body" | "work" {
  const hasBody = header("transfer-encoding") !== undefined ||
    Number(header("content-length") ?? 0) !== 0;
  return hasBody ? "body" : "work";
}

export interface HttpListener {
  readonly url: string;
  /** Open ones, handshakes included. */
  connections(): number;
  /** Resolves when nothing is accepted any more; only a new process helps. */
  readonly failed: Promise<Error>;
  /**
   * Resolves when the last request was answered, or after `deadlineMs` when the rest was cut off.
   */
  close(deadlineMs: number): Promise<void>;
}

/** An error that ends the process includes its reason, because causes are not printed there. */
export function acceptFailed(cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Cannot accept connections any more: ${why}`, { cause });
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly handler: HttpHandler;
  readonly limits: ConnectionLimits;
  /** The most bytes in a request's body. */
  readonly maxBodyBytes: number;
}

/**
 * The body of a refusal that the app never hears of, in the shape of every refusal
 * (`routes/errors.ts`).
 */
export function refusalText(error: string): string {
  return JSON.stringify({ error, code: "invalid_request", request_id: crypto.randomUUID() });
}

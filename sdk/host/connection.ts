/**
 * The program's side of a connection to a host: calls, and their answers by number. How the bytes
 * travel is the caller's.
 */
import type { HostOperation, OperationExtras, ResultOf } from "../../proto/host/operations.ts";
import { createDeferred, type Deferred } from "../base/deferred.ts";
import { createError, type StaticError } from "../base/errors.ts";
import { HeaderFields } from "./fields.ts";
import { encodeFrame, type FrameHeader, type HostFrame, HostFrameReader } from "./frames.ts";
import { decodeError } from "./wire_errors.ts";

export interface ConnectionParts {
  readonly write: (bytes: Uint8Array) => void;
  /** Ends the way to the host. */
  readonly close: () => void;
  /** An event of the host, but `hello` and `goodbye`. */
  readonly onEvent?: (name: string, fields: HeaderFields) => void;
}

export interface HostAnswer {
  readonly fields: HeaderFields;
  readonly bytes: Uint8Array;
}

interface PendingHostCall {
  readonly answered: Deferred<HostAnswer>;
  readonly signal: AbortSignal | undefined;
}

export class HostConnection {
  readonly #parts: ConnectionParts;
  readonly #reader = new HostFrameReader();
  readonly #calls = new Map<number, PendingHostCall>();
  readonly #hello = createDeferred<HeaderFields>();
  readonly #over = createDeferred<StaticError>();
  #count = 0;
  #ended: StaticError | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#hello.promise.catch(() => {});
  }

  /** The host's first frame. Rejects when the host ends before it. */
  get hello(): Promise<HeaderFields> {
    return this.#hello.promise;
  }

  /** Resolves when nothing more comes, with why. */
  get over(): Promise<StaticError> {
    return this.#over.promise;
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** Bytes of the host. */
  receive(chunk: Uint8Array): void {
    try {
      for (const frame of this.#reader.push(chunk)) this.#take(frame);
    } catch (error) {
      this.end(
        createError("listener_died", `The host cannot be understood: ${String(error)}`, {
          cause: error,
        }),
      );
    }
  }

  /** The way to the host has ended. */
  end(error: StaticError = gone()): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#hello.reject(error);
    for (const { answered } of this.#calls.values()) answered.reject(error);
    this.#calls.clear();
    this.#over.resolve(error);
    this.#parts.close();
  }

  /**
   * Rejects with the host's error, or with `listener_died` when it goes first. An answer that comes
   * although the caller gave up is taken: it may be a message.
   */
  async call(
    op: string,
    fields: FrameHeader = {},
    { bytes, signal }: OperationExtras = {},
  ): Promise<HostAnswer> {
    signal?.throwIfAborted();
    if (this.#ended !== undefined) throw this.#ended;
    const id = ++this.#count;
    const answered = createDeferred<HostAnswer>();
    // Encoded first: what is too large is nobody's call.
    const frame = encodeFrame({ id, op, ...fields }, bytes);
    this.#calls.set(id, { answered, signal });
    const cancel = (): void => void this.call("cancel", { call: id }).catch(() => {});
    signal?.addEventListener("abort", cancel, { once: true });
    this.#parts.write(frame);
    try {
      return await answered.promise;
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  #take({ header, bytes }: HostFrame): void {
    const fields = new HeaderFields(header);
    const id = fields.optionalNumber("id");
    if (id === undefined) return this.#event(fields);
    const pending = this.#calls.get(id);
    this.#calls.delete(id);
    if (pending === undefined) return;
    const [ok, error] = [fields.optionalObject("ok"), fields.optionalObject("error")];
    if (ok !== undefined) pending.answered.resolve({ fields: ok, bytes });
    else if (error !== undefined) pending.answered.reject(decodeError(error));
    else {pending.answered.reject(
        pending.signal?.reason ?? createError("internal", "The call was given up"),
      );}
  }

  #event(fields: HeaderFields): void {
    const name = fields.optionalText("event");
    const error = fields.optionalObject("error");
    if (name === "hello") this.#hello.resolve(fields);
    else if (name === "goodbye") this.end(error && decodeError(error));
    else if (name !== undefined) this.#parts.onEvent?.(name, fields);
  }
}

/**
 * The one value that the operation gives back. Throws `invalid_request` for an answer without it.
 */
export function resultOf<O extends HostOperation>(
  { brings, answer = {} }: O,
  { fields, bytes }: HostAnswer,
): ResultOf<O> {
  const [value] = brings === undefined ? Object.values(fields.read(answer)) : [bytes];
  return value as ResultOf<O>; // cast: the table ties the value to the operation
}

function gone(): StaticError {
  return createError("listener_died", "The host has gone; what was under way may have been done");
}

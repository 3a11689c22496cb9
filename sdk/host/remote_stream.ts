/** A stream at the host that is opened again at the next one when its host dies. */
import type { HostAnswer, HostConnection } from "./connection.ts";
import type { FrameHeader } from "./frames.ts";
import { isCode, StaticError } from "../base/errors.ts";
import { type HostLink, isGone } from "./host_link.ts";

export interface OpenStream {
  readonly connection: HostConnection;
  readonly number: number;
}

export interface StreamOptions {
  readonly bytes?: Uint8Array;
  /** The request cannot be made twice: the stream ends with its host. */
  readonly isOnce?: boolean;
}

export class RemoteStream {
  readonly #link: HostLink;
  readonly #op: string;
  readonly #fields: FrameHeader;
  readonly #bytes: Uint8Array | undefined;
  readonly #isOnce: boolean;
  #open: Promise<OpenStream> | undefined;
  #ended = false;
  /** How often it was opened. */
  lives = 0;

  constructor(
    link: HostLink,
    op: string,
    fields: FrameHeader,
    { bytes, isOnce = false }: StreamOptions = {},
  ) {
    this.#link = link;
    this.#op = op;
    this.#fields = fields;
    this.#bytes = bytes;
    this.#isOnce = isOnce;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Begins it, so that nothing is missed before the first `next`. */
  async open(): Promise<OpenStream> {
    this.#open ??= this.#begin();
    return await this.#open;
  }

  /** Undefined at the end. With `count` the answer may bring several items. */
  async next(count = 1): Promise<(HostAnswer & { readonly stream: OpenStream }) | undefined> {
    while (!this.#ended) {
      let stream: OpenStream | undefined;
      try {
        stream = await this.open();
        const answered = await stream.connection.call("next", {
          stream: stream.number,
          ...(count > 1 && { count }),
        });
        if (!answered.fields.flag("done")) return { ...answered, stream };
        this.#ended = true;
      } catch (error) {
        if (this.#ended) return undefined;
        // Without a network no host comes up, and one that was there does not end the loop by
        // going.
        const isWaiting = stream === undefined && this.lives > 1 && isRetryable(error);
        // Too many calls of this program are under way: nothing was taken, and the stream is there
        // as before.
        const isHeldUp = stream !== undefined && isCode(error, "overloaded");
        const isOver = !isHeldUp && (this.#isOnce || (!isGone(error) && !isWaiting));
        if (isOver || this.#link.isClosed) {
          this.#ended = true;
          // Closing the client ends loops quietly.
          if (this.#link.isClosed) return undefined;
          // The stream's messages at the host are for others.
          if (stream !== undefined) {
            stream.connection.call("end", { stream: stream.number }).catch(() => {});
          }
          throw error;
        }
        if (!isHeldUp) this.#open = undefined;
        if (isHeldUp || isWaiting) await this.#link.pause();
      }
    }
    return undefined;
  }

  /** `finish`: what was given counts as done with, as the fields say. */
  async end(
    op: "finish" | "end",
    fields: (open: OpenStream) => FrameHeader = () => ({}),
  ): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    try {
      const open = await this.#open;
      if (open !== undefined) {
        await open.connection.call(op, { stream: open.number, ...fields(open) });
      }
    } catch (error) {
      if (!isGone(error) && !this.#link.isClosed) throw error;
    }
  }

  async #begin(): Promise<OpenStream> {
    this.lives++;
    try {
      const connection = await this.#link.connection();
      const { fields } = await connection.call(
        this.#op,
        this.#fields,
        this.#bytes === undefined ? {} : { bytes: this.#bytes },
      );
      return { connection, number: fields.number("stream") };
    } catch (error) {
      this.#open = undefined;
      throw error;
    }
  }
}

function isRetryable(error: unknown): boolean {
  return error instanceof StaticError && error.retryable;
}

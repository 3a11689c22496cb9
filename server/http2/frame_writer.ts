/** Writes frames into the outbox. */
import {
  Flag,
  frameHeaderBytes,
  FrameType,
  writeFrameHead,
  writeUint32,
} from "../../proto/http2/mod.ts";
import type { Outbox } from "./outbox.ts";

const nothing = new Uint8Array(0);

export class FrameWriter {
  readonly #outbox: Outbox;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  data(streamId: number, endStream: boolean, payload: Uint8Array): void {
    this.#frame(FrameType.data, endStream ? Flag.endStream : 0, streamId, payload);
  }

  /**
   * A header block, cut into CONTINUATION frames where it is longer than the peer's frames may be.
   */
  headers(streamId: number, endStream: boolean, block: Uint8Array, maxFrameBytes: number): void {
    const endFlag = endStream ? Flag.endStream : 0;
    if (block.length <= maxFrameBytes) {
      this.#frame(FrameType.headers, endFlag | Flag.endHeaders, streamId, block);
      return;
    }
    this.#frame(FrameType.headers, endFlag, streamId, block.subarray(0, maxFrameBytes));
    for (let at = maxFrameBytes; at < block.length; at += maxFrameBytes) {
      const flags = at + maxFrameBytes >= block.length ? Flag.endHeaders : 0;
      this.#frame(FrameType.continuation, flags, streamId, block.subarray(at, at + maxFrameBytes));
    }
  }

  rstStream(streamId: number, code: number): void {
    const at = this.#header(4, FrameType.rstStream, 0, streamId);
    writeUint32(this.#outbox.slab, at, code);
  }

  settings(entries: readonly (readonly [id: number, value: number])[]): void {
    let at = this.#header(entries.length * 6, FrameType.settings, 0, 0);
    for (const [id, value] of entries) {
      this.#outbox.slab[at] = id >> 8;
      this.#outbox.slab[at + 1] = id;
      writeUint32(this.#outbox.slab, at + 2, value);
      at += 6;
    }
  }

  settingsAck(): void {
    this.#frame(FrameType.settings, Flag.ack, 0, nothing);
  }

  ping(ack: boolean, payload: Uint8Array): void {
    this.#frame(FrameType.ping, ack ? Flag.ack : 0, 0, payload);
  }

  goaway(lastStreamId: number, code: number, text: string): void {
    const debug = new TextEncoder().encode(text);
    const at = this.#header(8 + debug.length, FrameType.goaway, 0, 0);
    writeUint32(this.#outbox.slab, at, lastStreamId);
    writeUint32(this.#outbox.slab, at + 4, code);
    this.#outbox.slab.set(debug, at + 8);
  }

  windowUpdate(streamId: number, increment: number): void {
    const at = this.#header(4, FrameType.windowUpdate, 0, streamId);
    writeUint32(this.#outbox.slab, at, increment);
  }

  #frame(type: number, flags: number, streamId: number, payload: Uint8Array): void {
    const at = this.#header(payload.length, type, flags, streamId);
    if (payload.length > 0) this.#outbox.slab.set(payload, at);
  }

  /** Room for a whole frame with its header written; returns where the payload goes. */
  #header(length: number, type: number, flags: number, streamId: number): number {
    const at = this.#outbox.reserve(frameHeaderBytes + length);
    return writeFrameHead(this.#outbox.slab, at, { length, type, flags, streamId });
  }
}

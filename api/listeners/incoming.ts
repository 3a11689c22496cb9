/**
 * The bytes of a client, in the order in which they come. They wait in one buffer, which grows with
 * them and is small again when all are taken. A read that waits ends when the socket is closed
 * here.
 */

/** Most requests have less, and every open connection has so much. */
const smallBytes = 1024;
const discardedBytes = 16 * 1024;

export class IncomingBytes {
  readonly #socket: Pick<Deno.TcpConn, "read">;
  #buffer = new Uint8Array(smallBytes);
  /** Came and was not taken: from here to there in the buffer. */
  #start = 0;
  #end = 0;

  constructor(socket: Pick<Deno.TcpConn, "read">) {
    this.#socket = socket;
  }

  get isEmpty(): boolean {
    return this.#start === this.#end;
  }

  /**
   * Takes all before the mark, and the mark. Returns without it; the bytes are the caller's until
   * its next call.
   */
  async until(mark: Uint8Array, maxBytes: number): Promise<Uint8Array | "ended" | "too_long"> {
    for (let from = 0;;) {
      const { length } = this.#waiting;
      const index = indexOf(this.#waiting, mark, from);
      if (index > maxBytes || (index < 0 && length > maxBytes)) return "too_long";
      if (index >= 0) return this.#take(index, mark.length);
      from = Math.max(0, length - mark.length + 1);
      if (!await this.#read()) return "ended";
    }
  }

  /** The bytes are the caller's until its next call. */
  async take(length: number): Promise<Uint8Array<ArrayBuffer> | "ended"> {
    while (this.#waiting.length < length) if (!await this.#read()) return "ended";
    return this.#take(length);
  }

  /** Resolves when no more comes. */
  async discard(): Promise<void> {
    const piece = new Uint8Array(discardedBytes);
    while (await this.#socket.read(piece) !== null);
  }

  get #waiting(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(this.#start, this.#end);
  }

  #take(length: number, skipped = 0): Uint8Array<ArrayBuffer> {
    const taken = this.#buffer.subarray(this.#start, this.#start + length);
    this.#start += length + skipped;
    return taken;
  }

  /** Returns false when there is no more. */
  async #read(): Promise<boolean> {
    this.#makeRoom();
    const length = await this.#socket.read(this.#buffer.subarray(this.#end));
    this.#end += length ?? 0;
    return length !== null;
  }

  /**
   * At most half of the room is empty when it grows: a byte at a time is not copied for each byte.
   */
  #makeRoom(): void {
    const waiting = this.#waiting;
    if (this.#end < this.#buffer.length && !this.isEmpty) return;
    const room = waiting.length === 0
      ? smallBytes
      : this.#buffer.length * (waiting.length * 2 > this.#buffer.length ? 2 : 1);
    if (room !== this.#buffer.length) this.#buffer = new Uint8Array(room);
    this.#buffer.set(waiting);
    [this.#start, this.#end] = [0, waiting.length];
  }
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}

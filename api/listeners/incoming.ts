/** The bytes of a client, in the order in which they come. A read that waits ends when the socket is closed here. */

/** Most requests have less, and every open connection has so much. */
const pieceBytes = 1024;

export class Incoming {
  readonly #socket: Pick<Deno.TcpConn, "read">;
  readonly #piece = new Uint8Array(pieceBytes);
  /** Came and was not taken. */
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array();

  constructor(socket: Pick<Deno.TcpConn, "read">) {
    this.#socket = socket;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === 0;
  }

  /** Takes all before the mark, and the mark. Returns without it. */
  async until(mark: string, maxBytes: number): Promise<Uint8Array | "ended" | "too_long"> {
    const wanted = new TextEncoder().encode(mark);
    for (let from = 0;;) {
      const index = indexOf(this.#bytes, wanted, from);
      if (index > maxBytes || (index < 0 && this.#bytes.length > maxBytes)) return "too_long";
      if (index >= 0) {
        const before = this.#bytes.subarray(0, index);
        this.#bytes = this.#bytes.slice(index + wanted.length);
        return before;
      }
      from = Math.max(0, this.#bytes.length - wanted.length + 1);
      if (!await this.#read()) return "ended";
    }
  }

  async take(length: number): Promise<Uint8Array<ArrayBuffer> | "ended"> {
    const parts = [this.#bytes];
    let missing = length - this.#bytes.length;
    for (; missing > 0; missing -= this.#bytes.length) {
      if (!await this.#readNext()) return "ended";
      parts.push(this.#bytes);
    }
    const all = joined(parts);
    this.#bytes = all.slice(length);
    return all.subarray(0, length);
  }

  /** Adds to what is there. */
  async #read(): Promise<boolean> {
    const before = this.#bytes;
    if (!await this.#readNext()) return false;
    this.#bytes = joined([before, this.#bytes]);
    return true;
  }

  /** Returns false when there is no more. */
  async #readNext(): Promise<boolean> {
    const length = await this.#socket.read(this.#piece);
    if (length === null) return false;
    this.#bytes = this.#piece.slice(0, length);
    return true;
  }
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [only, ...more] = parts.filter(({ length }) => length > 0);
  if (only === undefined) return new Uint8Array();
  if (more.length === 0) return only;
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    all.set(part, offset);
    offset += part.length;
  }
  return all;
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (wanted.every((byte, index) => bytes[at + index] === byte)) return at;
  }
  return -1;
}

/**
 * Fixed-size cells: the only unit on a stream, both ways. A cell is one byte of lane, two bytes of
 * content length, content, and zeros up to its size. A lane is a stream of length-prefixed
 * envelopes: small ones share a cell, long ones span cells. Two lanes, because a long message must
 * not hold up acknowledgements and heartbeats behind it. A cell without content is cover; inside
 * TLS nothing tells it from the others.
 * Riders are envelopes in the place of those zeros: they go only where a cell leaves anyway and has
 * room. A cover cell with riders is counted as cover, and a peer that knows nothing of riders
 * passes over them.
 */
import { WireError } from "../base/errors.ts";
import { limits } from "../base/limits.ts";
import type { Lane } from "./operations.ts";

/** Lane (1) and content length (2). */
export const cellHeaderBytes = 3;
/**
 * Length before each envelope in a lane. It is never split: a cell with less room than this left
 * ends there.
 */
export const envelopePrefixBytes = 4;
/** Length before each rider; 0, or less room than this and a byte, ends them. */
export const riderPrefixBytes = 2;

const laneNumber: Readonly<Record<Lane, number>> = { control: 0, data: 1 };

export function checkCellBytes(cellBytes: number): number {
  if (
    !Number.isInteger(cellBytes) || cellBytes < limits.minCellBytes ||
    cellBytes > limits.maxCellBytes
  ) {
    throw new WireError(
      "protocol_error",
      `A cell has ${limits.minCellBytes} to ${limits.maxCellBytes} bytes, not ${cellBytes}`,
    );
  }
  return cellBytes;
}

export function checkEnvelopeBytes(envelopeBytes: number): void {
  if (envelopeBytes === 0 || envelopeBytes > limits.envelopeBytes) {
    throw new WireError(
      "payload_too_large",
      `Cannot send an envelope of ${envelopeBytes} bytes; 1 to ${limits.envelopeBytes} are allowed`,
    );
  }
}

/**
 * The longest envelope that fits into this many cells, alone. MLS padding fills messages up to such
 * a length.
 */
export function envelopeCapacity(cells: number, cellBytes: number): number {
  return cells * (cellBytes - cellHeaderBytes) - envelopePrefixBytes;
}

/**
 * Turns envelopes into cells. One per direction of a session; the sender decides when to take the
 * next cell.
 */
export class CellPacker {
  #cellBytes: number;
  readonly #control: Uint8Array[] = [];
  readonly #data: Uint8Array[] = [];
  /** Bytes of the first envelope in each queue that are already sent, its prefix included. */
  readonly #sent = [0, 0];
  #pendingBytes = 0;

  constructor(cellBytes: number) {
    this.#cellBytes = checkCellBytes(cellBytes);
  }

  /**
   * From the next cell on. Only between envelopes: both sides must agree where the size changes.
   */
  set cellBytes(cellBytes: number) {
    if (this.#pendingBytes > 0) {
      throw new TypeError("Cannot change the cell size while envelopes are waiting");
    }
    this.#cellBytes = checkCellBytes(cellBytes);
  }

  get cellBytes(): number {
    return this.#cellBytes;
  }

  /** Bytes that wait to be sent, prefixes included: the measure for back-pressure. */
  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  /** The packer keeps the bytes until they are sent; do not change them. */
  push(lane: Lane, envelope: Uint8Array): void {
    checkEnvelopeBytes(envelope.length);
    (lane === "control" ? this.#control : this.#data).push(envelope);
    this.#pendingBytes += envelope.length + envelopePrefixBytes;
  }

  /**
   * The next cell with content, control before data, or undefined when nothing waits. A sender that
   * has finished with its last cell may hand it back as `reuse`: a new buffer is most of what a
   * cell costs.
   */
  next(reuse?: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
    const lane = this.#control.length > 0 ? laneNumber.control : laneNumber.data;
    const queue = lane === laneNumber.control ? this.#control : this.#data;
    if (queue.length === 0) return undefined;
    const cell = reuse?.length === this.#cellBytes ? reuse : new Uint8Array(this.#cellBytes);
    this.#fill(cell, queue, lane);
    return cell;
  }

  #fill(cell: Uint8Array, queue: Uint8Array[], lane: number): void {
    let at = cellHeaderBytes;
    let finished = 0;
    let sent = this.#sent[lane] ?? 0;
    for (const envelope of queue) {
      if (sent === 0) {
        if (cell.length - at <= envelopePrefixBytes) break;
        writeUint32(cell, at, envelope.length);
        at += envelopePrefixBytes;
        sent = envelopePrefixBytes;
      }
      const start = sent - envelopePrefixBytes;
      const part = envelope.subarray(start, start + cell.length - at);
      cell.set(part, at);
      at += part.length;
      sent += part.length;
      if (sent - envelopePrefixBytes < envelope.length) break;
      finished++;
      sent = 0;
    }
    const content = at - cellHeaderBytes;
    if (finished === 1) queue.shift();
    else queue.splice(0, finished);
    this.#sent[lane] = sent;
    this.#pendingBytes -= content;
    cell[0] = lane;
    cell[1] = content >> 8;
    cell[2] = content & 0xff;
    cell.fill(0, at);
  }
}

/**
 * Puts a rider behind everything else that a cell carries, and returns where the next one may
 * stand.
 */
export function writeRider(cell: Uint8Array, at: number, envelope: Uint8Array): number {
  const start = at + riderPrefixBytes;
  cell.set(envelope, start);
  cell[at] = envelope.length >> 8;
  cell[at + 1] = envelope.length & 0xff;
  return start + envelope.length;
}

/** A cell that carries nothing. */
export function createCoverCell(cellBytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(checkCellBytes(cellBytes));
}

/** Bytes that passed in one direction of a session. */
export interface CellCounts {
  readonly cells: number;
  readonly coverCells: number;
  readonly coverBytes: number;
  /** Fill of cells that carry something. */
  readonly paddingBytes: number;
}

export interface CellReaderLimits {
  readonly cellBytes: number;
  /** Largest envelope accepted; raise it once the peer is authenticated. */
  readonly maxEnvelopeBytes: number;
}

/**
 * Turns a byte stream, in chunks of any size, back into envelopes. Holds at most one cell and one
 * unfinished envelope per lane, and of that no more than has really arrived.
 */
export class CellReader {
  #cellBytes: number;
  #maxEnvelopeBytes: number;
  readonly #lanes = [new LaneReader(), new LaneReader()];
  #partial: Uint8Array;
  #partialBytes = 0;
  #cells = 0;
  #coverCells = 0;
  #coverBytes = 0;
  #paddingBytes = 0;

  constructor({ cellBytes, maxEnvelopeBytes }: CellReaderLimits) {
    this.#cellBytes = checkCellBytes(cellBytes);
    this.#maxEnvelopeBytes = maxEnvelopeBytes;
    this.#partial = new Uint8Array(cellBytes);
  }

  /** The size of the cell that comes next. */
  get cellBytes(): number {
    return this.#cellBytes;
  }

  /** Cells read so far. */
  get counts(): CellCounts {
    return {
      cells: this.#cells,
      coverCells: this.#coverCells,
      coverBytes: this.#coverBytes,
      paddingBytes: this.#paddingBytes,
    };
  }

  /** Applies from the next cell on; refused in the middle of one. */
  configure({ cellBytes, maxEnvelopeBytes }: CellReaderLimits): void {
    checkCellBytes(cellBytes);
    if (this.#partialBytes > 0 && cellBytes !== this.#cellBytes) {
      throw new WireError("protocol_error", "The peer went on before the cell size was settled");
    }
    if (cellBytes !== this.#cellBytes) this.#partial = new Uint8Array(cellBytes);
    this.#cellBytes = cellBytes;
    this.#maxEnvelopeBytes = maxEnvelopeBytes;
  }

  /**
   * Hands every envelope that this chunk completes to `onEnvelope`, in order, riders behind the
   * others. The bytes are valid only during that call: they may be a view of the chunk. After a
   * `WireError` the stream cannot be read any further.
   */
  read(chunk: Uint8Array, onEnvelope: (envelope: Uint8Array, lane: Lane) => void): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#partialBytes === 0 && chunk.length - at >= this.#cellBytes) {
        const end = at + this.#cellBytes;
        this.#readCell(chunk.subarray(at, end), onEnvelope);
        at = end;
        continue;
      }
      const part = chunk.subarray(at, at + this.#cellBytes - this.#partialBytes);
      this.#partial.set(part, this.#partialBytes);
      this.#partialBytes += part.length;
      at += part.length;
      if (this.#partialBytes === this.#cellBytes) {
        this.#partialBytes = 0;
        this.#readCell(this.#partial, onEnvelope);
      }
    }
  }

  #readCell(cell: Uint8Array, onEnvelope: (envelope: Uint8Array, lane: Lane) => void): void {
    const lane = cell[0] ?? 0;
    const content = ((cell[1] ?? 0) << 8) | (cell[2] ?? 0);
    const reader = this.#lanes[lane];
    if (reader === undefined) {
      throw new WireError("protocol_error", `A cell names lane ${lane}, which does not exist`);
    }
    if (content > cell.length - cellHeaderBytes) {
      throw new WireError(
        "protocol_error",
        `A cell claims ${content} bytes of content, more than it can hold`,
      );
    }
    this.#cells++;
    const end = cellHeaderBytes + content;
    if (content === 0) {
      this.#coverCells++;
      this.#coverBytes += cell.length;
    } else {
      this.#paddingBytes += cell.length - end;
      const name = lane === laneNumber.control ? "control" : "data";
      const bytes = cell.subarray(cellHeaderBytes, end);
      reader.read(
        bytes,
        end === cell.length,
        this.#maxEnvelopeBytes,
        (envelope) => onEnvelope(envelope, name),
      );
    }
    readRiders(cell, end, (envelope) => onEnvelope(envelope, "control"));
  }
}

/** Reassembles the envelopes of one lane. */
class LaneReader {
  /** Length of the envelope that is under way; 0 between envelopes. */
  #length = 0;
  #buffer = new Uint8Array(0);
  #filled = 0;

  read(
    content: Uint8Array,
    full: boolean,
    maxEnvelopeBytes: number,
    onEnvelope: (envelope: Uint8Array) => void,
  ): void {
    let at = 0;
    while (at < content.length) {
      if (this.#length === 0) {
        this.#length = readPrefix(content, at, maxEnvelopeBytes);
        at += envelopePrefixBytes;
        if (content.length - at >= this.#length) {
          const envelope = content.subarray(at, at + this.#length);
          at += this.#length;
          this.#length = 0;
          onEnvelope(envelope);
          continue;
        }
      }
      const part = content.subarray(at, at + this.#length - this.#filled);
      this.#append(part);
      at += part.length;
      if (this.#filled === this.#length) onEnvelope(this.#take());
    }
    // Else a peer could make us hold and walk a cell for every byte it sends.
    if (this.#length > 0 && !full) {
      throw new WireError(
        "protocol_error",
        "A cell ends in the middle of an envelope without being full",
      );
    }
  }

  /** Grows with what has arrived, by doubling, and never beyond the announced length. */
  #append(part: Uint8Array): void {
    const needed = this.#filled + part.length;
    if (needed > this.#buffer.length) {
      const grown = new Uint8Array(
        Math.min(this.#length, Math.max(needed, 2 * this.#buffer.length)),
      );
      grown.set(this.#buffer.subarray(0, this.#filled));
      this.#buffer = grown;
    }
    this.#buffer.set(part, this.#filled);
    this.#filled = needed;
  }

  #take(): Uint8Array {
    const envelope = this.#buffer;
    this.#buffer = new Uint8Array(0);
    this.#length = 0;
    this.#filled = 0;
    return envelope;
  }
}

/** From this place to the end of the cell. */
function readRiders(
  cell: Uint8Array,
  from: number,
  onEnvelope: (envelope: Uint8Array) => void,
): void {
  for (let at = from; cell.length - at > riderPrefixBytes;) {
    const length = ((cell[at] ?? 0) << 8) | (cell[at + 1] ?? 0);
    if (length === 0) return;
    const start = at + riderPrefixBytes;
    at = start + length;
    if (at > cell.length) {
      throw new WireError("protocol_error", "A rider goes beyond the end of its cell");
    }
    onEnvelope(cell.subarray(start, at));
  }
}

function readPrefix(content: Uint8Array, at: number, maxEnvelopeBytes: number): number {
  if (content.length - at <= envelopePrefixBytes) {
    throw new WireError("protocol_error", "A cell ends in the middle of an envelope's length");
  }
  const length = readUint32(content, at);
  if (length === 0) throw new WireError("protocol_error", "An envelope has no bytes");
  if (length > maxEnvelopeBytes) {
    throw new WireError(
      "payload_too_large",
      `An envelope of ${length} bytes; at most ${maxEnvelopeBytes} are allowed`,
    );
  }
  return length;
}

function readUint32(bytes: Uint8Array, at: number): number {
  const top = bytes[at] ?? 0;
  return top * 2 ** 24 +
    (((bytes[at + 1] ?? 0) << 16) | ((bytes[at + 2] ?? 0) << 8) | (bytes[at + 3] ?? 0));
}

function writeUint32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value >>> 24;
  bytes[at + 1] = value >>> 16;
  bytes[at + 2] = value >>> 8;
  bytes[at + 3] = value;
}

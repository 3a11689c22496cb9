/**
 * Frames on their way out: one write is under way, and what comes meanwhile gathers for the next
 * one.
 */

/** Resolves when the system has taken all of it. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/** In one write, so that it shows whether somebody reads. */
const maxWriteBytes = 1024 * 1024;

export class HostFrameWriter {
  readonly #write: WriteBytes;
  readonly #onFailed: () => void;
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #written = 0;
  #writing: Promise<void> | undefined;
  #failed = false;

  /** `onFailed` is called once when nobody is there to read. */
  constructor(write: WriteBytes, onFailed: () => void) {
    this.#write = write;
    this.#onFailed = onFailed;
  }

  /** Bytes that the system has not taken. */
  get waiting(): number {
    return this.#bytes;
  }

  /** Bytes that it has taken, since the beginning. */
  get written(): number {
    return this.#written;
  }

  write(frame: Uint8Array): void {
    if (this.#failed) return;
    this.#waiting.push(frame);
    this.#bytes += frame.length;
    this.#writing ??= this.#run();
  }

  /** Nothing of it goes out but what is on its way. */
  drop(): void {
    this.#bytes -= this.#waiting.reduce((sum, { length }) => sum + length, 0);
    this.#waiting = [];
  }

  /** Resolves when everything so far is out, or nobody reads. */
  async idle(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  async #run(): Promise<void> {
    try {
      // So that frames of this turn of the event loop go together.
      await Promise.resolve();
      while (this.#waiting.length > 0) {
        const bytes = this.#take();
        await this.#write(bytes);
        this.#bytes -= bytes.length;
        this.#written += bytes.length;
      }
    } catch {
      this.#failed = true;
      this.#waiting = [];
      this.#onFailed();
    } finally {
      this.#writing = undefined;
    }
  }

  /** Frames that go together, or one that is large. */
  #take(): Uint8Array {
    let [count, bytes] = [0, 0];
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > maxWriteBytes) break;
      count++;
      bytes += length;
    }
    const frames = this.#waiting.splice(0, count);
    return frames.length === 1 && frames[0] !== undefined ? frames[0] : joined(frames);
  }
}

function joined(frames: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(frames.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const frame of frames) {
    all.set(frame, at);
    at += frame.length;
  }
  return all;
}

/**
 * Envelopes that wait to ride in cells which leave anyway: the newest under each key, the longest
 * waiting first.
 */
export class RiderQueue {
  readonly #waiting = new Map<string, Uint8Array>();

  /** In place of one that waits under the same key. */
  offer(key: string, envelope: Uint8Array): void {
    this.#waiting.delete(key);
    this.#waiting.set(key, envelope);
  }

  /** The next one of at most so many bytes. */
  take(room: number): Uint8Array | undefined {
    for (const [key, envelope] of this.#waiting) {
      if (envelope.length > room) continue;
      this.#waiting.delete(key);
      return envelope;
    }
    return undefined;
  }
}

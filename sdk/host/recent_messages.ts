/**
 * The latest messages that a program was given. A host gives the next message before it has written
 * that the one before is done with, so the host after it may give some of them again.
 */

/** More than a host is ever ahead of its disk. */
const maxMessages = 256;

export class RecentMessages {
  readonly #keys = new Set<string>();

  has(key: string): boolean {
    return this.#keys.has(key);
  }

  add(key: string): void {
    this.#keys.add(key);
    const [oldest] = this.#keys;
    if (this.#keys.size > maxMessages && oldest !== undefined) this.#keys.delete(oldest);
  }
}

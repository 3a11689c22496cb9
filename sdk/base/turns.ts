/**
 * Work on several things: one task after the other on each of them, and different things at once.
 */
import { Serial } from "./serial.ts";

export class Turns<Key> {
  readonly #serials = new Map<Key, { readonly serial: Serial; waiting: number }>();

  async run<T>(key: Key, task: () => Promise<T>): Promise<T> {
    const turn = this.#serials.get(key) ?? { serial: new Serial(), waiting: 0 };
    this.#serials.set(key, turn);
    turn.waiting++;
    try {
      return await turn.serial.run(task);
    } finally {
      turn.waiting--;
      if (turn.waiting === 0) this.#serials.delete(key);
    }
  }
}

/**
 * Sockets that came faster than handshakes can be made. They leave one by one, an address after the other, so that a crowd of
 * one address is passed by everybody else. One that is closed meanwhile leaves too, and takes neither a place nor a turn.
 */

export class WaitingRoom<Guest> {
  readonly #limits: { readonly perKey: number; readonly inAll: number };
  /** In the order of their next turn. */
  readonly #queues = new Map<string, Set<Guest>>();
  #size = 0;

  constructor(limits: { readonly perKey: number; readonly inAll: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns how to leave before the turn; undefined when it is full, for this key or for all. */
  enter(key: string, guest: Guest): (() => void) | undefined {
    const queue = this.#queues.get(key) ?? new Set();
    if (queue.size >= this.#limits.perKey || this.#size >= this.#limits.inAll) return undefined;
    queue.add(guest);
    this.#queues.set(key, queue);
    this.#size++;
    return () => this.#leave(key, guest);
  }

  next(): Guest | undefined {
    const [first] = this.#queues;
    if (first === undefined) return undefined;
    const [key, queue] = first;
    const [guest] = queue;
    if (guest !== undefined) this.#leave(key, guest);
    // The others of this key have their next turn behind everybody else's.
    if (this.#queues.delete(key)) this.#queues.set(key, queue);
    return guest;
  }

  #leave(key: string, guest: Guest): void {
    const queue = this.#queues.get(key);
    if (queue === undefined || !queue.delete(guest)) return;
    this.#size--;
    if (queue.size === 0) this.#queues.delete(key);
  }
}

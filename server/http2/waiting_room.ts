/**
 * Sockets that came faster than handshakes can be made. They leave one by one, an address after the other, so that a crowd of
 * one address is passed by everybody else.
 */

export class WaitingRoom<Guest> {
  readonly #limits: { readonly perKey: number; readonly inAll: number };
  /** In the order of their next turn. */
  readonly #queues = new Map<string, Guest[]>();
  #size = 0;

  constructor(limits: { readonly perKey: number; readonly inAll: number }) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /** False when it is full, for this key or for all. */
  enter(key: string, guest: Guest): boolean {
    const queue = this.#queues.get(key) ?? [];
    if (queue.length >= this.#limits.perKey || this.#size >= this.#limits.inAll) return false;
    queue.push(guest);
    this.#queues.set(key, queue);
    this.#size++;
    return true;
  }

  next(): Guest | undefined {
    const [first] = this.#queues;
    if (first === undefined) return undefined;
    const [key, queue] = first;
    const guest = queue.shift();
    this.#size--;
    this.#queues.delete(key);
    if (queue.length > 0) this.#queues.set(key, queue);
    return guest;
  }
}

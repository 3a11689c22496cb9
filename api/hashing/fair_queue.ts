/**
 * A bounded queue that is fair between clients: each has a line of its own, and the lines are served in turn. When all places
 * are taken, the longest line gives one up for a client that waits with less, so only those that filled the queue are refused.
 */

interface Line<Item> {
  readonly client: string;
  readonly items: Item[];
}

export class FairQueue<Item> {
  readonly #limit: number;
  /** In the order in which they are served next. */
  readonly #lines = new Map<string, Line<Item>>();
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#size;
  }

  /** How many wait for this client. */
  waitingFor(client: string): number {
    return this.#lines.get(client)?.items.length ?? 0;
  }

  /** Returns what finds no place: the last of the longest line, or the item itself. */
  push(client: string, item: Item): Item | undefined {
    let refused: Item | undefined;
    if (this.#size >= this.#limit) {
      const longest = this.#longestLine();
      if (longest === undefined || longest.items.length <= this.waitingFor(client) + 1) return item;
      refused = longest.items.pop();
      this.#size--;
    }
    const line = this.#lines.get(client) ?? { client, items: [] };
    line.items.push(item);
    this.#lines.set(client, line);
    this.#size++;
    return refused;
  }

  shift(): Item | undefined {
    const line: Line<Item> | undefined = this.#lines.values().next().value;
    if (line === undefined) return undefined;
    const item = line.items.shift();
    this.#size--;
    // To the end, behind those that wait too.
    this.#lines.delete(line.client);
    if (line.items.length > 0) this.#lines.set(line.client, line);
    return item;
  }

  #longestLine(): Line<Item> | undefined {
    let longest: Line<Item> | undefined;
    for (const line of this.#lines.values()) {
      if (longest === undefined || line.items.length > longest.items.length) longest = line;
    }
    return longest;
  }
}

/** A binary heap: the least by `isBefore` comes first. */
export class Heap<Item> {
  readonly #isBefore: (a: Item, b: Item) => boolean;
  #items: Item[] = [];

  constructor(isBefore: (a: Item, b: Item) => boolean) {
    this.#isBefore = isBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  get first(): Item | undefined {
    return this.#items[0];
  }

  push(item: Item): void {
    const items = this.#items;
    let index = items.push(item) - 1;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = items[above];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      items[index] = parent;
      index = above;
    }
    items[index] = item;
  }

  pop(): Item | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.#sink(last);
    return first;
  }

  /** Drops the others. */
  keep(isKept: (item: Item) => boolean): void {
    const kept = this.#items.filter(isKept);
    this.#items = [];
    for (const item of kept) this.push(item);
  }

  /** Puts it at the top, and from there to where it belongs. */
  #sink(item: Item): void {
    const items = this.#items;
    let index = 0;
    for (;;) {
      let below = 2 * index + 1;
      let child = items[below];
      const right = items[below + 1];
      if (child !== undefined && right !== undefined && this.#isBefore(right, child)) {
        below++;
        child = right;
      }
      if (child === undefined || !this.#isBefore(child, item)) break;
      items[index] = child;
      index = below;
    }
    items[index] = item;
  }
}

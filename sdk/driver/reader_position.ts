/**
 * How far a durable reader has come: everything up to one place of the channel's log, and places beyond it that were acknowledged
 * out of order. With each place stands the relay's time: the same place with a later time is another message, of a relay that was
 * restored, and is shown.
 */

export interface Place {
  readonly sequence: number;
  readonly timeMs: number;
}

export class ReaderPosition {
  #floor: Place;
  readonly #beyond: Map<number, number>;

  constructor(floor: Place = { sequence: 0, timeMs: 0 }, beyond: readonly Place[] = []) {
    this.#floor = floor;
    this.#beyond = new Map(beyond.map(({ sequence, timeMs }) => [sequence, timeMs]));
  }

  get floor(): Place {
    return this.#floor;
  }

  get beyond(): readonly Place[] {
    return Array.from(this.#beyond, ([sequence, timeMs]) => ({ sequence, timeMs }));
  }

  isPast({ sequence, timeMs }: Place): boolean {
    if (sequence <= this.#floor.sequence) return timeMs <= this.#floor.timeMs;
    const known = this.#beyond.get(sequence);
    return known !== undefined && timeMs <= known;
  }

  /** Done with this one, perhaps out of order. */
  pass({ sequence, timeMs }: Place): void {
    this.#beyond.set(sequence, timeMs);
  }

  /** Done with everything up to here. */
  advance(place: Place): void {
    this.#floor = { sequence: place.sequence, timeMs: Math.max(place.timeMs, this.#floor.timeMs) };
    for (const sequence of this.#beyond.keys()) if (sequence <= place.sequence) this.#beyond.delete(sequence);
  }
}

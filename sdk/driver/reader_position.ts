/**
 * How far a durable reader has come: everything up to one place of the channel's log, and messages beyond it that were acknowledged
 * out of order. With each place stands the relay's time: the same place with a later time is another message, of a relay that was
 * restored, and is shown. Messages that were sent as one have one place, so beyond the first place each has its id.
 */

export interface Place {
  readonly sequence: number;
  readonly timeMs: number;
  /** Undefined: every message at this place. */
  readonly id?: string | undefined;
}

export class ReaderPosition {
  #floor: Place;
  /** By place and id. */
  readonly #beyond: Map<string, Place>;

  constructor(floor: Place = { sequence: 0, timeMs: 0 }, beyond: readonly Place[] = []) {
    this.#floor = floor;
    this.#beyond = new Map(beyond.map((place) => [keyOf(place), place]));
  }

  /** It is done with every message up to here. */
  get floor(): Place {
    return this.#floor;
  }

  get beyond(): readonly Place[] {
    return [...this.#beyond.values()];
  }

  isPast({ sequence, timeMs, id }: Place): boolean {
    if (sequence <= this.#floor.sequence) return timeMs <= this.#floor.timeMs;
    const known = this.#beyond.get(keyOf({ sequence, timeMs, id })) ?? this.#beyond.get(keyOf({ sequence, timeMs }));
    return known !== undefined && timeMs <= known.timeMs;
  }

  /** Done with this one, perhaps out of order. */
  pass({ sequence, timeMs, id }: Place): void {
    this.#beyond.set(keyOf({ sequence, timeMs, id }), { sequence, timeMs, id });
  }

  /** Done with everything up to here. */
  advance({ sequence, timeMs }: Place): void {
    this.#floor = { sequence, timeMs: Math.max(timeMs, this.#floor.timeMs) };
    for (const [key, place] of this.#beyond) if (place.sequence <= sequence) this.#beyond.delete(key);
  }
}

function keyOf({ sequence, id = "" }: Place): string {
  return `${sequence}.${id}`;
}

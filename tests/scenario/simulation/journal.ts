/**
 * Remembers what the relay's engine was told to write, so that a relay can be set back to an
 * earlier moment of its disk.
 */
import type { Engine } from "../../../relay/engine/mod.ts";

type Write = (engine: Engine) => unknown;

const engineWrites: ReadonlySet<PropertyKey> = new Set<keyof Engine>([
  "createChannel",
  "append",
  "saveSnapshot",
  "moveCursors",
  "dropCursor",
  "trim",
  "dropMessages",
  "forget",
]);
const recordWrites: ReadonlySet<PropertyKey> = new Set<keyof Engine["records"]>([
  "put",
  "delete",
  "expire",
]);
const leaseWrites: ReadonlySet<PropertyKey> = new Set<keyof Engine["leases"]>([
  "open",
  "stop",
  "forget",
]);

export class Journal {
  #writes: Write[] = [];

  /** A moment that `setBack` leads back to. */
  get now(): number {
    return this.#writes.length;
  }

  /** The same engine; what it writes from now on is remembered. */
  of(engine: Engine): Engine {
    const records = recording(
      engine.records,
      recordWrites,
      (write) => this.#writes.push((to) => write(to.records)),
    );
    const leases = recording(
      engine.leases,
      leaseWrites,
      (write) => this.#writes.push((to) => write(to.leases)),
    );
    const recorded = recording(engine, engineWrites, (write) => this.#writes.push(write));
    return new Proxy(recorded, {
      get: (target, key) =>
        key === "records" ? records : key === "leases" ? leases : Reflect.get(target, key),
    });
  }

  /** Makes an empty engine equal to the present one at that moment. Later entries are forgotten. */
  async setBack(moment: number, empty: Engine): Promise<Engine> {
    this.#writes = this.#writes.slice(0, moment);
    for (const write of this.#writes) await write(empty);
    return this.of(empty);
  }
}

function recording<T extends object>(
  target: T,
  writes: ReadonlySet<PropertyKey>,
  note: (write: (to: T) => unknown) => void,
): T {
  return new Proxy(target, {
    get: (_, key) => {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== "function") return value;
      // Of any engine: they share their methods' names.
      const call = (to: object, given: readonly unknown[]): unknown =>
        Reflect.apply(Reflect.get(to, key), to, given);
      return (...given: unknown[]): unknown => {
        if (writes.has(key)) note((to) => call(to, given));
        return call(target, given);
      };
    },
  });
}

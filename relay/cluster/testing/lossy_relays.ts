/**
 * Relays on a log that loses, repeats, delays and reorders what is published, on simulated time.
 * Writers and copies are the real ones; real nodes cannot be made to do this on demand.
 */
import type { Random } from "../../../tests/support/random.ts";
import { SimulatedTime } from "../../core/testing/simulated_time.ts";
import type { Engine } from "../../engine/engine.ts";
import { EngineError, openReplicaStore, type ReplicaStore } from "../../engine/mod.ts";
import { encodeCommand, type LogCommand } from "../log/command.ts";
import { LogWriter } from "../log/log_writer.ts";
import { Replica } from "../replica/replica.ts";

const longestDelayMs = 40;

export class LossyRelays {
  readonly time = new SimulatedTime(1_000_000);
  readonly random: Random;
  readonly entries: Uint8Array[] = [];
  readonly relays: LossyRelay[] = [];
  /** The part of what is published that meets a fault. */
  faults = 0.2;

  constructor(random: Random) {
    this.random = random;
  }

  /** A new life of a relay, which reads the log from its beginning. */
  async start(id: string): Promise<LossyRelay> {
    const relay = new LossyRelay(this, id, await openReplicaStore({ path: ":memory:" }));
    this.relays.push(relay);
    relay.readOn();
    await relay.replica.idle();
    await this.settle(relay.begin());
    return relay;
  }

  /** Lets time pass until something is over. */
  async settle<Result>(work: Promise<Result>): Promise<Result> {
    let isOver = false;
    const over = work.finally(() => void (isOver = true));
    over.catch(() => {});
    while (!isOver) await this.time.advance(20);
    return await over;
  }

  /** Everybody has read everything. */
  async heal(): Promise<void> {
    this.faults = 0;
    const running = this.relays.filter(({ isRunning }) => isRunning);
    for (const relay of running) relay.isFrozen = false;
    // A relay that was given up learns it now, and ends.
    for (const relay of running) await this.settle(relay.write({ op: "mark" })).catch(() => {});
    await this.time.advance(5_000);
    for (const relay of running) await relay.replica.idle();
  }

  async publish(bytes: Uint8Array): Promise<number> {
    const { random, time } = this;
    const later = (ms: number): Promise<void> =>
      new Promise((resolve) => void time.after(ms, resolve));
    const isFaulty = random.chance(this.faults);
    const fate = isFaulty ? random.pick(["lost", "late", "unanswered", "twice"] as const) : "fine";
    await later(random.below(longestDelayMs));
    if (fate === "late") void later(random.below(4_000)).then(() => this.#store(bytes));
    if (fate === "lost" || fate === "late") throw new Error("not answered");
    const position = this.#store(bytes);
    if (fate === "twice") void later(random.below(4_000)).then(() => this.#store(bytes));
    if (fate === "unanswered") throw new Error("not answered");
    await later(random.below(longestDelayMs));
    return position;
  }

  #store(bytes: Uint8Array): number {
    const position = this.entries.push(bytes);
    for (const relay of this.relays) {
      this.time.after(this.random.below(longestDelayMs), () => relay.readOn());
    }
    return position;
  }
}

export class LossyRelay {
  readonly id: string;
  readonly replica: Replica;
  readonly engine: Engine;
  readonly store: ReplicaStore;
  readonly #stage: LossyRelays;
  readonly #writer: LogWriter;
  readonly #writerId: string;
  #read = 0;
  isRunning = true;
  /** Takes nothing and sends nothing until it wakes up. Messages under way arrive. */
  isFrozen = false;

  constructor(stage: LossyRelays, id: string, store: ReplicaStore) {
    this.#stage = stage;
    this.id = id;
    this.store = store;
    this.engine = store.engine;
    this.#writerId = `${id} ${stage.random.uint32()}`;
    const ignore = (): void => {};
    this.replica = new Replica(store, {
      seen: (batch, standing, results) => {
        if (batch.writer === this.#writerId) this.#writer.seen(batch.number, standing, results);
      },
      session: ignore,
      cursor: ignore,
      trimmed: ignore,
      welcomed: ignore,
      digest: ignore,
      failed: () => this.end(),
    });
    this.#writer = new LogWriter({
      writer: this.#writerId,
      relay: id,
      publish: (bytes) =>
        this.isFrozen ? Promise.reject(new Error("frozen")) : stage.publish(bytes),
      position: () => this.replica.position,
      catchUp: () => Promise.resolve(this.readOn()),
      nowMs: stage.time.nowMs,
      after: stage.time.after,
      onFenced: () => this.end(),
      onSetBack: () => {
        throw new Error("This log loses nothing that it has stored");
      },
    });
  }

  async begin(): Promise<void> {
    await this.#writer.begin();
    await this.write({ op: "give_up", relay: this.id });
  }

  write(command: LogCommand): Promise<unknown> {
    return this.#writer.write(encodeCommand(command));
  }

  readOn(): void {
    if (!this.isRunning || this.isFrozen) return;
    for (; this.#read < this.#stage.entries.length; this.#read++) {
      const bytes = this.#stage.entries[this.#read];
      if (bytes !== undefined) this.replica.take(this.#read + 1, bytes);
    }
  }

  /** Ends like a process that is killed: what it published may still arrive. */
  end(): void {
    this.isRunning = false;
    this.#writer.abort(new EngineError("closed", "This relay has ended"));
    this.replica.stop();
  }
}

/**
 * Argon2id off the event loop: a fixed number of workers and a bounded queue, fair between parties.
 * A full queue refuses at once with `overloaded` and never grows, so a flood costs a known amount
 * of memory and the event loop stays free for everyone else. Passwords and keys have a pool each,
 * because a key must not wait for passwords. Where the platform has no workers, jobs run in this
 * thread, one at a time, behind the same queue.
 */
import { Fault } from "../domain/fault.ts";
import type { Hasher, QueueParty } from "../domain/deps.ts";
import { type Argon2Profile, decoyHash, hashSecret, verifySecret } from "./argon2.ts";
import { after, waits } from "../../server/mod.ts";
import { Places } from "../../server/limits/mod.ts";

export type HashingJob =
  | { readonly kind: "hash"; readonly secret: string; readonly profile: Argon2Profile }
  | { readonly kind: "verify"; readonly secret: string; readonly hash: string };

export type HashingResult =
  | { readonly ok: true; readonly value: string | boolean }
  | { readonly ok: false; readonly error: string };

export interface PoolOptions {
  readonly workers: number;
  /** Jobs that wait: half for known parties, half for strangers. */
  readonly queueLimit: number;
  /** Without workers, hashing happens in this thread. */
  readonly createWorker: (() => Worker) | undefined;
  /** For tests: how long a worker may take. */
  readonly workerMs?: number;
}

export interface HashingPool {
  hasher(profile: Argon2Profile): Hasher;
  /** Jobs that wait for a worker. */
  waiting(): number;
  close(): void;
}

interface QueuedHash {
  readonly party: QueueParty;
  readonly job: HashingJob;
  readonly resolve: (value: string | boolean) => void;
  readonly reject: (error: Error) => void;
}

/** One executor of jobs: a worker, or this thread. */
interface HashingLane {
  run(job: HashingJob): Promise<string | boolean>;
  close(): void;
}

/** The worker module, or undefined where the platform has none (some edge runtimes). */
export function platformWorker(): (() => Worker) | undefined {
  if (typeof Worker === "undefined") return undefined;
  // limit: workerLane
  return () => new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}

export function createHashingPool(
  { workers, queueLimit, createWorker, workerMs = waits.hash.ms }: PoolOptions,
): HashingPool {
  const lanes = createWorker === undefined
    ? [threadLane()]
    : Array.from({ length: workers }, () => workerLane(createWorker, workerMs));
  const idle = [...lanes];
  const queue = new Queue(queueLimit);

  const next = (): void => {
    const lane = queue.size === 0 ? undefined : idle.pop();
    const waiting = lane === undefined ? undefined : queue.next();
    if (lane === undefined || waiting === undefined) return;
    lane.run(waiting.job).then((value) => {
      if (value === false) queue.blame(waiting.party);
      waiting.resolve(value);
    }, waiting.reject).finally(() => {
      idle.push(lane);
      next();
    });
  };
  const submit = (party: QueueParty, job: HashingJob): Promise<string | boolean> =>
    new Promise((resolve, reject) => {
      queue.enter({ party, job, resolve, reject });
      next();
    });

  return {
    hasher: (profile) => {
      const decoy = decoyHash(profile);
      return {
        hash: async (secret, party) =>
          String(await submit(party, { kind: "hash", secret: secret.reveal(), profile })),
        verify: async (secret, hash, party) =>
          await submit(party, { kind: "verify", secret: secret.reveal(), hash: hash ?? decoy }) ===
            true,
      };
    },
    waiting: () => queue.size,
    close: () => {
      for (let waiting = queue.next(); waiting !== undefined; waiting = queue.next()) {
        waiting.reject(new Fault("overloaded", "The service is stopping; try again"));
      }
      for (const lane of lanes) lane.close();
    },
  };
}

type QueueHalf = "known" | "strangers";

/**
 * Two rooms, which are served in turn: however many strangers guess, known parties do not wait for
 * them.
 */
class Queue {
  readonly #rooms: Readonly<Record<QueueHalf, Places<QueuedHash>>>;
  #turn: QueueHalf = "known";

  constructor(limit: number) {
    // A job is safe when it runs. Before that one with a better claim may take its place at any
    // time.
    const create = (total: number): Places<QueuedHash> =>
      new Places({ total, minimumMs: 0, random: Math.random });
    this.#rooms = { known: create(Math.floor(limit / 2)), strangers: create(Math.ceil(limit / 2)) };
  }

  get size(): number {
    return this.#rooms.known.size + this.#rooms.strangers.size;
  }

  /** Rejects the one that finds no place, or loses its own. */
  enter(waiting: QueuedHash): void {
    const room = this.#roomOf(waiting.party);
    const { key: party } = waiting.party;
    const entered = room.enter(
      { party, holder: waiting, standing: "unfinished" },
      performance.now(),
    );
    const loser = entered.kind === "refused" ? waiting : entered.displaced?.holder;
    loser?.reject(queueFull(room.heldBy(loser.party.key) > 0));
  }

  next(): QueuedHash | undefined {
    const other = this.#turn === "known" ? "strangers" : "known";
    const served = this.#rooms[this.#turn].size > 0 ? this.#turn : other;
    this.#turn = served === "known" ? "strangers" : "known";
    return this.#rooms[served].next(performance.now())?.holder;
  }

  /** The party's key or password was wrong: it has its turn after those that bring good ones. */
  blame(party: QueueParty): void {
    this.#roomOf(party).blame(party.key, performance.now());
  }

  #roomOf({ isKnown }: QueueParty): Places<QueuedHash> {
    return this.#rooms[isKnown ? "known" : "strangers"];
  }
}

/** A party with others in the queue has filled it; one without has only come at a bad moment. */
function queueFull(isCallersOwn: boolean): Fault {
  const text = "Too many keys and passwords are being checked; try again";
  return new Fault("overloaded", text, { retryAfterSeconds: 1, isCallersOwn });
}

function threadLane(): HashingLane {
  return {
    run: (job) =>
      job.kind === "hash"
        ? hashSecret(job.secret, job.profile)
        : verifySecret(job.secret, job.hash),
    close: () => {},
  };
}

/**
 * A worker that dies (out of memory, a bug) or does not answer fails its job and is replaced for
 * the next one.
 */
function workerLane(createWorker: () => Worker, workerMs: number): HashingLane {
  let worker: Worker | undefined;
  return {
    run: (job) => {
      const current = worker ??= createWorker();
      const { promise, resolve, reject } = Promise.withResolvers<string | boolean>();
      const fail = (why: string): void => {
        current.terminate();
        worker = undefined;
        reject(new Error(`Cannot hash: ${why}`));
      };
      const cancel = after(
        workerMs,
        () => fail(`the worker has not answered for ${workerMs / 1_000} s`),
      );
      current.onmessage = ({ data }: MessageEvent<HashingResult>) => {
        if (data.ok) resolve(data.value);
        else reject(new Error(`Cannot hash: ${data.error}`));
      };
      current.onerror = (event) => {
        event.preventDefault();
        fail(`the worker died: ${event.message}`);
      };
      current.postMessage(job);
      return promise.finally(cancel);
    },
    close: () => worker?.terminate(),
  };
}

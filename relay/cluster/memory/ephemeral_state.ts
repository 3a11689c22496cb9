/**
 * State that relays share and no disk may hold: KeyPackages, join requests, and notices from one
 * relay to another. It is a log of its own, in the memory of the nodes, and short. A starting relay
 * gets the state from another one, and begins empty when it is alone.
 */
import {
  type AgentId,
  type ChannelId,
  decodeCbor,
  encodeCbor,
  type JoinRequestId,
} from "../../../proto/mod.ts";
import type { PoolClaim, PoolUpload } from "../../engine/engine.ts";
import { KeyPackageMemory, type StoredPool } from "../../engine/key_package_pools.ts";
import type { SharedJoin } from "../../core/cluster.ts";
import { type Batch, decodeBatch, maxBatchBytes } from "../log/batch.ts";
import { fromCbor, opOf, toCbor } from "../log/command.ts";
import type { StateParts } from "./state_exchange.ts";
import { type BatchVerdict, type WriterEndings, Writers } from "../log/writers.ts";

export type EphemeralCommand =
  | { readonly op: "upload"; readonly agentId: AgentId; readonly upload: PoolUpload }
  | { readonly op: "claim"; readonly agentId: AgentId; readonly claim: PoolClaim }
  | { readonly op: "expire"; readonly nowMs: number }
  /**
   * A relay has begun without the others' state: pools begin anew, and owners are asked for more.
   * So do the writers: a relay that knows nothing cannot tell which batches of the others count.
   */
  | { readonly op: "reset" }
  | { readonly op: "join"; readonly request: SharedJoin }
  | { readonly op: "join_end"; readonly requestId: JoinRequestId }
  | {
    readonly op: "tell";
    readonly agentId: AgentId;
    readonly notice: string;
    readonly body: unknown;
  }
  | {
    readonly op: "confirm";
    readonly channelId: ChannelId;
    readonly agentId: AgentId;
    readonly statement: unknown;
  }
  | { readonly op: "mark" };

export interface EphemeralListener {
  seen(batch: Batch, standing: BatchVerdict, results: readonly Promise<unknown>[]): void;
  reset(isOwn: boolean): void;
  join(request: SharedJoin, isOwn: boolean): void;
  joinEnd(requestId: JoinRequestId): void;
  tell(agentId: AgentId, notice: string, body: unknown): void;
  confirm(channelId: ChannelId, agentId: AgentId, statement: unknown): void;
  fault(error: unknown): void;
}

export function encodeLive(command: EphemeralCommand): Uint8Array {
  return encodeCbor(toCbor(command));
}

export class EphemeralState {
  #pools = new KeyPackageMemory();
  #writers = new Writers();
  readonly joins = new Map<JoinRequestId, SharedJoin>();
  readonly #listener: EphemeralListener;
  #writer = crypto.randomUUID();
  position = 0;

  constructor(listener: EphemeralListener) {
    this.#listener = listener;
  }

  /** This relay's own, in this life of the log. */
  get writer(): string {
    return this.#writer;
  }

  /** The log begins anew. */
  clear(): void {
    this.#pools = new KeyPackageMemory();
    this.#writers = new Writers();
    for (const requestId of [...this.joins.keys()]) this.#listener.joinEnd(requestId);
    this.joins.clear();
    this.renewWriter();
    this.position = 0;
  }

  /** Nothing that this relay has sent so far counts. */
  renewWriter(): void {
    this.#writer = crypto.randomUUID();
  }

  get pools(): KeyPackageMemory {
    return this.#pools;
  }

  take(position: number, bytes: Uint8Array): void {
    this.position = position;
    const batch = decodeBatch(bytes);
    const standing = this.#writers.take(batch, position);
    // A relay has one writer here, the newest.
    if (standing === "counts" && batch.number === 1) {
      this.#writers.giveUp(batch.relay, position, batch.writer);
    }
    const results: Promise<unknown>[] = [];
    if (standing === "counts" && batch.number > 1) {
      for (const encoded of batch.commands) results.push(this.#settled(encoded, batch.writer));
    }
    this.#listener.seen(batch, standing, results);
  }

  /**
   * A command that fails is its caller's matter, and nobody else's: a fault here must not end a
   * relay.
   */
  #settled(encoded: Uint8Array, writer: string): Promise<unknown> {
    const isOwn = writer === this.#writer;
    const result = new Promise((resolve) => {
      // cast: relays of this version wrote it
      const command = fromCbor(decodeCbor(encoded, maxBatchBytes)) as EphemeralCommand;
      if (command.op === "reset") this.#writers.keepOnly(writer, this.position);
      resolve(this.#execute(command, isOwn));
    });
    result.catch((error: unknown) => {
      if (!isOwn) this.#listener.fault(error);
    });
    return result;
  }

  #execute(command: EphemeralCommand, isOwn: boolean): unknown {
    switch (command.op) {
      case "upload":
        return this.#pools.put(command.agentId, command.upload);
      case "claim":
        return this.#pools.claim(command.agentId, command.claim);
      case "expire":
        return this.#pools.expire(command.nowMs);
      case "reset":
        this.#pools = new KeyPackageMemory();
        return this.#listener.reset(isOwn);
      case "join":
        this.joins.set(command.request.requestId, command.request);
        return this.#listener.join(command.request, isOwn);
      case "join_end":
        if (!this.joins.delete(command.requestId)) return undefined;
        return this.#listener.joinEnd(command.requestId);
      case "tell":
        return this.#listener.tell(command.agentId, command.notice, command.body);
      case "confirm":
        if (isOwn) return undefined;
        return this.#listener.confirm(command.channelId, command.agentId, command.statement);
      case "mark":
        return undefined;
      default:
        throw new TypeError(
          `A command of the shared memory is unknown: ${opOf(command satisfies never)}`,
        );
    }
  }

  /**
   * Everything as it is now, in parts that fit a message. Each is encoded when it is asked for: all
   * of them at once would take seconds and as much memory again. KeyPackages and requests never
   * change, so keeping them until then is enough.
   */
  dump(): StateParts {
    const writers = [...this.#writers].map(([id, { relay, last, at }]) => [id, relay, last, at]);
    const parts: unknown[] = [
      { position: this.position, writers, endings: this.#writers.endings },
      ...[...this.joins.values()].map((join) => ({ join })),
      ...[...this.#pools.dump()].flatMap((pool) => [...piecesOf(pool)]).map((pool) => ({ pool })),
    ];
    return { length: parts.length, [Symbol.iterator]: () => encoded(parts) };
  }

  restore(parts: Iterable<Uint8Array>): void {
    const pools: StoredPool[] = [];
    for (const part of parts) {
      // cast: `dump` of a relay of this version made it
      const { position, writers = [], endings, join, pool } = read(part) as {
        position?: number;
        writers?: [string, string, number, number][];
        endings?: WriterEndings;
        join?: SharedJoin;
        pool?: StoredPool;
      };
      if (position !== undefined) {
        this.position = position;
        this.#writers = new Writers(
          writers.map(([id, relay, last, at]) => [id, { relay, last, at }]),
          endings,
        );
      }
      if (join !== undefined) this.joins.set(join.requestId, join);
      const last = pools.at(-1);
      if (pool !== undefined && last?.agentId === pool.agentId) {
        pools.splice(-1, 1, joined(last, pool));
      } else if (pool !== undefined) pools.push(pool);
    }
    for (const pool of pools) this.#pools.restore(pool);
  }
}

function* encoded(parts: readonly unknown[]): Generator<Uint8Array> {
  for (const part of parts) yield encodeCbor(toCbor(part));
}

/**
 * The most items of each of a pool's lists in one part: 128 KeyPackages and as many answers are 4
 * MiB, and fewer items than a decoder takes.
 */
const listedPerPart = 128;

/** One after the other; the first has all but the rest of the lists. */
function* piecesOf(
  { available, claimed, answers, lastResort, ...rest }: StoredPool,
): Generator<StoredPool> {
  const count = Math.max(1, available.length, claimed.length, answers.length);
  for (let at = 0; at < count; at += listedPerPart) {
    const slice = <Item>(list: readonly Item[]): readonly Item[] =>
      list.slice(at, at + listedPerPart);
    const lists = { available: slice(available), claimed: slice(claimed), answers: slice(answers) };
    yield { ...rest, ...lists, ...(at === 0 && { lastResort }) };
  }
}

function joined(first: StoredPool, { available, claimed, answers }: StoredPool): StoredPool {
  return {
    ...first,
    available: [...first.available, ...available],
    claimed: [...first.claimed, ...claimed],
    answers: [...first.answers, ...answers],
  };
}

function read(bytes: Uint8Array): unknown {
  return fromCbor(decodeCbor(bytes, maxBatchBytes));
}

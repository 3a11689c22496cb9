/**
 * Messages that were read and that the application is not done with, by chain. It may be done with
 * a later one first: then the chain on disk moves on past both, and the key of the earlier one
 * stays, like that of a message which the network delivers late. No key comes back to the disk that
 * was gone from it.
 */
import type { KeyAndNonce, LeafRatchets } from "./secret_tree.ts";

/** A message that was read and not yet consumed. */
export interface ConsumptionReceipt {
  /** Grows with every message received. */
  readonly order: number;
  readonly epoch: bigint;
  readonly leafIndex: number;
  /** The sender's chains after this message. */
  readonly ratchets: LeafRatchets;
  /** Which of the chain's keys opened it. */
  readonly generation: number;
  readonly key: KeyAndNonce;
}

/**
 * Keys that one record holds of open messages: beyond it, a chain on disk waits for the earliest of
 * them.
 */
export const maxOpenKeys = 256;

export class Consumption {
  /** In the order in which they were received. */
  readonly #open = new Map<string, Map<number, ConsumptionReceipt>>();
  /** The latest that was consumed. */
  readonly #latest = new Map<string, ConsumptionReceipt>();

  received(chain: string, receipt: ConsumptionReceipt): void {
    const open = this.#open.get(chain) ?? new Map<number, ConsumptionReceipt>();
    this.#open.set(chain, open.set(receipt.order, receipt));
  }

  /**
   * Returns the state of the chain to write; undefined when there is nothing to write, now or ever.
   */
  consume(chain: string, receipt: ConsumptionReceipt): LeafRatchets | undefined {
    const open = this.#open.get(chain);
    if (open === undefined || !open.delete(receipt.order)) return undefined;
    const before = this.#latest.get(chain);
    const latest = before !== undefined && before.order > receipt.order ? before : receipt;
    this.#latest.set(chain, latest);
    const earlier: ConsumptionReceipt[] = [];
    for (const each of open.values()) {
      if (each.order > latest.order) break;
      earlier.push(each);
      if (earlier.length > maxOpenKeys) return undefined;
    }
    return earlier.length === 0 ? latest.ratchets : withKeysOf(latest.ratchets, earlier);
  }

  forget(chain: string): void {
    this.#open.delete(chain);
    this.#latest.delete(chain);
  }
}

function withKeysOf(
  { handshake, application }: LeafRatchets,
  open: readonly ConsumptionReceipt[],
): LeafRatchets {
  const keys = [
    ...application.skipped,
    ...open.map(({ generation, key }) => [generation, key] as const),
  ];
  const skipped = new Map(keys.sort(([a], [b]) => a - b));
  return { handshake, application: { ...application, skipped } };
}

/**
 * The lease book: counts in memory, written with the group that charged them, so that a charge and
 * its entry are one.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { Database, Statement } from "./database.ts";
import type { Charge, HeldLease, LeaseBook, LeaseState } from "./engine.ts";
import { EngineError } from "./errors.ts";
import type { GroupCommit } from "./group_commit.ts";
import { checkCount, checkText } from "./input.ts";

interface StoredLeaseRow {
  id: string;
  fence: number;
  account: AccountId;
  granted: number;
  expires_at_ms: number;
  consumed: number;
  payload_bytes: number;
  stopped: number;
}

interface CountedLease extends HeldLease {
  consumed: number;
  payloadBytes: number;
  stopped: boolean;
}

/** Charges of leases; used inside groups. */
export class Leases {
  readonly #select: Statement<StoredLeaseRow>;
  readonly #insert: Statement;
  readonly #update: Statement;
  readonly #delete: Statement;
  readonly #leases = new Map<string, CountedLease>();
  readonly #changed = new Set<CountedLease>();

  constructor(database: Database) {
    this.#select = database.prepare("SELECT * FROM lease ORDER BY id");
    this.#insert = database.prepare("INSERT INTO lease VALUES (?, ?, ?, ?, ?, 0, 0, 0)");
    this.#update = database.prepare(
      "UPDATE lease SET consumed = ?, payload_bytes = ?, stopped = ? WHERE id = ?",
    );
    this.#delete = database.prepare("DELETE FROM lease WHERE id = ?");
    this.reset();
  }

  canPay({ leaseId, fence, messages }: Charge): boolean {
    const lease = this.#leases.get(leaseId);
    return lease !== undefined && lease.fence === fence && !lease.stopped &&
      lease.consumed + messages <= lease.granted;
  }

  /** After `canPay`. */
  pay({ leaseId, messages, payloadBytes }: Charge): void {
    const lease = this.#leases.get(leaseId);
    if (lease === undefined) return;
    lease.consumed += messages;
    lease.payloadBytes += payloadBytes;
    this.#changed.add(lease);
  }

  /** Returns the fence under which the lease is known. */
  open(held: HeldLease): number {
    const { leaseId, fence, account, granted, expiresAtMs } = held;
    const known = this.#leases.get(leaseId);
    if (known !== undefined) return known.fence;
    this.#insert.run(leaseId, fence, account, granted, expiresAtMs);
    this.#leases.set(leaseId, {
      leaseId,
      fence,
      account,
      granted,
      expiresAtMs,
      consumed: 0,
      payloadBytes: 0,
      stopped: false,
    });
    return fence;
  }

  stop(leaseId: string): LeaseState | undefined {
    const lease = this.#leases.get(leaseId);
    if (lease === undefined) return undefined;
    if (!lease.stopped) {
      lease.stopped = true;
      this.#changed.add(lease);
    }
    return stateOf(lease);
  }

  forget(leaseId: string): void {
    const lease = this.#leases.get(leaseId);
    if (lease === undefined) return;
    this.#changed.delete(lease);
    this.#leases.delete(leaseId);
    this.#delete.run(leaseId);
  }

  list(): LeaseState[] {
    return [...this.#leases.values()].map(stateOf);
  }

  /** The last thing of a group. */
  write(): void {
    for (const lease of this.#changed) {
      this.#update.run(lease.consumed, lease.payloadBytes, Number(lease.stopped), lease.leaseId);
    }
    this.#changed.clear();
  }

  /** Reads what is on disk: at the start, and after a group was undone. */
  reset(): void {
    this.#changed.clear();
    this.#leases.clear();
    for (const row of this.#select.all()) {
      this.#leases.set(row.id, {
        leaseId: row.id,
        fence: row.fence,
        account: row.account,
        granted: row.granted,
        expiresAtMs: row.expires_at_ms,
        consumed: row.consumed,
        payloadBytes: row.payload_bytes,
        stopped: row.stopped !== 0,
      });
    }
  }
}

function stateOf({ stopped: _, ...state }: CountedLease): LeaseState {
  return state;
}

export function createLeaseBook(leases: Leases, commits: GroupCommit): LeaseBook {
  return {
    open: async (lease) => {
      checkText("lease id", lease.leaseId);
      checkCount("fence", lease.fence);
      checkCount("granted", lease.granted);
      checkCount("expiry", lease.expiresAtMs);
      const fence = await commits.write(() => leases.open(lease));
      if (fence !== lease.fence) {
        throw new EngineError(
          "invalid",
          `Cannot open a lease: it is known under fence ${fence}, not ${lease.fence}`,
        );
      }
    },
    list: () => commits.read(() => leases.list()),
    stop: (leaseId) => commits.write(() => leases.stop(leaseId)),
    forget: (leaseId) => commits.write(() => leases.forget(leaseId)),
  };
}

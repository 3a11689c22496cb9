/**
 * The relay as the QUIC listener and the gRPC service need it: it opens sessions, and has a few
 * limits and a clock.
 */
import type { AccountId } from "../../proto/mod.ts";
import type { ClientLink, CoreSession } from "../core/client_link.ts";

export interface LinkHost {
  /** A refused link is ended through `link.end`. */
  open(link: ClientLink): CoreSession;
  /** The size that the relay's reply to GetChallenge tells. */
  readonly cellBytes: number;
  /** A session without a byte for this long is ended. */
  readonly idleTimeoutMs: number;
  /** A session hears `writable()` when what it has to write falls below this. */
  readonly lowWaterBytes: number;
  /** Time that an ending session gets to write its last cells. */
  readonly flushMs: number;
  readonly nowMs: () => number;
  /** Runs once after the time; returns a function to cancel it. */
  readonly after: (ms: number, run: () => void) => () => void;
  /**
   * Uniform in [0, 1), from a generator that an observer cannot predict: the times of cover depend
   * on it.
   */
  readonly random: () => number;
  /** Fill of cells and cover cells, both directions. */
  readonly countBytes: (
    account: AccountId,
    bytes: { readonly padding: number; readonly cover: number },
  ) => void;
  /**
   * Counts cover of both directions as it passes; returns until when no more is allowed. Absent:
   * there is no budget.
   */
  readonly spendCover?: (account: AccountId, bytes: number) => number | undefined;
}

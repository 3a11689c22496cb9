/** What the QUIC listener and the gRPC service need of the relay behind them: a way to open sessions, a few limits, time. */
import type { AccountId } from "../../proto/mod.ts";
import type { Link, RelaySession } from "../core/link.ts";

export interface LinkHost {
  /** A refused link is ended through `link.end`. */
  open(link: Link): RelaySession;
  /** The size that the relay's reply to GetChallenge tells. */
  readonly cellBytes: number;
  /** A session without a byte for this long is ended. */
  readonly idleTimeoutMs: number;
  /** A session hears `writable()` when what it has to write falls below this. */
  readonly lowWaterBytes: number;
  /** What an ending session gets to write its last cells. */
  readonly flushMs: number;
  readonly nowMs: () => number;
  /** Runs once after the time; answers how to cancel. */
  readonly after: (ms: number, run: () => void) => () => void;
  /** Uniform in [0, 1), from a generator that an observer cannot predict: the times of cover depend on it. */
  readonly random: () => number;
  /** Fill of cells and cover cells, both directions. */
  readonly countBytes: (account: AccountId, bytes: { readonly padding: number; readonly cover: number }) => void;
  /** Cover of both directions, as it passes; answers until when there may be no more. Absent: there is no budget. */
  readonly spendCover?: (account: AccountId, bytes: number) => number | undefined;
}

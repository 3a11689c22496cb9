/**
 * Load shedding in a stated order: first new connections are refused, then joins and new channels,
 * then messages. Commits, acknowledgements and everything that ends or continues a session are
 * never refused because of load.
 */
import type { CallName } from "../../../proto/mod.ts";
import { Refusal } from "../refusal.ts";

export interface LoadReading {
  readonly loopLagMs: number;
  /** Entries that wait for the engine. */
  readonly appendsWaiting: number;
  /** How long the shared log of several relays has left something unanswered. */
  readonly verdictMs?: number;
}

/** 0: none; 1: new connections; 2: joins too; 3: messages too. */
export type SheddingLevel = 0 | 1 | 2 | 3;

const lagMs = [250, 1_000, 3_000] as const;
const waiting = [2_000, 5_000, 10_000] as const;
/** An election is over by then. */
const silentLogMs = 10_000;
const retryAfterMs = 2_000;

const joins: ReadonlySet<CallName> = new Set([
  "CreateChannel",
  "RequestJoin",
  "RegisterInvite",
  "UploadKeyPackage",
]);
const sends: ReadonlySet<CallName> = new Set(["SendMessage"]);

export function sheddingLevel(
  { loopLagMs, appendsWaiting, verdictMs = 0 }: LoadReading,
): SheddingLevel {
  if (loopLagMs >= lagMs[2] || appendsWaiting >= waiting[2]) return 3;
  if (loopLagMs >= lagMs[1] || appendsWaiting >= waiting[1]) return 2;
  if (loopLagMs >= lagMs[0] || appendsWaiting >= waiting[0] || verdictMs >= silentLogMs) return 1;
  return 0;
}

export function shedRequest(level: SheddingLevel, operation: CallName): Refusal | undefined {
  const shed = (level >= 2 && joins.has(operation)) || (level >= 3 && sends.has(operation));
  return shed
    ? new Refusal("overloaded", "The relay is busy; try again later", { retryAfterMs })
    : undefined;
}

/**
 * How a relay leaves its agents: asked to stop, in order; or because it cannot go on, with a word
 * at least.
 */
import { describeError, type Log, waits, within } from "../server/mod.ts";
import type { RelayEdge } from "./edge.ts";
import type { LeasedQuota } from "./quota/leased_quota.ts";

/** Clients are sent away first, because they may still send; then what was leased goes back. */
export async function stopServing(
  edge: RelayEdge,
  quota: LeasedQuota,
  { log, drainMs }: { log: Log; drainMs: number },
): Promise<void> {
  log("info", "draining");
  if (!await within(drainMs, edge.drain())) log("warn", "drain_incomplete", { ms: drainMs });
  await inTime(edge.close(), log);
  if (!await within(waits.leasesReturned.ms, quota.close())) {
    log("warn", "leases_not_returned", { effect: "the next start settles them" });
  }
  log("info", "stopped", { ...quota.stats() });
}

/**
 * Without a word over QUIC, an agent notices the end after ten seconds. Nothing is written: that is
 * what failed. Never rejects.
 */
export async function sayGoodbye(edge: RelayEdge, log: Log): Promise<void> {
  await inTime(edge.leave(), log);
}

async function inTime(ending: Promise<void>, log: Log): Promise<void> {
  try {
    if (!await within(waits.agentsGone.ms, ending)) {
      log("warn", "close_incomplete", { ms: waits.agentsGone.ms });
    }
  } catch (error) {
    log("error", "fault", { where: "goodbye", error: describeError(error) });
  }
}

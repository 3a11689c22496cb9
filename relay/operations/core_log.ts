/**
 * Events of the core as lines of the log. Sessions that end without having authenticated are
 * sampled: a line for each would let any stranger push everything else out of the log.
 */
import { describeError, type Log } from "../../server/mod.ts";
import type { CoreEvent } from "../core/deps.ts";

/** At most one line about strangers in this time. */
const sampleMs = 10_000;

export function createCoreLog(log: Log, nowMs: () => number): (event: CoreEvent) => void {
  let [loggedAtMs, unlogged] = [-Infinity, 0];
  return (event) => {
    if (event.event === "fault") {
      return log("error", "fault", { where: event.where, error: describeError(event.error) });
    }
    const { event: name, ...fields } = event;
    if (name !== "session_end" || event.agentId !== undefined) return log("info", name, fields);
    if (Math.abs(nowMs() - loggedAtMs) < sampleMs) return void unlogged++;
    log("info", name, { ...fields, ...(unlogged > 0 && { others: unlogged }) });
    [loggedAtMs, unlogged] = [nowMs(), 0];
  };
}

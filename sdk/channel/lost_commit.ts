/**
 * The log must hold the commit that began our epoch. A relay that said that it took one of ours, and has not got it, leaves us
 * alone in our group: nobody else will ever be in this epoch.
 */
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";

/** Returns what is wrong, in words; undefined when the log is at least where we are. */
export async function findLostCommit(
  log: { readonly epoch: number },
  membership: Membership,
  health: HealthLog,
): Promise<string | undefined> {
  const { epoch } = membership;
  if (log.epoch >= epoch) return undefined;
  const found = await membership.findCommit(epoch - 1);
  if (found.commit !== undefined || found.epoch >= epoch) return undefined;
  const text = `the relay took the commit that began epoch ${epoch}, and its log is in epoch ${found.epoch}`;
  health.report("relay_lied", text);
  return text;
}

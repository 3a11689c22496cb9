/**
 * What a connection shows about commits: the log must hold the one that began our epoch, and must not have ended it before the
 * place where we are. A relay that lied about either leaves us alone in our group, and nothing that comes later would show it.
 */
import type { ReplyBody } from "../../proto/mod.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";

interface Parts {
  readonly membership: Membership;
  readonly health: HealthLog;
}

/** Returns why this agent is out of step, in words, if it is. `received` is the last entry that was processed. */
export async function findLostCommit(
  log: Pick<ReplyBody<"Subscribe">, "epoch" | "head">,
  received: number | undefined,
  { membership, health }: Parts,
): Promise<string | undefined> {
  const { epoch } = membership;
  if (log.epoch < epoch) {
    const found = await membership.findCommit(epoch - 1);
    if (found.commit !== undefined || found.epoch >= epoch) return undefined;
    const text = `the relay took the commit that began epoch ${epoch}, and its log is in epoch ${found.epoch}`;
    health.report("relay_lied", text);
    return text;
  }
  // While there are entries to come, they show it.
  if (log.epoch === epoch || log.head > (received ?? 0)) return undefined;
  const { commit } = await membership.findCommit(epoch);
  if (commit === undefined || commit.sequence > (received ?? 0) || membership.epoch !== epoch) return undefined;
  const text =
    `the relay has not delivered the commit that ended epoch ${epoch}, at entry ${commit.sequence} of the log`;
  health.report("withheld_commit", text);
  return text;
}

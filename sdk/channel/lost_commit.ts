/**
 * Checks of a connection about commits: the log must hold the commits that we made and the one that began our epoch,
 * and must not have ended our epoch before our position. A relay that lied about any of these leaves us alone in our
 * group, and nothing later would show it.
 */
import { equalBytes, type ReplyBody } from "../../proto/mod.ts";
import type { HealthLog } from "./health.ts";
import type { OwnCommit } from "./log_place.ts";
import type { Membership } from "./membership.ts";

interface Parts {
  readonly membership: Membership;
  readonly health: HealthLog;
}

/** How far the log was processed. */
interface Reading {
  /** The last entry. */
  readonly received: number | undefined;
  /** The latest commit of ours, if there is one that this log was not asked for. */
  readonly own: OwnCommit | undefined;
}

/** The log holds a commit of ours at another place than before: it was set back, and our place in it is void. */
export const setBack = Symbol("the log was set back");

/** Returns why this agent is out of step, in words, if it is. */
export async function findLostCommit(
  log: Pick<ReplyBody<"Subscribe">, "epoch" | "head">,
  { received, own }: Reading,
  { membership, health }: Parts,
): Promise<string | typeof setBack | undefined> {
  const { epoch } = membership;
  const other = own === undefined ? undefined : (await membership.findCommit(own.epoch)).commit;
  if (own !== undefined && other !== undefined && !equalBytes(other.commitHash, own.hash)) {
    const text = `the relay took a commit of ours in epoch ${own.epoch}, and its log holds another one`;
    health.report("relay_lied", text);
    return text;
  }
  // As after a copy of the relay's disk was put back that the relay did not make itself: it does not know of it.
  if (own !== undefined && other !== undefined && own.sequence > 0 && own.sequence !== other.sequence) {
    return setBack;
  }
  const { parent } = membership.group;
  const began = parent?.base.epoch === epoch - 1 && own?.epoch !== epoch - 1 ? parent.commitHash : undefined;
  const found = began !== undefined || log.epoch < epoch ? await membership.findCommit(epoch - 1) : undefined;
  if (began !== undefined && found?.commit !== undefined && !equalBytes(found.commit.commitHash, began)) {
    const text = `the relay delivered another commit of epoch ${epoch - 1} to us than its log holds`;
    health.report("relay_lied", text);
    return text;
  }
  if (log.epoch < epoch) {
    if (found === undefined || found.commit !== undefined || found.epoch >= epoch) return undefined;
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

/** Whether it was the relay that led us astray, once we cannot follow its log: an explanation, not a condition. */
import { equalBytes } from "../../proto/mod.ts";
import type { RelaySession } from "../session/relay_session.ts";
import type { HealthLog } from "./health.ts";
import type { Membership } from "./membership.ts";

/** If the relay's log has another commit than the one that it gave us, says so: that is a fork and no accident. */
export async function explainFork(
  { channelId, lastCommit }: Pick<Membership, "channelId" | "lastCommit">,
  health: Pick<HealthLog, "report">,
  session: Pick<RelaySession, "call">,
): Promise<void> {
  if (lastCommit === undefined) return;
  try {
    const { commit } = await session.call("FindCommit", { channelId, epoch: lastCommit.epoch });
    if (commit === undefined || equalBytes(commit.commitHash, lastCommit.hash)) return;
    const text = `The relay delivered another commit of epoch ${lastCommit.epoch} to us than its log holds`;
    health.report("relay_lied", text);
  } catch {
    // Without it the way back is the same.
  }
}

/** A member that the relay has kept a commit from. */
import type { NoticeEnvelope } from "../../../proto/mod.ts";
import { type Actor, name, until } from "./stage.ts";

/**
 * From now on a commit that the agent is not told of, and a message behind it: it has to come back.
 */
export async function loseStep(victim: Actor, by: Actor): Promise<void> {
  const before = victim.session.tampering.notice ?? ((notice: NoticeEnvelope) => [notice]);
  victim.session.tampering.notice = (notice) =>
    notice.operation === "DeliverCommit" ? [] : before(notice);
  const inside = await victim.inside();
  const isBack = (): boolean => inside.issues.some((issue) => issue.kind === "rejoined");
  await (await by.inside()).commit();
  await by.manager.send(name, "lost");
  await until("it is on its way", () => inside.state.rejoining !== undefined || isBack());
  victim.session.tampering.notice = before;
}

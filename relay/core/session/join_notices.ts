/** Pushing requests to join to the agent whose invite they name. */
import type { NoticeBody } from "../../../proto/mod.ts";
import type { JoinRequest, PendingJoins } from "../channel/pending_joins.ts";
import type { Session } from "./session.ts";

/** While the link has room: all that wait for one inviter are more than a link may hold. */
export function pushJoins(session: Session, joins: PendingJoins): void {
  for (const requestId of session.joins) {
    if (!session.hasRoom) return;
    session.joins.delete(requestId);
    const request = joins.find(requestId);
    if (request?.kind === "join") session.notify("DeliverJoinRequest", joinNotice(request));
  }
}

function joinNotice(request: JoinRequest): NoticeBody<"DeliverJoinRequest"> {
  const { channelId, requestId, inviteId, agentId, keyPackage, mac, expiresAtMs } = request;
  return { channelId, requestId, inviteId, agentId, keyPackage, mac, expiresAtMs };
}

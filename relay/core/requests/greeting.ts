/** Delivers everything that waited for an agent while it was away. */
import type { AgentId } from "../../../proto/mod.ts";
import type { Session } from "../session/session.ts";
import { askForMore } from "./key_package_claims.ts";
import type { CoreParts } from "./request_handler.ts";

export async function greet(core: CoreParts, session: Session, agentId: AgentId): Promise<void> {
  const { background, channels, deps: { engine }, joins, sessions } = core;
  await askForMore(core, agentId);
  for (const { requestId } of joins.ofInviter(agentId)) session.joins.add(requestId);
  sessions.pushWaiting(session);
  const limit = 500;
  for (let page = await engine.listJoining({ agentId, limit });;) {
    await background.each("greeting", page.channels, async (channelId) => {
      const channel = session.isEnded ? undefined : await channels.open(channelId);
      if (!session.isEnded && channel?.hasWelcomeFor(agentId)) session.welcomes.add(channel);
    });
    if (session.isEnded) return;
    sessions.pushWaiting(session);
    const after = page.channels.at(-1);
    if (!page.more || after === undefined) return;
    page = await engine.listJoining({ agentId, limit, after });
  }
}

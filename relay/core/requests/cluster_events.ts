/** Events of other relays that matter to agents of this one. */
import type { AgentId, ChannelId } from "../../../proto/mod.ts";
import type { ClusterListener, SharedJoin } from "../cluster.ts";
import type { PendingJoin } from "../channel/pending_joins.ts";
import { Refusal } from "../refusal.ts";
import type { CoreParts } from "./request_handler.ts";
import { hold, tellDisplaced, tellInviter } from "./join_requests.ts";
import { askForMore } from "./key_package_claims.ts";
import { tellReaders } from "./rejoin_requests.ts";
import { isReplaced } from "../session/sessions.ts";

export function followCluster(core: CoreParts): ClusterListener {
  return {
    replaced: (agentId, session) => {
      const held = core.sessions.of(agentId);
      if (held?.agent?.session !== undefined && held.agent.session < session) held.end(isReplaced);
    },
    told: (agentId, operation, body) => core.sessions.of(agentId)?.notify(operation, body),
    joinShared: (request) => takeJoin(core, request),
    joinEnded: (requestId) => core.joins.endedElsewhere(requestId),
    confirmed: (channelId, agentId, statement) =>
      core.channels.loaded(channelId)?.confirm(agentId, statement),
    welcomed: (channelId, agentIds) => {
      // A channel in memory learns of it from its log.
      if (core.channels.isLoaded(channelId)) return;
      const here = agentIds.filter((agentId) => core.sessions.of(agentId) !== undefined);
      if (here.length > 0) core.background.run("welcome", () => welcome(core, channelId, here));
    },
    cursorMoved: (channelId, agentId, cursor) =>
      core.channels.loaded(channelId)?.learnCursor(agentId, cursor),
    trimmed: (channelId, through) => {
      const channel = core.channels.loaded(channelId);
      if (channel !== undefined) {
        channel.trimmed = Math.max(channel.trimmed, Math.min(through, channel.head));
      }
    },
    load: () => core.sessions.load,
    stalled: () =>
      core.sessions.sendAway("The relay has no answer from the log that it shares with others"),
    keyPackagesLost: () => {
      for (const agentId of core.sessions.agents) {
        core.background.run("greeting", () => askForMore(core, agentId));
      }
    },
  };
}

/** A request that was made, or made once more, at another relay. */
function takeJoin(core: CoreParts, shared: SharedJoin): void {
  const nowMs = core.deps.nowMs();
  if (shared.expiresAtMs <= nowMs) return;
  const known = core.joins.find(shared.requestId);
  const request: PendingJoin = known ??
    (shared.kind === "join" ? shared : { ...shared, leafSenders: new Set(), toldAtMs: 0 });
  if (known === undefined && !holds(core, request)) return;
  if (request.kind === "join") {
    tellInviter(core, request);
    return;
  }
  const channel = core.channels.loaded(request.channelId);
  if (channel !== undefined) tellReaders(core, channel, request);
}

/** Where two relays took the last place at once, the later request ends at all of them. */
function holds(core: CoreParts, request: PendingJoin): boolean {
  try {
    hold(core, request);
    return true;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    core.deps.cluster?.endJoin(request.requestId);
    tellDisplaced(core, request);
    return false;
  }
}

async function welcome(
  core: CoreParts,
  channelId: ChannelId,
  agentIds: readonly AgentId[],
): Promise<void> {
  const channel = await core.channels.open(channelId);
  for (const agentId of agentIds) {
    const session = core.sessions.of(agentId);
    if (session === undefined || !channel?.hasWelcomeFor(agentId)) continue;
    session.welcomes.add(channel);
    core.sessions.pushWaiting(session);
  }
}

/** An entry is part of its channel; what it means for others than its readers. */
import type { AgentId } from "../../../proto/mod.ts";
import type { Entry } from "../../engine/engine.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { decodeCommitBody, decodeWelcomeBody } from "../channel/entry_body.ts";
import type { PendingJoin } from "../channel/pending_joins.ts";
import type { CoreParts } from "./request_handler.ts";

export function followEntry(core: CoreParts, channel: LoadedChannel, entry: Entry): void {
  core.upkeep.touch(channel);
  if (entry.kind === "commit") {
    const { added, removed, welcomes, answers } = decodeCommitBody(entry);
    for (const agentId of [...removed, ...added]) channel.answered.delete(agentId);
    const requests = answers.flatMap((requestId) => core.joins.recall(requestId) ?? []);
    // A request is answered only when its agent is added, whatever the commit's sender says.
    answer(core, channel, requests.filter(({ agentId }) => added.includes(agentId)));
    welcome(core, channel, welcomes.flatMap(({ recipients }) => recipients));
  } else if (entry.kind === "welcome") {
    welcome(core, channel, decodeWelcomeBody(entry).recipients);
  }
}

function answer(
  { joins }: CoreParts,
  channel: LoadedChannel,
  requests: readonly PendingJoin[],
): void {
  const here = requests.filter(({ channelId }) => channelId === channel.channelId);
  for (const { agentId, requestId } of here) {
    channel.answered.set(agentId, requestId);
    joins.remove(requestId);
  }
}

function welcome(
  { sessions }: CoreParts,
  channel: LoadedChannel,
  recipients: readonly AgentId[],
): void {
  for (const agentId of recipients) {
    const session = sessions.of(agentId);
    if (session === undefined) continue;
    session.welcomes.add(channel);
    sessions.pushWaiting(session);
  }
}

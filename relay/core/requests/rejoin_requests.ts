/**
 * Asking to come back into a channel, and the answer of members to somebody who does not know its
 * own leaf. The relay verifies who asks; whether the statement is about the asker's present leaf
 * only members can tell.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  equalBytes,
  groupIdOf,
  type NoticeBody,
  rejoinStatement,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { isSameKeyPackage, mayAnswer, type RejoinRequest } from "../channel/pending_joins.ts";
import { channelNotFound, epochConflict, Refusal } from "../refusal.ts";
import type { AgentAsker, CoreParts } from "./request_handler.ts";
import { openAsMember } from "./channel_access.ts";
import { hold, newRequest } from "./join_requests.ts";
import { checkOwn } from "./key_package_requests.ts";

/** A request that is made once more is told once more, not more often than this. */
const tellAgainMs = 5_000;

export async function requestRejoin(
  asker: AgentAsker,
  { channelId, keyPackage, signature, leafHash, epoch, answerer, generation }: RequestBody<
    "RequestRejoin"
  >,
): Promise<ReplyBody<"RequestRejoin">> {
  const { core, agent: { agentId, publicKey } } = asker;
  const channel = await core.channels.open(channelId);
  const member = channel?.state.members.get(agentId);
  if (
    channel === undefined || channel.state.closed || member === undefined ||
    member.leaving?.reason === "left"
  ) {
    throw channelNotFound();
  }
  if (generation !== channel.state.generation) {
    throw epochConflict(channel.state.epoch, "ask for its generation");
  }
  const retryAfterMs = core.limits.rates.rejoins.take(`${channelId} ${agentId}`, core.deps.nowMs());
  if (retryAfterMs !== undefined) {
    throw new Refusal(
      "rate_limited",
      "This agent asks too often to come back into the channel; wait",
      {
        retryAfterMs,
      },
    );
  }
  const open = core.joins.ofAgent(agentId, channelId);
  const same = open?.kind === "rejoin" && isSameKeyPackage(open, keyPackage) &&
    open.answerer === answerer &&
    equalBytes(open.leafHash, leafHash) && equalBytes(open.signature, signature);
  if (same) {
    // The members' answers may have been lost on their way.
    if (core.deps.nowMs() - open.toldAtMs >= tellAgainMs) tell(asker, channel, open);
    return { requestId: open.requestId, expiresAtMs: open.expiresAtMs };
  }
  checkOwn(asker, keyPackage);
  const groupId = groupIdOf(channelId, generation);
  const statement = rejoinStatement({
    channelId: groupId,
    agentId,
    leafHash,
    keyPackageHash: sha256(keyPackage),
  });
  if (!core.deps.verifySignature(publicKey, statement, signature)) {
    throw new Refusal("invalid_request", "The signature of the rejoin statement is wrong");
  }
  const request: RejoinRequest = {
    kind: "rejoin",
    ...newRequest(asker, { channelId, ttlMs: core.config.limits.joinRequestMs, open }),
    keyPackage,
    signature,
    leafHash,
    epoch,
    ...(answerer !== undefined && { answerer }),
    leafSenders: new Set(),
    toldAtMs: 0,
  };
  hold(core, request, open);
  tell(asker, channel, request);
  return { requestId: request.requestId, expiresAtMs: request.expiresAtMs };
}

/** Each member may answer a request once for each time that it is told. */
function tell({ core }: AgentAsker, channel: LoadedChannel, request: RejoinRequest): void {
  const { leafSenders: _, toldAtMs: __, ...shared } = request;
  core.deps.cluster?.shareJoin(shared);
  tellReaders(core, channel, request);
}

/** Tells the members that read the channel at this relay. */
export function tellReaders(core: CoreParts, channel: LoadedChannel, request: RejoinRequest): void {
  request.toldAtMs = core.deps.nowMs();
  request.leafSenders.clear();
  for (const reader of channel.subscriptions.keys()) {
    if (mayAnswer(request, reader)) {
      core.sessions.of(reader)?.notify("DeliverRejoinRequest", rejoinNotice(request));
    }
  }
}

export async function sendLeaf(
  asker: AgentAsker,
  { channelId, requestId, leafIndex, leafNode }: RequestBody<"SendLeaf">,
): Promise<ReplyBody<"SendLeaf">> {
  const { core, agent: { agentId: sender } } = asker;
  await openAsMember(asker, channelId);
  const request = core.joins.find(requestId);
  if (
    request?.kind !== "rejoin" || request.channelId !== channelId || !mayAnswer(request, sender)
  ) {
    throw new Refusal(
      "not_found",
      "No such request waits for this agent's answer; it was answered, or made anew",
    );
  }
  if (request.leafSenders.has(sender)) {
    throw new Refusal("not_allowed", "This agent has sent a leaf for this request");
  }
  request.leafSenders.add(sender);
  core.sessions.tell(request.agentId, "DeliverLeaf", {
    channelId,
    requestId,
    sender,
    leafIndex,
    leafNode,
  });
  return {};
}

export function rejoinNotice(request: RejoinRequest): NoticeBody<"DeliverRejoinRequest"> {
  const {
    channelId,
    requestId,
    agentId,
    keyPackage,
    signature,
    leafHash,
    expiresAtMs,
    epoch,
    answerer,
  } = request;
  const named = answerer !== undefined && { answerer };
  return {
    channelId,
    requestId,
    agentId,
    keyPackage,
    signature,
    leafHash,
    expiresAtMs,
    epoch,
    ...named,
  };
}

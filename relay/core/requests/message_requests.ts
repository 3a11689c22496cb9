/**
 * Application messages, one or a bundle: checked in the order membership, id seen before, epoch,
 * quota; durable before they are answered. A bundle is charged by the number of its messages, whole
 * or not at all.
 */
import {
  decodeMessageAad,
  generationOf,
  groupIdOf,
  limits,
  maxBundleCiphertextBytes,
  type MessageAad,
  readPrivateMessageHeader,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import type { StorageLimits } from "../../engine/engine.ts";
import { sentBy } from "../session/agent.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { encodeMessageBody } from "../channel/entry_body.ts";
import { comesAgain, epochConflict, logSilent, Refusal, relayFailed } from "../refusal.ts";
import type { MessageInRun } from "../session/refused_runs.ts";
import type { AgentAsker } from "./request_handler.ts";
import { appendSettled, isUndone, mayStand, roomIn } from "./append.ts";
import { openAsMember, reachEpoch } from "./channel_access.ts";
import { type PaidMessages, payMessages } from "./message_payment.ts";

type MessageRequest = RequestBody<"SendMessage">;
type MessageReply = ReplyBody<"SendMessage">;

/** Bytes that MLS adds to a payload at most: framing and padding up to the next cell. */
const framingBytes = limits.ciphertextBytes - limits.payloadBytes;

export function sendMessage(asker: AgentAsker, body: MessageRequest): Promise<MessageReply> {
  const { channelId, run } = body;
  if (run === undefined) {
    return asker.session.inOrder((release) => answerMessage(asker, body, { release }));
  }
  const { refusedRuns } = asker.session;
  return asker.session.inOrder(async (release) => {
    const inRun = refusedRuns.enter(channelId, run);
    try {
      return await answerMessage(asker, body, { release, inRun });
    } finally {
      refusedRuns.leave(inRun);
    }
  });
}

interface MessagePassage {
  /** The engine has it. */
  readonly release: () => void;
  /**
   * The message's place in its run: the message must not overtake an earlier one that was refused.
   */
  readonly inRun?: MessageInRun;
}

async function answerMessage(
  asker: AgentAsker,
  body: MessageRequest,
  { release, inRun }: MessagePassage,
): Promise<MessageReply> {
  const { refusedRuns } = asker.session;
  const refusal = inRun && refusedRuns.refusalOf(body.channelId, inRun.run);
  let count = 1;
  const failed = (error: unknown): void => {
    const refusal = isUndone(error) ? relayFailed() : refusalFor(error);
    if (inRun !== undefined && refusal instanceof Refusal && comesAgain(refusal, count)) {
      refusedRuns.refuse(inRun, refusal);
    }
  };
  // Everything that can fail is inside: nothing of the run may overtake a message that the log has
  // given up.
  try {
    const channel = await openAsMember(asker, body.channelId);
    count = checkMessage(asker, body).count;
    if (refusal === undefined) {
      return await admit(asker, channel, { body, count, release, failed, inRun });
    }
    const original = await originalAnswer(asker, channel, body);
    if (original !== undefined) return original;
  } catch (error) {
    failed(error);
    throw refusalFor(error);
  }
  throw refusal;
}

function refusalFor(error: unknown): unknown {
  return mayStand(error) ? logSilent() : error;
}

interface MessageAdmission {
  readonly body: MessageRequest;
  /** Messages in it. */
  readonly count: number;
  /** The engine has it. */
  readonly release: () => void;
  /** The engine has given it up, or refused it. */
  readonly failed: (error: unknown) => void;
  readonly inRun: MessageInRun | undefined;
}

async function admit(
  asker: AgentAsker,
  channel: LoadedChannel,
  admission: MessageAdmission,
): Promise<MessageReply> {
  const { body, count } = admission;
  if (body.epoch > channel.state.epoch) await reachEpoch(asker.core, channel, body.epoch);
  if (body.epoch !== channel.state.epoch) {
    return await originalAnswer(asker, channel, body) ??
      fail(asker, epochConflict(channel.state.epoch));
  }
  const finding = roomIn(asker.core, channel, asker.agent.account);
  const room = finding instanceof Promise ? await finding : finding;
  const refusal = asker.core.limits.storage.messageRefusal(channel.queueBytes);
  if (refusal !== undefined) {
    // Possibly only messages that were read already are in the way.
    channel.full = true;
    asker.core.upkeep.touch(channel);
    return await originalAnswer(asker, channel, body) ?? fail(asker, refusal);
  }
  const paying = payMessages(asker, { messages: count, payloadBytes: body.ciphertext.length });
  const paid = paying instanceof Promise ? await paying : paying;
  if (paid instanceof Refusal) {
    return await originalAnswer(asker, channel, body) ?? fail(asker, paid);
  }
  const appending = append(asker, channel, admission, { paid, room });
  admission.release();
  return await appending;
}

interface AppendTerms {
  readonly paid: PaidMessages;
  readonly room: StorageLimits;
}

async function append(
  asker: AgentAsker,
  channel: LoadedChannel,
  { body, failed, inRun }: MessageAdmission,
  { paid: { charge, settle }, room }: AppendTerms,
): Promise<MessageReply> {
  const { core, agent } = asker;
  const { meter, nowMs } = core.deps;
  let appended: boolean | undefined = false;
  try {
    // The sender may be back already, and have asked whether this message stands in the log.
    const checkWanted = (): void => {
      if (asker.session.isEnded) throw new Refusal("transport_error", "The session has ended");
      if (inRun?.refusal !== undefined) throw inRun.refusal;
    };
    const { sequence, timeMs, duplicate } = await appendSettled(core, channel, {
      kind: "message",
      epoch: body.epoch,
      sender: agent.agentId,
      timeMs: nowMs(),
      ...encodeMessageBody(body.messageId, body.ciphertext),
      key: keyOf(asker, body),
      ...sentBy(agent),
      added: [],
      removed: [],
      charge,
      room,
    }, { sender: agent.account, checkWanted, failed });
    appended = !duplicate;
    if (!duplicate) meter.messagesAccepted += charge.messages;
    return { sequence, timeMs, duplicate };
  } catch (error) {
    if (mayStand(error)) appended = undefined;
    throw error;
  } finally {
    settle(appended);
  }
}

function checkMessage(
  { core }: AgentAsker,
  { channelId, epoch, messageId, ciphertext }: MessageRequest,
): MessageAad {
  if (ciphertext.length > core.config.limits.payloadBytes + framingBytes) {
    throw new Refusal(
      "payload_too_large",
      `A message has at most ${core.config.limits.payloadBytes} bytes here`,
    );
  }
  const header = readPrivateMessageHeader(ciphertext);
  if (header.contentType !== "application") {
    throw new Refusal(
      "invalid_request",
      `SendMessage takes application messages, this is a ${header.contentType}`,
    );
  }
  if (header.channelId !== groupIdOf(channelId, generationOf(epoch)) || header.epoch !== epoch) {
    throw new Refusal(
      "invalid_request",
      "The message is for another channel or epoch than its request says",
    );
  }
  const aad = decodeMessageAad(header.authenticatedData);
  if (aad.messageId !== messageId) {
    throw new Refusal(
      "invalid_request",
      "The message's authenticated data names another message id",
    );
  }
  if (aad.count > 1 && ciphertext.length > maxBundleCiphertextBytes) {
    throw new Refusal(
      "payload_too_large",
      `Messages that go together have at most ${maxBundleCiphertextBytes} bytes`,
    );
  }
  return aad;
}

async function originalAnswer(
  asker: AgentAsker,
  channel: LoadedChannel,
  body: MessageRequest,
): Promise<MessageReply | undefined> {
  const found = await asker.core.deps.engine.findKey(channel.channelId, keyOf(asker, body));
  if (found === undefined) return undefined;
  return { sequence: found.sequence, timeMs: found.timeMs, duplicate: true };
}

function keyOf({ agent }: AgentAsker, { messageId }: MessageRequest): string {
  return `message:${agent.agentId}:${messageId}`;
}

function fail({ core }: AgentAsker, refusal: Refusal): never {
  if (refusal.code === "epoch_conflict") core.deps.meter.epochConflicts++;
  else if (refusal.code !== "storage_full") core.deps.meter.quotaRefusals++;
  throw refusal;
}

/**
 * Application messages, one or a bundle: checked in the order membership, id seen before, epoch, quota; durable before they are
 * answered. A bundle is charged by the number of its messages, whole or not at all.
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
import type { Charge, Room } from "../../engine/engine.ts";
import { sentBy } from "../agent.ts";
import type { Channel } from "../channel.ts";
import { encodeMessageBody } from "../entry_body.ts";
import { comesAgain, epochConflict, logSilent, Refusal } from "../refusal.ts";
import type { AgentAsker } from "../request_handler.ts";
import { appendSettled, mayStand, roomIn } from "./append.ts";
import { openAsMember, reachEpoch } from "./channel_access.ts";
import { quotaRefusal } from "./quota_refusal.ts";

type Message = RequestBody<"SendMessage">;
type Reply = ReplyBody<"SendMessage">;

/** Bytes that MLS adds to a payload at most: framing and padding up to the next cell. */
const framingBytes = limits.ciphertextBytes - limits.payloadBytes;

export function sendMessage(asker: AgentAsker, body: Message): Promise<Reply> {
  return asker.session.inOrder(async (release) => {
    const channel = await openAsMember(asker, body.channelId);
    const { count } = checkMessage(asker, body);
    const { run } = body;
    const refusal = run === undefined ? undefined : asker.session.refusedRuns.refusalOf(body.channelId, run);
    if (refusal !== undefined) {
      const original = await originalAnswer(asker, channel, { body, count });
      if (original === undefined) throw refusal;
      return original;
    }
    try {
      return await admit(asker, channel, { body, count, release });
    } catch (error) {
      const refusal = mayStand(error) ? logSilent() : error;
      if (run !== undefined && refusal instanceof Refusal && comesAgain(refusal, count)) {
        asker.session.refusedRuns.add(body.channelId, run, refusal);
      }
      throw refusal;
    }
  });
}

interface Admission {
  readonly body: Message;
  /** Messages in it. */
  readonly count: number;
  /** The engine has it. */
  readonly release: () => void;
}

async function admit(asker: AgentAsker, channel: Channel, { body, count, release }: Admission): Promise<Reply> {
  if (body.epoch > channel.state.epoch) await reachEpoch(asker.core, channel, body.epoch);
  if (body.epoch !== channel.state.epoch) {
    return await originalAnswer(asker, channel, { body, count }) ?? fail(asker, epochConflict(channel.state.epoch));
  }
  const finding = roomIn(asker.core, channel, asker.agent.account);
  const room = finding instanceof Promise ? await finding : finding;
  const refusal = asker.core.storage.messageRefusal(channel.queueBytes);
  if (refusal !== undefined) {
    // Possibly only messages that were read already are in the way.
    channel.full = true;
    asker.core.touch(channel);
    return await originalAnswer(asker, channel, { body, count }) ?? fail(asker, refusal);
  }
  const { account, grant } = asker.agent;
  const cost = { messages: count, payloadBytes: body.ciphertext.length };
  const reserving = asker.core.deps.quota.reserve(account, cost, grant?.key ?? undefined);
  const reservation = reserving instanceof Promise ? await reserving : reserving;
  if (reservation.kind !== "reserved") {
    return await originalAnswer(asker, channel, { body, count }) ??
      fail(asker, quotaRefusal(reservation, asker.core.deps.nowMs()));
  }
  const appending = append(asker, channel, body, { charge: reservation.charge, room });
  release();
  return await appending;
}

interface Terms {
  readonly charge: Charge;
  readonly room: Room;
}

async function append(
  asker: AgentAsker,
  channel: Channel,
  body: Message,
  { charge, room }: Terms,
): Promise<Reply> {
  const { core, agent } = asker;
  const { quota, meter, nowMs } = core.deps;
  let appended: boolean | undefined = false;
  try {
    // Its agent may be back already, and have asked whether this message stands in the log.
    const checkWanted = (): void => {
      if (asker.session.isEnded) throw new Refusal("transport_error", "The session has ended");
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
    }, { sender: agent.account, checkWanted });
    appended = !duplicate;
    if (duplicate) meter.messagesDuplicate += charge.messages;
    else meter.messagesAccepted += charge.messages;
    return { sequence, timeMs, duplicate };
  } catch (error) {
    if (mayStand(error)) appended = undefined;
    throw error;
  } finally {
    quota.settle(agent.account, charge, appended, agent.grant?.key ?? undefined);
  }
}

function checkMessage({ core }: AgentAsker, { channelId, epoch, messageId, ciphertext }: Message): MessageAad {
  if (ciphertext.length > core.config.limits.payloadBytes + framingBytes) {
    throw new Refusal("payload_too_large", `A message has at most ${core.config.limits.payloadBytes} bytes here`);
  }
  const header = readPrivateMessageHeader(ciphertext);
  if (header.contentType !== "application") {
    throw new Refusal("invalid_request", `SendMessage takes application messages, this is a ${header.contentType}`);
  }
  if (header.channelId !== groupIdOf(channelId, generationOf(epoch)) || header.epoch !== epoch) {
    throw new Refusal("invalid_request", "The message is for another channel or epoch than its request says");
  }
  const aad = decodeMessageAad(header.authenticatedData);
  if (aad.messageId !== messageId) {
    throw new Refusal("invalid_request", "The message's authenticated data names another message id");
  }
  if (aad.count > 1 && ciphertext.length > maxBundleCiphertextBytes) {
    throw new Refusal("payload_too_large", `Messages that go together have at most ${maxBundleCiphertextBytes} bytes`);
  }
  return aad;
}

async function originalAnswer(
  asker: AgentAsker,
  channel: Channel,
  { body, count }: Pick<Admission, "body" | "count">,
): Promise<Reply | undefined> {
  const { engine, meter } = asker.core.deps;
  const found = await engine.findKey(channel.channelId, keyOf(asker, body));
  if (found === undefined) return undefined;
  meter.messagesDuplicate += count;
  return { sequence: found.sequence, timeMs: found.timeMs, duplicate: true };
}

function keyOf({ agent }: AgentAsker, { messageId }: Message): string {
  return `message:${agent.agentId}:${messageId}`;
}

function fail({ core }: AgentAsker, refusal: Refusal): never {
  if (refusal.code === "epoch_conflict") core.deps.meter.epochConflicts++;
  else if (refusal.code !== "storage_full") core.deps.meter.quotaRefusals++;
  throw refusal;
}

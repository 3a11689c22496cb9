/** Messages, members and events as headers of frames. A message's content is the frame's bytes. */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  type Attested,
  type MessageId,
  parseAgentId,
  parseBinaryId,
  type Recognition,
} from "../../proto/mod.ts";
import { identityText } from "../base/identity_text.ts";
import type { KeyAge } from "../channel/upkeep/key_age_state.ts";
import type { ChannelMember } from "../channel/group/member_list.ts";
import type { Envelope } from "../content/envelope.ts";
import type { IncomingEnvelope } from "../content/incoming.ts";
import { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";
import { decodeError, encodeError } from "./wire_errors.ts";

export function encodeEnvelope(envelope: Envelope): FrameHeader {
  const {
    kind,
    id,
    sender,
    timeMs,
    contentType,
    to,
    replyTo,
    conversation,
    expiresAtMs,
    headers,
    receipt,
  } = envelope;
  return {
    kind,
    id,
    sender: { ...encodeIdentity(sender), ...encodeKnown(sender) },
    timeMs,
    ...(contentType !== undefined && { contentType }),
    ...(to !== undefined && { to }),
    ...(replyTo !== undefined && { replyTo }),
    ...(conversation !== undefined && { conversation }),
    ...(expiresAtMs !== undefined && { expiresAtMs }),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(receipt !== undefined && { receipt }),
  };
}

/** Builds an envelope from its fields. */
export function decodeEnvelope(
  fields: HeaderFields,
  body: Uint8Array,
  deadlineMs?: number,
): IncomingEnvelope {
  const sender = fields.optionalObject("sender") ?? new HeaderFields({});
  const [contentType, replyTo, conversation] = ["contentType", "replyTo", "conversation"].map((
    name,
  ) => fields.optionalText(name));
  const [to, headers, expiryMs] = [
    fields.optionalTexts("to"),
    fields.optionalMap("headers"),
    fields.optionalNumber("expiresAtMs"),
  ];
  const receipt = fields.one("receipt", ["delivered", "done"]);
  return {
    kind: fields.one("kind", ["message", "request", "reply", "error"]) ?? "message",
    lane: "message",
    id: parseBinaryId<MessageId>(fields.text("id")),
    sender: parseAgentId(sender.text("agentId")),
    identity: decodeIdentity(sender),
    keyUnchanged: sender.flag("keyUnchanged"),
    ...decodeKnown(sender),
    timeMs: fields.number("timeMs"),
    sequence: 0,
    fields: {
      ...(contentType !== undefined && { contentType }),
      ...(to !== undefined && { to: to.map(parseAgentId) }),
      ...(replyTo !== undefined && { replyTo: parseBinaryId<MessageId>(replyTo) }),
      ...(conversation !== undefined && { conversation }),
      ...(expiryMs !== undefined && { expiryMs }),
      ...(headers !== undefined && { headers: new Map(Object.entries(headers)) }),
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(receipt !== undefined && { receipt }),
    },
    body,
  };
}

interface NamedAgent {
  readonly agentId: AgentId;
  readonly identity: string;
  readonly identityBytes: Uint8Array;
}

/**
 * Bytes that are no text are shown in hexadecimal, which a text may look like too: so they are told
 * apart.
 */
export function encodeIdentity({ agentId, identity, identityBytes }: NamedAgent): FrameHeader {
  const isText = new TextDecoder().decode(identityBytes) === identity;
  return { agentId, identity, ...(!isText && { identityHex: bytesToHex(identityBytes) }) };
}

export function decodeIdentity(fields: HeaderFields): Uint8Array {
  const hex = fields.optionalText("identityHex");
  return hex === undefined ? new TextEncoder().encode(fields.text("identity")) : hexToBytes(hex);
}

function encodeKnown(
  { keyUnchanged, knownAs, attested, badgeExpired, sameAccount }:
    & Pick<ChannelMember, "keyUnchanged">
    & Recognition,
): FrameHeader {
  return {
    keyUnchanged,
    ...(knownAs !== undefined && { knownAs }),
    ...(attested !== undefined && { attested: { ...attested } }),
    ...(badgeExpired !== undefined && { badgeExpired: { ...badgeExpired } }),
    ...(sameAccount && { sameAccount }),
  };
}

function decodeKnown(fields: HeaderFields): Recognition {
  return {
    knownAs: fields.optionalText("knownAs"),
    attested: decodeAttested(fields.optionalObject("attested")),
    badgeExpired: decodeAttested(fields.optionalObject("badgeExpired")),
    sameAccount: fields.flag("sameAccount"),
  };
}

function decodeAttested(fields: HeaderFields | undefined): Attested | undefined {
  return fields && {
    domain: fields.text("domain"),
    name: fields.text("name"),
    untilMs: fields.number("untilMs"),
    how: fields.one("how", ["domain", "mailbox"]) ?? "mailbox",
  };
}

export function encodeMember(member: ChannelMember): FrameHeader {
  const {
    owner,
    guest,
    self,
    absent,
    lapsed,
    confirmedEpoch,
    lastHeardMs,
    badgeEndsMs,
    postQuantum,
    resembles,
  } = member;
  const heard = {
    ...(confirmedEpoch !== undefined && { confirmedEpoch }),
    ...(lastHeardMs !== undefined && { lastHeardMs }),
  };
  const like = resembles.length > 0 ? { resembles } : {};
  return {
    ...encodeIdentity(member),
    ...encodeKnown(member),
    owner,
    guest,
    self,
    absent,
    lapsed,
    postQuantum,
    ...heard,
    ...(badgeEndsMs !== undefined && { badgeEndsMs }),
    ...like,
  };
}

export function decodeMember(fields: HeaderFields): ChannelMember {
  const identityBytes = decodeIdentity(fields);
  return {
    agentId: parseAgentId(fields.text("agentId")),
    identity: identityText(identityBytes),
    identityBytes,
    keyUnchanged: fields.flag("keyUnchanged"),
    ...decodeKnown(fields),
    owner: fields.flag("owner"),
    guest: fields.flag("guest"),
    self: fields.flag("self"),
    absent: fields.flag("absent"),
    confirmedEpoch: fields.optionalNumber("confirmedEpoch"),
    lastHeardMs: fields.optionalNumber("lastHeardMs"),
    lapsed: fields.flag("lapsed"),
    badgeEndsMs: fields.optionalNumber("badgeEndsMs"),
    postQuantum: fields.flag("postQuantum"),
    resembles: (fields.optionalTexts("resembles") ?? []).map(parseAgentId),
  };
}

export function encodeKeyAge({ agentId, changedAtMs, overdue }: KeyAge): FrameHeader {
  return { agentId, overdue, ...(changedAtMs !== undefined && { changedAtMs }) };
}

export function decodeKeyAge(fields: HeaderFields): KeyAge {
  return {
    agentId: parseAgentId(fields.text("agentId")),
    changedAtMs: fields.optionalNumber("changedAtMs"),
    overdue: fields.flag("overdue"),
  };
}

/** Events are plain, but for the errors that some carry. */
export function encodeEvent(event: { readonly type: string }): FrameHeader {
  // cast: only looked at
  const { error, ...rest } = event as { readonly type: string; readonly error?: unknown };
  return error === undefined ? rest : { ...rest, error: encodeError(error) };
}

/** An event as it was; its type is the sender's word. */
export function decodeEvent(event: HeaderFields): FrameHeader {
  const error = event.optionalObject("error");
  return { ...event.all, ...(error !== undefined && { error: decodeError(error) }) };
}

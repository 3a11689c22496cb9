/** Members, messages and bytes as people and as JSON see them. */
import type { ChannelMember, ChannelPolicy, PolicyScope } from "../../sdk/mod.ts";
import { agentInWords, type SeenAgent } from "../../proto/mod.ts";
import { framed } from "../output.ts";
import { byteSize, grouped } from "./amounts.ts";
import { ago, isoTime } from "./amounts.ts";

/** More of a message than a person reads at a terminal. */
const maxShown = 4000;

/** Undefined when it is not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A payload for JSON: as text where it is text. */
export function payloadFields(
  payload: Uint8Array,
): { readonly text: string } | { readonly base64: string } {
  const text = textOf(payload);
  return text === undefined ? { base64: encodeBase64(payload) } : { text };
}

/**
 * A payload for a terminal; further lines are indented, so that no message can pass for another.
 */
export function payloadLines(payload: Uint8Array): string {
  const text = textOf(payload);
  if (text === undefined) return `(${grouped(payload.length)} bytes)`;
  const beginning = text.length > maxShown ? `${text.slice(0, maxShown)} …` : text;
  const cut = text.length > maxShown
    ? `\n(cut here: the message has ${byteSize(payload.length)}; a pipe gets all of it)`
    : "";
  return framed(`${beginning}${cut}`);
}

/** An agent in JSON. Its identity is its own choice. */
export function senderFields(sender: MemberView): Readonly<Record<string, unknown>> {
  const { agentId, identity, keyUnchanged, knownAs, attested, badgeExpired, sameAccount } = sender;
  return {
    agent_id: agentId,
    identity,
    key_unchanged: keyUnchanged,
    known_as: knownAs,
    attested: attestedFields(attested),
    badge_expired: attestedFields(badgeExpired),
    ...(sameAccount === true && { same_account: true }),
  };
}

/** The word of an issuer that this user believes. */
function attestedFields(word: SeenAgent["attested"]): object | undefined {
  return word && {
    domain: word.domain,
    name: word.name,
    until: isoTime(word.untilMs),
    how: word.how,
  };
}

export function memberFields(member: ChannelMember): Readonly<Record<string, unknown>> {
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
  return {
    ...senderFields(member),
    owner,
    ...(guest && { guest }),
    self,
    ...(absent && { absent }),
    ...(lapsed && { lapsed }),
    ...(resembles.length > 0 && { resembles }),
    confirmed_epoch: confirmedEpoch,
    ...(lastHeardMs !== undefined && { last_heard_at: isoTime(lastHeardMs) }),
    ...(badgeEndsMs !== undefined && { badge_ends_at: isoTime(badgeEndsMs) }),
    post_quantum: postQuantum,
  };
}

export function policyLines({ admission, posting }: ChannelPolicy): string[] {
  const who = (scope: PolicyScope): string => scope === "members" ? "every member" : "owners only";
  return [`May admit agents: ${who(admission)}`, `May post: ${who(posting)}`];
}

/**
 * When this agent last heard of a member, and how far the member is known to be in the same group.
 */
export function heardText({ confirmedEpoch, lastHeardMs }: ChannelMember, nowMs: number): string {
  if (lastHeardMs === undefined) return "not yet";
  return `${ago(lastHeardMs, nowMs)}${
    confirmedEpoch === undefined ? "" : `, epoch ${confirmedEpoch}`
  }`;
}

/** The relay's word, and named so: it may say anything. */
export function onlineText(online: boolean | undefined): string {
  return online === undefined ? "" : `relay: ${online ? "online" : "offline"}`;
}

export function memberRoles(
  { owner, guest, self, absent, lapsed, badgeEndsMs, postQuantum, resembles }: ChannelMember,
  nowMs: number,
): string {
  const over = badgeEndsMs !== undefined && badgeEndsMs < nowMs &&
    `here by a badge that ended on ${isoTime(badgeEndsMs).slice(0, 10)}`;
  const alike = resembles.length > 0 && `looks like ${resembles.join(" and ")}`;
  return [
    owner && "owner",
    guest && "guest",
    self && "you",
    absent && "absent",
    lapsed && "lapsed (the relay's word)",
    over,
    !postQuantum && !absent && "without post-quantum keys",
    alike,
  ]
    .filter(Boolean).join(", ");
}

type MemberView =
  & Pick<ChannelMember, "agentId" | "identity" | "keyUnchanged" | "knownAs">
  & Pick<SeenAgent, "attested" | "badgeExpired" | "sameAccount">;

/** A member in a sentence. */
export function memberName(member: MemberView): string {
  const words = agentInWords(member);
  return member.knownAs === undefined ? `${member.agentId} (${words})` : words;
}

/** With padding, for payloads in JSON that are no text. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

export function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

export function encodeHex(bytes: Uint8Array, separator = ""): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(separator);
}

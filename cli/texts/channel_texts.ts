/** Members and messages as people and as JSON see them. */
import type { ChannelMember } from "../../sdk/mod.ts";
import { encodeBase64, encodeHex } from "./byte_texts.ts";
import { printable } from "../output.ts";

/** What an agent calls itself. Bytes that are no text are shown in hexadecimal. */
export function identityText(identity: Uint8Array): string {
  return textOf(identity) ?? `0x${encodeHex(identity)}`;
}

/** Undefined when it is not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** A payload for JSON: as text where it is text. */
export function payloadFields(payload: Uint8Array): { readonly text: string } | { readonly base64: string } {
  const text = textOf(payload);
  return text === undefined ? { base64: encodeBase64(payload) } : { text };
}

/** A payload for a terminal; further lines are indented, so that no message can pass for another. */
export function payloadLines(payload: Uint8Array): string {
  const text = textOf(payload);
  return text === undefined ? `(${payload.length} bytes)` : printable(text).replaceAll("\n", "\n  ");
}

export function memberFields({ agentId, identity, owner, self }: ChannelMember): Readonly<Record<string, unknown>> {
  return { agent_id: agentId, identity: identityText(identity), owner, self };
}

export function memberName({ identity }: Pick<ChannelMember, "identity">): string {
  return printable(identityText(identity));
}

/**
 * Branded identifiers. A branded value exists only after its parser accepted it, so code that holds
 * one never checks again. Sixteen-byte ids are base64url text in memory (good map keys) and bytes
 * on the wire.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { WireError } from "./errors.ts";
import { limits } from "./limits.ts";

/**
 * Text that the parser of this kind of id has accepted. `__kind` exists for the compiler only, so
 * that one kind is not taken for another; to a program it is a string like any other.
 */
export type Branded<Name extends string> = string & { readonly __kind: Name };

/** UUID in lower case. */
export type AccountId = Branded<"AccountId">;
/** UUID in lower case. */
export type KeyId = Branded<"KeyId">;
/** First 22 characters of base64url(SHA-256(Ed25519 public key ‖ identity)). */
export type AgentId = Branded<"AgentId">;
/** The MLS group id: 16 bytes. */
export type ChannelId = Branded<"ChannelId">;
/** `org/namespace/service`. */
export type ChannelName = Branded<"ChannelName">;
/** Chosen by the sender, the same for every retry: 16 bytes. */
export type MessageId = Branded<"MessageId">;
/**
 * Derived from an invite's secret, so that the relay can recognise an invite without being able to
 * use it: 16 bytes.
 */
export type InviteId = Branded<"InviteId">;
/** A join or rejoin request that waits for a member's answer: 16 bytes. */
export type JoinRequestId = Branded<"JoinRequestId">;

/** The ids that are 16 bytes on the wire. */
export type BinaryId = ChannelId | MessageId | InviteId | JoinRequestId;
export const binaryIdBytes = 16;

const agentIdLength = 22;
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const base64urlText = /^[A-Za-z0-9_-]+$/;
const nameComponent = /^[a-z0-9-]+$/;

export function parseAccountId(text: string): AccountId {
  return parseUuid(text, "account id") as AccountId; // cast: checked by parseUuid
}

export function parseKeyId(text: string): KeyId {
  return parseUuid(text, "key id") as KeyId; // cast: checked by parseUuid
}

export function parseAgentId(text: string): AgentId {
  if (isAgentId(text)) return text;
  throw new WireError(
    "invalid_request",
    `Not an agent id: expected ${agentIdLength} base64url characters`,
  );
}

export function isAgentId(text: string): text is AgentId {
  return text.length === agentIdLength && base64urlText.test(text);
}

/** Anyone who holds a KeyPackage can compute this; nobody can take it without the private key. */
export function agentIdOf(publicKey: Uint8Array, identity: Uint8Array): AgentId {
  const digest = sha256.create().update(publicKey).update(identity).digest();
  // cast: right length and alphabet by construction
  return encodeBase64url(digest).slice(0, agentIdLength) as AgentId;
}

export function parseChannelId(text: string): ChannelId {
  return parseBinaryId<ChannelId>(text);
}

export function parseBinaryId<Id extends BinaryId>(text: string): Id {
  const bytes = text.length === 22 ? decodeBase64url(text) : undefined;
  if (bytes === undefined) {
    throw new WireError(
      "invalid_request",
      "Not an id: expected 22 base64url characters for 16 bytes",
    );
  }
  return text as Id; // cast: decodes to 16 bytes
}

export function binaryIdFromBytes<Id extends BinaryId>(bytes: Uint8Array): Id {
  if (bytes.length !== binaryIdBytes) {
    throw new WireError(
      "invalid_request",
      `Not an id: ${bytes.length} bytes instead of ${binaryIdBytes}`,
    );
  }
  return encodeBase64url(bytes) as Id; // cast: sixteen bytes, checked above
}

export function binaryIdToBytes(id: BinaryId): Uint8Array<ArrayBuffer> {
  const bytes = decodeBase64url(id);
  if (bytes === undefined) throw new TypeError("A branded id was forged: it is not base64url");
  return bytes;
}

/**
 * Exactly three components of lowercase letters, digits and hyphens. Length is checked before the
 * pattern is.
 */
export function parseChannelName(text: string): ChannelName {
  const refuse = (why: string): never => {
    throw new WireError(
      "channel_error",
      `Invalid channel name: ${why}. Use org/namespace/service with lowercase letters, digits and hyphens`,
    );
  };
  if (text.length > limits.channelNameBytes) {
    refuse(`it is longer than ${limits.channelNameBytes} characters`);
  }
  const components = text.split("/");
  if (components.length !== 3) refuse(`it has ${components.length} component(s) instead of 3`);
  for (const component of components) {
    if (component.length === 0) refuse("a component is empty");
    if (component.length > limits.nameComponentBytes) {
      refuse(`a component is longer than ${limits.nameComponentBytes} characters`);
    }
    if (!nameComponent.test(component)) {
      refuse(`component ${JSON.stringify(component)} has other characters`);
    }
  }
  return text as ChannelName; // cast: checked above
}

function parseUuid(text: string, what: string): string {
  if (text.length !== 36 || !uuid.test(text)) {
    throw new WireError(
      "invalid_request",
      `Not ${what === "account id" ? "an" : "a"} ${what}: expected a UUID`,
    );
  }
  return text;
}

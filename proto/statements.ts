/**
 * What agents sign and authenticate outside MLS. Every statement is its label and its fields, each behind a two-byte length,
 * so that no two statements can be confused and no field can flow into the next.
 */
import { hkdf } from "@noble/hashes/hkdf.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import {
  type AgentId,
  binaryIdBytes,
  binaryIdFromBytes,
  binaryIdToBytes,
  type ChannelId,
  type ChannelName,
  type InviteId,
} from "./ids.ts";

export interface AuthenticationStatement {
  /** As dialled, so that a relay cannot pass the signature on to another. */
  readonly origin: string;
  readonly relayNonce: Uint8Array;
  readonly clientNonce: Uint8Array;
  readonly token: string;
  readonly agentId: AgentId;
}

/** Signed with the agent's Ed25519 key to open a session. */
export function authenticationStatement(s: AuthenticationStatement): Uint8Array {
  return statement("authenticate", [
    utf8ToBytes(s.origin),
    s.relayNonce,
    s.clientNonce,
    sha256(utf8ToBytes(s.token)),
    utf8ToBytes(s.agentId),
  ]);
}

/** Signed by a leaver. The epoch ties it to this membership: it cannot remove the agent again after it came back. */
export function leaveStatement(s: { channelId: ChannelId; agentId: AgentId; epoch: number }): Uint8Array {
  return statement("leave", [binaryIdToBytes(s.channelId), utf8ToBytes(s.agentId), uint64(s.epoch)]);
}

export interface RejoinStatement {
  readonly channelId: ChannelId;
  readonly agentId: AgentId;
  /** SHA-256 of the KeyPackage's bytes. */
  readonly keyPackageHash: Uint8Array;
  /** The current one: a request that was answered, or not, cannot be used again later. */
  readonly epoch: number;
}

/** Signed with the key of the agent's old leaf, so that only it can take its own place again. */
export function rejoinStatement(s: RejoinStatement): Uint8Array {
  return statement("rejoin", [binaryIdToBytes(s.channelId), utf8ToBytes(s.agentId), s.keyPackageHash, uint64(s.epoch)]);
}

export interface JoinStatement {
  readonly channelId: ChannelId;
  readonly name: ChannelName;
  readonly inviter: AgentId;
  readonly keyPackage: Uint8Array;
}

/** By whoever holds an invite's secret. The relay, which does not, can swap neither KeyPackage nor inviter. */
export function joinMac(secret: Uint8Array, s: JoinStatement): Uint8Array {
  const message = statement("join", [
    binaryIdToBytes(s.channelId),
    utf8ToBytes(s.name),
    utf8ToBytes(s.inviter),
    sha256(s.keyPackage),
  ]);
  return hmac(sha256, deriveFromInvite(secret, "mac", 32), message);
}

/** How the relay knows an invite: it cannot be turned back into the secret. */
export function inviteIdOf(secret: Uint8Array): InviteId {
  return binaryIdFromBytes<InviteId>(deriveFromInvite(secret, "id", binaryIdBytes));
}

function deriveFromInvite(secret: Uint8Array, info: string, length: number): Uint8Array {
  return hkdf(sha256, secret, utf8ToBytes("static invite v1"), utf8ToBytes(info), length);
}

/**
 * The form of each statement, which is a part of its label. A form is frozen: a statement that has to say something else gets
 * the next number. `docs/protocol.md` has the steps.
 */
const forms = { authenticate: 1, leave: 1, rejoin: 1, join: 1 } as const;

function statement(name: keyof typeof forms, fields: readonly Uint8Array[]): Uint8Array {
  const parts = [utf8ToBytes(`static relay v${forms[name]} ${name}`), ...fields];
  return concatBytes(...parts.flatMap((part) => [uint16(part.length), part]));
}

function uint16(value: number): Uint8Array {
  if (value > 0xffff) throw new RangeError("A field of a statement is longer than 65535 bytes");
  return Uint8Array.of(value >> 8, value);
}

function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

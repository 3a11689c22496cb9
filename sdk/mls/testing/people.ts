/** Owners of a channel with keys that are always the same, for tests of what they sign. */
import { ed25519 } from "@noble/curves/ed25519.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { type AgentId, agentIdOf, binaryIdFromBytes, type ChannelId } from "../../../proto/mod.ts";
import type { MlsIdentity } from "../identity.ts";

export const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(1));

export interface Someone extends MlsIdentity {
  readonly id: AgentId;
}

/** Names of one length have one key. */
export function someone(name: string): Someone {
  const signingSeed = new Uint8Array(32).fill(name.length);
  const signatureKey = ed25519.getPublicKey(signingSeed);
  const identity = utf8ToBytes(name);
  return { signingSeed, signatureKey, identity, id: agentIdOf(signatureKey, identity) };
}

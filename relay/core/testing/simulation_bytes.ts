/**
 * Bytes that simulated agents send: MLS messages that nobody can open, and signatures that cost
 * nothing to make or to check.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import {
  binaryIdToBytes,
  type ChannelId,
  encodeMessageAad,
  equalBytes,
  type MessageId,
} from "../../../proto/mod.ts";
import {
  createKeyPackage,
  createPrivateMessage,
  mlsUint,
  mlsVector,
  type Random,
} from "../../../tests/support/mod.ts";
import { createAgent, type TestAgent } from "./client.ts";
import { startMs } from "./world.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** Stands for Ed25519, which has tests of its own: a schedule authenticates dozens of times. */
function signFast(publicKey: Uint8Array, message: Uint8Array): Uint8Array {
  const digest = sha256(concatBytes(publicKey, message));
  return concatBytes(digest, digest);
}

export function verifyFast(
  publicKey: Uint8Array,
  message: Uint8Array,
  signature: Uint8Array,
): boolean {
  return equalBytes(signFast(publicKey, message), signature);
}

/**
 * Agents and their KeyPackages, made once for all schedules: a real signature costs milliseconds.
 */
export class AgentStock {
  readonly #agents: TestAgent[] = [];
  readonly #keyPackages = new Map<string, Uint8Array>();

  agent(number: number): TestAgent {
    const made = this.#agents[number];
    if (made !== undefined) return made;
    const agent = createAgent(number);
    return this.#agents[number] = {
      ...agent,
      sign: (message) => signFast(agent.publicKey, message),
    };
  }

  keyPackage({ agentId, secretKey, identity }: TestAgent, number: number): Uint8Array {
    const key = `${agentId} ${number}`;
    const made = this.#keyPackages.get(key);
    if (made !== undefined) return made;
    // Unlike the leaf's key, which is all twos.
    const initKey = new Uint8Array(32).fill(number + 3);
    const lifetime = { notBeforeMs: startMs - dayMs, notAfterMs: startMs + 90 * dayMs };
    const keyPackage = createKeyPackage({ secretKey, identity, initKey, ...lifetime });
    this.#keyPackages.set(key, keyPackage);
    return keyPackage;
  }
}

interface MessageOptions {
  readonly channelId: ChannelId;
  readonly epoch: number;
  readonly messageId: MessageId;
  readonly counter: number;
}

export function createMessage(
  random: Random,
  { channelId, epoch, messageId, counter }: MessageOptions,
): Uint8Array {
  return createPrivateMessage({
    groupId: binaryIdToBytes(channelId),
    epoch,
    contentType: 1,
    authenticatedData: encodeMessageAad({ messageId, counter }),
    ciphertext: random.bytes(12 + random.below(random.chance(0.1) ? 3_000 : 120)),
  });
}

export function createCommit(random: Random, channelId: ChannelId, epoch: number): Uint8Array {
  const ciphertext = random.bytes(12 + random.below(200));
  return createPrivateMessage({
    groupId: binaryIdToBytes(channelId),
    epoch,
    contentType: 3,
    ciphertext,
  });
}

/**
 * A Welcome without secrets (RFC 9420 section 12.4.3.1): the relay reads nothing of it but its
 * shape.
 */
export function createWelcome(random: Random): Uint8Array {
  return concatBytes(
    mlsUint(1, 2),
    mlsUint(3, 2),
    mlsUint(3, 2),
    mlsVector(),
    mlsVector(random.bytes(24)),
  );
}

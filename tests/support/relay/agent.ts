/**
 * An agent of the operations suite: keys, a token of these tests, and the usual requests. Its MLS
 * bytes are opaque.
 */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type AgentId,
  agentIdOf,
  authenticationStatement,
  binaryIdToBytes,
  type ChannelId,
  encodeBase64url,
  encodeMessageAad,
  type MessageId,
  parseChannelName,
  protocolVersion,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import { createKeyPackage, createPrivateMessage, createWelcome } from "../mls.ts";
import { signedCommit } from "../signed_commit.ts";
import type { RelayClient } from "./relay_client.ts";

export const dayMs = 24 * 60 * 60 * 1000;

/** How a suite reaches the relay under test. */
export interface Relay {
  readonly open: () => Promise<RelayClient>;
  /** As the relay is configured; behind a proxy it is still the relay's. */
  readonly origin: string;
  /** Several relays on one log: one of them hears a moment later what another has accepted. */
  readonly isShared?: boolean;
}

export class TestAgent {
  readonly secretKey = crypto.getRandomValues(new Uint8Array(32));
  readonly publicKey = ed25519.getPublicKey(this.secretKey);
  readonly identity = crypto.getRandomValues(new Uint8Array(20));
  readonly agentId: AgentId = agentIdOf(this.publicKey, this.identity);
  readonly account: string;
  readonly #relay: Relay;
  client: RelayClient;

  constructor(relay: Relay, client: RelayClient, account: string) {
    this.#relay = relay;
    this.client = client;
    this.account = account;
  }

  static async connect(relay: Relay, account: string = crypto.randomUUID()): Promise<TestAgent> {
    const agent = new TestAgent(relay, await relay.open(), account);
    await agent.authenticate();
    return agent;
  }

  /** A token of these tests names its account and its end. */
  token(lifetimeMs = 3_600_000): string {
    return `${this.account} ${Date.now() + lifetimeMs}`;
  }

  async authenticate(
    client = this.client,
    token = this.token(),
  ): Promise<ReplyBody<"Authenticate">> {
    const { nonce } = await client.call("GetChallenge", {
      versions: [protocolVersion],
      features: [],
    });
    const reply = await client.call("Authenticate", this.answer(nonce, token));
    client.authenticateWith?.((relayNonce) => this.answer(relayNonce));
    return reply;
  }

  answer(relayNonce: Uint8Array, token = this.token()): RequestBody<"Authenticate"> {
    const { publicKey, identity, agentId } = this;
    const clientNonce = crypto.getRandomValues(new Uint8Array(32));
    const statement = { origin: this.#relay.origin, relayNonce, clientNonce, token, agentId };
    return {
      ...statement,
      publicKey,
      identity,
      signature: this.sign(authenticationStatement(statement)),
    };
  }

  async reconnect(): Promise<void> {
    this.client.close();
    this.client = await this.#relay.open();
    await this.authenticate();
  }

  sign(message: Uint8Array): Uint8Array {
    return ed25519.sign(message, this.secretKey);
  }

  keyPackage(change: { readonly notAfterMs?: number } = {}): Uint8Array {
    const initKey = crypto.getRandomValues(new Uint8Array(32));
    const life = {
      notBeforeMs: Date.now() - dayMs,
      notAfterMs: Date.now() + 30 * dayMs,
      ...change,
    };
    return createKeyPackage({
      secretKey: this.secretKey,
      identity: this.identity,
      initKey,
      ...life,
    });
  }

  async createChannel(): Promise<ChannelId> {
    return (await this.client.call("CreateChannel", { name: freshName(), nonce: randomId16() }))
      .channelId;
  }

  message(channelId: ChannelId, epoch: number, bytes = 100): RequestBody<"SendMessage"> {
    const messageId = encodeBase64url(randomId16()) as MessageId;
    const ciphertext = createPrivateMessage({
      groupId: binaryIdToBytes(channelId),
      epoch,
      authenticatedData: encodeMessageAad({ messageId, counter: 1 }),
      ciphertext: patterned(bytes),
    });
    return { channelId, epoch, messageId, ciphertext };
  }

  commit(
    channelId: ChannelId,
    epoch: number,
    change: Partial<RequestBody<"SendCommit">> = {},
  ): RequestBody<"SendCommit"> {
    const commit = this.commitBytes(channelId, epoch);
    const added = change.added ?? [];
    const welcomes = added.length === 0
      ? []
      : [{ recipients: added, welcome: createWelcome(added.length) }];
    return signedCommit(
      { channelId, epoch, commit, added, welcomes, ...change },
      (statement) => this.sign(statement),
    );
  }

  commitBytes(channelId: ChannelId, epoch: number, bytes = 64): Uint8Array {
    const ciphertext = patterned(bytes);
    ciphertext.set(randomId16());
    return createPrivateMessage({
      groupId: binaryIdToBytes(channelId),
      epoch,
      contentType: 3,
      ciphertext,
    });
  }

  async send(channelId: ChannelId, epoch: number): Promise<RequestBody<"SendMessage">> {
    const message = this.message(channelId, epoch);
    await this.client.call("SendMessage", message);
    return message;
  }

  subscribe(
    channelId: ChannelId,
    change: Partial<RequestBody<"Subscribe">> = {},
  ): Promise<ReplyBody<"Subscribe">> {
    return this.client.call("Subscribe", { channelId, windowBytes: 1 << 22, tag: 1, ...change });
  }

  acknowledge(channelId: ChannelId, consumed: number): Promise<ReplyBody<"Acknowledge">> {
    return this.client.call("Acknowledge", { channelId, consumed, received: consumed });
  }
}

export function randomId16(): Uint8Array<ArrayBuffer> {
  return crypto.getRandomValues(new Uint8Array(16));
}

export function freshName(): ReturnType<typeof parseChannelName> {
  return parseChannelName(`acme/ops/c-${crypto.randomUUID()}`);
}

/** Bytes in which a lost or swapped piece shows. */
function patterned(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  for (let i = 0; i < length; i++) bytes[i] = i * 31 + (i >> 8);
  return bytes;
}

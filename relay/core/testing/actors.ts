/**
 * Agents that do the usual things: authenticate, make channels, add each other, send. Their MLS
 * bytes are opaque.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  binaryIdToBytes,
  type ChannelId,
  type ChannelName,
  encodeMessageAad,
  generationOf,
  groupIdOf,
  type InviteId,
  leaveStatement,
  type MessageId,
  parseChannelName,
  rejoinStatement,
  type ReplyBody,
  type RequestBody,
} from "../../../proto/mod.ts";
import {
  createKeyPackage,
  createPrivateMessage,
  createWelcome,
  signedCommit,
} from "../../../tests/support/mod.ts";
import type { TransportKind } from "../client_link.ts";
import { createAgent, type TestAgent, type TestClient } from "./client.ts";
import { accountOf, idOf, startMs, tokenOf, type World } from "./world.ts";

const dayMs = 24 * 60 * 60 * 1000;
/** Type 10, without content. */
const lastResortExtension = Uint8Array.of(0, 10, 0);
export const channelName: ChannelName = parseChannelName("acme/ops/deploy");

export class Actor {
  readonly agent: TestAgent;
  readonly account: number;
  client: TestClient;
  readonly #world: World;

  constructor(world: World, number: number, account = number, transport: TransportKind = "quic") {
    this.#world = world;
    this.agent = createAgent(number);
    this.account = account;
    this.client = world.connect(transport);
  }

  static async connect(
    world: World,
    number: number,
    account = number,
    transport: TransportKind = "quic",
  ): Promise<Actor> {
    const actor = new Actor(world, number, account, transport);
    await actor.client.authenticate(actor.agent, tokenOf(account, startMs + 400 * dayMs));
    return actor;
  }

  get agentId(): AgentId {
    return this.agent.agentId;
  }

  get accountId(): string {
    return accountOf(this.account);
  }

  async reconnect(world: World = this.#world, transport: TransportKind = "quic"): Promise<void> {
    this.client.close();
    this.client = world.connect(transport);
    await this.client.authenticate(this.agent, tokenOf(this.account, startMs + 400 * dayMs));
  }

  async createChannel(nonce = 1, name = channelName): Promise<ChannelId> {
    const bytes = new Uint8Array(16).fill(nonce);
    return (await this.client.call("CreateChannel", { name, nonce: bytes })).channelId;
  }

  keyPackage(number = 0, lastResort = false): Uint8Array {
    const { secretKey, identity } = this.agent;
    const initKey = new Uint8Array(32).fill(number + 3);
    return createKeyPackage({
      secretKey,
      identity,
      initKey,
      notBeforeMs: startMs - dayMs,
      notAfterMs: startMs + 80 * dayMs,
      ...(lastResort && { extensions: lastResortExtension }),
    });
  }

  /** Adds and removes in one commit, with one Welcome for all who are added. */
  commit(
    channelId: ChannelId,
    epoch: number,
    change: Partial<RequestBody<"SendCommit">> & { readonly salt?: number } = {},
  ): Promise<ReplyBody<"SendCommit">> {
    const { salt = 0, ...rest } = change;
    return this.client.call(
      "SendCommit",
      commitRequest(channelId, epoch, { sender: this.agent, salt }, rest),
    );
  }

  send(
    channelId: ChannelId,
    epoch: number,
    number: number,
    bytes = 32,
  ): Promise<ReplyBody<"SendMessage">> {
    return this.client.call("SendMessage", messageRequest(channelId, epoch, number, bytes));
  }

  /** Leaves the channel. The agent's leaves are numbered. */
  leave(channelId: ChannelId, leaf = 1): Promise<ReplyBody<"LeaveChannel">> {
    const leafHash = new Uint8Array(32).fill(leaf);
    const signature = this.agent.sign(
      leaveStatement({ channelId, agentId: this.agentId, leafHash }),
    );
    return this.client.call("LeaveChannel", { channelId, leafHash, signature });
  }

  /** The request; to be sent, or changed first. */
  rejoin(
    channelId: ChannelId,
    keyPackage = this.keyPackage(4),
    leaf = 1,
    generation = 0,
  ): RequestBody<"RequestRejoin"> {
    const leafHash = new Uint8Array(32).fill(leaf);
    const groupId = groupIdOf(channelId, generation);
    const claim = {
      channelId: groupId,
      agentId: this.agentId,
      leafHash,
      keyPackageHash: sha256(keyPackage),
    };
    const signature = this.agent.sign(rejoinStatement(claim));
    return { channelId, keyPackage, leafHash, signature, epoch: 1, generation };
  }

  subscribe(
    channelId: ChannelId,
    after?: number,
    windowBytes = 1 << 20,
  ): Promise<ReplyBody<"Subscribe">> {
    const position = after === undefined ? {} : { after };
    return this.client.call("Subscribe", { channelId, windowBytes, tag: 1, ...position });
  }

  acknowledge(channelId: ChannelId, consumed: number): Promise<ReplyBody<"Acknowledge">> {
    return this.client.call("Acknowledge", { channelId, consumed, received: consumed });
  }
}

export function messageRequest(
  channelId: ChannelId,
  epoch: number,
  number: number,
  bytes = 32,
): RequestBody<"SendMessage"> {
  const messageId = idOf<MessageId>(number);
  const authenticatedData = encodeMessageAad({ messageId, counter: 1 });
  const ciphertext = createPrivateMessage({
    groupId: binaryIdToBytes(groupIdOf(channelId, generationOf(epoch))),
    epoch,
    contentType: 1,
    authenticatedData,
    ciphertext: new Uint8Array(bytes).fill(number),
  });
  return { channelId, epoch, messageId, ciphertext };
}

export function commitRequest(
  channelId: ChannelId,
  epoch: number,
  by: { readonly sender: TestAgent; readonly salt: number },
  change: Partial<RequestBody<"SendCommit">>,
): RequestBody<"SendCommit"> {
  const commit = createPrivateMessage({
    groupId: binaryIdToBytes(groupIdOf(channelId, generationOf(epoch))),
    epoch,
    contentType: 3,
    ciphertext: new TextEncoder().encode(`${by.sender.agentId} ${by.salt} ${change.added ?? ""}`),
  });
  const added = change.added ?? [];
  const welcomes = added.length === 0
    ? []
    : [{ recipients: added, welcome: createWelcome(added.length) }];
  return signedCommit({ channelId, epoch, commit, welcomes, ...change, added }, by.sender.sign);
}

/** An invite of this channel, the same for each. */
export async function registerInvite(
  { client }: Actor,
  channelId: ChannelId,
  uses = 1,
): Promise<InviteId> {
  const inviteId = idOf<InviteId>(5);
  await client.call("RegisterInvite", { channelId, inviteId, expiresAtMs: startMs + dayMs, uses });
  return inviteId;
}

export function joinRequest(
  asker: Actor,
  channelId: ChannelId,
  inviteId: InviteId,
  number = 0,
): RequestBody<"RequestJoin"> {
  const keyPackage = asker.keyPackage(number);
  return { channelId, inviteId, keyPackage, mac: new Uint8Array(32), ttlMs: 60_000 };
}

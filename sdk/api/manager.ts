/**
 * Channels by name: create, invite, join, send, receive. The inviting side keeps a manager running,
 * which admits applicants.
 */
import { connectHost } from "#hosts";
import { platform } from "#platform";
import { type Abortable, abortable } from "../base/abortable.ts";
import type { Channel } from "./channel.ts";
import type { Agent, ChannelOptions, CreateOptions } from "../channel/agent.ts";
import type { ChannelHealth } from "../channel/condition.ts";
import type { EnvelopeOptions, ReceiveOptions } from "../channel/runner/inbox_runner.ts";
import type { SendOptions, Sent } from "../channel/messages/send_options.ts";
import { type ConnectOptions, StaticClient } from "./client.ts";
import type { JoinOptions, ManagerPort } from "./client_port.ts";
import { connectAgent } from "./connect_agent.ts";
import type { Envelope } from "../content/envelope.ts";
import type { Sendable } from "../content/values.ts";
import type { InviteOptions, InviteState } from "../invites/invite_state.ts";
import type { LinkOptions } from "../invites/links.ts";
import { LocalManager } from "./local_manager.ts";

/**
 * Channels by name, with applicants admitted in the background: while a manager runs, any holder of
 * an invite token of its agent can join.
 *
 * @example The owner invites, the guest joins
 * ```ts
 * import { ChannelManager, type ConnectOptions } from "static-sdk";
 *
 * async function meet(ownerOptions: ConnectOptions, guestOptions: ConnectOptions): Promise<string> {
 *   await using owner = await ChannelManager.connect(ownerOptions);
 *   await owner.create("acme/ops/deploy");
 *   const token = await owner.invite("acme/ops/deploy", { expiresInMs: 3_600_000, uses: 1 });
 *
 *   await using guest = await ChannelManager.connect(guestOptions);
 *   await guest.joinWithToken("acme/ops/deploy", token);
 *   await owner.send("acme/ops/deploy", "welcome");
 *   const payload = await guest.receive("acme/ops/deploy", { timeoutMs: 10_000 });
 *   return new TextDecoder().decode(payload);
 * }
 * ```
 */
export class ChannelManager {
  /** The same agent, for KeyPackages and Welcomes by hand. */
  readonly client: StaticClient;
  /** @internal For hosts, which carry out operations of programs. */
  readonly port: ManagerPort;

  private constructor(port: ManagerPort) {
    this.client = StaticClient.through(port);
    this.port = port;
  }

  /**
   * Connects like `StaticClient.connect`, opens all channels of the agent and begins to answer join
   * requests.
   */
  static async connect(options: ConnectOptions): Promise<ChannelManager> {
    const manager = options.host === "auto"
      ? ChannelManager.through(await connectHost(options, platform))
      : await ChannelManager.over(await connectAgent(options, platform));
    manager.client.heed(options);
    return manager;
  }

  /** @internal For tests that bring their own relay. */
  static async over(agent: Agent): Promise<ChannelManager> {
    return new ChannelManager(await LocalManager.open(agent));
  }

  /** @internal For agents that a host holds. */
  static through(port: ManagerPort): ChannelManager {
    return new ChannelManager(port);
  }

  /** Names of the channels that this agent is in. */
  get channels(): readonly string[] {
    return this.client.channels;
  }

  /** Makes a channel with this agent as its owner. */
  async create(name: string, options: CreateOptions = {}): Promise<Channel> {
    return await this.client.createChannel(name, options);
  }

  /** The channel itself, for members, removal, leaving and loops. */
  async channel(name: string, options: ChannelOptions = {}): Promise<Channel> {
    return await this.client.channel(name, options);
  }

  /**
   * Creates a token with which others can join while this agent's manager runs. Keep it secret:
   * anyone who has it can join.
   */
  async invite(
    name: string,
    { signal, ...options }: InviteOptions & Abortable = {},
  ): Promise<string> {
    return await this.port.act("invite", { ...options, channel: name }, { signal });
  }

  /**
   * A link with which others can join while this agent's manager runs, and which says where the
   * service is. With `guest` it has a pass for one agent without an account, whose messages count
   * on this agent's account. Keep it secret: its holder is let in.
   */
  async inviteLink(
    name: string,
    { signal, guest = false, ...options }: LinkOptions & Abortable = {},
  ): Promise<string> {
    const pass = guest === true ? {} : guest;
    const fields = { ...options, channel: name, ...(pass !== false && { guest: pass }) };
    return await this.port.act("inviteLink", fields, { signal });
  }

  /** The token or link lets nobody in any more. */
  async revokeInvite(token: string, { signal }: Abortable = {}): Promise<void> {
    await this.port.act("revokeInvite", { token }, { signal });
  }

  /**
   * The invites of this agent that somebody could join with, without their secrets; of one channel,
   * or of all.
   */
  async invites(name?: string, { signal }: Abortable = {}): Promise<InviteState[]> {
    const fields = name === undefined ? {} : { channel: name };
    return [...await abortable(signal, () => this.port.act("invites", fields))];
  }

  /** Revokes an invite by its entry in `invites`, when the token is no longer at hand. */
  async revokeInviteById(
    invite: Pick<InviteState, "channel" | "id">,
    { signal }: Abortable = {},
  ): Promise<void> {
    const fields = { channel: invite.channel, invite: invite.id };
    await abortable(signal, () => this.port.act("revokeInvite", fields));
  }

  /**
   * Joins with a token that a member has given. Rejects with `join_timeout` when nobody answers
   * (the inviter is not running, or has no API key); trying again with the same token is then safe.
   * Rejects with `join_rejected` when the token is no longer valid.
   */
  async joinWithToken(
    name: string,
    token: string,
    { signal, ...options }: JoinOptions = {},
  ): Promise<Channel> {
    return await this.port.enter("joinWithToken", { ...options, channel: name, token }, { signal });
  }

  /**
   * Joins with a token, and opens the channel if this agent is in it already: a program is the same
   * on its first run and on every other, also after a crash, and its parts may call this at the
   * same time. An agent that is in the channel does not use the token. Rejects like
   * `joinWithToken`; with `name_taken` when this agent is in another channel of that name; with
   * `join_rejected` when it was in the channel, is not any more, and the token does not let it in
   * again.
   */
  async joinOrOpen(
    name: string,
    token: string,
    { signal, ...options }: JoinOptions = {},
  ): Promise<Channel> {
    return await this.port.enter("joinOrOpen", { ...options, channel: name, token }, { signal });
  }

  /** Joins by a link; see `StaticClient.join`. */
  async join(link: string, options: JoinOptions = {}): Promise<Channel> {
    return await this.client.join(link, options);
  }

  /** Sends to a channel; see `Channel.send`. */
  async send(name: string, value: Sendable, options: SendOptions = {}): Promise<Sent> {
    return await (await this.channel(name)).send(value, options);
  }

  /** The next message, or undefined when none arrives in time; see `Channel.receive`. */
  async receive(name: string, options: ReceiveOptions = {}): Promise<Uint8Array | undefined> {
    return await (await this.channel(name)).receive(options);
  }

  /** The next message with who sent it; see `Channel.receiveEnvelope`. */
  async receiveEnvelope(name: string, options: ReceiveOptions = {}): Promise<Envelope | undefined> {
    return await (await this.channel(name)).receiveEnvelope(options);
  }

  /** All messages with their senders, ids and times; see `Channel.envelopes`. */
  async *receiveEnvelopes(
    name: string,
    options: EnvelopeOptions = {},
  ): AsyncGenerator<Envelope, void, undefined> {
    yield* (await this.channel(name)).envelopes(options);
  }

  /** Returns the state of a channel: its troubles, and what is being done about them. */
  async health(name: string, options: Abortable = {}): Promise<ChannelHealth> {
    return (await this.channel(name, options)).health();
  }

  /**
   * Acknowledges what `receive` has handed out, stops answering join requests, and ends the
   * connection.
   */
  async close(): Promise<void> {
    await this.client.close();
  }

  /** `await using` closes it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

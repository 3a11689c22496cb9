/**
 * The interface behind `StaticClient` and `ChannelManager`: an agent in this process (`local_client.ts`,
 * `local_manager.ts`), or a host that holds it (`host/remote_client.ts`). The comments of those two classes describe
 * each method.
 */
import type { AgentId } from "../proto/mod.ts";
import type { Abortable } from "./base/abortable.ts";
import type { Channel } from "./channel.ts";
import type { ChannelOptions } from "./channel/agent.ts";
import type { ClientEvent, MissedEvents } from "./channel/events.ts";
import type { InviteOptions, InviteState } from "./invites/invite_state.ts";
import type { LinkOptions } from "./invites/links.ts";
import type { TransportName } from "./transport/transport.ts";

/** The agent itself. */
export interface ClientPort {
  readonly agentId: AgentId;
  readonly transport: TransportName | undefined;
  readonly channels: readonly string[];
  readonly welcomes: readonly string[];
  createChannel(name: string, options?: ChannelOptions): Promise<Channel>;
  number(): Promise<string>;
  generateKeyPackage(): Promise<Uint8Array>;
  joinChannel(name: string, welcome: Uint8Array | undefined, options: ChannelOptions): Promise<Channel>;
  join(link: string, options: JoinOptions): Promise<Channel>;
  channel(name: string, options?: ChannelOptions): Promise<Channel>;
  openChannel(name: string, options: ChannelOptions): Promise<Channel>;
  events(signal: AbortSignal | undefined): AsyncIterableIterator<ClientEvent | MissedEvents, undefined>;
  closeChannel(name: string, options?: Abortable): Promise<void>;
  close(): Promise<void>;
}

/** Letting others in. */
export interface ManagerPort {
  readonly client: ClientPort;
  invite(name: string, options: InviteOptions & Abortable): Promise<string>;
  inviteLink(name: string, options: LinkOptions & Abortable): Promise<string>;
  invites(name: string | undefined): Promise<InviteState[]>;
  revokeInvite(token: string, options: Abortable): Promise<void>;
  revokeInviteById(invite: Pick<InviteState, "channel" | "id">): Promise<void>;
  joinWithToken(name: string, token: string, options: JoinOptions): Promise<Channel>;
  joinOrOpen(name: string, token: string, options: JoinOptions): Promise<Channel>;
  close(): Promise<void>;
}

/** How long to wait to be let in. */
export interface JoinOptions extends Abortable {
  /** Up to a minute when not given. */
  readonly timeoutMs?: number;
}

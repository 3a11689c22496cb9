/**
 * The agent that a command acts as: through its host, so that commands work beside each other, or with STATIC_HOST=off held by
 * this process alone. The host is started by the first command that needs it; what only a new one needs is looked up then.
 */
import type { ChannelManager, ConnectOptions } from "../sdk/mod.ts";
import type { HostedAgent } from "../sdk/hosted.ts";
import type { Context } from "./command.ts";
import { loadSdk } from "./later.ts";

/** Operations of commands on an agent. */
export type Agent =
  & Pick<HostedAgent, "agentId" | "channels" | "welcomes" | "number" | "close">
  & Pick<HostedAgent, "channel" | "createChannel" | "closeChannel">
  & Pick<HostedAgent, "invite" | "inviteLink" | "invites" | "revokeInviteById" | "joinWithToken" | "join">;

export interface Wanted {
  readonly dataDir: string;
  /** A short mark of the service and the key. */
  readonly settings: string;
  readonly options: () => Promise<ConnectOptions>;
}

export function usesHost({ platform }: Pick<Context, "platform">): boolean {
  return platform.hasHosts && platform.variable("STATIC_HOST") !== "off";
}

/** Throws `StaticError`. */
export async function openAgent(context: Context, { dataDir, settings, options }: Wanted): Promise<Agent> {
  if (!usesHost(context)) return await holdAgent(await options());
  const { connectHostWith, hostPlatform } = await import("../sdk/hosted.ts");
  const { interrupted: signal } = context.platform;
  return await connectHostWith({ dataDir, settings, options, signal }, hostPlatform);
}

/** For as long as the command runs. */
async function holdAgent(options: ConnectOptions): Promise<Agent> {
  const { ChannelManager } = await loadSdk();
  const manager: ChannelManager = await ChannelManager.connect(options);
  const { client } = manager;
  return {
    agentId: client.agentId,
    get channels() {
      return client.channels;
    },
    get welcomes() {
      return client.welcomes;
    },
    number: () => client.number(),
    channel: (name) => client.channel(name),
    createChannel: (name) => client.createChannel(name),
    closeChannel: (name) => client.closeChannel(name),
    invite: (name, given) => manager.invite(name, given),
    inviteLink: (name, given) => manager.inviteLink(name, given),
    join: (link, given) => manager.join(link, given),
    invites: (name) => manager.invites(name),
    revokeInviteById: (invite) => manager.revokeInviteById(invite),
    joinWithToken: (name, token, given) => manager.joinWithToken(name, token, given),
    close: () => manager.close(),
  };
}

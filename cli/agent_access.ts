/**
 * The agent that a command acts as: through its host, so that commands work beside each other, or
 * with STATIC_HOST=off held by this process alone. The host is started by the first command that
 * needs it; what only a new one needs is looked up then.
 */
import type { ConnectOptions } from "../sdk/mod.ts";
import type { HostConnection, HostedAgent } from "../sdk/host/hosted.ts";
import { agentPlace } from "./agent_record.ts";
import type { Context } from "./command.ts";
import { loadSdk } from "./lazy_sdk.ts";

/**
 * An agent in this process or at its host, which carries out the operations of the host protocol.
 */
export type CommandAgent = HostedAgent;

export interface AgentRequest {
  readonly dataDir: string;
  /** A short mark of the service and the key. */
  readonly settings: string;
  readonly options: () => Promise<ConnectOptions>;
}

export function usesHost({ platform }: Pick<Context, "platform">): boolean {
  return platform.hasHosts && platform.variable("STATIC_HOST") !== "off";
}

/** Throws `StaticError`. */
export async function openAgent(
  context: Context,
  { dataDir, settings, options }: AgentRequest,
): Promise<CommandAgent> {
  if (!usesHost(context)) return await holdAgent(await options());
  const { connectHostWith, hostPlatform } = await import("../sdk/host/hosted.ts");
  const { interrupted: signal } = context.platform;
  return await connectHostWith({ dataDir, settings, options, signal }, hostPlatform);
}

/** Undefined when none runs. Throws when there is no such agent. */
export async function findRunning(context: Context): Promise<HostConnection | undefined> {
  const { dataDir } = await agentPlace(context);
  const { hostPlatform: { hosts }, runningHost } = await import("../sdk/host/hosted.ts");
  return hosts && await runningHost(dataDir, hosts);
}

/** For as long as the command runs. */
async function holdAgent(options: ConnectOptions): Promise<CommandAgent> {
  const { ChannelManager } = await loadSdk();
  return (await ChannelManager.connect(options)).port;
}

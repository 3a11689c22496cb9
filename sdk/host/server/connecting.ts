/** From the fields of `connect` to an agent that one program holds alone. */
import type { FieldsOf } from "../../../proto/host/fields.ts";
import type { hostStart } from "../../../proto/host/operations.ts";
import { platform } from "#platform";
import { type ConnectOptions, StaticClient } from "../../api/client.ts";
import { connectAgent } from "../../api/connect_agent.ts";
import { ChannelManager } from "../../api/manager.ts";
import type { Platform } from "../../platform/platform.ts";
import type { AgentHandle } from "./agent_handle.ts";
import { readAlone, readOneByOne } from "./reading_alone.ts";
import { ServedChannels } from "./serving.ts";
import type { ConnectFields } from "./session.ts";

export function connectOptionsOf(
  { trustFile, badge, tokenAsk = false, ...given }: ConnectFields,
  identity: Uint8Array,
  ask: () => Promise<string>,
): ConnectOptions {
  const options = {
    ...given,
    ...(tokenAsk && { token: ask }),
    ...(trustFile !== undefined && { trust: trustFile }),
    ...(badge !== undefined && { badge: badge === "" ? false : badge }),
    identity,
  };
  // cast: `transport` and `cover` are checked by the session that takes them
  return options as ConnectOptions;
}

/**
 * With the settings that a program has sent to its host beside a link: the host itself reads no
 * files of its user.
 */
export function platformFor(saved: FieldsOf<typeof hostStart>["saved"]): Platform {
  return saved === undefined
    ? platform
    : { ...platform, readSettings: () => Promise.resolve(saved) };
}

/** Throws `StaticError`. */
export async function connectAlone(
  options: ConnectOptions,
  withManager: boolean,
): Promise<AgentHandle> {
  const agent = await connectAgent(options, platform);
  const manager = withManager ? await ChannelManager.over(agent) : undefined;
  return holdAlone(manager?.client ?? StaticClient.over(agent), manager);
}

/** Messages are read by the channel's own loops. */
export function holdAlone(client: StaticClient, manager: ChannelManager | undefined): AgentHandle {
  return {
    client,
    isShared: false,
    manager,
    served: new ServedChannels(),
    read: (channel, options) =>
      Promise.resolve(
        options.oneByOne === true ? readOneByOne(channel) : readAlone(channel, options),
      ),
    close: () => (manager ?? client).close(),
  };
}

/**
 * An agent through its host, for programs that leave the rest of the SDK out: there is little to
 * load, so they start at once.
 */
export { Channel } from "../api/channel.ts";
export type { ManagerPort as HostedAgent } from "../api/client_port.ts";
export { connectHostWith, type HostedOptions } from "./connect_host.ts";
export type { HostConnection } from "./connection.ts";
export type { HeaderFields } from "./fields.ts";
export { runningHost } from "./running_host.ts";
export { hostPlatform } from "../platform/host_platform.ts";

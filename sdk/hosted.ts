/** An agent through its host, for programs that leave the rest of the SDK out: there is little to load, so they start at once. */
export { Channel } from "./channel.ts";
export type { ManagerPort as HostedAgent } from "./client_port.ts";
export { connectHostWith, type HostedOptions } from "./connect_host.ts";
export type { HostConnection } from "./host/connection.ts";
export type { Fields } from "./host/fields.ts";
export { runningHost } from "./host/running.ts";
export { hostPlatform } from "./platform/host_platform.ts";

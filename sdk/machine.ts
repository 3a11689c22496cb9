/** The user's machine, for programs that leave the rest of the SDK out: folders for their owner alone, and the way through a proxy. */
export { makeOwnerFolder, ownerFolder } from "./platform/owner_folder.ts";
export { openTunnel, openTunnelAgent } from "./platform/proxy_tunnel.ts";

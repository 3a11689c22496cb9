/**
 * The user's machine, for programs that leave the rest of the SDK out: its folders, the way through
 * a proxy, and why a disk refuses.
 */
export { makeOwnerFolder, ownerFolder } from "./platform/owner_folder.ts";
export { openTunnel, openTunnelAgent } from "./platform/proxy_tunnel.ts";
export { findReason } from "./store/disk_refusal.ts";

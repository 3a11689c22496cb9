/** The host's protocol from both sides, for tests and benchmarks that bring their own programs. */
export { HostConnection } from "../host/connection.ts";
export type { HeaderFields } from "../host/fields.ts";
export { encodeFrame, HostFrameReader } from "../host/frames.ts";
export { connectHost } from "../host/connect_host.ts";
export { hostPlatform } from "../platform/host_platform.ts";

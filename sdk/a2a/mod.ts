/**
 * A2A over channels: agents and clients that are written with `@a2a-js/sdk` talk end-to-end
 * encrypted, and wait for each other while one is offline. Apart from the SDK's default import, so
 * that nobody else loads that package.
 */
export { type AgentPlace, agentUrl, channelInterface } from "./address.ts";
export {
  ChannelCardResolver,
  type ChannelSource,
  ChannelTransportFactory,
  type ChannelTransportOptions,
} from "./client.ts";
export { createA2AHandler, isA2ARequest, serveA2A } from "./server.ts";
export { a2aBinding } from "./wire.ts";

/** Calls of one member, as they go over a channel. */
import type { AgentId, Channel } from "../mod.ts";

/** One member that is called. */
export interface Callee {
  readonly channel: Channel;
  readonly agentId: AgentId;
  readonly timeoutMs: number;
}

/** One call, as it goes over the channel. */
export interface ChannelCall {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

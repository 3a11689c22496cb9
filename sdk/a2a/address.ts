/**
 * Where an agent is, as its card says it: a channel and a member of it,
 * `static://channel/acme/ops/deploy?agent=ID`.
 */
import type { AgentInterface } from "@a2a-js/sdk";
import { parseAgentId, parseChannelName } from "../../proto/mod.ts";
import { invalidArgument } from "../base/errors.ts";
import type { AgentId, ChannelName } from "../mod.ts";
import { a2aBinding } from "./wire.ts";

const scheme = "static://channel/";
const protocolVersion = "1.0";

/** A member of a channel. */
export interface AgentPlace {
  /** The channel's name. */
  readonly channel: string;
  /** The member's agent id. */
  readonly agentId: string;
}

/** The address of an agent in a channel. Throws `StaticError` for a wrong name or id. */
export function agentUrl({ channel, agentId }: AgentPlace): string {
  return `${scheme}${parseChannelName(channel)}?agent=${parseAgentId(agentId)}`;
}

/**
 * The entry of `supportedInterfaces` with which an agent's card says that it is reached in a
 * channel.
 */
export function channelInterface(place: AgentPlace): AgentInterface {
  return { url: agentUrl(place), protocolBinding: a2aBinding, tenant: "", protocolVersion };
}

export function parseAgentUrl(
  url: string,
): { readonly channel: ChannelName; readonly agentId: AgentId } {
  const [, channel, agentId] = /^static:\/\/channel\/([^?#]+)\?agent=([^&#]+)$/.exec(url) ?? [];
  if (channel === undefined || agentId === undefined) {
    throw invalidArgument(
      `"${
        url.slice(0, 200)
      }" is no agent in a channel; it looks like ${scheme}acme/ops/deploy?agent=ID`,
    );
  }
  return { channel: parseChannelName(channel), agentId: parseAgentId(agentId) };
}

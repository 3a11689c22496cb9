/** An agent that is connected, and what its token says of it. */
import {
  type AccountId,
  type AgentId,
  type ChannelId,
  type ChannelName,
  rightsIn,
} from "../../../proto/mod.ts";
import type { NewEntry } from "../../engine/engine.ts";
import type { PlanName } from "../limits/plans.ts";
import type { SharingAgent } from "../limits/shares.ts";

/** The owner of a session, once it has proved its identity. */
export interface ConnectedAgent extends SharingAgent {
  readonly agentId: AgentId;
  readonly publicKey: Uint8Array;
  account: AccountId;
  plan: PlanName;
  /** When the agent's token was issued. */
  issuedAtMs: number;
  expiresAtMs: number;
  /** The agent's client takes `returnWithinMs`. */
  readonly knowsReturns?: boolean;
  /** The number of the agent's session, where several relays share a log. */
  readonly session?: number | undefined;
}

/**
 * Fields of an agent's entries, so that those of a session that was replaced at another relay are
 * void.
 */
export function sentBy(
  { agentId, session }: Pick<ConnectedAgent, "agentId" | "session">,
): Pick<NewEntry, "by"> {
  return session === undefined ? {} : { by: { agentId, session } };
}

/** Whether it may know of the channel. */
export function covers(
  { grant }: Pick<ConnectedAgent, "grant">,
  channel: { readonly name: ChannelName; readonly channelId: ChannelId },
): boolean {
  return grant === undefined || rightsIn(grant.scopes, channel).size > 0;
}

/** Returns whether the agent has a guest pass: its channel is named by its id. */
export function isGuest({ grant }: Pick<ConnectedAgent, "grant">): boolean {
  return grant !== undefined && grant.scopes.some((scope) => "channelId" in scope);
}

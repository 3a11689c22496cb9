/**
 * Rights of a token with the claim `static`. Tokens without it may ask for everything. A channel
 * that the scopes do not cover does not exist for their bearer; a right that is missing in a
 * covered channel is `not_allowed`.
 */
import {
  type AgentId,
  type CallName,
  type ChannelId,
  type ChannelName,
  type ChannelRight,
  type ClientEnvelope,
  rightsIn,
  type TokenGrant,
} from "../../../proto/mod.ts";
import type { LoadedChannel } from "../channel/channel.ts";
import { channelNotFound, Refusal } from "../refusal.ts";
import type { AgentAsker } from "./request_handler.ts";
import type { ConnectedAgent } from "../session/agent.ts";

/** `any`: MLS needs it of every member, or it is how an agent becomes one or ceases to be. */
type RequiredRight = ChannelRight | "any" | "named" | "none";

/** `docs/accounts.md` shows the same table. */
export const needs: { readonly [Name in CallName]: RequiredRight } = {
  GetChallenge: "none",
  Authenticate: "none",
  RenewToken: "none",
  Ping: "none",
  EndSession: "none",
  ConfigureCover: "none",
  UploadKeyPackage: "none",
  Unsubscribe: "none",
  CreateChannel: "create",
  CloseChannel: "create",
  ClaimForFounding: "create",
  FoundGeneration: "create",
  ListChannels: "named",
  ListMembers: "receive",
  Subscribe: "receive",
  Acknowledge: "receive",
  SendMessage: "send",
  AddMember: "invite",
  RegisterInvite: "invite",
  RevokeInvite: "invite",
  RejectJoin: "invite",
  SendCommit: "any",
  SendWelcome: "any",
  FindCommit: "any",
  ReadOwn: "any",
  Confirm: "any",
  SendLeaf: "any",
  RequestJoin: "any",
  RequestRejoin: "any",
  LeaveChannel: "any",
};

/**
 * Throws, or rejects with, `Refusal`. At once where the channel is in memory, so that requests keep
 * their order.
 */
export function authorize(
  asker: AgentAsker,
  grant: TokenGrant,
  envelope: ClientEnvelope,
): void | Promise<void> {
  const { operation } = envelope;
  const need = needs[operation];
  if (need === "none") return;
  if (need === "named") {
    if (grant.scopes.some((scope) => "pattern" in scope)) return;
    throw notAllowed(operation);
  }
  // cast: what is left names a channel, by its name or its id
  const { name, channelId } = envelope.body as {
    readonly name?: ChannelName;
    readonly channelId?: ChannelId;
  };
  if (name !== undefined) {
    if (need !== "any" && rightsIn(grant.scopes, { name }).has(need)) return;
    throw notAllowed(operation);
  }
  if (channelId === undefined) throw notAllowed(operation);
  const judge = (channel: LoadedChannel | undefined): void => {
    // Where there is none, its handler says so.
    if (channel !== undefined) judgeChannel(asker.agent, grant, { channel, envelope });
  };
  const opened = asker.core.channels.open(channelId);
  return opened instanceof Promise ? opened.then(judge) : judge(opened);
}

function judgeChannel(
  { agentId, account }: ConnectedAgent,
  { scopes }: TokenGrant,
  { channel, envelope }: { readonly channel: LoadedChannel; readonly envelope: ClientEnvelope },
): void {
  const rights = rightsIn(scopes, channel);
  if (rights.size === 0) throw channelNotFound();
  const need = addsStranger(channel, envelope) ? "invite" : needs[envelope.operation];
  if (need === "any" || need === "none" || need === "named" || rights.has(need)) return;
  const isKnown = channel.account === account || channel.state.members.has(agentId);
  throw isKnown ? notAllowed(envelope.operation) : channelNotFound();
}

/** Members that come back are removed and added in one commit: that is not an invitation. */
function addsStranger({ state }: LoadedChannel, { operation, body }: ClientEnvelope): boolean {
  return operation === "SendCommit" && hasStranger(state, body.added);
}

function hasStranger({ members }: LoadedChannel["state"], added: readonly AgentId[]): boolean {
  return added.some((agentId) => !members.has(agentId));
}

/**
 * Again in the epoch of the commit: somebody that was a member when the request came may have been
 * removed since.
 */
export function authorizeCommit(
  { grant }: ConnectedAgent,
  channel: LoadedChannel,
  added: readonly AgentId[],
): void {
  if (grant === undefined || !hasStranger(channel.state, added)) return;
  if (!rightsIn(grant.scopes, channel).has("invite")) throw notAllowed("SendCommit");
}

function notAllowed(operation: CallName): Refusal {
  return new Refusal(
    "not_allowed",
    `The token's scopes do not allow ${operation} here; use a key that may`,
  );
}

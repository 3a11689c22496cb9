/** A change that a member wants to make to its group, and the proposals for it. */
import type { AgentId, ChannelIssuers, ChannelPolicy, MemberProof } from "../../proto/mod.ts";
import { type ChannelBinding, decodeBinding, encodeBinding } from "./channel_extensions.ts";
import { MlsFault } from "./codec.ts";
import type { Epoch } from "./epoch.ts";
import { membersOf } from "./members.ts";
import type { KeyPackage, Proposal } from "./ts_mls.ts";

export interface Change {
  readonly add?: readonly KeyPackage[];
  /** With a leaf or, by owners only, absent. */
  readonly remove?: readonly AgentId[];
  readonly owners?: readonly AgentId[];
  readonly policy?: ChannelPolicy;
  readonly issuers?: ChannelIssuers;
  /** The added members that come as guests. */
  readonly guests?: readonly AgentId[];
  /** Guests that become members like the others; by owners only. */
  readonly released?: readonly AgentId[];
  /** Fresh keys of our own even where the rest does not ask for them. */
  readonly forcePath?: boolean;
  /** Signed statements of members that are removed because they leave, or come back. */
  readonly leaves?: readonly MemberProof[];
  readonly rejoins?: readonly MemberProof[];
  readonly psks?: readonly (Proposal & { proposalType: "psk" })[];
}

/** `binding` is what the GroupContext says afterwards; undefined when that stays as it is. */
export function proposalsOf(
  epoch: Epoch,
  { add = [], remove = [], psks = [] }: Change,
  binding: ChannelBinding | undefined,
): Proposal[] {
  const members = remove.length > 0 ? membersOf(epoch) : [];
  const absent = decodeBinding(epoch.context.extensions).generation?.absent ?? [];
  const present = remove.filter((agentId) => !absent.some((each) => each.agentId === agentId));
  return [
    ...(binding === undefined ? [] : [{
      proposalType: "group_context_extensions" as const,
      groupContextExtensions: { extensions: encodeBinding(binding) },
    }]),
    ...present.map((agentId) => {
      const member = members.find((candidate) => candidate.agentId === agentId);
      if (member === undefined) throw new MlsFault("Cannot remove an agent that is not a member");
      return { proposalType: "remove" as const, remove: { removed: member.leafIndex } };
    }),
    ...add.map((keyPackage) => ({ proposalType: "add" as const, add: { keyPackage } })),
    ...psks,
  ];
}

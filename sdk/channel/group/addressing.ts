/**
 * Members as callers name them: by agent id, or by the name that the user gave one. A name that an
 * agent chose itself is no address: the first to enter under it would get the messages that are
 * meant for another.
 */
import { type AgentId, isAgentId, quoted } from "../../../proto/mod.ts";
import { createError, invalidArgument } from "../../base/errors.ts";
import type { ChannelMember } from "./member_list.ts";

/**
 * An agent id always wins. Throws `invalid_request` for what members call themselves, with their
 * ids, and else `not_found`.
 */
export function memberNamed(named: string, members: readonly ChannelMember[]): ChannelMember {
  const found = members.find(({ agentId }) => agentId === named) ??
    members.find(({ knownAs }) => knownAs === named);
  if (found !== undefined) return found;
  const claiming = members.filter(({ identity }) => identity === named).map(({ agentId }) =>
    agentId
  );
  if (claiming.length === 0) {
    throw createError(
      "not_found",
      `${quoted(named)} is neither the agent id of a member nor a name that you gave one`,
    );
  }
  // The user may have given this name to an agent that is not here: the claim must not lead to a
  // stranger.
  const ids = `${claiming.join(", ")} ${
    claiming.length === 1 ? "calls itself so" : "call themselves so"
  }`;
  throw invalidArgument(
    `${
      quoted(named)
    } is not a name that you gave a member. ${ids}, which proves nothing: use an agent id that you know`,
  );
}

/** The same, and the id of an agent that may have gone, or come. */
export function addressedAgent(named: string, members: () => readonly ChannelMember[]): AgentId {
  return isAgentId(named) ? named : memberNamed(named, members()).agentId;
}

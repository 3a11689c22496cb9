/**
 * Members as callers name them: by agent id, by the name that the user gave one, or as NAME@DOMAIN
 * of an agent that this domain attests (`proto/people/addressee.ts`).
 */
import { type AgentId, findAddressee, isAgentId, quoted } from "../../../proto/mod.ts";
import { createError, invalidArgument } from "../../base/errors.ts";
import type { ChannelMember } from "./member_list.ts";

/**
 * Throws `invalid_request` for what members call themselves, and for a name that a domain gave
 * several, with their ids; else `not_found`.
 */
export function memberNamed(named: string, members: readonly ChannelMember[]): ChannelMember {
  const addressee = findAddressee(named, members);
  if (addressee.kind === "found") return addressee.member;
  if (addressee.kind === "several") {
    const ids = addressee.members.map(({ agentId }) => agentId).join(", ");
    throw invalidArgument(`${quoted(named)} is the name of several members: use one of ${ids}`);
  }
  const claiming = addressee.claiming.map(({ agentId }) => agentId);
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

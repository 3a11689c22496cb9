/**
 * Members that this agent has heard of lately, by signatures that it verified itself. The relay's
 * word has no part in it: a relay that calls a member gone can neither have it removed nor pick who
 * owns the channel.
 */
import type { AgentId } from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import type { Membership } from "../group/membership.ts";

/** When this agent last verified a signature of a member, by the local clock. */
export type LastHeard = (agentId: AgentId) => number | undefined;

const dayMs = 24 * 60 * 60 * 1000;
/**
 * A member that is online signs something in this time: it changes its keys, or confirms that
 * others did.
 */
const lately = { ms: 7 * dayMs, text: "7 days" };
/** The most names that a person reads. */
const maxNamed = 5;

export function isHeardLately(heardMs: number | undefined, nowMs: number): boolean {
  // A time in the future is of a clock that was wrong.
  return heardMs !== undefined && Math.abs(nowMs - heardMs) <= lately.ms;
}

/**
 * A channel that has no room for another member, with the members that may be gone: people decide
 * about them.
 */
export function channelFull(
  error: StaticError,
  membership: Pick<Membership, "group">,
  { lastHeard, nowMs }: { readonly lastHeard: LastHeard; readonly nowMs: number },
): StaticError {
  const { members, self } = {
    members: membership.group.members(),
    self: membership.group.self.agentId,
  };
  const silent = members.map(({ agentId }) => ({ agentId, heardMs: lastHeard(agentId) }))
    .filter(({ agentId, heardMs }) => agentId !== self && !isHeardLately(heardMs, nowMs))
    .sort((a, b) => (a.heardMs ?? 0) - (b.heardMs ?? 0));
  const named = silent.slice(0, maxNamed).map(({ agentId, heardMs }) =>
    `${agentId} (${since(heardMs, nowMs)})`
  );
  const more = silent.length > maxNamed ? ` and ${silent.length - maxNamed} more` : "";
  const who = named.length === 0
    ? `All ${members.length} were heard of within ${lately.text}; remove one, or use another channel`
    : `An owner can remove members that are gone with removeMember(). Not heard of for ${lately.text}: ` +
      `${named.join(", ")}${more}`;
  return createError("member_limit_reached", `The channel is full. ${error.message}. ${who}`, {
    cause: error,
  });
}

function since(heardMs: number | undefined, nowMs: number): string {
  if (heardMs === undefined) return "never";
  return heardMs > nowMs
    ? "at a time in the future"
    : `for ${Math.floor((nowMs - heardMs) / dayMs)} days`;
}

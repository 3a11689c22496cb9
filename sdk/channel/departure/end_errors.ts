/** The end of a channel, in words. */
import type { ChannelEndReason, ChannelName, NoticeBody } from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";

/** Returns the error for a removal by this commit, or, without one, by the relay's word. */
export function removedError(
  name: ChannelName,
  commit?: Pick<NoticeBody<"DeliverCommit">, "sender" | "timeMs">,
): StaticError {
  const text = `This agent was removed from channel "${name}"; ask an owner for a new invite token`;
  return createError("removed", text, commit && { by: commit.sender, atMs: commit.timeMs });
}

/**
 * `unknown`: the relay remembers a removal, or that a channel was closed, for some time only. Then
 * nobody can tell which it was.
 */
type EndCause = Exclude<ChannelEndReason, "lapsed" | "removed"> | "unknown";

export function endError(reason: EndCause, name: ChannelName): StaticError {
  const why = {
    closed: "was closed",
    left: "was left",
    recovered: "was begun anew without this agent",
    unknown: "is gone: it was closed, or this agent was removed, while it was away",
  }[reason];
  return createError(
    "not_found",
    `Channel "${name}" ${why}; create it again, or ask for a new invite token`,
  );
}

/** The error for callers that wait for something when the channel was left. */
export function leftError(name: ChannelName): StaticError {
  return createError("not_found", `Channel "${name}" was left; join it again`);
}

/**
 * A relay that says that we are out of step, and keeps us out, would else take the channel its
 * owner.
 */
export function keptOut(): StaticError {
  const text =
    "Cannot leave: this agent is out of step, or the channel is stopped, so that no other member can be made an owner; do what " +
    "health() says, and leave when it is ok";
  return createError("not_allowed", text);
}

/** The relay hides channels that the token is not for. That says nothing about the membership. */
export function hiddenError(name: ChannelName): StaticError {
  const text =
    `The guest pass or key of this agent is not for channel "${name}"; connect with the link or key by which it ` +
    "came there";
  return createError("not_allowed", text, { channel: name });
}

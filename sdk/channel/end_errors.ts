/** The end of a channel, in words. */
import type { ChannelEndReason, ChannelName, NoticeBody } from "../../proto/mod.ts";
import { createError, type StaticError } from "../base/errors.ts";

/** By this commit, or by the relay's word. */
export function removedError(name: ChannelName, commit?: NoticeBody<"DeliverCommit">): StaticError {
  const text = `This agent was removed from channel "${name}"; ask an owner for a new invite token`;
  return createError("removed", text, commit && { by: commit.sender, atMs: commit.timeMs });
}

export function endError(reason: Exclude<ChannelEndReason, "lapsed" | "removed">, name: ChannelName): StaticError {
  const why = { closed: "was closed", left: "was left", recovered: "was begun anew without this agent" }[reason];
  return createError("not_found", `Channel "${name}" ${why}; create it again, or ask for a new invite token`);
}

/** For callers that wait for something when it was left. */
export function leftError(name: ChannelName): StaticError {
  return createError("not_found", `Channel "${name}" was left; join it again`);
}

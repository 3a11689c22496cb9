/** Why a change of the channel was not made, in words. */
import type { ChannelName } from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import type { ChangeFailure } from "./own_commit_state.ts";

/** As far as the words need it. */
export interface CommitScene {
  readonly name: ChannelName;
  readonly epoch: number;
  /** Why the channel is stopped. */
  readonly stopped: StaticError | undefined;
  readonly isClosed: boolean;
}

export function failureOf(
  why: ChangeFailure,
  { name, epoch, stopped, isClosed }: CommitScene,
): StaticError {
  switch (why.by) {
    case "leaving":
      return createError("not_allowed", "Cannot change the channel: this agent is leaving it");
    case "stopped":
      return stopped ?? outOfStep();
    case "out_of_step":
      return outOfStep();
    case "offline":
      return isClosed ? closed() : unreachable();
    case "faster":
      return createError(
        "epoch_conflict",
        "Cannot change the channel: others were faster 40 times; try again",
      );
    case "forked":
      return createError(
        "mls_error",
        `${tookTwo}; this agent joins the channel anew, try again then`,
      );
    case "behind":
      return logBehind(why.logEpoch, epoch);
    case "not_arrived":
      return notArrived(name, why.logEpoch, epoch);
    case "pace":
      return paced(why.made, why.afterMs);
  }
}

/** A report, too. */
export const tookTwo =
  "The relay accepted a commit of ours, but delivered another one of that epoch";

/** A key that is not trusted. */
export function mayNotAdd(why: string): StaticError {
  return createError("not_allowed", `Cannot add: ${why}; ask an owner of the channel to do it`);
}

export function unreachable(): StaticError {
  return createError("connection_error", "The relay cannot be reached; try again later");
}

function closed(): StaticError {
  return createError("transport_error", "The client was closed");
}

function outOfStep(): StaticError {
  return createError(
    "mls_error",
    "This agent is not in step with the channel; see health(), then try again",
  );
}

function logBehind(logEpoch: number, epoch: number): StaticError {
  const text =
    `Cannot change the channel: the relay's log is in epoch ${logEpoch}, and this agent is in epoch ${epoch}; ` +
    "try again later, or connect again";
  return createError("overloaded", text);
}

function notArrived(name: ChannelName, logEpoch: number, epoch: number): StaticError {
  const text =
    `Channel "${name}" is at epoch ${logEpoch}, and this agent is at epoch ${epoch}: the commits in between have not ` +
    "arrived. See health(), then try again";
  return createError("mls_error", text, { retryable: true });
}

/** Members that cannot follow one more, or would have to later. */
function paced(made: number, afterMs: number | undefined): StaticError {
  const what =
    `Cannot change the channel: none of ${made} commits of this agent in this epoch was taken`;
  if (afterMs === undefined) {
    const text = `${what}, and members could not follow one more; ask another member to change it`;
    return createError("overloaded", text);
  }
  const minutes = Math.ceil(afterMs / 60_000);
  return createError("overloaded", `${what}; try again in ${minutes} min`, {
    retryAfterMs: afterMs,
  });
}

/**
 * Errors as they cross between two processes: class, code and public text, never a cause or a
 * stack.
 */
import { isErrorCode, parseAgentId, parseChannelName } from "../../proto/mod.ts";
import {
  createError,
  messageOf,
  RemoteError,
  RemovedError,
  StaticError,
  type Unreachable,
} from "../base/errors.ts";
import { HeaderFields } from "./fields.ts";
import type { FrameHeader } from "./frames.ts";

/**
 * Any error that is not ours is sent as `internal`, with its text: the other side is the program's
 * own process, or one of its user.
 */
export function encodeError(error: unknown): FrameHeader {
  const known = error instanceof StaticError ? error : createError("internal", messageOf(error));
  const { name, code, message, retryable, retryAfterMs, epoch, channel, unreachable, members } =
    known;
  return {
    class: name,
    code,
    message,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(epoch !== undefined && { epoch }),
    ...(channel !== undefined && { channel }),
    ...(unreachable !== undefined && { unreachable }),
    ...(members !== undefined && { members }),
    ...(known instanceof RemoteError && { remoteCode: known.remoteCode }),
    ...(known instanceof RemovedError && known.by !== undefined && { by: known.by }),
    ...(known instanceof RemovedError && known.atMs !== undefined && { atMs: known.atMs }),
  };
}

/** The same error again. A code that this version does not know is treated like `internal`. */
export function decodeError(fields: HeaderFields): StaticError {
  const [code, message] = [fields.text("code"), fields.text("message")];
  const [retryAfterMs, epoch, atMs] = ["retryAfterMs", "epoch", "atMs"].map((name) =>
    fields.optionalNumber(name)
  );
  const [retryable, channel, by] = [
    fields.optionalFlag("retryable"),
    fields.optionalText("channel"),
    fields.optionalText("by"),
  ];
  const unreachable = unreachableOf(fields.optionalObject("unreachable"));
  const members = fields.optionalTexts("members");
  const options = {
    ...(retryable !== undefined && { retryable }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(epoch !== undefined && { epoch }),
    ...(channel !== undefined && { channel: parseChannelName(channel) }),
    ...(unreachable !== undefined && { unreachable }),
    ...(members !== undefined && { members: members.map(parseAgentId) }),
    ...(by !== undefined && { by: parseAgentId(by) }),
    ...(atMs !== undefined && { atMs }),
  };
  const remoteCode = fields.optionalText("remoteCode");
  if (remoteCode !== undefined) return new RemoteError(message, { ...options, remoteCode });
  return createError(isErrorCode(code) ? code : "internal", message, options);
}

function unreachableOf(fields: HeaderFields | undefined): Unreachable | undefined {
  const service = fields?.one("service", ["api", "relay"]);
  return fields === undefined || service === undefined
    ? undefined
    : { service, url: fields.text("url") };
}

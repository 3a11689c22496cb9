/** Why a call about a channel's name is refused, in words. */
import type { ChannelName } from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import { hiddenError, keptOut, leftError } from "../departure/end_errors.ts";
import type { NameRefusal } from "../names/names_state.ts";

export interface RefusedNameCall {
  readonly name: ChannelName;
  /** The work that fails, as in "Cannot join the channel". */
  readonly action: string;
  /** The call ends a membership, and begins none. */
  readonly isLeaving: boolean;
  /** The name under which the channel is here. */
  readonly other: ChannelName | undefined;
  /** Why the channel of the call is over. */
  readonly over: StaticError | undefined;
}

export function refusalError(
  why: NameRefusal,
  { name, action, isLeaving, other, over }: RefusedNameCall,
): StaticError {
  switch (why) {
    case "in_already":
      return inAlready(name);
    case "hidden":
      return isLeaving ? hiddenError(name) : inHidden(name);
    case "forgotten":
      return forgotten(name);
    case "other_name":
      return underOther(other ?? name);
    case "key_in_use":
      return createError(
        "mls_error",
        "Cannot join: this agent is about to enter another channel with the KeyPackage of this Welcome; ask for another Welcome",
      );
    case "not_here": {
      const text =
        `This agent is in no channel "${name}"; create it, or join it with an invite token or a Welcome`;
      return createError("not_found", text);
    }
    case "keys_lost": {
      const text =
        `The store has lost the keys of channel "${name}"; join it again with an invite token, or close it`;
      return createError("not_found", text);
    }
    case "not_at_relay":
      return createError("not_found", `This account has no channel "${name}"`);
    case "replaced":
      return over ?? leftError(name);
    case "kept_out":
      return keptOut();
    case "closing":
      return createError("transport_error", `${action}: the client was closed; connect again`);
  }
}

/** The call wanted another channel of this name, or the same one once more. */
export function inAlready(name: ChannelName): StaticError {
  const text = `This agent is in channel "${name}" already; open it with channel("${name}")`;
  return createError("name_taken", text, { channel: name });
}

function inHidden(name: ChannelName): StaticError {
  const text =
    `This agent is in another channel "${name}", which its guest pass or key is not for; leave that one ` +
    "with the link or key by which it came there, or use another agent (dataDir)";
  return createError("name_taken", text, { channel: name });
}

/**
 * Only the relay says that the channel is gone. By its word no keys are erased: the user has to say
 * so.
 */
function forgotten(name: ChannelName): StaticError {
  const text =
    `This agent has the keys of a channel "${name}" that is over, as the relay says. If that is so, forget it with ` +
    `closeChannel("${name}"), or in a shell with: static channel close ${name}. Then try again`;
  // without the channel: this agent is not in it, by the relay's word
  return createError("name_taken", text);
}

/**
 * Anybody can make a group, or a channel, of an id that is known: it must not take the place of
 * another channel's keys.
 */
function underOther(other: ChannelName): StaticError {
  const text =
    `This leads into channel "${other}", in which this agent is, under another name; ask for another Welcome`;
  return createError("mls_error", text, { channel: other });
}

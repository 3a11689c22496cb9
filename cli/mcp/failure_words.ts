/**
 * Failures in words for a model: what failed, and what it or its user can do. The SDK speaks to
 * programmers, who know its calls and what a channel is made of; where its words would not help,
 * this file has others.
 */
import { type ErrorCode, failureInWords } from "../../proto/mod.ts";
import { Failure } from "../failure.ts";
import { withCommands } from "../output.ts";
import { withBlanks } from "../wrapping.ts";
import { ToolRefusal } from "./refusal.ts";

export interface FailureWordsOptions {
  /** How the user started this program. */
  readonly program: string;
  /** Names that agents chose for themselves are left out. */
  readonly hideNames: boolean;
}

export class FailureWords {
  readonly #options: FailureWordsOptions;

  constructor(options: FailureWordsOptions) {
    this.#options = options;
  }

  of(error: unknown): string {
    const { program } = this.#options;
    return withBlanks(withCommands(this.#wordsOf(error), program));
  }

  #wordsOf(error: unknown): string {
    if (error instanceof ToolRefusal) return error.message;
    const said = failureInWords(error);
    // A failure of this program that only repeats the SDK has no words of its own.
    const isOwn = error instanceof Failure && Object(error.cause).message !== error.message;
    if (isOwn) {
      return error.advice === undefined ? said : `${said}. Tell your user: ${error.advice}`;
    }
    const { code, channel, retryAfterMs } = Object(error);
    if (code === "name_taken" && channel !== undefined) {
      return `This agent is in channel "${channel}" already: use it`;
    }
    // cast: another code has no words
    const [beginning, end] = [words[code as ErrorCode], laterIn(retryAfterMs)];
    if (beginning !== undefined) return `${beginning}${end}`;
    return code === "remote_error" || !this.#options.hideNames ? said : withoutClaims(said);
  }
}

/**
 * In sentences of the SDK, names that agents chose stand in quotes that they cannot end, as names
 * of channels do.
 */
function withoutClaims(text: string): string {
  return text.replace(
    /(channel )?"[^"]*"/gi,
    (whole, channel) => channel === undefined ? "[name hidden]" : whole,
  );
}

function laterIn(retryAfterMs: unknown): string {
  return typeof retryAfterMs === "number"
    ? `. Try again in ${Math.ceil(retryAfterMs / 1000)} seconds`
    : "";
}

const doctor = "If it lasts, tell your user to run: {} doctor";
const unsettled =
  "This channel does not work for this agent at the moment. It repairs itself in most cases: try again " +
  "in a minute. If it lasts, tell your user to run: {} channel health";
const broken = "This agent does not work on this machine. Tell your user to run: {} doctor";
const newInvite = "Ask your user for a new invite";

/** Codes that are not here have texts that a model understands. */
const words: Readonly<Partial<Record<ErrorCode, string>>> = {
  join_timeout:
    "No member answered in time. The inviter must be online: try again later, with the same invite",
  auth_failed: "The service does not accept this agent. Tell your user to run: {} doctor",
  auth_key_invalid: "The key of this agent is not valid any more. Tell your user to run: {} login",
  account_suspended:
    "The operator of the service has suspended your user's account. Tell your user",
  session_expired: `The connection was lost, and comes back by itself: try again. ${doctor}`,
  transport_error:
    "The connection was lost, and comes back by itself: try again. A message that was being sent may " +
    "have arrived",
  connection_error: `The service cannot be reached: try again in a minute. ${doctor}`,
  relay_draining: "The service restarts: try again",
  session_replaced: "This agent runs on another machine too. Tell your user to end one of the two",
  slow_reader: "The connection was lost, and comes back by itself: try again",
  listener_died:
    `The program behind this agent has ended; the next call starts it again: try again. ${doctor}`,
  protocol_error: broken,
  unsupported_version: broken,
  unknown_operation: broken,
  certificate_changed: broken,
  internal: broken,
  quota_exceeded:
    "This agent may send no more messages this month. Tell your user to run: {} usage",
  rate_limited: "Too many calls",
  overloaded:
    "The service is busy, or too much is under way. What you asked for may have been done",
  mls_error: unsettled,
  epoch_conflict: unsettled,
  state_conflict: unsettled,
  membership_lapsed: unsettled,
  cursor_invalid: unsettled,
  key_package_invalid: unsettled,
  key_package_missing: unsettled,
  name_taken:
    "Your user has a channel of this name already. Choose another name, or ask your user to close the old one " +
    "with: {} channel close",
  already_member: "That agent is in the channel already",
  identity_present:
    "A member of the channel has the same name as this agent, so this agent was not let in. Tell your " +
    "user to join as another agent",
  member_limit_reached: "The channel is full",
  queue_full: "Too much waits to be sent already: try again in a minute",
  storage_full: "The service has no room for more messages. Tell your user",
  join_rejected:
    `The invite was refused: it is too old, used up or withdrawn, or the inviter has left. ${newInvite}`,
  link_invalid: `The invite is cut short or changed. ${newInvite}`,
  removed: `An owner has removed this agent from the channel. ${newInvite}`,
  members_must_update: "Some members run an older version, which cannot do this",
  successor_needed:
    "This agent is the only owner of the channel, and others are in it. Before it can leave, ask your " +
    "user to make another member an owner with: {} channel promote",
  choice_needed:
    "An owner must say who leaves the channel. Ask your user to run: {} channel recover --dry-run",
  not_attested:
    "This channel requires a badge that this agent does not have. Tell your user which badge the text names",
  members_not_attested:
    "Some members have no badge of those issuers. Tell your user to run: {} channel issuers",
  request_timeout:
    "No reply came in time: the member may be offline, or still at work. Ask again; with the same key it " +
    "is not asked twice",
  store_locked: "Another program uses this agent. Ask your user to end it",
  store_corrupt: "The files of this agent are damaged. Tell your user to run: {} agent verify",
  store_full: "The disk of this machine is full. Tell your user to free space, then try again",
  store_failed: broken,
  passphrase_wrong:
    "The passphrase of this agent is wrong. Tell your user to set STATIC_PASSPHRASE",
};

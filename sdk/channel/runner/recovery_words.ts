/** Reports and refusals of the room of recovery, in words for the program and its `health()`. */
import { createError, isCode, StaticError } from "../../base/errors.ts";
import type { BadCommit } from "../recovery/bad_commit.ts";
import type { HealthLog } from "../health.ts";
import type { RecoveryRefusal, RecoveryReport } from "../recovery/recovery_state.ts";
import { foreignState, problemOf } from "../recovery/stopped_words.ts";

const hourMs = 60 * 60 * 1000;

/** Reports of a founding that was entered are made by the one that enters it. */
type WordedReport = Exclude<RecoveryReport, { readonly kind: "recovered" }>;

/** `bad` is the commit that the report is about. */
export function say(
  health: HealthLog,
  what: WordedReport,
  bad: BadCommit | undefined,
  nowMs: number,
): void {
  switch (what.kind) {
    case "refused_commit":
      return bad && health.report("refused_commit", problemOf(bad));
    case "log_set_back": {
      const text =
        "The log does not hold that commit any more, as after a restored backup, and the channel goes on " +
        "without it; an owner may remove its sender";
      return bad && health.report("log_set_back", `${problemOf(bad)}. ${text}`);
    }
    case "refused_recovery": {
      const { problem } = foreignState(what.foreign);
      return health.report("refused_recovery", `${problem}. It stays in the generation before`);
    }
    case "begun_anew":
      return health.report(
        "rejoined",
        `The channel was begun anew, and this agent asks to be let in: ${what.reason}`,
      );
    case "begun_ahead":
      return health.report(
        "rejoined",
        "The channel was begun anew on an epoch that this agent never reached; it asks to be let in",
      );
    case "rejoined":
      return health.report(
        "rejoined",
        "This agent was out of step and joined anew; messages in between are lost to it",
      );
    case "store_rolled_back":
      return health.report("store_rolled_back", rolledBack);
    case "store_unproven": {
      const text =
        `This agent joins the channel anew, because ${what.reason}. The log holds no proof: either the directory was ` +
        "restored from a backup, or copied, or the relay is wrong. Nothing is sent with keys that may be old";
      return health.report("store_unproven", text);
    }
    case "too_many_reasons": {
      const text =
        "The relay has given this agent reasons to join anew 3 times within an hour. The agent waits " +
        "an hour before it joins the channel anew; ask the relay's operator";
      return health.report("relay_lied", text);
    }
    case "too_many_returns": {
      const text =
        "This agent has joined the channel anew 12 times within a day, because of the relay or of a member. It " +
        `waits ${
          Math.ceil((what.untilMs - nowMs) / hourMs)
        } h before it does so again, unless it leaves the channel ` +
        "and joins with a new invite token";
      return health.report("rejoined", text);
    }
    case "refused_welcome": {
      const text =
        `This agent refused a Welcome back that the relay says is of ${what.sender}: ${what.why}`;
      return health.report("refused_welcome", text, { about: what.sender });
    }
    case "ask_for_invite": {
      const why = what.because === "strange_leaf"
        ? "its present leaf is one that it cannot know to be its own"
        : "it may have been away for too many changes of the owners";
      const text = `This agent asked to come back and could accept none of the answers: ${why}. ` +
        "Ask an owner for a new invite token and join with it. The agent keeps asking";
      return health.report("refused_welcome", text);
    }
  }
}

const rolledBack =
  "This agent's data directory is older than what the agent has sent: it was restored from a backup, or copied. Nothing is " +
  "sent with its old keys; the agent joins the channel anew. Use a directory in one place only";

/** Errors behind the refusals that the machine was given, for the calls that end with them. */
const errors = new WeakMap<RecoveryRefusal, unknown>();

export function refusalOf(error: unknown): RecoveryRefusal {
  const refusal = error instanceof StaticError
    ? { code: error.code, text: error.message }
    : { code: "mls_error", text: error instanceof Error ? error.message : String(error) };
  errors.set(refusal, error);
  return refusal;
}

/** The error behind a refusal that the machine was given. */
export function errorOf(refusal: RecoveryRefusal): StaticError {
  const error = errors.get(refusal);
  return error instanceof StaticError ? error : createError("connection_error", refusal.text);
}

/** Nobody knows whether the relay has acted. */
export function isLost(error: unknown): boolean {
  return isCode(error, "transport_error", "connection_error", "internal");
}

const otherWays = {
  begun_before: "an earlier recover() of this agent had begun it, with another list",
  begun_by_others: "others were faster, or let this agent in",
  set_back: "the log does not hold the commit any more, so nobody was left out",
} as const;

export interface RecoverWords {
  /** The way out of the stop, if there is one. */
  readonly action: string | undefined;
  readonly foreign: string | undefined;
  /** Why an owner must say who goes. */
  readonly choice: string | undefined;
  readonly notFollowed: string;
  readonly over: StaticError | undefined;
}

/** Why `recover()` is over. */
export function recoverError(
  refusal: RecoveryRefusal,
  { action, foreign, choice, notFollowed, over }: RecoverWords,
): unknown {
  const known = errors.get(refusal);
  if (known !== undefined) return known;
  const { about = [] } = refusal;
  const named = about.join(", ");
  switch (refusal.text) {
    case "over":
      return over;
    case "apart":
      return createError("epoch_conflict", `Cannot recover: ${foreign}`);
    case "not_offered":
      return createError("not_allowed", `Cannot recover: ${action}`);
    case "leaving":
      return createError("not_allowed", "Cannot recover: this agent is leaving the channel");
    case "not_all_here":
      return createError(
        "connection_error",
        "Cannot recover: the connection was lost before all messages in front of the commit were here; try again",
      );
    case "no_permit":
      return createError(
        "connection_error",
        "Cannot recover: the relay has not shown yet that this agent's data directory is the latest; try again",
      );
    case "too_many_foundings":
      return createError(
        "overloaded",
        "Cannot recover: the relay may still take several generations that this agent has begun; try again when the " +
          "channel has gone on, or call recover() without lists to send the last of them again",
      );
    case "choice_needed":
      return createError("choice_needed", `Cannot recover: ${choice}`, { members: about });
    case "names_self":
      return createError(
        "invalid_request",
        `Cannot recover: \`without\` names this agent, ${named}; leave() does that`,
      );
    case "names_stranger":
      return createError(
        "invalid_request",
        `Cannot recover: \`without\` names ${named}, which is no member`,
      );
    case "keeps_blamed":
      return createError(
        "invalid_request",
        `Cannot recover: \`keep\` names ${named}, and its commit is why the channel is stopped`,
      );
    case "keeps_other":
      return createError(
        "invalid_request",
        `Cannot recover: \`keep\` names ${named}, which recover() would not leave out; see previewRecovery()`,
      );
    case "another_runs":
      return createError(
        "not_allowed",
        "Cannot recover: another recover() runs, which leaves out other members; call it without lists to wait for that one",
      );
    case "begun_before":
    case "begun_by_others":
    case "set_back": {
      const still = about.length === 0 ? "" : `; still members: ${named}; use removeMember()`;
      const text = `The channel goes on, and not by this call: ${otherWays[refusal.text]}${still}`;
      return createError("epoch_conflict", text, { retryable: false, members: about });
    }
    case "not_followed":
      return createError("mls_error", notFollowed, { retryable: true });
    default:
      return createError(
        "not_allowed",
        "Cannot recover: the channel is not stopped at a commit; see health()",
      );
  }
}

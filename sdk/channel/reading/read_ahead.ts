/**
 * Entries that cannot be read where they stand: a commit of ours, or a commit that is withheld, may
 * be why.
 */
import { epochAt, passEntry } from "./log_place.ts";
import {
  ask,
  fetchFor,
  lied,
  numberOf,
  outOfStep,
  type ReadingRun,
  report,
  reportLie,
  wasFetchedFor,
} from "./reading_run.ts";
import type { DatedEntry, HeldEntry, LogQuestion } from "./reading_state.ts";
import type { FindCommitReply } from "../connection/link_state.ts";

/** A commit of ours may have been taken though nobody has told us yet. */
export function explain(run: ReadingRun, held: HeldEntry): void {
  const job = numberOf(run);
  run.state.reading = { at: "explaining", job, held };
  run.effects.push({ type: "explain", job });
}

/**
 * An entry of an epoch that has not begun there: a commit is missing before it, or the relay made
 * it up. True for a commit that is to be judged once more.
 */
export function ahead(run: ReadingRun, entry: DatedEntry): boolean {
  const { state, facts: { epoch } } = run;
  const { body } = entry;
  if (!wasFetchedFor(run, body)) {
    fetchFor(run, body);
    return false;
  }
  if (body.epoch > epoch || epochAt(state.place, body.sequence) >= epoch) {
    ask(run, { about: "ahead", entry, epoch }, epoch);
    return false;
  }
  // Our group has followed the commit that is left out: nothing is lost but the order, and this
  // entry if it is a message. The place moves on, or everything that follows would be refused too.
  const what = "an entry without the commit before it";
  const isPresent = entry.operation === "DeliverCommit" && body.epoch === epoch;
  if (!isPresent) {
    lied(run, body, what, entry.operation === "DeliverCommit" ? body.epoch + 1 : body.epoch);
    return false;
  }
  reportLie(run, body, what);
  passEntry(state.place, body.sequence - 1, epoch);
  return true;
}

export function answeredAhead(
  run: ReadingRun,
  { entry, epoch }: Extract<LogQuestion, { about: "ahead" }>,
  found: FindCommitReply,
): void {
  const { body } = entry;
  if (found.commit === undefined && found.epoch <= epoch) {
    return lied(run, body, "an entry of an epoch that has not begun", epoch);
  }
  const reason =
    `the relay delivers epoch ${body.epoch} without the commit that ended epoch ${epoch}`;
  report(run, "withheld_commit", reason);
  outOfStep(run, reason);
}

/**
 * Commits of the log. The relay is not believed: a commit counts as its sender signed it, and a
 * stop is concluded only from one that came twice.
 */
import { equalBytes } from "../../../proto/mod.ts";
import type { FindCommitReply } from "../connection/link_state.ts";
import { withEndings } from "./endings.ts";
import { acceptOwn, judgeEpoch, ownCommitOf } from "./log_place.ts";
import { ahead, explain } from "./read_ahead.ts";
import {
  ask,
  backwards,
  done,
  fetchFor,
  find,
  lastOf,
  lied,
  numberOf,
  outOfStep,
  over,
  type ReadingRun,
  report,
  rises,
  wasFetchedFor,
} from "./reading_run.ts";
import {
  type CommitBody,
  type CommitEntry,
  type EpochMove,
  type FollowFailure,
  type FollowOutcome,
  type LogQuestion,
  notReading,
} from "./reading_state.ts";

const forged = "It claims to be a commit of this agent";

export function readCommit(run: ReadingRun, entry: CommitEntry): void {
  if (!rises(run, entry.body.sequence)) return backwards(run);
  judgeCommit(run, entry);
}

/** `isExplained`: no commit of ours is why it does not fit. */
export function judgeCommit(run: ReadingRun, entry: CommitEntry, isExplained = false): void {
  const { state, facts } = run;
  const { body } = entry;
  const own = ownCommitOf(state.place, body.epoch);
  if (own !== undefined) return contradicts(run, body, own.hash);
  const verdict = judgeEpoch(state.place, body, facts.epoch);
  if (verdict === "ahead" && !isExplained) return explain(run, { why: "ahead", entry });
  if (verdict === "ahead") return ahead(run, entry) ? judgeCommit(run, entry) : undefined;
  if (verdict === "over") return over(run, body, "a commit");
  // We have followed it before, as far as the relay can be believed.
  if (body.epoch < facts.epoch) return done(run, body, body.epoch + 1);
  if (facts.headerOf(body)?.epoch !== body.epoch) return misattributed(run, body);
  const job = numberOf(run);
  state.reading = { at: "following", job, entry };
  run.effects.push({ type: "follow", job });
}

export function followed(run: ReadingRun, entry: CommitEntry, as: FollowOutcome): void {
  const { body } = entry;
  if (as.kind === "commit") return done(run, body, as.epoch);
  if (as.kind === "removed") {
    run.state.reading = notReading;
    return find(run, { is: "removed", body, isAgain: as.isAgain });
  }
  if (isLeft(run, body)) return judgeCommit(run, entry);
  switch (as.kind) {
    case "unsigned":
      return unsigned(run, body);
    case "misattributed":
      return misattributed(run, body);
    case "forked":
    case "own":
    case "refused":
      return explain(run, { why: "not_followed", entry, as });
  }
}

/**
 * A commit of ours has ended its epoch while it was looked at: then it could not be followed, and
 * nothing that was found out about it says anything about its sender.
 */
function isLeft({ facts }: ReadingRun, { epoch }: CommitBody): boolean {
  return epoch < facts.epoch;
}

/** No commit of ours is why. */
export function notFollowed(run: ReadingRun, entry: CommitEntry, as: FollowFailure): void {
  const { body } = entry;
  if (isLeft(run, body)) return judgeCommit(run, entry);
  if (as.kind === "own" && body.sender === run.facts.agentId) {
    return outOfStep(run, "a commit of ours was taken that this agent no longer knows");
  }
  if (!wasFetchedFor(run, body)) return fetchFor(run, body);
  if (as.kind === "forked") {
    // A wrong Welcome or commit led us here.
    const reason =
      `${body.sender} signed its commit of epoch ${body.epoch} for a group with other keys than ours`;
    return outOfStep(run, reason, true);
  }
  // The sender signed the commit so, and it came twice: that is the sender's fault.
  run.state.reading = notReading;
  find(run, { is: "stopped", body, reason: as.kind === "own" ? forged : as.reason });
}

/** A commit of an epoch that a commit of ours has ended, as the relay told us. */
function contradicts(run: ReadingRun, body: CommitBody, ours: Uint8Array): void {
  if (equalBytes(run.facts.hashOf(body.commit), ours)) return done(run, body, body.epoch + 1);
  ask(run, { about: "contradicted", body, ours }, body.epoch);
}

export function answeredContradicted(
  run: ReadingRun,
  { body, ours }: Extract<LogQuestion, { about: "contradicted" }>,
  { commit }: FindCommitReply,
): void {
  if (commit === undefined || equalBytes(commit.commitHash, ours)) {
    return lied(run, body, "a commit of an epoch that a commit of ours has ended");
  }
  const reason =
    `the relay took a commit of ours in epoch ${body.epoch}, and its log holds another one`;
  report(run, "relay_lied", reason);
  outOfStep(run, reason);
}

/** Senders sign their commits: one whose signature the relay took away is as good as withheld. */
function unsigned(run: ReadingRun, body: CommitBody): void {
  if (!wasFetchedFor(run, body)) return fetchFor(run, body);
  const reason =
    `the relay delivers the commit that ended epoch ${body.epoch} without its sender's signature`;
  report(run, "withheld_commit", reason);
  outOfStep(run, reason);
}

/**
 * The relay's statement about a commit differs from its sender's: the relay may tell the truth
 * later. Or the sender is not in our group, because the relay gave us another commit than the
 * log's. Ask for the log again.
 */
function misattributed(run: ReadingRun, body: CommitBody): void {
  const { began: before, epoch } = run.facts;
  const text =
    `The relay delivered a commit of ${body.sender} that differs from the one its sender made`;
  report(run, "relay_lied", text);
  if (!wasFetchedFor(run, body) || before === undefined) return fetchFor(run, body);
  ask(run, { about: "misattributed", body, epoch: epoch - 1, before }, epoch - 1);
}

export function answeredMisattributed(
  run: ReadingRun,
  { body, epoch, before }: Extract<LogQuestion, { about: "misattributed" }>,
  { commit }: FindCommitReply,
): void {
  if (commit === undefined || equalBytes(commit.commitHash, before)) return fetchFor(run, body);
  const reason = `the relay delivered another commit of epoch ${epoch} to us than its log holds`;
  report(run, "relay_lied", reason);
  outOfStep(run, reason);
}

/** The group has moved: the landmarks of it are written in the same write. */
export function moved(
  run: ReadingRun,
  { isOwn, sequence, epoch, hash, silent, founded }: EpochMove,
): void {
  const { state, facts } = run;
  if (hash !== undefined) state.last = { epoch, hash };
  if (isOwn && hash !== undefined) acceptOwn(state.place, { sequence, epoch, hash }, facts.durable);
  if (founded !== undefined) acceptOwn(state.place, founded, facts.durable);
  state.endings = withEndings(
    state.endings,
    silent.map((agentId) => {
      const ending = { agentId, epoch: epoch + 1, sequence };
      // In front of a commit of ours there may be entries that have not been delivered.
      return { ...ending, last: isOwn ? undefined : lastOf(run, ending) };
    }),
  );
  run.isLandmark ||= isOwn || founded !== undefined || silent.length > 0;
}

/**
 * Reading a channel's log: what becomes of each entry. A machine without waits, one entry at a
 * time. The relay is not believed: what MLS does not open is not shown, what was shown is not shown
 * again, what is missing is fetched once more and then reported. An event that no case names
 * changes nothing. The place stays in front of what was passed over, and keys of its epochs stay:
 * else messages are lost. A question without an answer is no first try: else a busy relay stops a
 * member. Landmarks (our commits, endings) go to disk with their commit: else after a kill entries
 * behind ours count as lies.
 */
import { type AgentId, equalBytes, generationOf, type NoticeBody } from "../../../proto/mod.ts";
import type { FindCommitReply } from "../connection/link_state.ts";
import type { Permit } from "../connection/permit.ts";
import { noEndings } from "./endings.ts";
import { losePlace, restartPlace, rewindPlace } from "./log_place.ts";
import { answeredAhead, explain } from "./read_ahead.ts";
import {
  answeredContradicted,
  answeredMisattributed,
  followed,
  judgeCommit,
  moved,
  notFollowed,
  readCommit,
} from "./read_commit.ts";
import { forgetAhead, opened, openMessage, readMessage } from "./read_message.ts";
import { fetchAgain, find, numberOf, pass, type ReadingRun, report, rises } from "./reading_run.ts";
import {
  type FinishedReadingJob,
  type HeldEntry,
  type LogEntry,
  type LogQuestion,
  type MemberStatement,
  notReading,
  type ReadingEvent,
  type ReadingFacts,
  type ReadingStage,
  type ReadingState,
  type ReadingStep,
} from "./reading_state.ts";

export function stepReading(
  state: ReadingState,
  event: ReadingEvent,
  facts: ReadingFacts,
): ReadingStep {
  const run: ReadingRun = { state, facts, effects: [], isLandmark: false };
  const { reading } = state;
  if (event.type === "entry") read(run, event.entry, event.permit);
  else if (!("job" in event)) happen(run, event);
  else if (reading.at !== "none" && reading.job === event.job) end(run, reading, event);
  return run;
}

type ActiveReading = Exclude<ReadingStage, { at: "none" }>;

/** The wait of an entry is over. */
function end(run: ReadingRun, reading: ActiveReading, event: FinishedReadingJob): void {
  switch (event.type) {
    case "opened":
      return reading.at === "opening" ? opened(run, reading.body, event.as) : undefined;
    case "followed":
      return reading.at === "following" ? followed(run, reading.entry, event.as) : undefined;
    case "explained":
      return reading.at === "explaining" ? explained(run, reading.held, event.as) : undefined;
    case "found":
      return found(run, reading, event.found);
    case "unheard":
      return unheard(run, reading);
    case "noted":
      return reading.at === "noting" ? noted(run, reading, event.worth) : undefined;
    case "done":
      run.state.reading = notReading;
      if (reading.at === "looking_ahead") pass(run, reading.body.sequence, reading.body.epoch);
  }
}

function read(run: ReadingRun, entry: LogEntry, permit: Permit | undefined): void {
  run.state.reading = notReading;
  if (entry.operation === "DeliverFounding") return readFounding(run, entry.body, permit);
  if (isNotRead(run, entry)) {
    // A member that leaves a stopped channel has left: it signed about the leaf that we know.
    if (entry.operation === "DeliverLeave") note(run, entry, true);
    return;
  }
  switch (entry.operation) {
    case "DeliverMessage":
      return readMessage(run, entry);
    case "DeliverCommit":
      return readCommit(run, entry);
    case "DeliverLeave":
    case "DeliverLapse":
      return readStatement(run, entry);
    case "DeliverGap": {
      const { messages, reason, lastSequence } = entry.body;
      if (!rises(run, lastSequence)) return;
      pass(run, lastSequence);
      run.effects.push({ type: "gap", messages, reason });
    }
  }
}

/**
 * Behind the commit at which we are stopped, or of a generation that we do not follow. None of them
 * is acknowledged as done with: that they stand there is the relay's word.
 */
function isNotRead(
  run: ReadingRun,
  entry: Exclude<LogEntry, { operation: "DeliverFounding" }>,
): boolean {
  const { stop, foreign } = run.facts;
  const isDated = entry.operation === "DeliverMessage" || entry.operation === "DeliverCommit";
  const sequence = entry.operation === "DeliverGap"
    ? entry.body.firstSequence
    : entry.body.sequence;
  if (stop !== undefined && sequence >= stop) {
    if (entry.operation === "DeliverMessage") find(run, { is: "behind_stop", sequence });
    find(run, { is: "stop_read", isStop: isDated && sequence === stop });
    return true;
  }
  return isDated && foreign !== undefined && generationOf(entry.body.epoch) >= foreign;
}

function readStatement(run: ReadingRun, entry: MemberStatement): void {
  if (!rises(run, entry.body.sequence)) return;
  // Then the statement may be about a leaf that we do not know.
  if (run.facts.adds(subjectOf(entry))) return explain(run, { why: "statement", entry });
  note(run, entry, false);
}

function subjectOf(entry: MemberStatement): AgentId {
  return entry.operation === "DeliverLeave" ? entry.body.sender : entry.body.agentId;
}

function note(run: ReadingRun, entry: MemberStatement, isBehind: boolean): void {
  if (!isBehind) pass(run, entry.body.sequence);
  const job = numberOf(run);
  run.state.reading = { at: "noting", job, entry, isBehind };
  run.effects.push({ type: entry.operation === "DeliverLeave" ? "note_leave" : "note_lapse", job });
}

function noted(
  run: ReadingRun,
  { entry, isBehind }: Extract<ReadingStage, { at: "noting" }>,
  worth: "taken" | "void" | "unsigned" | undefined,
): void {
  run.state.reading = notReading;
  if (entry.operation === "DeliverLapse" || worth === undefined) return;
  const agentId = entry.body.sender;
  if (worth === "void") {
    const text =
      `${agentId} signed that it leaves, but not about its present leaf: it left, or the relay repeats an old ` +
      "statement. It stays a member. If it is gone, an owner can remove it";
    report(run, "void_leave", text);
  }
  if (worth === "unsigned") {
    if (!run.facts.hasLeaf(agentId)) return;
    return report(
      run,
      "relay_lied",
      `The relay delivered a statement that ${agentId} leaves, which this member has not signed`,
    );
  }
  if (!isBehind) find(run, { is: "leaves", agentId, isPresent: worth === "taken" });
}

/** Somebody began a new generation. */
function readFounding(
  run: ReadingRun,
  body: NoticeBody<"DeliverFounding">,
  permit: Permit | undefined,
): void {
  const { facts } = run;
  const { sequence, epoch, founding: { generation } } = body;
  if (!rises(run, sequence)) return;
  if (generation <= generationOf(facts.epoch)) {
    // We are in it already, or in a later one, and read the log again.
    if (facts.isEntered(body)) return pass(run, sequence, epoch + 1);
    return reportFalse(run, "it is not the generation that this agent is in");
  }
  // With a doubt about the log a stopped member reads on. A founding is entered on a connection
  // that has compared the store.
  if (permit === undefined) return find(run, { is: "hold" });
  const verdict = facts.judgeFounding(body);
  // Something else stands there, or nothing yet.
  if (verdict.kind === "forged") return reportFalse(run, verdict.reason);
  const job = numberOf(run);
  run.state.reading = { at: "entering", job };
  run.effects.push({ type: "enter", job, verdict });
}

function reportFalse(run: ReadingRun, why: string): void {
  report(run, "relay_lied", `The relay delivered a false beginning of a new generation: ${why}`);
}

function explained(run: ReadingRun, held: HeldEntry, as: "settled" | "not_ours" | "unknown"): void {
  if (as === "unknown") return fetchAgain(run);
  switch (held.why) {
    case "ahead":
      return held.entry.operation === "DeliverMessage"
        ? openMessage(run, held.entry)
        : judgeCommit(run, held.entry, true);
    case "not_followed":
      return as === "settled"
        ? judgeCommit(run, held.entry)
        : notFollowed(run, held.entry, held.as);
    case "statement":
      return note(run, held.entry, false);
  }
}

function found(run: ReadingRun, reading: ActiveReading, answer: FindCommitReply): void {
  if (reading.at === "asking") return answered(run, reading.question, answer);
  if (reading.at !== "explaining_fork") return;
  const { last: { epoch, hash }, finding } = reading;
  run.state.reading = notReading;
  const { commit } = answer;
  if (commit !== undefined && !equalBytes(commit.commitHash, hash)) {
    report(
      run,
      "relay_lied",
      `The relay delivered another commit of epoch ${epoch} to us than its log holds`,
    );
  }
  find(run, finding);
}

function answered(run: ReadingRun, question: LogQuestion, answer: FindCommitReply): void {
  switch (question.about) {
    case "ahead":
      return answeredAhead(run, question, answer);
    case "contradicted":
      return answeredContradicted(run, question, answer);
    case "misattributed":
      return answeredMisattributed(run, question, answer);
  }
}

/**
 * Without an answer nothing is concluded: the entry is fetched, and the question asked, once more.
 * Out of step we are without it.
 */
function unheard(run: ReadingRun, reading: ActiveReading): void {
  if (reading.at === "asking") return fetchAgain(run);
  if (reading.at !== "explaining_fork") return;
  run.state.reading = notReading;
  find(run, reading.finding);
}

function happen(
  run: ReadingRun,
  event: Exclude<ReadingEvent, FinishedReadingJob | { type: "entry" }>,
): void {
  const { state, facts } = run;
  const { place } = state;
  switch (event.type) {
    case "moved":
      return moved(run, event.by);
    case "begins":
      if (place.received !== undefined) return;
      state.againUntil = event.head;
      return pass(run, event.after);
    case "founded":
      return pass(run, event.sequence, event.epoch + 1);
    case "room":
      if (state.passedOver === undefined) return;
      rewindPlace(place, {
        sequence: state.passedOver.sequence - 1,
        epoch: state.passedOver.epoch,
      });
      forgetPassedOver(state);
      return find(run, { is: "fetch", afterMs: 0 });
    case "lost":
      losePlace(place, (facts.oldest ?? state.passedOver)?.epoch);
      return begin(run);
    case "restarted":
      restartPlace(place, event.received, event.epoch);
      state.endings = noEndings;
      return begin(run);
  }
}

/** Nothing that was read, or looked at, says anything about what comes. */
function begin(run: ReadingRun): void {
  forgetPassedOver(run.state);
  forgetAhead(run);
  run.state.fetchedFor = undefined;
}

function forgetPassedOver(state: ReadingState): void {
  state.passedOver = undefined;
  state.passedCounters = {};
}

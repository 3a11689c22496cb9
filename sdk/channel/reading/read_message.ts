/**
 * Messages of the log. One that does not open is its sender's fault or the relay's, however many
 * there are: that we are out of step is concluded from commits alone.
 */
import type { AgentId } from "../../../proto/mod.ts";
import { judgeEpoch } from "./log_place.ts";
import { ahead, explain } from "./read_ahead.ts";
import {
  backwards,
  done,
  lied,
  mayFetchFor,
  numberOf,
  over,
  type ReadingRun,
  report,
  rises,
} from "./reading_run.ts";
import type {
  MessageBody,
  MessageEntry,
  MessageHeader,
  OpeningOutcome,
  ReadingEffect,
} from "./reading_state.ts";

const take: ReadingEffect = Object.freeze({ type: "take" });

export function readMessage(run: ReadingRun, entry: MessageEntry): void {
  if (!rises(run, entry.body.sequence)) return backwards(run);
  const { state, facts } = run;
  if (judgeEpoch(state.place, entry.body, facts.epoch) === "ahead") {
    return explain(run, { why: "ahead", entry });
  }
  openMessage(run, entry);
}

/** No commit of ours is under way that may be why it does not fit, or it fits. */
export function openMessage(run: ReadingRun, entry: MessageEntry): void {
  const { state, facts, effects } = run;
  const { body } = entry;
  const verdict = judgeEpoch(state.place, body, facts.epoch);
  if (verdict === "ahead") return void ahead(run, entry);
  const header = facts.headerOf(body);
  if (verdict === "over") {
    if (header !== undefined) reportTooLate(run, body, header);
    return over(run, body, "a message");
  }
  if (header === undefined) return unreadable(run, body, "it is not an MLS message");
  if (header.epoch !== body.epoch) {
    return lied(run, body, "a message under another epoch than its own");
  }
  if (isPassedOver(run, body, header)) return lookAhead(run, body);
  if (state.lookedThrough > 0 && body.sequence > state.lookedThrough) forgetAhead(run);
  if (announcesGap(run, body, header) && mayFetchFor(run, body)) return;
  const job = numberOf(run);
  state.reading = { at: "opening", job, body };
  effects.push({ type: "open", job });
}

export function opened(
  run: ReadingRun,
  body: MessageBody,
  { kind, reason = "" }: OpeningOutcome,
): void {
  const { facts, effects } = run;
  switch (kind) {
    case "message":
      effects.push(take);
      return done(run, body, body.epoch);
    case "own":
      if (body.sender === facts.agentId) return done(run, body, body.epoch);
      return unreadable(run, body, "it claims to be of this agent");
    case "duplicate":
      effects.push({ type: "repeated" });
      return done(run, body, body.epoch);
    case "stale":
      report(
        run,
        "undecryptable",
        `A message of epoch ${body.epoch} came after its keys were gone`,
        "old epochs",
      );
      return done(run, body, body.epoch);
    case "undecryptable":
      return unreadable(run, body, reason);
    default:
      return lied(run, body, "something else as a message");
  }
}

/** Nothing that was looked at will come again, or all of it is looked at anew. */
export function forgetAhead({ state, effects }: ReadingRun): void {
  if (state.lookedThrough === 0) return;
  state.lookedThrough = 0;
  effects.push({ type: "forget_ahead" });
}

function unreadable(run: ReadingRun, body: MessageBody, reason: string): void {
  if (mayFetchFor(run, body)) return;
  run.effects.push({ type: "unreadable", sender: body.sender, reason });
  done(run, body, body.epoch);
}

/** Each is looked at once, however often it is passed over. */
function lookAhead(run: ReadingRun, body: MessageBody): void {
  const { state, effects } = run;
  if (body.sequence <= state.lookedThrough) return done(run, body, body.epoch);
  state.lookedThrough = body.sequence;
  const job = numberOf(run);
  state.reading = { at: "looking_ahead", job, body };
  effects.push({ type: "look_ahead", job });
}

/** Read from the clear header, before any key is used: the entry will come again in order. */
function announcesGap(
  { facts }: ReadingRun,
  { sender, epoch }: MessageBody,
  header: MessageHeader,
): boolean {
  const aad = facts.aadOf(header);
  return aad !== undefined && facts.judge(sender, { ...aad, epoch }) === "gap";
}

function isPassedOver(
  run: ReadingRun,
  { sequence, sender, epoch }: MessageBody,
  header: MessageHeader,
): boolean {
  const { state, facts } = run;
  if (state.passedOver === undefined) {
    if (!facts.isFull) return false;
    state.passedOver = { sequence, epoch };
    if (!facts.isRead) reportUnread(run);
  }
  const aad = facts.aadOf(header);
  const before = state.passedCounters[sender];
  if (aad === undefined || (before === undefined && !mayEnd(run, sender))) return true;
  state.passedCounters[sender] = Math.max(aad.counter + aad.count - 1, before ?? 0);
  return true;
}

/**
 * Its counter may be asked for when it ends. The name is the relay's word: one that it makes up
 * would be remembered for nothing.
 */
function mayEnd({ state, facts }: ReadingRun, sender: AgentId): boolean {
  return facts.hasLeaf(sender) ||
    state.endings.some(({ agentId, last }) => agentId === sender && last === undefined);
}

function reportUnread(run: ReadingRun): void {
  const text =
    `${run.facts.unread} messages wait and nobody reads them: later ones stay at the relay, which keeps them ` +
    "for a limited time; read messages(), or open the channel with { receive: false } to have none";
  report(run, "unread_messages", text, "this agent");
}

/**
 * Reports a message of a member that was behind, and sent it into a log that was set back. The
 * message was never read, and its keys are gone.
 */
function reportTooLate(
  run: ReadingRun,
  { sequence, sender, epoch }: MessageBody,
  header: MessageHeader,
): void {
  const { state, facts } = run;
  const counter = facts.aadOf(header)?.counter;
  if (sequence > state.againUntil || counter === undefined) return;
  if (facts.judge(sender, { counter, epoch }) === "duplicate") return;
  const text =
    `A message that the relay says is of ${sender} was sent in epoch ${epoch}, which was over for this agent: it cannot ` +
    "be read, ask its sender for it";
  report(run, "undecryptable", text, sender);
}

/**
 * The hold of a channel on the relay's log, from a connection to entries that are read: a machine
 * without waits. It asks what was left open, subscribes, has the answers judged, and gives notices
 * to the reader one at a time. An event that no case names changes nothing. Nothing behind a stop
 * is acknowledged: else the relay could drop a Welcome that we refused. A doubt by the log keeps
 * the stream, because a stopped owner reads on up to a founding.
 */
import {
  type ConnectionVerdict,
  isOfBefore,
  judgeAgain,
  judgeConnection,
} from "./judge_connection.ts";
import { type LinkRun, numberOf, permitOf, wake } from "./link_run.ts";
import type {
  ConnectionAnswer,
  ConnectionAnswers,
  ConnectionQuestion,
  EntryStream,
  LinkEvent,
  LinkFacts,
  LinkStage,
  LinkState,
  LinkStep,
  QuestionSubject,
  SubscriptionReply,
} from "./link_state.ts";
import type { Permit } from "./permit.ts";
import { delivered, dropEntries, readNext, started } from "./notices.ts";
import { acknowledge, doneWith, durable, subscribed, taken } from "./window.ts";
import { arriving, endArrival, startArrival, wait, waitedLong } from "./waiters.ts";

/** An honest relay says at once where the entries begin. */
const startMs = 10_000;
const retryMs = 1000;
/** Doubled so often at most. */
const maxDoublings = 5;
/** Between two tries to go on that somebody else gives us reasons for. */
const calmMs = 5000;

/** `log`: the one that positions are of, as far as is known. */
export function newLink<N>(log: Uint8Array | undefined): LinkState<N> {
  return {
    link: { at: "offline" },
    arrived: [],
    arrivedBytes: 0,
    isOverrun: false,
    reading: undefined,
    voided: undefined,
    numbers: 0,
    log,
    lostAt: undefined,
    asked: undefined,
    relayEpoch: 0,
    calm: undefined,
    window: { consumed: 0, received: 0, bytesSince: 0, timer: undefined },
    arrival: { isOver: false, events: 0, waiting: [] },
  };
}

export function stepLink<N>(
  state: LinkState<N>,
  event: LinkEvent<N>,
  facts: LinkFacts,
): LinkStep<N> {
  const run: LinkRun<N> = { state, facts, effects: [], write: undefined };
  const before = permitOf(state);
  happen(run, event);
  if (before !== undefined && permitOf(state) === undefined) run.effects.push({ type: "rest" });
  readNext(run);
  return run;
}

function happen<N>(run: LinkRun<N>, event: LinkEvent<N>): void {
  const { state } = run;
  switch (event.type) {
    case "connected":
      return askFromStart(run, 0);
    case "disconnected":
      startArrival(run);
      return goTo(run, { at: "offline" });
    case "hold":
      return state.link.at === "listening" ? goTo(run, { at: "doubted" }) : undefined;
    case "retry":
      if (permitOf(state) === undefined) return;
      return pauseFor(run, state.link.at === "reading" ? state.link.tries : 0);
    case "answered":
      return answered(run, event.call, event.answer);
    case "refused":
      return refused(run, event);
    case "started":
      return started(run, event.tag) ? fetchAgain(run, run.facts.jitter(retryMs)) : undefined;
    case "delivered":
      return delivered(run, event);
    case "read":
      return read(run, event);
    case "fetch":
      return fetchAgain(run, event.afterMs);
    case "out_of_step":
      endArrival(run);
      return state.link.at === "offline" ? undefined : goTo(run, { at: "idle" });
    case "asked_back":
      return askedBack(run);
    case "durable":
      return durable(run);
    case "flush":
      return state.window.timer === undefined ? undefined : acknowledge(run);
    case "all_arrived":
      return endArrival(run);
    case "wait":
      return wait(run, event);
    case "time":
      return time(run, event.timer);
  }
}

/** Nothing in it was compared: the types allow it no permit. */
type WithoutPermit = Exclude<LinkStage, { readonly permit: Permit }>;

/** Entries that have come are of no use in the next state: they come again. A permit ends here. */
function goTo<N>({ state }: LinkRun<N>, link: WithoutPermit): void {
  state.link = link;
  dropEntries(state);
  state.window.timer = undefined;
}

/** From the first question on. */
function askFromStart<N>(run: LinkRun<N>, tries: number): void {
  const { facts } = run;
  goTo(run, { at: "idle" });
  startArrival(run);
  // Out of step, none of this is useful, and the rejoin ends with another membership. Conclusions
  // that rest on the relay's word are checked again, because it may have been wrong.
  if (facts.place.at === "stopped") {
    return ask(run, { tries, question: "stop", answers: {}, stream: undefined });
  }
  if (facts.place.at === "outside" && !facts.place.isByWord) return;
  const question = facts.store.commits.length > 0 ? "open_commit" : "subscribe";
  ask(run, { tries, question, answers: {}, stream: undefined });
}

interface QuestionAttempt {
  readonly tries: number;
  readonly question: ConnectionQuestion;
  readonly answers: ConnectionAnswers;
  readonly stream: EntryStream | undefined;
  /** The epoch that the question is about. */
  readonly epoch?: number;
}

function ask<N>(
  run: LinkRun<N>,
  { tries, question, answers, stream: before, epoch }: QuestionAttempt,
): void {
  const { state, facts } = run;
  const call = numberOf(run);
  const isSubscribe = question === "subscribe";
  if (isSubscribe) dropEntries(state);
  const stream = isSubscribe ? { tag: numberOf(run) % 2 ** 32, begun: false } : before;
  const { epoch: askedIn, place } = state.link.at === "settling" && !isSubscribe
    ? state.link
    : { epoch: facts.epoch, place: facts.place.at };
  state.link = { at: "settling", tries, question, call, answers, epoch: askedIn, place, stream };
  const about: QuestionSubject = {
    ...(isSubscribe && stream !== undefined && { tag: stream.tag }),
    ...(epoch !== undefined && { epoch }),
  };
  run.effects.push({ type: "ask", call, question, about });
}

function answered<N>(run: LinkRun<N>, call: number, answer: ConnectionAnswer): void {
  const { link } = run.state;
  if (link.at === "fetching" && link.call === call && answer.question === "subscribe") {
    return fetched(run, link, answer.reply);
  }
  if (link.at !== "settling" || link.call !== call) return;
  const { tries, stream, answers } = link;
  switch (answer.question) {
    case "stop":
    case "open_commit":
      return afterOpen(run, answer.question, tries);
    case "subscribe":
      subscribed(run, answer.reply);
      reportLost(run, answer.reply);
      return judge(run, { tries, stream, answers: { subscribe: answer.reply } });
    case "put_back":
      reportPutBack(run, answer.reply, answers.subscribe);
      return judge(run, { tries, stream, answers: { ...answers, put_back: answer.reply } });
    default:
      return judge(run, {
        tries,
        stream,
        answers: { ...answers, [answer.question]: answer.reply },
      });
  }
}

/**
 * Open matters are settled as far as they can be: the stop may have gone, and our group may have
 * moved.
 */
function afterOpen<N>(run: LinkRun<N>, question: "stop" | "open_commit", tries: number): void {
  const { place, store: { commits } } = run.facts;
  const asks = { tries, answers: {}, stream: undefined };
  if (place.at === "outside" && !place.isByWord) return goTo(run, { at: "idle" });
  const isNext = question === "stop" && place.at !== "stopped" && commits.length > 0;
  ask(run, { ...asks, question: isNext ? "open_commit" : "subscribe" });
}

type JudgedAnswers = Pick<QuestionAttempt, "tries" | "stream" | "answers">;

function judge<N>(run: LinkRun<N>, judged: JudgedAnswers): void {
  const { state, facts } = run;
  const { link, lostAt, asked } = state;
  if (link.at !== "settling" || judged.stream === undefined) return;
  const number = state.numbers + 1;
  const { epoch, place } = link;
  const judgement = judgeConnection(judged.answers, { lostAt, asked, epoch, place, number }, facts);
  if ("ask" in judgement) {
    return ask(run, { ...judged, question: judgement.ask, ...epochOf(judgement) });
  }
  if ("again" in judgement) return again(run, judgement.again, judged.tries);
  state.lostAt = undefined;
  if ("doubt" in judgement) return doubt(run, judgement, judged.stream);
  clear(run, judgement, judged.stream, judged);
}

function epochOf({ epoch }: { readonly epoch?: number }): { readonly epoch?: number } {
  return epoch === undefined ? {} : { epoch };
}

function again<N>(
  run: LinkRun<N>,
  how: Extract<ConnectionVerdict, { again: unknown }>["again"],
  tries: number,
): void {
  if (how === "from_the_start") return askFromStart(run, tries);
  if (how === "later") return pauseFor(run, tries);
  loseLog(run);
  ask(run, { tries, question: "subscribe", answers: {}, stream: undefined });
}

/**
 * No position of the log before is acknowledged in this one: it would lead past what was never
 * delivered.
 */
function loseLog<N>({ state, facts, effects }: LinkRun<N>): void {
  state.lostAt ??= facts.received;
  state.window.consumed = state.window.received = 0;
  effects.push({ type: "lose_log" });
}

type DoubtVerdict = Extract<ConnectionVerdict, { doubt: unknown }>;

function doubt<N>(run: LinkRun<N>, { doubt, report }: DoubtVerdict, stream: EntryStream): void {
  if (report !== undefined) run.effects.push({ type: "report", ...report });
  // Nothing may be entered with keys of a store that may be old. A doubt about the log alone lets a
  // stopped agent read on.
  if (doubt.by !== "log") goTo(run, { at: "doubted" });
  else if (run.state.isOverrun) pauseFor(run, 0);
  else {run.state.link = {
      at: "listening",
      stream,
      timer: stream.begun ? undefined : wake(run, startMs),
    };}
  endArrival(run);
  run.effects.push({ type: "come_back", doubt });
}

function clear<N>(
  run: LinkRun<N>,
  { permit, anchor }: Extract<ConnectionVerdict, { permit: unknown }>,
  stream: EntryStream,
  { answers: { subscribe, put_back }, tries }: Pick<JudgedAnswers, "answers" | "tries">,
): void {
  const { state, facts, effects } = run;
  if (subscribe === undefined) return;
  state.numbers++;
  state.asked = facts.own;
  state.relayEpoch = subscribe.epoch + (put_back?.commits ?? 0);
  run.write = anchor;
  const { after, head, log } = subscribe;
  const isLost = facts.received === undefined;
  // Members that were behind may have sent something meanwhile, so that the last commit stands
  // later than it would.
  const begins = { after, head: Math.max(head, put_back?.sequence ?? 0), isLost, log };
  effects.push({ type: "cleared", permit, begins });
  arriving(run);
  beginReading(run, permit, stream, tries);
  // A crash may have come between the write and the acknowledgement.
  if (!isLost && doneWith(facts) > subscribe.consumed) acknowledge(run);
}

/** Entries that had to be dropped meanwhile are fetched. */
function beginReading<N>(run: LinkRun<N>, permit: Permit, stream: EntryStream, tries = 0): void {
  const { state } = run;
  state.link = {
    at: "reading",
    permit,
    stream,
    tries,
    timer: stream.begun ? undefined : wake(run, startMs),
  };
  if (state.isOverrun) fetchAgain(run, run.facts.jitter(retryMs));
}

function fetched<N>(
  run: LinkRun<N>,
  { permit, stream }: Extract<LinkStage, { at: "fetching" }>,
  reply: SubscriptionReply,
): void {
  subscribed(run, reply);
  run.state.relayEpoch = reply.epoch;
  const judgement = judgeAgain(reply, permit, run.facts);
  if ("doubt" in judgement) return doubt(run, judgement, stream);
  beginReading(run, permit, stream);
  run.effects.push({ type: "resumed", permit });
}

/** A place that the relay refused was one of this membership: so the log has lost its end. */
function reportLost<N>({ state, effects }: LinkRun<N>, reply: SubscriptionReply): void {
  if (state.lostAt === undefined || isOfBefore(state.lostAt, reply)) return;
  const text =
    "The relay's log is not where this agent left it, as after a restored backup: messages that were sent " +
    "since then may be lost to members that had not read them";
  effects.push({ type: "report", kind: "log_set_back", text });
  state.lostAt = undefined;
}

function reportPutBack<N>(
  { effects }: LinkRun<N>,
  { commits, own }: { readonly commits: number; readonly own: number },
  subscribe: SubscriptionReply | undefined,
): void {
  if (commits === 0 || subscribe === undefined) return;
  const text =
    `The relay's log ended in epoch ${subscribe.epoch}, as after a restored backup. It holds ${commits} commits again, of which ` +
    `this agent put ${own} back; messages that were sent since then may be lost to members that had not read them`;
  effects.push({ type: "report", kind: "log_set_back", text });
}

function refused<N>(
  run: LinkRun<N>,
  { call, code, text }: Extract<LinkEvent<N>, { type: "refused" }>,
): void {
  const { link } = run.state;
  if (link.at === "fetching" && link.call === call) return askFromStart(run, 0);
  if (link.at !== "settling" || link.call !== call) return;
  if (code === "not_found") {
    goTo(run, { at: "idle" });
    return void run.effects.push({ type: "unknown" });
  }
  if (code === "membership_lapsed") {
    goTo(run, { at: "idle" });
    endArrival(run);
    return void run.effects.push({ type: "come_back", doubt: { by: "lapse", reason: text } });
  }
  // The relay's log is not where we left it: from where it thinks that we are.
  if (code === "cursor_invalid") loseLog(run);
  // Any other refusal is only the relay's word, and not a reason to give up.
  pauseFor(run, link.tries);
}

function pauseFor<N>(run: LinkRun<N>, tries: number, atLeastMs = 0): void {
  const ms = Math.max(run.facts.jitter(retryMs * 2 ** Math.min(tries, maxDoublings)), atLeastMs);
  goTo(run, { at: "pausing", tries: tries + 1, timer: wake(run, ms) });
}

function fetchAgain<N>(run: LinkRun<N>, afterMs: number): void {
  const { state } = run;
  const permit = permitOf(state);
  if (state.link.at === "listening") return pauseFor(run, 0, afterMs);
  // The place from which the relay was asked to go on is no longer ours.
  if (state.link.at === "settling" && state.link.stream !== undefined) state.isOverrun = true;
  if (permit === undefined) return;
  dropEntries(state);
  startArrival(run);
  if (afterMs > 0) {
    state.link = { at: "fetching_later", permit, timer: wake(run, afterMs) };
    return;
  }
  const [call, tag] = [numberOf(run), numberOf(run) % 2 ** 32];
  state.link = { at: "fetching", permit, call, stream: { tag, begun: false } };
  run.effects.push({ type: "ask", call, question: "subscribe", about: { tag } });
}

function read<N>(
  run: LinkRun<N>,
  { reading, took }: Extract<LinkEvent<N>, { type: "read" }>,
): void {
  if (run.state.reading !== reading) return;
  run.state.reading = undefined;
  if (took !== undefined) {
    arriving(run);
    taken(run, took);
  }
  if (run.state.isOverrun) fetchAgain(run, run.facts.jitter(retryMs));
}

/** Now and then. */
function askedBack<N>(run: LinkRun<N>): void {
  const { state } = run;
  if ((state.link.at !== "listening" && state.link.at !== "doubted") || state.calm !== undefined) {
    return;
  }
  state.calm = wake(run, calmMs);
  askFromStart(run, 0);
}

function time<N>(run: LinkRun<N>, timer: number): void {
  const { state } = run;
  const { link, window } = state;
  if (state.calm === timer) state.calm = undefined;
  if (window.timer === timer) return acknowledge(run);
  if (waitedLong(run, timer)) return;
  if (!("timer" in link) || link.timer !== timer) return;
  if (link.at === "pausing") return askFromStart(run, link.tries);
  fetchAgain(run, 0);
}

/**
 * The real step of the link with one guard taken out, as it was missing once: the worlds must find
 * each of them.
 */
import {
  type LinkStage,
  type LinkState,
  type Permit,
  permitOf,
  stepLink,
} from "../../sdk/channel/testing/connection.ts";
import type { Step } from "./host_of_letters.ts";
import type { Note } from "./relay_of_letters.ts";

type State = LinkState<Note>;

function streamOf({ link }: State): Extract<LinkStage, { at: "reading" }>["stream"] | undefined {
  return "stream" in link ? link.stream : undefined;
}

/** A permit that nothing was compared for: the type allows it here alone, by an untyped value. */
function forged(state: State): Permit {
  return JSON.parse(`{"number":${++state.numbers}}`);
}

function read(state: State, stream: NonNullable<ReturnType<typeof streamOf>>): Permit {
  const permit = forged(state);
  state.link = { at: "reading", permit, stream, tries: 0, timer: undefined };
  return permit;
}

/** A doubt about the store leaves the subscription, and its beginning revives it. */
export function revivedSubscription(...[state, event, facts]: Parameters<Step>): ReturnType<Step> {
  const stream = streamOf(state);
  const step = stepLink(state, event, facts);
  if (state.link.at === "doubted" && stream !== undefined) read(state, stream);
  return step;
}

/** A subscription that begins late is opened again, compared or not. */
export function lateTimer(...[state, event, facts]: Parameters<Step>): ReturnType<Step> {
  const stream = streamOf(state);
  const isJudged = state.link.at === "settling" && event.type === "answered";
  const step = stepLink(state, event, facts);
  if (isJudged && state.link.at === "doubted" && stream?.begun === false) {
    state.link = { at: "listening", stream, timer: ++state.numbers };
  } else if (event.type === "time" && stream !== undefined && state.link.at === "pausing") {
    read(state, stream);
  }
  return step;
}

/** A question that the relay did not answer counts as asked. */
export function busyQuestion(...[state, event, facts]: Parameters<Step>): ReturnType<Step> {
  const stream = streamOf(state);
  const { subscribe } = state.link.at === "settling" ? state.link.answers : {};
  const step = stepLink(state, event, facts);
  if (
    event.type !== "refused" || stream === undefined || subscribe === undefined ||
    state.link.at !== "pausing"
  ) {
    return step;
  }
  const permit = read(state, stream);
  const begins = {
    after: subscribe.after,
    head: subscribe.head,
    isLost: false,
    log: subscribe.log,
  };
  return { ...step, effects: [{ type: "cleared", permit, begins }] };
}

/** The timer of an acknowledgement outlives its connection. */
export function acknowledgedAfterLost(
  ...[state, event, facts]: Parameters<Step>
): ReturnType<Step> {
  const { timer } = state.window;
  const step = stepLink(state, event, facts);
  const isLost = timer !== undefined && state.window.timer === undefined && event.type !== "time";
  if (isLost && permitOf(state) === undefined) state.window.timer = timer;
  if (event.type !== "time" || event.timer !== timer || permitOf(state) !== undefined) return step;
  const { durable: consumed } = facts;
  return {
    ...step,
    effects: [...step.effects, { type: "acknowledge", consumed, received: consumed }],
  };
}

/** A stopped agent acknowledges its place like any other. */
export function acknowledgedBehindStop(
  ...[state, event, facts]: Parameters<Step>
): ReturnType<Step> {
  const step = stepLink(state, event, facts);
  const { place, durable: consumed } = facts;
  const isBehind = place.at === "stopped" && consumed >= place.sequence;
  if (event.type !== "durable" || !isBehind || permitOf(state) === undefined) return step;
  return {
    ...step,
    effects: [...step.effects, { type: "acknowledge", consumed, received: consumed }],
  };
}

/** A connection that begins says that everything in front of the stop is here. */
export function arrivedAtOnce(...[state, event, facts]: Parameters<Step>): ReturnType<Step> {
  const step = stepLink(state, event, facts);
  if (event.type === "connected") state.arrival.isOver = true;
  return step;
}

/** The real step of reading with one guard taken out: the world must find each of them. */
import type { ReadingSetting, ReadingStepOf } from "./reading_host.ts";
import { stepReading as step } from "../../sdk/channel/testing/reading.ts";

/** Messages that are passed over are not remembered. */
const forgetsPassedOver: ReadingStepOf = (state, event, facts) => {
  const done = step(state, event, facts);
  state.passedOver = undefined;
  return done;
};

/** When there is room, the log goes on where it is. */
const goesOnWhereItIs: ReadingStepOf = (state, event, facts) => {
  if (event.type === "room") state.passedOver = undefined;
  return step(state, event, facts);
};

/** When there is room, nobody says so. */
const isNeverTold: ReadingStepOf = (state, event, facts) =>
  event.type === "room" ? { effects: [], isLandmark: false } : step(state, event, facts);

/** An opened message does not reach the inbox. */
const dropsOpened: ReadingStepOf = (state, event, facts) => {
  const { effects, isLandmark } = step(state, event, facts);
  return { effects: effects.filter(({ type }) => type !== "take"), isLandmark };
};

/** The first entry that cannot be read decides. */
const decidesAtOnce: ReadingStepOf = (state, event, facts) => {
  state.fetchedFor = 1_000_000;
  return step(state, event, facts);
};

/** No answer about our commits counts like an answer. */
const takesSilenceForNo: ReadingStepOf = (state, event, facts) =>
  step(
    state,
    event.type === "explained" && event.as === "unknown" ? { ...event, as: "not_ours" } : event,
    facts,
  );

/** The place of our own commit is not kept. */
const forgetsOwn: ReadingStepOf = (state, event, facts) => {
  const done = step(state, event, facts);
  state.place.own = [];
  return done;
};

/** Fetches have no budget. */
const fetchesWithoutEnd: ReadingStepOf = (state, event, facts) => {
  state.budget.left = 8;
  return step(state, event, facts);
};

/** The end of any work counts for the entry that is being read. */
const waitsForNothing: ReadingStepOf = (state, event, facts) => {
  const { effects, isLandmark } = step(state, event, facts);
  return { effects: effects.filter(({ type }) => type !== "find"), isLandmark };
};

export const readingControls: Readonly<Record<string, ReadingSetting>> = {
  forgetsPassedOver: { step: forgetsPassedOver },
  goesOnWhereItIs: { step: goesOnWhereItIs },
  isNeverTold: { step: isNeverTold },
  dropsOpened: { step: dropsOpened },
  decidesAtOnce: { step: decidesAtOnce },
  takesSilenceForNo: { step: takesSilenceForNo },
  forgetsOwn: { step: forgetsOwn },
  fetchesWithoutEnd: { step: fetchesWithoutEnd },
  waitsForNothing: { step: waitsForNothing },
  forgetsKeysTooEarly: { oldestEpoch: ({ place }, { epoch }) => Math.min(place.epoch, epoch) },
  landmarksAfterTheCommit: { isOneWrite: false },
};

/** The real step of the outbox with one guard taken out: the world must find each of them. */
import { type SendingRules, sendingRules } from "./sender_of_letters.ts";

const { step } = sendingRules;
type Step = typeof step;

/** After a refusal that ends, the next message goes in the same run. */
const runGoesOn: Step = (state, event, facts) => {
  const { write, effects } = step(state, event, facts);
  return { write, effects: effects.filter(({ type }) => type !== "begin_run") };
};

/** Messages behind a refused one go on before everything that was under way is back. */
const impatient: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  if (state.hold.at !== "standing" || state.underWay.length === 0) return done;
  state.hold = { at: "none" };
  const { effects } = step(state, { type: "gathered" }, facts);
  return { ...done, effects: [...done.effects, { type: "begin_run" }, ...effects] };
};

/** Callers of queued messages wait for a connection. */
const untold: Step = (state, event, facts) => {
  const { write, effects } = step(state, event, facts);
  for (const effect of effects) if (effect.type === "queued") effect.message.caller = "waits";
  return { write, effects: effects.filter(({ type }) => type !== "queued") };
};

/** Counters of what is not sent are not told as gone. */
const unaccounted: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  state.counters.gone = [];
  return done;
};

/** A bundle that may stand in the log is sealed anew, under counters of its own. */
const sealedAnew: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  for (const bundle of state.queue.bundles) {
    bundle.fate = { at: "unsent", noRoom: undefined };
    bundle.made = undefined;
  }
  return done;
};

/**
 * The same bytes go again in a later epoch only, and a message of the next one goes beside them.
 */
const besideAnotherEpoch: Step = (state, event, facts) => {
  const others = state.underWay.filter(({ made }) => made?.sealed?.epoch !== facts.epoch);
  if (others.length === 0 || event.type === "refused" || event.type === "taken") {
    return step(state, event, facts);
  }
  const { underWay } = state;
  const all = underWay.splice(0);
  underWay.push(...all.filter((bundle) => !others.includes(bundle)));
  const done = step(state, event, facts);
  underWay.unshift(...others);
  return done;
};

/** A group is sent again without a question. */
const unasked: Step = (state, event, facts) => {
  if (event.type === "send" && event.message.goes === "again") event.message.goes = "freely";
  return step(state, event, facts);
};

/** A caller that has given up is forgotten, and its message goes as well. */
const notWithdrawn: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  if (event.type !== "expired") return done;
  const [rejected] = done.effects.filter((effect) => effect.type === "rejected");
  if (rejected !== undefined && rejected.type === "rejected" && state.underWay.length === 0) {
    rejected.message.caller = "told";
    state.queue.messages.push(rejected.message);
  }
  return done;
};

export const sendingControls: Readonly<Record<string, Partial<SendingRules>>> = {
  diskAfterDeed: { diskBeforeDeed: false },
  runGoesOn: { step: runGoesOn },
  impatient: { step: impatient },
  untold: { step: untold },
  unaccounted: { step: unaccounted },
  sealedAnew: { step: sealedAnew },
  besideAnotherEpoch: { step: besideAnotherEpoch },
  unasked: { step: unasked },
  notWithdrawn: { step: notWithdrawn },
};

/** The real step of our own commits with one guard taken out: the world must find each of them. */
import { candidateOf } from "../../sdk/channel/testing/commits.ts";
import { allRules, type Rules, type Step } from "./member_of_letters.ts";

const { step } = allRules;
const none: readonly never[] = Object.freeze([]);

/** A commit that is given up is forgotten, whatever its fate. */
const givenForgotten: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  state.given = none;
  if (done.write?.type !== "given") return done;
  return { ...done, write: { type: "lost", ours: [done.write.candidate] } };
};

/** The same, and the log is not asked whether the conflict is with an earlier copy. */
const discardedUnasked: Step = (state, event, facts) => {
  const { commit } = state;
  if (event.type !== "refused" || event.why.code !== "epoch_conflict" || commit.at !== "sent") {
    return givenForgotten(state, event, facts);
  }
  const done = givenForgotten(state, { ...event, why: { code: "storage_full" } }, facts);
  return { ...done, write: { type: "refused", candidate: commit.candidate } };
};

/** An answer counts for an entry that is newer. */
const oldAnswer: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  if (state.entry !== undefined) state.entry.isNewer = false;
  return done;
};

/** A plan behind an open commit, or of one that is held back, has no moment. */
const plansWithoutMoment: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  const { at } = state.commit;
  if (at === "open" || at === "asking") { for (const plan of state.plans) plan.timer = undefined; }
  return done;
};

/** A plan that lost a race does not wait for the winner's epoch. */
const impatient: Step = (state, event, facts) => {
  const done = step(state, event, facts);
  if (state.commit.at !== "resting") return done;
  state.commit = { at: "none" };
  const { effects } = step(state, { type: "look" }, facts);
  return { ...done, effects: [...done.effects, ...effects] };
};

/** An open commit counts as taken. */
const assumed: Step = (state, event, facts) => {
  const candidate = state.commit.at === "open" ? state.commit.candidate : undefined;
  if (candidate === undefined || facts.work === undefined) return step(state, event, facts);
  state.commit = { at: "entering" };
  state.given = none;
  return {
    write: { type: "entered", candidate, sequence: 0 },
    effects: [{
      type: "finding",
      finding: { is: "entered", candidate, sequence: 0, isOfBefore: true },
    }],
  };
};

/** Another commit is made while one is open. */
const besideAnOpenOne: Step = (state, event, facts) => {
  if (
    event.type === "change" && candidateOf(state.commit) !== undefined && state.commit.at === "open"
  ) {
    state.commit = { at: "none" };
  }
  return step(state, event, facts);
};

export const commitControls: Readonly<Record<string, Partial<Rules>>> = {
  diskAfterDeed: { diskBeforeDeed: false },
  entryDoesNotWait: { entryWaits: false },
  statementDoesNotWait: { statementWaits: false },
  discardedUnasked: { step: discardedUnasked },
  givenForgotten: { step: givenForgotten },
  oldAnswer: { step: oldAnswer },
  plansWithoutMoment: { step: plansWithoutMoment },
  impatient: { step: impatient },
  assumed: { step: assumed },
  besideAnOpenOne: { step: besideAnOpenOne },
};

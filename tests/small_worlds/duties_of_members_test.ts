/**
 * Members' duties, every order of events: each is done once, by the first one, and nobody commits
 * or tells for ever.
 */
import { inCampaign, tried } from "../support/campaign.ts";
import { dutiesOfMembers, type DutySetting } from "./duties_of_members.ts";
import { checkAll, checkFound, goesRound, isStuck } from "./explore.ts";
import { stepDuties } from "../../sdk/channel/testing/duties.ts";

const keepers = ["ann", "bob"];
const times = inCampaign ? 2 : 1;

function world(name: string, setting: DutySetting): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, dutiesOfMembers(setting), 1_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("two members see the same leaver", {
  keepers,
  leave: ["dora"],
  left: { lost: times, fails: times, rest: times },
});
world("three members see the same leaver", {
  keepers: ["ann", "bob", "carl"],
  leave: ["dora"],
  left: { fails: times },
});
world("members that leave and one that asks to come back", {
  keepers,
  leave: ["dora"],
  ask: { erin: "present" },
});
world("an asker that signed about an outdated leaf", {
  keepers,
  ask: { erin: "outdated" },
  left: { again: 1 },
});
world("an asker that never hears which leaf it has", {
  keepers,
  ask: { erin: "outdated" },
  left: { lost: 1 },
});
world("a request that no commit can grant keeps nobody out", {
  keepers,
  leave: ["dora"],
  ask: { mallory: "hopeless", erin: "present" },
});
world("an asker that leaves", {
  keepers,
  leave: ["erin"],
  ask: { erin: "present" },
  left: { rest: times },
});
world("a relay that takes no commit", {
  keepers,
  leave: ["dora"],
  ask: { erin: "present" },
  isRefusing: true,
});

function finds(what: string, why: string, setting: DutySetting): void {
  Deno.test(`the world finds ${what}`, () => checkFound(dutiesOfMembers(setting), why));
}

const withoutPause: typeof stepDuties = (state, event, facts) => {
  const { effects } = stepDuties(state, event, facts);
  if (state.work.at !== "pausing") return { effects };
  const next = stepDuties(state, { type: "time", timer: state.work.timer }, facts);
  return { effects: [...effects, ...next.effects] };
};
finds("a member that does not pause", goesRound, {
  keepers,
  leave: ["dora"],
  isRefusing: true,
  step: withoutPause,
});

const tellsAgain: typeof stepDuties = (state, event, facts) => {
  state.told = [];
  return stepDuties(state, event, facts);
};
finds("a member that tells a leaf again and again", goesRound, {
  keepers,
  ask: { erin: "outdated" },
  step: tellsAgain,
});

const allOrNothing: typeof stepDuties = (state, event, facts) => {
  const isRefused = event.type === "changed" && event.why !== undefined;
  return stepDuties(
    state,
    isRefused ? { ...event, why: { isAboutContent: false, text: "" } } : event,
    facts,
  );
};
finds("a request that keeps others out", isStuck, {
  keepers: ["ann"],
  leave: ["dora"],
  ask: { mallory: "hopeless" },
  step: allOrNothing,
});

const startsIdle: typeof stepDuties = (state, event, facts) => {
  if (event.type !== "start") return stepDuties(state, event, facts);
  state.work = { at: "idle" };
  return { effects: [] };
};
finds("a member that starts and does not look", isStuck, {
  keepers: ["ann"],
  leave: ["dora"],
  left: { rest: 1 },
  step: startsIdle,
});

const trustsOthers: typeof stepDuties = (state, event, facts) => {
  if (event.type !== "time" || state.work.at !== "turn") return stepDuties(state, event, facts);
  state.work = { at: "idle" };
  return { effects: [] };
};
finds("members that trust that another one has done it", isStuck, {
  keepers,
  leave: ["dora"],
  step: trustsOthers,
});

const commitsBlindly: typeof stepDuties = (state, event, facts) => {
  const isTime = event.type === "time" && state.work.at === "turn" &&
    state.work.timer === event.timer;
  if (!isTime) return stepDuties(state, event, facts);
  const change = ++state.numbers;
  state.work = { at: "working", change };
  return { effects: [{ type: "change", change, of: "all" }] };
};
finds("a member that does again what another one has done", "needless", {
  keepers,
  leave: ["dora"],
  step: commitsBlindly,
});

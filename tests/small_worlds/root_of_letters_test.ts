/**
 * The root of a channel, every order of findings: what works rests when it must, the program hears
 * what is so, and all ends once.
 */
import { assertEquals } from "@std/assert";
import { type RootEffect, stepRoot } from "../../sdk/channel/testing/root.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, explore } from "./explore.ts";
import { forgedPermit, type RootBudgets, rootOfLetters } from "./root_of_letters.ts";

const times = inCampaign ? 2 : 1;

function world(name: string, left: Partial<RootBudgets>): void {
  Deno.test(`the root: ${name}`, () => {
    const { states, transitions } = checkAll(name, rootOfLetters({ left }), 5_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("connections that break, and doubts", {
  broken: times,
  doubt: times,
  retry: times,
  lost: 1,
  commit: 1,
  session: 1,
});
world("a stop, and ways back", { broken: times, stop: times, outside: times, doubt: 1, commit: 1 });
world("leaving", { leave: 1, said: times, broken: 1, stop: 1, outside: 1 });
world("closing", { close: 1, broken: 1, session: 1, said: 1, fault: 1, commit: 1 });
world("closing while it leaves", { close: 1, leave: 1, said: times, fault: 1, stop: 1 });

type Step = typeof stepRoot;

function finds(what: string, promise: string, left: Partial<RootBudgets>, step: Step): void {
  Deno.test(`the world of the root finds ${what}`, () => {
    const { faults, stuck } = explore(rootOfLetters({ left, step }), 100_000);
    const whys = faults.map(({ why }) => why);
    assertEquals(
      promise === "stuck" ? stuck > 0 : whys.some((why) => why.startsWith(promise)),
      true,
      `${whys}`,
    );
  });
}

function without(isTaken: (effect: RootEffect) => boolean): Step {
  return (...given) => ({
    effects: stepRoot(...given).effects.filter((effect) => !isTaken(effect)),
  });
}

const typeOf = ({ tell }: RootEffect): string =>
  typeof tell === "string" ? tell : "type" in tell ? tell.type : tell.is;

const isLook = (effect: RootEffect): boolean => effect.to === "outbox" && effect.tell === "look";
finds(
  "messages that go on without a permit",
  "work: messages",
  { retry: 1 },
  (state, event, facts) => {
    const isRest = event.from === "link" && event.finding.is === "rests";
    return isRest ? without(isLook)(state, event, facts) : stepRoot(state, event, facts);
  },
);
finds("commits that go on out of step", "work: commits", { stop: 1 }, (state, event, facts) => {
  const isStop = event.from === "recovery" && event.finding.type === "stopped";
  return isStop
    ? without(({ to }) => to === "commits")(state, event, facts)
    : stepRoot(state, event, facts);
});
finds(
  "duties of a stopped channel",
  "duties: they go on",
  { stop: 1 },
  without((effect) => typeOf(effect) === "rest"),
);
finds(
  "duties without a permit",
  "duties: they begin",
  { doubt: 1, retry: 1 },
  (state, event, facts) => {
    const isGenerous = event.from === "recovery" && event.finding.type === "in_step";
    return stepRoot(state, event, isGenerous ? { ...facts, permit: forgedPermit(0) } : facts);
  },
);
finds("a channel that never goes on", "stuck", {}, without((effect) => typeOf(effect) === "then"));
finds(
  "a permit of an earlier connection",
  "duties: they begin",
  { broken: 1, lost: 1 },
  (state, event, facts) => {
    const isOld = event.from === "self" && "permit" in event;
    return stepRoot(state, event, isOld ? { ...facts, permit: event.permit } : facts);
  },
);
finds(
  "a program that is told twice that it is ready",
  "ready: the program is told twice",
  { stop: 1 },
  (...given) => {
    const [state] = given;
    if (state.root.at === "ready") state.root = { at: "behind" };
    return stepRoot(...given);
  },
);
finds("a program that is told ready while it closes", "ready: the program is told behind", {
  close: 1,
}, (...given) => {
  const [state, event] = given;
  const isGoing = event.from === "self" && event.type === "look" && "timer" in state.root;
  if (isGoing) state.root = { at: "behind" };
  return stepRoot(...given);
});
finds(
  "rooms that are told something behind the end",
  "end: a room",
  { fault: 1 },
  (state, event, facts) => {
    const { root } = state;
    if (root.at !== "over" || event.from !== "session") return stepRoot(state, event, facts);
    const step = stepRoot({ ...state, root: { at: "behind" } }, event, facts);
    return step;
  },
);
finds("a channel that ends twice", "end: it ends twice", { fault: 2 }, (state, event, facts) => {
  if (event.from === "any") state.root = { at: "behind" };
  return stepRoot(state, event, facts);
});
finds(
  "a close that waits for ever behind the end",
  "stuck",
  { fault: 1, close: 1 },
  (state, event, facts) => {
    const { effects } = stepRoot(state, event, facts);
    return { effects: event.from === "any" ? effects.filter(({ to }) => to !== "self") : effects };
  },
);
finds(
  "a leaf that may change behind a goodbye",
  "goodbye",
  { leave: 1 },
  without((effect) => typeOf(effect) === "halt"),
);
finds(
  "its own leave that counts as a loss",
  "end: its own",
  { leave: 1, said: 1 },
  (state, event, facts) => {
    return stepRoot(state, event, { ...facts, isAskedFor: () => false });
  },
);
finds(
  "a leave behind the end that nobody answers",
  "stuck",
  { leave: 1 },
  without((effect) => {
    return effect.to === "names";
  }),
);
finds("a lapse that ends the channel", "end: of a reason", { said: 1 }, (state, event, facts) => {
  const isLapse = event.from === "relay" && event.type === "ends" && event.reason === "lapsed";
  return stepRoot(state, isLapse ? { ...event, reason: "closed" } : event, facts);
});

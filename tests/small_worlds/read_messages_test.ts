/** Nothing is acknowledged that is not on disk, and everybody who waits for the disk is told. */
import { inCampaign, tried } from "../support/campaign.ts";
import { stepPosition } from "../../sdk/channel/testing/messages.ts";
import { checkAll, checkFound, isStuck } from "./explore.ts";
import { readMessages } from "./read_messages.ts";

type Step = typeof stepPosition;

function world(name: string, ...of: Parameters<typeof readMessages>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, readMessages(...of), 10_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("messages are done with while the disk writes, and a process is killed", {
  done: 2,
  ask: 1,
  kill: 1,
});
world("those who wait, and the disk fails", { done: 1, ask: 2, urgent: 1, fail: 1 });
world("the log is set back while the disk writes", { done: 1, pass: 1, ask: 1, setBack: 1 });
world("a channel is closed while the disk writes", { done: 2, ask: 1, urgent: 1, close: 1 });
if (inCampaign) {
  world("all of it", {
    done: 3,
    pass: 1,
    ask: 2,
    urgent: 1,
    kill: 2,
    fail: 1,
    setBack: 1,
    close: 1,
  });
}

function finds(
  what: string,
  promise: string,
  step: Step,
  left: Parameters<typeof readMessages>[0],
): void {
  Deno.test(`the world finds ${promise} without a guard: ${what}`, () => {
    checkFound(readMessages(left, step), promise);
  });
}

/** A write of before says where we are. */
const sameLife: Step = (state, event, facts) => {
  const effects = stepPosition(state, event, facts);
  state.life = 0;
  return effects;
};

/** The relay is told with the write, and not behind it. */
const toldBefore: Step = (state, event, facts) => {
  const effects = stepPosition(state, event, facts);
  const isWritten = effects.some(({ type }) => type === "write");
  return isWritten ? [...effects, { type: "tell", call: 0, position: facts.position }] : effects;
};

/** Those who asked while something is written are told with that. */
const toldTogether: Step = (state, event, facts) => {
  const { waiting } = state;
  const effects = stepPosition(state, event, facts);
  if (event.type !== "written" || waiting.length === 0) return effects;
  state.waiting = [];
  return [
    ...waiting.map((operation) => ({ type: "settle", operation, isLost: false }) as const),
    ...effects,
  ];
};

/** A pace has no moment. */
const paceWithoutMoment: Step = (state, event, facts) => {
  const effects = stepPosition(state, event, facts);
  const { writing } = state;
  return effects.filter((effect) =>
    effect.type !== "wake" || writing.at !== "collecting" || writing.timer !== effect.timer
  );
};

finds("a write says nothing of another log", "S2", sameLife, { done: 1, setBack: 1 });
finds("disk before deed", "S2", toldBefore, { done: 1 });
finds("who asks later waits for the next write", "S2", toldTogether, { done: 2, ask: 2 });
finds("a write that collects has a timer", isStuck, paceWithoutMoment, { done: 1 });

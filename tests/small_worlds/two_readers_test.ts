/**
 * Every message is done with once, when every loop is, and messages that had no room are read
 * later.
 */
import { stepInbox } from "../../sdk/channel/testing/messages.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, checkFound, isStuck } from "./explore.ts";
import { twoReaders } from "./two_readers.ts";

type Step = typeof stepInbox<string>;

function world(name: string, ...of: Parameters<typeof twoReaders>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, twoReaders(...of), 10_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("two loops, and messages that are given back", { second: 1, back: 1 });
world("a process is killed behind messages that it has read", { kill: 1, ends: 1, late: 1 });
if (inCampaign) {
  world("two loops, one of which ends", { second: 1, ends: 1, back: 1, late: 1 });
  world("callers that ask for one message each, beside a loop by hand", {
    second: 1,
    shared: 2,
    late: 1,
    kill: 1,
  });
}

function finds(
  what: string,
  promise: string,
  step: Step,
  left: Parameters<typeof twoReaders>[0],
): void {
  Deno.test(`the world finds ${promise} without a guard: ${what}`, () => {
    checkFound(twoReaders(left, step), promise);
  });
}

/** The fastest loop decides. */
const fastest: Step = (state, event, facts) => {
  if (event.type !== "waits") return stepInbox(state, event, facts);
  const others = state.readers.filter(({ reader }) => reader !== event.reader);
  const own = state.readers.filter(({ reader }) => reader === event.reader);
  state.readers.splice(0, state.readers.length, ...own);
  const effects = stepInbox(state, event, facts);
  state.readers.push(...others);
  return effects;
};

/** A loop that ends lets go of nothing. */
const heldByNobody: Step = (state, event, facts) => {
  if (event.type !== "ends") return stepInbox(state, event, facts);
  const at = state.readers.findIndex(({ reader }) => reader === event.reader);
  if (at >= 0) state.readers.splice(at, 1);
  return [];
};

/** A message that is given back is as one that was passed over. */
const lost: Step = (state, event, facts) => {
  const effects = stepInbox(state, event, facts);
  if (event.type === "gives_back") { for (const { back } of state.readers) back.length = 0; }
  return effects;
};

/** It comes again with all behind it. */
const backWithAll: Step = (state, event, facts) => {
  const effects = stepInbox(state, event, facts);
  if (event.type !== "gives_back") return effects;
  for (const reader of state.readers) {
    reader.next = Math.min(reader.next, ...reader.back);
    reader.back.length = 0;
  }
  return effects;
};

finds("the slowest loop decides", "S6", fastest, { second: 1 });
finds("a loop that ends holds nothing up", isStuck, heldByNobody, { second: 1, ends: 1 });
finds("messages come again that were passed behind one that is given back", "S6", backWithAll, {
  second: 1,
  back: 1,
});
finds("messages that are given back come again", "S6", lost, { second: 1, back: 1 });

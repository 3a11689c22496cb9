/** Receipts are told at least once, never before they are true, and never take anything back. */
import { stepOwed } from "../../sdk/channel/testing/messages.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, checkFound, isStuck } from "./explore.ts";
import { toldReceipts } from "./told_receipts.ts";

type Step = typeof stepOwed;

function world(name: string, ...of: Parameters<typeof toldReceipts>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, toldReceipts(...of), 10_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("two messages are acknowledged, and the process is killed at any place", {
  acknowledge: 2,
  kill: 2,
});
world("a program says what became of a message while its receipt is under way", {
  acknowledge: 1,
  say: 3,
  kill: 1,
});
world("the relay refuses receipts, and its answers are lost", {
  acknowledge: 1,
  say: 1,
  refuse: 1,
  lose: 1,
  kill: 1,
});
world("the channel rests, and is entered anew", { acknowledge: 2, rest: 1, enter: 1, kill: 1 });
if (inCampaign) {
  world("all of it", {
    acknowledge: 2,
    say: 3,
    kill: 2,
    refuse: 1,
    lose: 1,
    rest: 1,
    enter: 1,
  });
}

function finds(
  what: string,
  promise: string,
  ...of: Parameters<typeof toldReceipts>
): void {
  Deno.test(`the world finds ${promise} without a guard: ${what}`, () => {
    checkFound(toldReceipts(...of), promise);
  });
}

/** A debt is told before it is on disk. */
const toldBefore: Step = (state, event, facts) => {
  const effects = stepOwed(state, event, facts);
  const debts = [...state.debts.values()].filter(({ at }) => at === "noted");
  return debts.length === 0
    ? effects
    : [...effects, ...stepOwed(state, { type: "written", debts }, facts)];
};

/** A receipt that was accepted ends its debt, whatever was said meanwhile. */
const endedBefore: Step = (state, event, facts) => {
  const before = state.telling.at === "sending" ? state.telling.debts : [];
  const effects = stepOwed(state, event, facts);
  if (event.type !== "accepted") return effects;
  for (const { id, asker } of before) state.debts.delete(`${id}.${asker}`);
  return effects;
};

/** A write says that all is on disk, also what was said while it went on. */
const writtenAnyway: Step = (state, event, facts) => {
  if (event.type !== "written") return stepOwed(state, event, facts);
  return stepOwed(state, { ...event, debts: [...state.debts.values()] }, facts);
};

finds("a debt is written with its acknowledgement", isStuck, { acknowledge: 1, kill: 1 }, {
  isDebtLater: true,
});
finds("disk before deed", "S2", { acknowledge: 1 }, { step: toldBefore });
finds("a state that was said meanwhile is told too", isStuck, { acknowledge: 1, say: 1 }, {
  step: endedBefore,
});
finds("a write holds what was noted before it", "S2", { acknowledge: 1, say: 1 }, {
  step: writtenAnyway,
});

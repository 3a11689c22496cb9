/**
 * Guards of our own commits, each taken out: the world finds the fault that it is for. One of a
 * relay that takes two commits is left to the test of its row: the relay of this world is honest.
 */
import { inCampaign } from "../support/campaign.ts";
import { commitControls } from "./commit_controls.ts";
import { type Budgets, crossingCommits } from "./crossing_commits.ts";
import { checkFound, isStuck } from "./explore.ts";

const lostOnce = { changes: 2, lost: 1, late: 1 };

function finds(
  control: keyof typeof commitControls,
  why: string,
  left: Partial<Budgets> = lostOnce,
): void {
  Deno.test(`the world finds ${why} without a guard: ${control} (${Object.keys(left).join(", ")})`, () => {
    checkFound(crossingCommits(left, commitControls[control]), why);
  });
}

finds("diskAfterDeed", "S1", { changes: 2, kill: 1 });
finds("entryDoesNotWait", "L1");
finds("statementDoesNotWait", "S3", { adds: 1, leaves: 1 });
finds("discardedUnasked", "L1");
finds("oldAnswer", "L1");
finds("oldAnswer", "S3", { adds: 1, leaves: 1, lost: 1, late: 1 });
finds("plansWithoutMoment", "L2", { changes: 2, kill: 1 });
finds("plansWithoutMoment", "L2", { changes: 1, broken: 1 });
finds("assumed", "S5", { changes: 2, kill: 1 });
finds("besideAnOpenOne", "S7", { changes: 2, kill: 1 });
if (inCampaign) {
  finds("impatient", "L3");
  finds("givenForgotten", isStuck, { adds: 2, kill: 2, late: 2 });
}

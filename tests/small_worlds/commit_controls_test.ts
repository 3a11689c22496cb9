/**
 * Guards of our own commits, each taken out: the world finds the fault that it is for. One of a relay that takes two commits is left
 * to the test of its row: the relay of this world is honest.
 */
import { assertEquals } from "@std/assert";
import { inCampaign } from "../support/campaign.ts";
import { commitControls } from "./commit_controls.ts";
import { type Budgets, crossingCommits } from "./crossing_commits.ts";
import { explore, type Explored } from "./explore.ts";

const lostOnce = { changes: 2, lost: 1, late: 1 };

/** The shortest story is among the first states: not all of them are visited. */
function finds(
  control: keyof typeof commitControls,
  promise: string,
  { left = lostOnce, states = 3000 }: { readonly left?: Partial<Budgets>; readonly states?: number } = {},
): void {
  Deno.test(`the world finds ${promise} without a guard: ${control} (${Object.keys(left).join(", ")})`, () => {
    const found = storiesOf(explore(crossingCommits(left, commitControls[control]), states));
    assertEquals(found.some((why) => why.startsWith(promise)), true, `found: ${found.join()}`);
  });
}

function storiesOf({ faults, stuckStory }: Explored): string[] {
  return [...faults, ...(stuckStory === undefined ? [] : [stuckStory])].map(({ why }) => why);
}

finds("diskAfterDeed", "S1", { left: { changes: 2, kill: 1 } });
finds("entryDoesNotWait", "L1");
finds("statementDoesNotWait", "S3", { left: { adds: 1, leaves: 1 } });
finds("discardedUnasked", "L1");
finds("oldAnswer", "L1");
finds("oldAnswer", "S3", { left: { adds: 1, leaves: 1, lost: 1, late: 1 } });
finds("plansWithoutMoment", "L2", { left: { changes: 2, kill: 1 } });
finds("plansWithoutMoment", "L2", { left: { changes: 1, broken: 1 } });
finds("assumed", "S5", { left: { changes: 2, kill: 1 } });
finds("besideAnOpenOne", "S7", { left: { changes: 2, kill: 1 } });
if (inCampaign) {
  const states = 100_000;
  finds("impatient", "L3", { states });
  finds("givenForgotten", "no way to a good state", { left: { adds: 2, kill: 2, late: 2 }, states });
}

/** Guards of reading, each taken out: the world finds the fault that it is for. */
import { checkFound, goesRound, isStuck } from "./explore.ts";
import { readingControls } from "./reading_controls.ts";
import type { ReadingBudgets, ReadingSetting } from "./reading_host.ts";
import { readingMember } from "./reading_member.ts";

function finds(
  control: keyof typeof readingControls,
  promise: string,
  left: Partial<ReadingBudgets>,
  setting: ReadingSetting = {},
): void {
  Deno.test(`the world finds ${promise} without a guard: ${control} (${Object.keys(left).join(", ")})`, () => {
    checkFound(readingMember(left, { ...setting, ...readingControls[control] }), promise);
  });
}

const room = 1;
finds("forgetsPassedOver", "S6", { message: 2 }, { room });
finds("goesOnWhereItIs", "S6", { message: 2 }, { room });
finds("isNeverTold", isStuck, { message: 2 }, { room });
finds("dropsOpened", "S6", { message: 1 });
finds("decidesAtOnce", "S5", { commit: 1, lie: 1 });
finds("takesSilenceForNo", "S5", { message: 1, lost: 1, busy: 3 });
finds("forgetsOwn", "S6", { message: 1, own: 1 });
finds("fetchesWithoutEnd", goesRound, { commit: 1 }, { isLiar: true });
finds("waitsForNothing", "L2", { message: 1, commit: 1, lie: 2 });
finds("forgetsKeysTooEarly", "S6", { message: 2, commit: 1 }, { room });
finds("landmarksAfterTheCommit", "S6", { message: 1, own: 1, kill: 1 });

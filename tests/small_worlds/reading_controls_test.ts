/** Guards of reading, each taken out: the world finds the fault that it is for. */
import { assertEquals } from "@std/assert";
import { explore } from "./explore.ts";
import { readingControls } from "./reading_controls.ts";
import type { ReadingBudgets, ReadingSetting } from "./reading_host.ts";
import { readingMember } from "./reading_member.ts";

/** The shortest story is among the first states: not all of them are visited, but for those that are stuck, or go round. */
function finds(
  control: keyof typeof readingControls,
  promise: string,
  left: Partial<ReadingBudgets>,
  setting: ReadingSetting = {},
): void {
  Deno.test(`the world finds ${promise} without a guard: ${control} (${Object.keys(left).join(", ")})`, () => {
    const { faults, stuckStory, hotLoop } = explore(
      readingMember(left, { ...setting, ...readingControls[control] }),
      20_000,
    );
    const found = [...faults.map(({ why }) => why), ...(stuckStory ? ["L1"] : []), ...(hotLoop ? ["L3"] : [])];
    assertEquals(found.some((why) => why.startsWith(promise)), true, `found: ${found.join()}`);
  });
}

const room = 1;
finds("forgetsPassedOver", "S6", { message: 2 }, { room });
finds("goesOnWhereItIs", "S6", { message: 2 }, { room });
finds("isNeverTold", "L1", { message: 2 }, { room });
finds("dropsOpened", "S6", { message: 1 });
finds("decidesAtOnce", "S5", { commit: 1, lie: 1 });
finds("takesSilenceForNo", "S5", { message: 1, lost: 1, busy: 3 });
finds("forgetsOwn", "S6", { message: 1, own: 1 });
finds("fetchesWithoutEnd", "L3", { commit: 1 }, { isLiar: true });
finds("waitsForNothing", "L2", { message: 1, commit: 1, lie: 2 });
finds("forgetsKeysTooEarly", "S6", { message: 2, commit: 1 }, { room });
finds("landmarksAfterTheCommit", "S6", { message: 1, own: 1, kill: 1 });

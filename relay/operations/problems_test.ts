import { assertEquals } from "@std/assert";
import { problemsOf, type ProblemSources } from "./problems.ts";

const well: ProblemSources = {
  sharedLog: undefined,
  sharedMemory: undefined,
  diskMs: 9_000,
  storage: "ok",
  hasRoomElsewhere: true,
  apiMs: 59_000,
  hasApiAnswered: true,
  aheadMs: 9_999,
};

Deno.test("a relay that is answered by everything has no problems", () =>
  assertEquals(problemsOf(well), []));

const cases: readonly [string, Partial<ProblemSources>, boolean][] = [
  ["The log is silent", { sharedLog: "The log is silent" }, true],
  ["The memory is silent", { sharedMemory: "The memory is silent" }, true],
  ["The disk has not confirmed a write for 12 s. Look at the disk", { diskMs: 12_345 }, true],
  [
    "The disk is nearly full: new channels, members and invites are refused. Make room on the disk",
    { storage: "tight", hasRoomElsewhere: false },
    false,
  ],
  [
    "The disk is nearly full: messages are refused here, and their agents sent to relays that have room. Make room on the disk",
    { storage: "full" },
    true,
  ],
  [
    "The API has not answered this relay since it started. Check that it runs, and the relay's log",
    { hasApiAnswered: false, apiMs: 0 },
    true,
  ],
  [
    "The API has not answered for 61 s. Known tokens and leased messages are used up first",
    { apiMs: 61_000 },
    false,
  ],
  [
    "This relay's clock is 600 s ahead of the API's: leases and tokens end too early. Set both clocks",
    { aheadMs: 600_000 },
    false,
  ],
  [
    "This relay's clock is 10 s behind the API's: leases and tokens end too late. Set both clocks",
    { aheadMs: -10_000 },
    false,
  ],
];

for (const [text, change, isUnready] of cases) {
  Deno.test(`${text}: ${isUnready ? "not ready" : "ready"}`, () => {
    const found = problemsOf({ ...well, ...change });
    assertEquals(found.map((problem) => [problem.text, problem.isUnready]), [[text, isUnready]]);
  });
}

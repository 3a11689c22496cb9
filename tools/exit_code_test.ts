import { assertEquals } from "@std/assert";
import { exitCodeOf } from "./exit_code.ts";

Deno.test("exitCodeOf() returns 1 for a failure, whatever else was not judged", () => {
  assertEquals(exitCodeOf({ failed: 1, notJudged: 0 }), 1);
  assertEquals(exitCodeOf({ failed: 1, notJudged: 7 }), 1);
});

Deno.test("exitCodeOf() returns 3 when nothing failed and something was not judged, and 0 only when all was", () => {
  assertEquals(exitCodeOf({ failed: 0, notJudged: 1 }), 3);
  assertEquals(exitCodeOf({ failed: 0, notJudged: 0 }), 0);
});

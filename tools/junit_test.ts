import { assertEquals } from "@std/assert";
import { parseJunit, slowestOf } from "./junit.ts";

Deno.test("parseJunit() counts passed, failed and skipped tests, keeps the names of the skipped, and times all", () => {
  const xml = `<testsuites><testsuite name="./a_test.ts" tests="3">
    <testcase name="one" classname="./a_test.ts" time="0.1" line="1" col="6">
    </testcase>
    <testcase name="a &lt;b&gt; [skipped: no &quot;x&quot;]" classname="./a_test.ts" time="0" line="2" col="6">
      <skipped/>
    </testcase>
    <testcase name="three" classname="./a_test.ts" time="0" line="3" col="6">
      <failure message="Uncaught Error: x">Error: x</failure>
    </testcase>
  </testsuite></testsuites>`;
  const skipped = 'a <b> [skipped: no "x"]';
  const times = [{ name: "one", seconds: 0.1 }, { name: skipped, seconds: 0 }, {
    name: "three",
    seconds: 0,
  }];
  assertEquals(parseJunit(xml), { passed: 1, failed: 1, skipped: [skipped], times });
});

Deno.test("parseJunit() of an empty report counts nothing", () => {
  assertEquals(parseJunit(""), { passed: 0, failed: 0, skipped: [], times: [] });
});

Deno.test("slowestOf() names the longest tests first, and steps instead of what they are steps of", () => {
  const times = [
    { name: "all", seconds: 9 },
    { name: "all > half", seconds: 5 },
    { name: "all > half > quarter", seconds: 4 },
    { name: "one", seconds: 3 },
    { name: "two", seconds: 8 },
  ];
  assertEquals(slowestOf(times, 2).map(({ name }) => name), ["two", "all > half > quarter"]);
});

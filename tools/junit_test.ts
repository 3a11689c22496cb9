import { assertEquals } from "@std/assert";
import { parseJunit } from "./junit.ts";

Deno.test("parseJunit() counts passed, failed and skipped tests and keeps the names of the skipped", () => {
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
  assertEquals(parseJunit(xml), { passed: 1, failed: 1, skipped: ['a <b> [skipped: no "x"]'] });
});

Deno.test("parseJunit() of an empty report counts nothing", () => {
  assertEquals(parseJunit(""), { passed: 0, failed: 0, skipped: [] });
});

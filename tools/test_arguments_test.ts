import { assertEquals } from "@std/assert";
import { parseTestArguments } from "./test_arguments.ts";

const suites = ["proto", "tidy"];

Deno.test("without arguments all suites run, with names those", () => {
  assertEquals(parseTestArguments([], suites), {
    names: [],
    changedSince: undefined,
    isComplete: false,
  });
  assertEquals(parseTestArguments(["tidy", "--complete"], suites), {
    names: ["tidy"],
    changedSince: undefined,
    isComplete: true,
  });
});

Deno.test("--changed compares with HEAD, or with the commit that is named", () => {
  assertEquals(parseTestArguments(["--changed"], suites), {
    names: [],
    changedSince: "HEAD",
    isComplete: false,
  });
  assertEquals(parseTestArguments(["--changed", "main"], suites), {
    names: [],
    changedSince: "main",
    isComplete: false,
  });
});

Deno.test("wrong arguments are refused in words", () => {
  assertEquals(parseTestArguments(["plantd"], suites), {
    problem: "No suite named plantd. Suites: proto, tidy",
  });
  assertEquals(parseTestArguments(["--complet"], suites), {
    problem: "No flag --complet. Flags: --changed [BASE], --complete",
  });
  assertEquals(parseTestArguments(["--changed", "main", "proto"], suites), {
    problem: "--changed takes one commit to compare with, and no suites",
  });
});

import { assertEquals } from "@std/assert";
import { parseArguments } from "./arguments.ts";

Deno.test("parseArguments() takes what start knows, in any order", () => {
  assertEquals(parseArguments([]), {
    watch: false,
    isPublic: false,
    plan: undefined,
    relays: undefined,
  });
  const all = { watch: true, isPublic: true, plan: "team", relays: 3 };
  assertEquals(parseArguments(["--relays", "3", "--watch", "--public", "--plan", "team"]), all);
});

Deno.test("parseArguments() says what is wrong", () => {
  for (
    const given of [["--relays"], ["--relays", "0"], ["--relays", "9"], ["--relays", "--watch"], [
      "--relays",
      "30",
    ]]
  ) {
    assertEquals(parseArguments(given), '"--relays" takes a number from 1 to 8');
  }
  assertEquals(parseArguments(["--plan"]), '"--plan" takes free, dev, team or enterprise');
  assertEquals(parseArguments(["--watch", "now"]), '"start" does not take "now"');
});

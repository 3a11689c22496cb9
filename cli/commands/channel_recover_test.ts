/** Whom `channel recover` is told to leave out, and whom it says that it has left out. */
import { assertEquals, assertThrows } from "@std/assert";
import { type AgentId, parseAgentId } from "../../proto/mod.ts";
import type { LeftOutMember } from "../../sdk/mod.ts";
import { Failure } from "../failure.ts";
import { choiceOf, parted } from "./channel_recover.ts";

const agent = (letter: string): AgentId => parseAgentId(`${letter.repeat(21)}A`);

Deno.test("--without and --keep take ids, and --without none stands for nobody", () => {
  assertEquals(choiceOf(undefined, undefined), {});
  assertEquals(choiceOf("none", undefined), { without: [] });
  assertEquals(choiceOf("a, b", undefined), { without: ["a", "b"] });
  assertEquals(choiceOf(undefined, "a"), { keep: ["a"] });
});

Deno.test("a list that names nobody is refused, so that an empty variable keeps no attacker in", () => {
  for (const text of ["", " ", ",", "a,", "none,a", "a,none"]) {
    assertThrows(() => choiceOf(text, undefined), Failure, "--without");
  }
  assertThrows(() => choiceOf(undefined, ""), Failure, "--keep");
  assertThrows(() => choiceOf("none", "a"), Failure, "not both");
});

Deno.test("members that another owner kept are not told as left out", () => {
  const leftOut: LeftOutMember[] = [
    { agentId: agent("M"), identity: "mallory", because: "blamed" },
    { agentId: agent("S"), identity: "sybil", because: "let_in" },
  ];
  const { out, still } = parted(leftOut, [{ agentId: agent("A") }, { agentId: agent("S") }]);
  assertEquals([out, still], [leftOut.slice(0, 1), leftOut.slice(1)]);
});

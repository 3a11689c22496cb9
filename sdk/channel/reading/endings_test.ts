import { assertEquals } from "@std/assert";
import { parseAgentId } from "../../../proto/mod.ts";
import {
  isAfterEnd,
  type MembershipEnding,
  type MembershipEndings,
  noEndings,
  settleEndings,
  withEndings,
} from "./endings.ts";

const [alice, bob] = [parseAgentId("a".repeat(22)), parseAgentId("b".repeat(22))];
const ending = (epoch: number, last: number | undefined): MembershipEnding => ({
  agentId: alice,
  epoch,
  sequence: 10 * epoch,
  last,
});

Deno.test("a message belongs to the membership that ended next, and to none that began later", () => {
  const endings = withEndings(noEndings, [ending(5, 3), ending(9, 1)]);
  const after = (counter: number, epoch: number): boolean =>
    isAfterEnd(endings, alice, { counter, epoch });
  assertEquals([after(3, 4), after(4, 4)], [false, true]);
  assertEquals([after(1, 5), after(2, 8)], [false, true]);
  assertEquals(after(100, 9), false, "a new membership");
  assertEquals(isAfterEnd(endings, bob, { counter: 100, epoch: 4 }), false);
});

Deno.test("an ending by a commit of our own is settled when the first entry behind it is read", () => {
  const endings = withEndings(noEndings, [ending(5, undefined)]);
  assertEquals(isAfterEnd(endings, alice, { counter: 7, epoch: 4 }), false);
  assertEquals(settleEndings(endings, 50, () => 6) === endings, true);
  const settled = settleEndings(endings, 51, () => 6);
  assertEquals(settled === endings, false);
  assertEquals(settleEndings(settled, 52, () => 8) === settled, true);
  assertEquals(isAfterEnd(settled, alice, { counter: 7, epoch: 4 }), true);
});

Deno.test("members that come and go without end take no endless memory", () => {
  let endings: MembershipEndings = noEndings;
  for (let epoch = 1; epoch <= 3000; epoch++) endings = withEndings(endings, [ending(epoch, 0)]);
  assertEquals([endings.length, endings[0]?.epoch], [2000, 1001]);
});

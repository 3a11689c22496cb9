/** The explorer itself, on worlds of a few numbers: it must see what it says that it sees. */
import { assert, assertEquals } from "@std/assert";
import { explore, type Move, type World } from "./explore.ts";
import { isSame } from "./plain_state.ts";

interface Count {
  at: number;
}

function counting(
  moves: (
    at: number,
  ) => readonly (readonly [name: string, kind: Move<Count>["kind"], to: number])[],
): World<Count> {
  return {
    start: { at: 0 },
    moves: ({ at }) =>
      moves(at).map(([name, kind, to]) => ({
        name,
        kind,
        act: (state: Count): void => void (state.at = to),
      })),
    broken: ({ at }) => at === 9 ? "nine" : undefined,
    isGood: ({ at }) => at === 4,
  };
}

Deno.test("a broken promise comes with its shortest story", () => {
  const { faults } = explore(
    counting((at) => at > 9 ? [] : [["one", "time", at + 1], ["three", "time", at + 3]]),
  );
  assertEquals(faults, [{ why: "nine", events: ["three", "three", "three"] }]);
});

Deno.test("states without a way to a good one are stuck", () => {
  const world = counting((at) =>
    at === 0 ? [["good", "time", 4], ["bad", "time", 5]] : at === 5 ? [["stay", "time", 6]] : []
  );
  const { states, stuck, stuckStory } = explore(world);
  assertEquals([states, stuck, stuckStory?.events], [4, 2, ["bad"]]);
});

Deno.test("a circle of answers alone is a hot loop, one with time in it is not", () => {
  const circle = (kind: Move<Count>["kind"]): World<Count> =>
    counting((at) =>
      at === 0 ? [["begin", "time", 1]] : at === 1 ? [["ask", "answer", 2]] : [["again", kind, 1]]
    );
  assertEquals(explore(circle("time")).hotLoop, undefined);
  assertEquals(explore(circle("answer")).hotLoop?.events.at(-3), "then, without end:");
});

Deno.test("states that differ in the numbers of their calls, or in counters, are the same", () => {
  const state = (call: number, other: number): unknown => ({
    link: { call },
    calls: [{ call: other }],
    numbers: call,
  });
  assert(isSame(state(3, 3), state(7, 7)));
  assert(!isSame(state(3, 3), state(3, 4)));
});

import { assert, assertEquals, assertLessOrEqual } from "@std/assert";
import { SharedRate } from "./shared_rate.ts";

function clocked(perSecond: number): { rate: SharedRate; clock: { nowMs: number } } {
  const clock = { nowMs: 0 };
  return { rate: new SharedRate(perSecond, () => clock.nowMs), clock };
}

const spends = (rate: SharedRate, key: string, times: number): number =>
  Array.from({ length: times }, () => rate.spend(key)).filter(Boolean).length;

Deno.test("SharedRate gives one alone half of all at once, and all over again later", () => {
  const { rate, clock } = clocked(400);
  assertEquals(spends(rate, "a", 50), 50);
  clock.nowMs = 250;
  assertEquals(spends(rate, "a", 30), 30);
  clock.nowMs = 5_000;
  assertEquals(spends(rate, "a", 50), 50);
});

Deno.test("SharedRate leaves a newcomer its part, however many ask for more than theirs", () => {
  const { rate, clock } = clocked(400);
  for (let window = 0; window < 5; window++) {
    let taken = 0;
    for (let address = 0; address < 40; address++) taken += spends(rate, `hostile ${address}`, 20);
    assertLessOrEqual(taken, 140);
    assert(rate.spend("honest"), `window ${window}`);
    clock.nowMs += 250;
  }
});

Deno.test("SharedRate has less for all while there is less room, and still the first of everybody", () => {
  const clock = { nowMs: 0, room: 0.1 };
  const rate = new SharedRate(400, () => clock.nowMs, () => clock.room);
  assertEquals(spends(rate, "a", 50), 10);
  assert(rate.spend("honest"));
  clock.room = 1;
  assertEquals(spends(rate, "a", 30), 30);
});

Deno.test("SharedRate shares evenly while more is asked for than there is", () => {
  const { rate, clock } = clocked(400);
  for (const key of ["a", "b", "c", "d"]) spends(rate, key, 100);
  clock.nowMs = 250;
  for (const key of ["a", "b", "c", "d"]) {
    const taken = spends(rate, key, 100);
    assertEquals(taken, 25);
  }
});

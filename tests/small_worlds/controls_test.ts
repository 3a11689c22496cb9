/**
 * Each fault that the connection ever had, brought back by taking its guard out: the worlds find
 * it, with a story. A connection that breaks in a question, with a beginning in the queue, cannot
 * be written: `sdk/channel/connection/permit_test.ts`.
 */
import { assertEquals } from "@std/assert";
import {
  acknowledgedAfterLost,
  acknowledgedBehindStop,
  arrivedAtOnce,
  busyQuestion,
  lateTimer,
  revivedSubscription,
} from "./controls.ts";
import { checkFound, explore, goesRound, type World } from "./explore.ts";
import { memberInStep } from "./member_in_step.ts";
import { restoredOwner } from "./restored_owner.ts";
import { setBackLog } from "./set_back_log.ts";
import type { SmallState } from "./small_world.ts";

function finds(name: string, promise: string, world: World<SmallState>): void {
  Deno.test(`the world finds: ${name}`, () => {
    checkFound(world, promise);
  });
}

const [send, isRestored] = [1, false];
const withoutPermit = { permitToEnter: false };
const atOnce = { comparedFirst: false };

finds(
  "a subscription revived by its beginning",
  "S2",
  restoredOwner({ send }, { step: revivedSubscription }),
);
finds(
  "recover() enters the founding without a permit",
  "S2",
  restoredOwner({ recover: 1, send }, { guards: withoutPermit }),
);
finds(
  "a late timer opens a connection that was not compared",
  "S2",
  restoredOwner({ late: 1, send }, { step: lateTimer }),
);
finds(
  "a question that a busy relay did not answer counts as asked",
  "S2",
  restoredOwner({ busy: 1, send }, { step: busyQuestion, guards: atOnce }),
);
finds(
  "a generation goes on before its log was compared",
  "S2",
  restoredOwner({ send }, { guards: atOnce, isRestored }),
);
finds(
  "a timer acknowledges after its connection was lost",
  "S2",
  memberInStep({ broken: 1 }, { step: acknowledgedAfterLost, isThorough: true }),
);
finds(
  "a stopped agent acknowledges what stands behind the stop",
  "S2: something behind the stop",
  restoredOwner({ busy: 1, broken: 1, send }, { step: acknowledgedBehindStop }),
);
finds(
  "recover() right after a start passes messages over",
  "S6",
  restoredOwner({ recover: 1 }, { step: arrivedAtOnce, isRestored }),
);
finds(
  "work does not rest when the permit is gone",
  "S2",
  memberInStep({ send, fetch: 1, busy: 1 }, { guards: { rest: false } }),
);
finds(
  "a commit that a busy relay did not put back counts as lost",
  "an honest relay is blamed",
  setBackLog({ setBack: 1, busy: 1 }, { guards: { busyPutBack: false } }),
);

Deno.test("the world finds: a log that was set back still has our commits at their places", () => {
  checkFound(setBackLog({ setBack: 1 }, { guards: { placesLost: false } }), goesRound, 400);
});

Deno.test("a relay that denies twice what a restored agent has sent is the one limit: a key seals two contents", () => {
  const { faults } = explore(restoredOwner({ lie: 2, send }), 6_000);
  assertEquals(faults.map(({ why }) => why), ["S1: a key sealed two contents"]);
});

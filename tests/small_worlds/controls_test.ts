/**
 * Each fault that the connection ever had, brought back by taking its guard out: the worlds find it, with a story. Of the others:
 * - a connection that breaks in a question, with a beginning in the queue: `connected` begins with `settling`, which holds no permit;
 * - a late timer of an earlier state: its number is in no state (`lateTimer` shows a state that keeps one).
 */
import { assertEquals } from "@std/assert";
import { acknowledgedAfterLost, busyQuestion, lateTimer, revivedSubscription } from "./controls.ts";
import { explore, type World } from "./explore.ts";
import { memberInStep } from "./member_in_step.ts";
import { restoredOwner } from "./restored_owner.ts";
import type { SmallState } from "./small_world.ts";

function finds(name: string, promise: string, world: World<SmallState>): void {
  Deno.test(`the world finds: ${name}`, () => {
    const { faults } = explore(world, 100_000);
    assertEquals(faults.some(({ why }) => why.startsWith(promise)), true, `found: ${faults.map(({ why }) => why)}`);
  });
}

const [send, isRestored] = [1, false];
const withoutPermit = { permitToEnter: false };
const atOnce = { comparedFirst: false };

finds("a subscription revived by its beginning", "S2", restoredOwner({ send }, { step: revivedSubscription }));
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

/**
 * A relay that lies, once in each way, and is honest again. No key is used twice, nothing is done
 * on a connection that was not compared, and the agent comes back, or its program is told that the
 * channel is over.
 */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, type World } from "./explore.ts";
import { memberInStep } from "./member_in_step.ts";
import { restoredOwner } from "./restored_owner.ts";
import { setBackLog } from "./set_back_log.ts";
import type { SmallState } from "./small_world.ts";

function world(name: string, of: World<SmallState>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, of, 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

const [lie, isRestored] = [1, false];
world("a relay lies to a member in step", memberInStep({ lie, send: 1 }));
world(
  "a relay lies to a member whose commit it has taken",
  memberInStep({ lie, send: 1 }, { isTaken: true }),
);
world(
  "a relay lies to an owner that has founded anew",
  restoredOwner({ lie, send: 1 }, { isRestored }),
);
world("a relay lies to an owner whose store was restored", restoredOwner({ lie, busy: 1 }));

if (inCampaign) {
  world(
    "a relay lies to a member in step, and is busy",
    memberInStep({ lie, busy: 1, broken: 1, send: 1 }),
  );
  world(
    "two lies to a member in step, and a broken connection",
    memberInStep({ lie: 2, broken: 1 }),
  );
  world("a lie to a member that sends and commits", memberInStep({ lie, send: 1, change: 1 }));
  world(
    "two lies to an owner that has founded anew",
    restoredOwner({ lie: 2, broken: 1 }, { isRestored }),
  );
  world(
    "a lie to an owner that calls recover()",
    restoredOwner({ lie, recover: 1, busy: 1, send: 1 }, { isRestored }),
  );
  world(
    "a lie to an owner whose store was restored, and that calls recover()",
    restoredOwner({ lie, recover: 1, broken: 1 }),
  );
  world("a lie after a log was set back", setBackLog({ lie, setBack: 1, busy: 1 }));
}

/** No key is used twice, nothing is done on a connection that was not compared, nobody is stuck. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { restoredOwner } from "./restored_owner.ts";

function world(name: string, ...of: Parameters<typeof restoredOwner>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, restoredOwner(...of), 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("a restored owner comes back by a rejoin: busy, broken and late once", {
  busy: 1,
  broken: 1,
  late: 1,
  send: 1,
});
world("a restored owner comes back by a rejoin: recover(), busy and late once", {
  busy: 1,
  recover: 1,
  late: 1,
  send: 1,
});
world("an owner whose store is the latest enters its founding", { busy: 1, late: 1, send: 1 }, {
  isRestored: false,
});
world("the same, with a message that was read before", { busy: 1, broken: 1, send: 1 }, {
  isRestored: false,
  isRead: true,
});

if (inCampaign) {
  const once = { busy: 1, broken: 1, late: 1, recover: 1, send: 1 };
  world("a restored owner: everything once, with a slow disk", once, { isThorough: true });
  world("an owner whose store is the latest: everything once", once, { isRestored: false });
  world("a restored owner: busy, broken, late and recover() three times", {
    busy: 3,
    broken: 3,
    late: 3,
    recover: 3,
    send: 1,
  });
}

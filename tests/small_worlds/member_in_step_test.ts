/** A member in step with an open commit, restored copies, fetches, kills. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { memberInStep } from "./member_in_step.ts";

function world(name: string, ...of: Parameters<typeof memberInStep>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, memberInStep(...of), 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("an older copy is put back, and the agent sends: no key is used twice", { send: 2, copy: 1 });
world("a commit of ours was taken before the connection", { busy: 1, broken: 1, change: 1 }, {
  isTaken: true,
});
world("commits of two members cross while the relay is busy and a connection breaks", {
  busy: 1,
  broken: 1,
  commit: 1,
});
world("a process is killed while commits cross", { kill: 1, commit: 1, change: 1 });
world("the log is fetched again while a message comes", { message: 1, fetch: 1, busy: 1 });
world("a relay sends more than the window holds", { large: 2, message: 2, busy: 1 });

if (inCampaign) {
  world("a copy, two messages and a commit of the other", { send: 2, copy: 1, commit: 1 });
  world("fetched, late and broken while a message comes", {
    broken: 1,
    message: 1,
    fetch: 1,
    late: 1,
  });
  world("a copy and a member that asks to rejoin", { ask: 1, copy: 1, send: 1 });
  world("a relay sends more than the window holds, twice, and a connection breaks", {
    large: 4,
    message: 4,
    busy: 1,
    broken: 1,
  });
  world("slow disks, kills and crossing commits", { kill: 1, commit: 1, change: 1, broken: 1 }, {
    isThorough: true,
  });
}

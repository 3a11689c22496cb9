/** A log that is set back takes a stop back, or brings it again, and nobody stays out. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { setBackStop } from "./set_back_stop.ts";

function world(name: string, ...of: Parameters<typeof setBackStop>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, setBackStop(...of), 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("a log is set back to before a stop", { setBack: 1 });
world("the same, with a member that could follow", { setBack: 1 }, { isFollowed: true });
world("the same, while recover() runs", { setBack: 1, recover: 1 });

if (inCampaign) {
  world("a log is set back: recover(), late", { setBack: 1, recover: 1, late: 1 });
  world("a log is set back: recover(), and a commit", { setBack: 1, recover: 1, commit: 1 });
  world("a log is set back: a commit, with a member that could follow", { setBack: 1, commit: 1 }, {
    isFollowed: true,
  });
  world("a log is set back: a commit and a kill", { setBack: 1, commit: 1, kill: 1 });
}

/**
 * Commits that a log has lost are put back, by an agent or by others, and nobody blames the relay.
 */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { setBackLog } from "./set_back_log.ts";

function world(name: string, ...of: Parameters<typeof setBackLog>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, setBackLog(...of), 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("a log is set back, and its relay is busy", { setBack: 1, busy: 1, message: 1 });
world("a log is set back, and another commit stands in the place of a lost one", {
  setBack: 1,
  commit: 1,
  broken: 1,
});
world("a log is set back while a process is killed", { setBack: 1, kill: 1, broken: 1 });

if (inCampaign) {
  world("a log is set back twice: busy, broken and late twice", {
    setBack: 2,
    busy: 2,
    broken: 2,
    late: 2,
    send: 1,
  });
  world("a log is set back while commits of two members cross", {
    setBack: 1,
    commit: 2,
    change: 1,
    busy: 1,
    broken: 1,
  });
  world(
    "a log is set back, with a slow disk",
    { setBack: 1, busy: 1, broken: 1, kill: 1, send: 1 },
    {
      isThorough: true,
    },
  );
}

/** Commits of two members cross, and nobody is left behind. */
import { inCampaign, tried } from "../support/campaign.ts";
import { crossingCommits } from "./crossing_commits.ts";
import { checkAll } from "./explore.ts";

function world(name: string, ...of: Parameters<typeof crossingCommits>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, crossingCommits(...of), 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("commits cross, and an answer is lost", { changes: 2, lost: 1, late: 1 });
world("a process is killed while commits cross", { changes: 2, kill: 1, late: 1 });
world("a busy relay takes a commit late", { changes: 1, lost: 1, busy: 1, late: 1 });
world("the relay fails at a commit, and takes it, or takes it late", {
  changes: 2,
  kill: 1,
  fails: 1,
  late: 1,
});
world("an addition is given up, and taken late", { adds: 1, kill: 1, late: 1 });
world("one that was added leaves before its adder knows of its own commit", {
  adds: 1,
  leaves: 1,
  lost: 1,
  late: 1,
  broken: 1,
});
world("a connection breaks while commits cross", { changes: 2, broken: 1 });

if (inCampaign) {
  world("three changes, an answer lost and one late", { changes: 3, lost: 1, late: 1 });
  world("two changes: killed, lost, busy and late", {
    changes: 2,
    lost: 1,
    late: 1,
    kill: 1,
    busy: 1,
  });
  world("two changes: killed, broken and late", { changes: 2, broken: 1, kill: 1, late: 1 });
  world("two additions, two kills, two late", { adds: 2, kill: 2, late: 2 });
  world("an addition and a change: killed, lost and late", {
    adds: 1,
    changes: 1,
    lost: 1,
    kill: 1,
    late: 1,
  });
  world("three changes, killed, lost and late", { changes: 3, lost: 1, kill: 1, late: 1 });
}

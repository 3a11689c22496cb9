/** A member that leaves beside a commit, a way back and a founding is left behind nowhere. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll, checkFound } from "./explore.ts";
import { leavingMember } from "./leaving_member.ts";

type Setting = Parameters<typeof leavingMember>;

function world(name: string, ...of: Setting): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, leavingMember(...of), 10_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

function finds(what: string, promise: string, ...of: Setting): void {
  Deno.test(`the world finds ${what}`, () => checkFound(leavingMember(...of), promise));
}

world("a member leaves beside a commit, and is killed", { leave: 1, change: 1, kill: 1 });
world("a member calls leave() twice, and an answer is lost", { leave: 2, change: 1, lost: 1 });
world("a member leaves while another one lets it in anew", { leave: 1, change: 1, anew: 1 });
world("a member leaves while its connection breaks and its commit is taken late", {
  leave: 1,
  change: 1,
  broken: 1,
  late: 1,
});
world("a member leaves while the relay fails at its commit", {
  leave: 1,
  change: 1,
  kill: 1,
  fails: 1,
});
world("a member leaves, and loses its answers again and again", {
  leave: 1,
  change: 1,
  kill: 1,
  lost: 4,
});
world("a member that is stopped leaves, and its founding is taken late", {
  leave: 1,
  broken: 1,
  late: 1,
}, {
  isStopped: true,
});
world("a member that has not read up to its stop leaves, and its founding is in the log", {
  leave: 2,
  broken: 1,
}, {
  isStopped: true,
  isUnread: true,
});
world("a member that is stopped leaves, and is let in anew", { leave: 1, anew: 1, lost: 1 }, {
  isStopped: true,
});
world("the last owner is stopped, leaves, and is let in anew", { leave: 1, anew: 1, lost: 1 }, {
  isStopped: true,
  owns: "with_others",
});

for (const owns of ["with_others", "alone"] as const) {
  world(`the last owner leaves (${owns}): a change, and an answer is lost`, {
    leave: 1,
    change: 1,
    lost: 1,
  }, { owns });
  world(`the last owner leaves (${owns}): killed, and its connection breaks`, {
    leave: 2,
    change: 1,
    kill: 1,
    broken: 1,
  }, { owns });
}
world("the last owner leaves, and is let in anew", { leave: 1, change: 1, anew: 1 }, {
  owns: "with_others",
});
world("the last owner leaves, and its commits are taken late", {
  leave: 1,
  change: 1,
  lost: 1,
  late: 1,
}, {
  owns: "with_others",
});

finds("a last owner that hands nothing on", "S3", { leave: 1 }, {
  owns: "with_others",
  handsOn: false,
});
finds("a last owner that goes while it is on its way back", "S3", { leave: 1, anew: 1 }, {
  owns: "with_others",
  isKept: false,
});
finds("a channel that is closed for its newcomer", "S3", { leave: 1, change: 1, lost: 1 }, {
  owns: "alone",
  counts: false,
});
finds("a leave beside a commit that is open", "S3", { leave: 1, change: 1, broken: 1 }, {
  settles: false,
});
finds("a statement that does not name its membership", "S3", { leave: 1, anew: 1 }, {
  names: false,
});

if (inCampaign) {
  for (const owns of ["with_others", "alone"] as const) {
    const left = { leave: 1, change: 1, kill: 1, lost: 1, late: 1 };
    world(
      `the last owner leaves (${owns}): killed, lost, broken and late`,
      { ...left, broken: 1 },
      { owns },
    );
  }
  world("the last owner calls leave() twice, is killed, and let in anew", {
    leave: 2,
    change: 1,
    kill: 1,
    lost: 1,
    anew: 1,
  }, { owns: "with_others" });
  world("leave() twice, three kills, a connection that breaks, let in anew", {
    leave: 2,
    change: 1,
    kill: 3,
    broken: 1,
    anew: 1,
  });
  world("leave() twice beside a commit: killed, lost, broken and late", {
    leave: 2,
    change: 1,
    kill: 1,
    lost: 1,
    broken: 1,
    late: 1,
  });
  world("stopped: leave() twice, killed, lost, broken, late and let in anew", {
    leave: 2,
    kill: 1,
    lost: 1,
    broken: 1,
    late: 1,
    anew: 1,
  }, { isStopped: true });
}

/** A member reads a log. A message is shown once, and nobody is out of step by itself. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { readingMember } from "./reading_member.ts";

function world(name: string, ...of: Parameters<typeof readingMember>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, readingMember(...of), 10_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("a member reads messages and commits, and is killed", { message: 2, commit: 1, kill: 1 });
world("a member reads with room for one message", { message: 3, commit: 1 }, { room: 1 });
world("a member with room for one message, killed", { message: 2, commit: 1, kill: 1 }, {
  room: 1,
});
world("a founding between messages, and no room", { message: 2, founding: 1 }, { room: 1 });
world("a founding between messages, and a kill", { message: 2, founding: 1, kill: 1 });
world("our own commits between others", { message: 1, commit: 1, own: 1, lost: 1, busy: 1 });
world("a commit of ours, and a kill", { message: 1, own: 1, kill: 1 });
world("one lie among messages and a commit", { message: 2, commit: 1, lie: 1 });
world("one lie about a member that is removed", { carol: 1, message: 1, removal: 1, lie: 1 });
world("one lie beside a commit of ours", { message: 1, commit: 1, own: 1, lie: 1 });
world("one lie about a founding", { message: 1, founding: 1, lie: 1 });
world("two lies about commits", { commit: 2, lie: 2 });
world("a relay that changes each commit, for ever", { commit: 1, message: 1 }, { isLiar: true });

if (inCampaign) {
  const busy = { own: 1, lost: 1, busy: 1 };
  world("our own commits, killed, broken, a busy relay", {
    message: 2,
    commit: 1,
    ...busy,
    broken: 1,
    kill: 1,
  });
  world("the same, and room for one message", {
    message: 2,
    commit: 1,
    ...busy,
    broken: 1,
    kill: 1,
  }, { room: 1 });
  world("two commits of ours, one lie, killed and broken", {
    ...busy,
    own: 2,
    message: 1,
    lie: 1,
    kill: 1,
    broken: 1,
  });
  world("one lie among messages of two and a commit", { message: 2, carol: 1, commit: 1, lie: 1 });
  world("two lies among messages and a commit, and a kill", {
    message: 2,
    commit: 1,
    lie: 2,
    kill: 1,
  });
  world("two lies about a removal and a commit, and a kill", {
    message: 1,
    carol: 1,
    removal: 1,
    commit: 1,
    lie: 2,
    kill: 1,
  });
  world("two lies, room for one message, and a founding", { message: 2, founding: 1, lie: 2 }, {
    room: 1,
  });
  world("one lie, a founding, a kill", { message: 2, founding: 1, commit: 1, lie: 1, kill: 1 }, {
    room: 1,
  });
  world("two lies about commits, ours too", { message: 1, commit: 1, ...busy, lie: 2 });
  world("three lies about commits", { message: 1, commit: 2, lie: 3, busy: 1 });
  world(
    "a removal, room for one message, a lie, a kill",
    { carol: 2, removal: 1, lie: 1, kill: 1 },
    { room: 1 },
  );
  world("a founding, a commit of ours, killed and broken", {
    message: 2,
    founding: 1,
    own: 1,
    kill: 1,
    broken: 1,
  });
}

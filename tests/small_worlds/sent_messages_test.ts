/** Every message that was accepted is shown once, and every send ends. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { sentMessages } from "./sent_messages.ts";

function world(name: string, ...of: Parameters<typeof sentMessages>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, sentMessages(...of), 10_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

const alone = { mayBundle: false };

world("an answer is lost while another member commits", { messages: 2, lost: 1, commit: 1 }, alone);
world("a connection breaks, and what was sent is taken late", {
  messages: 2,
  broken: 1,
  late: 1,
  withdrawn: 1,
});
world("a process is killed while it sends", { messages: 1, known: 1, kill: 1, again: 1, late: 1 });
world("the relay has no room, or is busy", { messages: 2, noRoom: 1, busy: 1 }, alone);
world("messages are queued without a connection", {
  queued: 1,
  messages: 1,
  broken: 1,
  withdrawn: 1,
});
world("the quota does not cover a bundle", { messages: 2, quota: 1, refused: 1, withdrawn: 1 });
world("two messages are given as one, and to the next process again", {
  groups: 1,
  quota: 1,
  kill: 1,
  again: 1,
});
world("a member is let in anew while it sends", { messages: 2, broken: 1, anew: 1 });

if (inCampaign) {
  world(
    "four messages: killed twice, lost and late",
    { messages: 4, kill: 2, lost: 1, late: 1 },
    alone,
  );
  world("three messages, a commit, no room, a broken connection, and late", {
    messages: 3,
    commit: 1,
    noRoom: 1,
    broken: 1,
    late: 1,
  });
  world("three messages: let in anew, lost and given up", {
    messages: 3,
    broken: 1,
    anew: 1,
    lost: 1,
    withdrawn: 1,
  });
}

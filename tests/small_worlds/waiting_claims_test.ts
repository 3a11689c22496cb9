/** Statements that wait hide nothing, and make nobody look present: in every order. */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { type ClaimSetting, waitingClaims } from "./waiting_claims.ts";

function world(name: string, setting: ClaimSetting): void {
  Deno.test(`statements that wait: ${name}`, () => {
    const { states, transitions } = checkAll(name, waitingClaims(setting), 1_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

const [by, isForged] = ["bob", true] as const;

world("true, made up and contradicting ones of one member", {
  words: [
    { by, epoch: 7, times: 2 },
    { by, epoch: 8 },
    { by, epoch: 7, isForged },
    { by, epoch: 8, isForged },
    { by, epoch: 7, state: 99 },
  ],
  left: { enter: 1 },
});
world("a relay that makes up states, and a member that speaks", {
  words: [
    { by, epoch: 7 },
    { by, epoch: 8, state: 98 },
    { by, epoch: 8 },
    { by, epoch: 8, state: 97, isForged },
    { by, epoch: 9, isForged },
  ],
  left: { enter: 2, speak: 1 },
});
world("a liar that makes up claims of its own, and others that differ where we were not", {
  words: [
    { by, epoch: 7 },
    { by, epoch: 8, isForged },
    { by, epoch: 7, state: 99 },
    { by, epoch: 3, state: 99 },
    { by: "carol", epoch: 3 },
  ],
  left: { enter: 1 },
});
world("a liar, and others that differ about an epoch that we were not in", {
  words: [
    { by, epoch: 3 },
    { by, epoch: 3, state: 99 },
    { by: "carol", epoch: 3, state: 99 },
    { by: "dave", epoch: 3, state: 98 },
    { by: "carol", epoch: 7 },
    { by: "dave", epoch: 7 },
  ],
});
world("a process that dies, and statements that are repeated", {
  words: [{ by, epoch: 7, times: 2 }, { by, epoch: 8 }],
  left: { enter: 1, minute: 1, days: 1, crash: 1 },
});
world("members that were never heard of", {
  words: [{ by, epoch: 7, times: 2 }, { by, epoch: 8, isForged }, { by, epoch: 8 }],
  left: { enter: 1, minute: 1, crash: 1 },
  isFirst: true,
});
world("an agent that joins anew, into another group", {
  words: [
    { by, epoch: 7 },
    { by, epoch: 8 },
    { by, epoch: 8, state: 108 },
  ],
  left: { enter: 2, rejoin: 1, speak: 1 },
});

if (inCampaign) {
  world("a process that dies twice, beside a relay that makes up statements", {
    words: [{ by, epoch: 7, times: 2 }, { by, epoch: 8, times: 2 }, { by, epoch: 8, isForged }],
    left: { enter: 1, minute: 1, days: 2, crash: 2 },
  });
  world("all at once", {
    words: [
      { by, epoch: 7 },
      { by, epoch: 8 },
      { by, epoch: 8, state: 108 },
      { by, epoch: 9, isForged },
      { by: "carol", epoch: 8 },
    ],
    left: { enter: 2, rejoin: 1, speak: 1, crash: 1 },
  });
}

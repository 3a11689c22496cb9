/**
 * Whatever owners set, members lose and a hostile one commits: members judge alike, nobody comes in
 * by a closed door, no honest member is blamed, and all that ask come back.
 */
import { inCampaign, tried } from "../support/campaign.ts";
import { type DoorSetting, doorsOfLetters } from "./doors_of_letters.ts";
import { checkAll } from "./explore.ts";

function world(name: string, setting: DoorSetting): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, doorsOfLetters(setting), 5_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

const open = { P: "open" } as const;
const rotated = { P: "closed", Q: "open" } as const;

world("an owner rotates its issuers while members renew, heal and lose step", {
  left: { set: 2, renew: 1, heal: 1, lose: 1 },
  issuers: open,
});
world("an owner requires badges, takes them back and names who goes, while somebody comes", {
  left: { set: 2, renew: 1, add: 1 },
  ahead: ["m"],
});
world("badges are over by some clocks: members heal and come back, newcomers do not come", {
  left: { expire: 1, renew: 1, heal: 1, lose: 1, add: 1 },
  issuers: open,
  ahead: ["m"],
});
world("a hostile member lets somebody in, and the owner begins anew without a KeyPackage", {
  left: { hostile: 1, withhold: 1, renew: 1 },
  issuers: rotated,
});
world("a hostile commit beside a change of the issuers and a lost step", {
  left: { hostile: 1, set: 1, lose: 1 },
  issuers: open,
});

if (inCampaign) {
  world("everything at once, with another member", {
    left: { set: 2, renew: 2, heal: 1, add: 1, lose: 1, hostile: 1, withhold: 1, expire: 1 },
    members: ["o", "m", "n", "h"],
    issuers: open,
    ahead: ["n"],
  });
  world("three changes of the issuers, and two members that come back", {
    left: { set: 3, renew: 3, heal: 1, lose: 2, expire: 1 },
    members: ["o", "m", "n", "h"],
    ahead: ["m"],
  });
}

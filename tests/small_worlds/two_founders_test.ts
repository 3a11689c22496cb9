/**
 * All come into one generation, also when a founding is taken late and its founder was let in
 * before.
 */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { twoFounders } from "./two_founders.ts";

function world(name: string, ...of: Parameters<typeof twoFounders>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, twoFounders(...of), 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

const founders = ["alice"];

world("an owner founds, and a member follows: late", { recover: 1, late: 1 }, { founders });
world("an owner is let in, and the relay takes its founding late, with nobody else in it", {
  recover: 1,
  late: 1,
}, {
  founders,
  following: ["bob"],
  present: [],
});
world("the same, with a member in it that could follow the commit", { recover: 1, late: 1 }, {
  founders,
  following: ["bob"],
});
world("one of two owners founds", { recover: 1 });
world("an owner founds, without a member or with it", { recover: 2 }, {
  founders,
  lists: [["bob"], []],
});
const needsChoice = { founders, line: ["bob"], needsChoice: true, lists: [[]] };
world("an owner must say who goes", { recover: 2 }, needsChoice);
world("an owner that names a member is let in, and the relay takes its founding late", {
  recover: 1,
  late: 1,
}, {
  founders,
  following: ["bob"],
  lists: [["bob"]],
});

if (inCampaign) {
  world("an owner must say who goes: late", { recover: 2, late: 1 }, needsChoice);
  world("an owner founds: late and a broken connection", { recover: 1, late: 1, broken: 1 }, {
    founders,
  });
  world("an owner founds: late and a kill", { recover: 1, late: 1, kill: 1 }, { founders });
  world("two owners found", { recover: 2 });
  const lists = [["bob"], []];
  world("an owner founds, without a member or with it: late", { recover: 2, late: 1 }, {
    founders,
    lists,
  });
  world("an owner founds, without a member or with it: broken", { recover: 2, broken: 1 }, {
    founders,
    lists,
  });
  world("an owner founds, without a member or with it: late and a kill", {
    recover: 2,
    late: 1,
    kill: 1,
  }, {
    founders,
    lists,
  });
  world("one of two owners founds, without a member or with it: late", { recover: 1, late: 1 }, {
    lists: [["bob"]],
  });
}

/**
 * A member comes back, whatever useless Welcomes and leaves it is told, also into a later
 * generation.
 */
import { inCampaign, tried } from "../support/campaign.ts";
import { checkAll } from "./explore.ts";
import { toldLeaves } from "./told_leaves.ts";

function world(name: string, ...of: Parameters<typeof toldLeaves>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, toldLeaves(...of), 20_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("a member comes back: a useless Welcome and a connection that breaks", {
  welcome: 1,
  broken: 1,
});
world("a member comes back: three useless Welcomes and two wrong leaves", { welcome: 3, leaf: 2 });
world("a member comes back into a later generation", { begin: 1 });

if (inCampaign) {
  world(
    "a member comes back into a later generation: three useless Welcomes and two wrong leaves",
    {
      welcome: 3,
      leaf: 2,
      begin: 1,
    },
  );
}

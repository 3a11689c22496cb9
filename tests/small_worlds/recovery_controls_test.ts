/**
 * Each fault that these rules keep away, brought back by taking a rule out: the worlds find it,
 * with a story.
 */
import { checkFound, isStuck, type World } from "./explore.ts";
import {
  deafFounder,
  enteredWithoutPermit,
  foundingForgotten,
  namedIgnored,
  sentBeforeDisk,
  stopInMemory,
} from "./recovery_controls.ts";
import type { RecoveringState } from "./recovering_state.ts";
import { twoFounders } from "./two_founders.ts";

function finds(name: string, why: string, world: World<RecoveringState>): void {
  Deno.test(`the world finds: ${name}`, () => checkFound(world, why));
}

const founders = ["alice"];
const late = { founders, following: ["bob"], present: [] };

finds(
  "a generation is entered without a permit",
  "S2",
  twoFounders({ recover: 1, late: 1 }, { ...late, step: enteredWithoutPermit }),
);
finds(
  "a founding is sent before it is on disk",
  "S1",
  twoFounders({ recover: 1 }, { founders, step: sentBeforeDisk }),
);
finds(
  "a founding is forgotten by a Welcome",
  isStuck,
  twoFounders({ recover: 1, late: 1 }, { ...late, step: foundingForgotten }),
);
finds(
  "a founder does not hear those that left for it",
  isStuck,
  twoFounders({ recover: 1, late: 1 }, { ...late, step: deafFounder }),
);
finds(
  "a call returns although a member that it named is in",
  "S9",
  twoFounders({ recover: 1 }, {
    founders,
    following: ["bob"],
    lists: [["bob"]],
    step: namedIgnored,
  }),
);
finds(
  "a stop is in memory alone",
  "S7",
  twoFounders({}, { founders, isUnread: true, step: stopInMemory }),
);

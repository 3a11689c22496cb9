/** A relay that shows one log to all blames nobody, and one that shows several is found out. */
import { assert, assertEquals } from "@std/assert";
import { restoreOrder, stepOrder } from "../../sdk/channel/testing/order.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { checkAll, checkFound } from "./explore.ts";
import { live } from "./live.ts";
import {
  lastWords,
  type OrderMachine,
  type SeenBudgets,
  seenLogs,
  type SeenState,
} from "./seen_logs.ts";

type Left = Partial<SeenBudgets>;

function world(name: string, ...of: Parameters<typeof seenLogs>): void {
  Deno.test(name, () => {
    const { states, transitions } = checkAll(name, seenLogs(...of), 10_000_000);
    tried(`${states} states and ${transitions} transitions of: ${name}`);
  });
}

world("two members speak across a commit", { send: 2, commit: 1 });
world("answers are lost, and members give up", { send: 2, lost: 1, giveUp: 1 });
world("processes are closed and killed", { send: 2, close: 1, kill: 1 });
world("a member joins", { send: 1, join: 1 });
world("messages give way to a gap", { send: 2, gap: 1 });
world("a message is kept from somebody", { send: 2, commit: 1, hide: 1 });
world("two messages are shown in another order", { send: 3, swap: 1 });
world("a sender is told another place", { send: 2, commit: 1, misplace: 1 });
if (inCampaign) {
  world("two members speak across two commits", { send: 3, commit: 2 });
  world("answers are lost across a commit", { send: 3, commit: 1, lost: 1, giveUp: 1 });
  world("processes are killed across a commit", {
    send: 2,
    commit: 1,
    write: 1,
    close: 1,
    kill: 1,
  });
  world("a member joins beside a commit", { send: 2, join: 1, commit: 1 });
  world("messages give way across a commit", { send: 3, commit: 1, gap: 1 });
  world("messages are kept from somebody across commits", { send: 3, commit: 2, hide: 1 });
  world("three members are shown different orders", { send: 3, swap: 1 }, 3);
}

function finds(what: string, promise: string, machine: Partial<OrderMachine>, left: Left): void {
  Deno.test(`the world finds ${promise} without a guard: ${what}`, () => {
    checkFound(seenLogs(left, 2, { step: stepOrder, restore: restoreOrder, ...machine }), promise);
  });
}

finds("words are compared", "O2", {
  step: (state, event) => event.type === "opened" ? [] : stepOrder(state, event),
}, { send: 2, hide: 1 });
finds("our own messages count", "O1", {
  step: (state, event) =>
    stepOrder(
      state,
      event.type === "stands" ? { ...event, type: "dropped", mayStand: false } : event,
    ),
}, { send: 3 });
finds("an unanswered message of ours holds our place", "O1", {
  step: (state, event) => {
    const findings = stepOrder(state, event);
    state.out = state.out.map((each) => ({ ...each, after: Infinity }));
    return findings;
  },
}, { send: 3 });
finds("a gap makes unsure", "O1", {
  step: (state, event) =>
    stepOrder(state, event.type === "passed" ? { ...event, isGap: false } : event),
}, { send: 2, gap: 1 });
finds("a message that is given up may stand", "O1", {
  step: (state, event) =>
    stepOrder(state, event.type === "dropped" ? { ...event, mayStand: false } : event),
}, { send: 3, giveUp: 1 });
finds("a process that was killed is not sure", "O1", {
  restore: ({ record, ...rest }) =>
    restoreOrder({ ...rest, record: record && { ...record, isOpen: false } }),
}, { send: 2, kill: 1 });
finds("our own messages are on disk when it ends", "O1", {
  restore: ({ record, ...rest }) =>
    restoreOrder({ ...rest, record: record && { ...record, own: [] } }),
}, { send: 3, close: 1 });
finds("a known order is said", "O4", {
  step: (state, event) => {
    const findings = stepOrder(state, event);
    state.unsureThrough = 10;
    return findings;
  },
}, { send: 1 });
finds("an epoch begins anew", "O1", {
  step: (state, event) => {
    const [point] = state.points;
    if (point !== undefined && state.points.length === 1) {
      state.points[0] = { ...point, before: point.hash };
    }
    return stepOrder(state, event);
  },
}, { send: 2, join: 1 });

if (inCampaign) {
  finds("words of the epoch before are compared", "O2", {
    step: (state, event) => {
      if (event.type !== "opened") return stepOrder(state, event);
      return stepOrder(state, { ...event, word: { ...event.word, before: undefined } });
    },
  }, { send: 3, commit: 1, hide: 1 });
}

// Schedules by chance

const schedules = inCampaign ? 10_000 : 100;

function upTo(random: Random, most: Left): Left {
  return Object.fromEntries(
    Object.entries(most).map(([name, number]) => [name, random.below(number + 1)]),
  );
}

interface Told {
  torn: number;
  noticed: number;
}

function schedule(random: Random, left: Left): Told {
  const world = seenLogs(left, 2 + random.below(2));
  let last: SeenState = world.start;
  live(
    {
      ...world,
      broken: (state) => {
        last = state;
        return state.fault;
      },
    },
    random,
    20 + random.below(100),
  );
  const { isTorn, isNoticed } = lastWords(last);
  if (last.fault !== undefined) throw new Error(last.fault);
  return { torn: Number(isTorn), noticed: Number(isNoticed) };
}

function all(name: string, left: (random: Random) => Left, check: (told: Told) => void): void {
  Deno.test(name, () => {
    const seeds = createRandom(seedFromEnvironment());
    const sum: Told = { torn: 0, noticed: 0 };
    for (let count = 0; count < schedules; count++) {
      // The first has the seed that is given: a failed one is repeated alone.
      const random = createRandom(count === 0 ? seeds.seed : seeds.uint32());
      try {
        const told = schedule(random, left(random));
        check(told);
        sum.torn += told.torn;
        sum.noticed += told.noticed;
      } catch (error) {
        throw new Error(
          `STATIC_TEST_SEED=${random.seed}: ${error instanceof Error ? error.message : error}`,
        );
      }
    }
    tried(
      `${schedules} schedules, ${name}: ${sum.torn} with different logs, ${sum.noticed} noticed, seed ${seeds.seed}`,
    );
  });
}

const calm: Left = { send: 7, commit: 3, join: 1, write: 3, close: 2, lost: 2 };
const faults: Left = { ...calm, kill: 2, giveUp: 1, gap: 1 };
const lies: Left = { hide: 2, swap: 2, misplace: 1 };

all(
  "an honest relay, processes that are killed, members that join",
  (random) => upTo(random, faults),
  ({ noticed }) => {
    assertEquals(noticed, 0);
  },
);
all(
  "different logs among members that are sure",
  (random) => upTo(random, { ...calm, ...lies }),
  ({ torn, noticed }) => {
    assert(torn === 0 || noticed > 0, "nobody has noticed that the logs differ");
  },
);
all("different logs and faults", (random) => upTo(random, { ...faults, ...lies }), () => {});

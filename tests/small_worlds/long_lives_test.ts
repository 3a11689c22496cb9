/**
 * Stories by chance, far beyond the budgets of which every state is visited: nobody is stuck, and
 * no promise breaks. Without lies about commits: where they are told, commits are letters, and know
 * less of such lies than the commits' own machine.
 */
import { createRandom, type Random, seedFromEnvironment } from "../support/mod.ts";
import { inCampaign, tried } from "../support/campaign.ts";
import { crossingCommits } from "./crossing_commits.ts";
import type { World } from "./explore.ts";
import { leavingMember } from "./leaving_member.ts";
import { live } from "./live.ts";
import { memberInStep } from "./member_in_step.ts";
import { namesOfAgent } from "./names_of_agent.ts";
import { readingMember } from "./reading_member.ts";
import { restoredOwner } from "./restored_owner.ts";
import { setBackLog } from "./set_back_log.ts";
import { setBackStop } from "./set_back_stop.ts";
import { toldLeaves } from "./told_leaves.ts";
import { twoFounders } from "./two_founders.ts";

const lives = inCampaign ? 100_000 : 30;
const maxMoves = 200;

function world<S>(name: string, create: (random: Random) => World<S>): void {
  Deno.test(`a long life: ${name}`, () => {
    const seeds = createRandom(seedFromEnvironment());
    let moves = 0;
    for (let count = 0; count < lives; count++) {
      // The first has the seed that is given: a failed one is repeated alone.
      const random = createRandom(count === 0 ? seeds.seed : seeds.uint32());
      try {
        moves += live(create(random), random, 1 + random.below(maxMoves));
      } catch (error) {
        throw new Error(
          `STATIC_TEST_SEED=${random.seed}: ${error instanceof Error ? error.message : error}`,
        );
      }
    }
    tried(`${lives} lives of ${moves} moves by chance, ${name}, from seed ${seeds.seed}`);
  });
}

/** A number up to that for each. */
function upTo<K extends string>(
  random: Random,
  most: Readonly<Record<K, number>>,
): Record<K, number> {
  const drawn = Object.entries<number>(most).map((
    [name, number],
  ) => [name, random.below(number + 1)]);
  // cast: the same keys
  return Object.fromEntries(drawn) as Record<K, number>;
}

world("commits of two members cross", (random) =>
  crossingCommits(
    upTo(random, {
      changes: 4,
      adds: 2,
      leaves: 2,
      lost: 3,
      broken: 3,
      kill: 3,
      busy: 3,
      fails: 3,
      late: 3,
    }),
  ));
world(
  "a member leaves",
  (random) =>
    leavingMember(
      upTo(random, {
        leave: 3,
        change: 3,
        lost: 4,
        broken: 4,
        kill: 4,
        late: 3,
        anew: 1,
        fails: 3,
      }),
      {
        isStopped: random.chance(0.3),
        owns: random.pick(["beside_an_owner", "with_others", "alone"]),
      },
    ),
);
world(
  "an owner comes back from a backup",
  (random) =>
    restoredOwner(upTo(random, { busy: 4, broken: 4, late: 4, recover: 3, send: 3, kill: 3 }), {
      isRestored: random.chance(0.5),
    }),
);
world("a member in step", (random) =>
  memberInStep(
    upTo(random, {
      busy: 3,
      broken: 4,
      send: 3,
      change: 2,
      kill: 3,
      copy: 2,
      message: 3,
      commit: 3,
      ask: 2,
      fetch: 3,
    }),
    { isTaken: random.chance(0.5) },
  ));
world("a member reads a log", (random) =>
  readingMember(
    upTo(random, {
      message: 4,
      carol: 2,
      commit: 3,
      removal: 1,
      founding: 2,
      own: 2,
      lost: 1,
      lie: 3,
      busy: 3,
      broken: 3,
      kill: 3,
    }),
    random.chance(0.5) ? { room: 1 } : {},
  ));
world(
  "a log is set back",
  (random) =>
    setBackLog(
      upTo(random, {
        setBack: 3,
        commit: 2,
        change: 2,
        busy: 3,
        broken: 3,
        late: 3,
        kill: 3,
        send: 2,
      }),
    ),
);
world(
  "a log is set back to before a stop",
  (random) => {
    // A founding of before that comes late into a log that was set back to before a return: nobody
    // could enter it (docs, not covered).
    const isFollowed = random.chance(0.5);
    const late = isFollowed ? 0 : 3;
    return setBackStop(
      upTo(random, { setBack: 1, recover: 3, late, commit: 2, kill: 3, broken: 4 }),
      { isFollowed },
    );
  },
);
world(
  "two owners found",
  (random) =>
    twoFounders(upTo(random, { recover: 4, late: 3, broken: 4, kill: 3, busy: 3 }), {
      following: random.chance(0.3) ? ["bob"] : [],
    }),
);
world(
  "a member comes back",
  (random) =>
    toldLeaves(upTo(random, { welcome: 4, leaf: 4, begin: 1, broken: 4, kill: 3, busy: 3 })),
);
world("names of an agent", (random) =>
  namesOfAgent({
    begins: random.pick(["free", "open", "keyless"]),
    left: upTo(random, {
      calls: 7,
      kill: 3,
      lost: 3,
      lie: 1,
      fail: 3,
      unwritten: 2,
      removed: 2,
      stuck: 2,
      let: 3,
      closed: 1,
      late: 3,
    }),
    hasOther: random.chance(0.3),
    kinds: ["create", "join", "open", "leave", "close", "invite"],
  }));

/**
 * An agent says about recordings never more than is so, whatever its channel goes through,
 * and no loss passes in silence.
 */
import { assert, assertEquals } from "@std/assert";
import { foundingEpoch, generationOf, parseAgentId } from "../../../proto/mod.ts";
import type { Sealing } from "../../mls/sealing_rules.ts";
import {
  lossAfter,
  lossText,
  type PostQuantum,
  postQuantumOf,
  type SealingLoss,
  type SealingStep,
} from "./post_quantum.ts";

type Group = SealingStep["before"];
type Rule = typeof lossAfter;

const preferred = (since: number): Sealing => ({ required: false, since });
const agent = (letter: string) => parseAgentId(`${letter.repeat(21)}A`);

/** A channel that prefers keys, its relay, and an agent in it. */
interface World {
  readonly group: Group;
  /** An attacker with all private keys of X25519 reads this epoch. */
  readonly isOpen: boolean;
  /** The relay's copy. */
  readonly saved: Pick<World, "group" | "isOpen"> | undefined;
  readonly known: Group;
  readonly loss: SealingLoss | undefined;
  readonly isAway: boolean;
  /** Epochs that the agent was in, and that are open. */
  readonly openEpochs: readonly number[];
}

const beginning: World = {
  group: { sealing: preferred(0), epoch: 0 },
  isOpen: false,
  saved: undefined,
  known: { sealing: preferred(0), epoch: 0 },
  loss: undefined,
  isAway: false,
  openEpochs: [],
};

function founded({ group }: World, isSealed: boolean): Pick<World, "group" | "isOpen"> {
  const epoch = foundingEpoch(generationOf(group.epoch) + 1) + 1;
  const sealing = isSealed ? preferred(group.sealing?.since ?? epoch) : undefined;
  return { group: { sealing, epoch }, isOpen: !isSealed };
}

function committed({ group }: World, isKeyless: boolean): Group {
  return { sealing: isKeyless ? undefined : group.sealing, epoch: group.epoch + 1 };
}

const events: Readonly<Record<string, (world: World) => Partial<World> | undefined>> = {
  "a commit": (world) => ({ group: committed(world, false) }),
  "a commit that adds an agent without a key": (world) => {
    return { group: committed(world, true), isOpen: true };
  },
  "a founding with keys": (world) => founded(world, true),
  "a founding with a member without a key": (world) => founded(world, false),
  "the relay is copied": ({ group, isOpen }) => ({ saved: { group, isOpen } }),
  // Members come back by a Welcome, which needs a commit.
  "the relay is set back": ({ saved }) =>
    saved && {
      ...saved,
      group: { ...saved.group, epoch: saved.group.epoch + 1 },
      isAway: true,
    },
  "the agent goes away": ({ isAway }) => isAway ? undefined : { isAway: true },
  "the agent comes back": ({ isAway }) => isAway ? { isAway: false } : undefined,
};

function next(world: World, name: string, rule: Rule): World | undefined {
  const change = events[name]?.(world);
  if (change === undefined) return undefined;
  const after = { ...world, ...change };
  if (after.isAway || after.group === world.known) return after;
  const loss = rule(world.loss, {
    before: world.known,
    after: after.group,
    wasAway: world.isAway,
    nowMs: 7,
  });
  const { epoch } = after.group;
  return {
    ...after,
    known: after.group,
    loss,
    openEpochs: after.isOpen ? [...after.openEpochs, epoch] : after.openEpochs,
  };
}

function covers(said: PostQuantum, epoch: number): boolean {
  if (said.state === "none" || epoch < said.since) return false;
  return said.state === "all" || epoch < said.until;
}

/** A broken promise behind some way of that many events; undefined when there is none. */
function fault(
  steps: number,
  rule: Rule,
  world = beginning,
  way: readonly string[] = [],
): string | undefined {
  if (steps === 0) return undefined;
  for (const name of Object.keys(events)) {
    const after = next(world, name, rule);
    if (after === undefined) continue;
    const told = [...way, name];
    const [was, is] = [world, after].map(({ known, loss }) => postQuantumOf(known.sealing, loss));
    assert(was !== undefined && is !== undefined);
    const open = after.openEpochs.find((epoch) => covers(is, epoch));
    if (open !== undefined) return `epoch ${open} is open: ${told.join(", ")}`;
    const isSame = is.state === "all" && was.state === "all" && is.since === was.since;
    if (was.state === "all" && !isSame && after.loss === world.loss) {
      return `a loss is silent: ${told.join(", ")}`;
    }
    const found = fault(steps - 1, rule, after, told);
    if (found !== undefined) return found;
  }
  return undefined;
}

Deno.test("whatever happens, no epoch is called closed that is open, and no loss is silent", () => {
  assertEquals(fault(6, lossAfter), undefined);
});

Deno.test("control: agents that believe the group alone, or forget what they knew, are found", () => {
  const byTheGroup: Rule = (_, { before, after, wasAway: _away, ...how }) => {
    if (after.sealing !== undefined || before.sealing === undefined) return undefined;
    const { nowMs, by, because } = how;
    const { epoch } = after;
    const { since } = before.sealing;
    return { since, until: epoch, latest: epoch, learnedMs: nowMs, by, because };
  };
  assert(fault(6, byTheGroup)?.startsWith("epoch "));
  const silent: Rule = (known, step) =>
    step.after.sealing === undefined ? lossAfter(known, step) : known;
  assert(fault(6, silent) !== undefined);
  const late: Rule = (known, step) => lossAfter(known, { ...step, wasAway: false });
  assert(fault(6, late)?.startsWith("epoch "));
});

Deno.test("a loss that was seen says who and from when on; one while away, what is certain", () => {
  const [by, because, nowMs] = [agent("B"), agent("C"), 7];
  const before = { sealing: preferred(0), epoch: 4 };
  const after = { sealing: undefined, epoch: 5 };
  const seen = lossAfter(undefined, { before, after, wasAway: false, by, because, nowMs });
  const partly = { state: "partly", since: 0, until: 5, learnedMs: 7, by, because } as const;
  assertEquals(postQuantumOf(undefined, seen), partly);
  const late = { ...after, epoch: 9 };
  const away = lossAfter(undefined, { before, after: late, wasAway: true, nowMs });
  assertEquals([away?.until, away?.by, away?.because], [5, undefined, undefined]);
  assert(seen !== undefined && away !== undefined);
  assert(lossText(seen).includes(by) && lossText(seen).includes(because));
  assert(lossText(away).startsWith("An agent"));
});

Deno.test("a channel that begins anew with keys for all is sealed from there on, and says whether it requires them", () => {
  const loss = { since: 0, until: 5, latest: 6, learnedMs: 7, by: undefined, because: undefined };
  const since = foundingEpoch(1) + 1;
  const all = { state: "all", since, required: false } as const;
  assertEquals(postQuantumOf(preferred(since), loss), all);
  const required = { required: true, since: 0 };
  assertEquals(postQuantumOf(required, undefined), { state: "all", since: 0, required: true });
  assertEquals(postQuantumOf(undefined, undefined), { state: "none" });
});

// Can an observer of real packets tell what a session does? With `constant` cover it must not, and where cover or padding is
// missing these same tests must see it. `STATIC_STRESS=1` records 5,000 units of each state and prints what it finds.
import { assert, assertEquals } from "@std/assert";
import { limits } from "../../proto/mod.ts";
import { node } from "../runtime/node.ts";
import { createRandom, type Requirement, seedFromEnvironment, testWhen } from "../support/mod.ts";
import { compare, type Comparison, describe, directions, type Unit, unitSizes, unitsOf } from "./analysis.ts";
import type { WireTransport } from "./observation.ts";
import { packetCapture } from "./packet_capture.ts";
import { record, type Recording, type RecordingOptions, type State, states } from "./stage.ts";

const stress = Deno.env.get("STATIC_STRESS") === "1";
const intervalMs = 50;
const sessions = 4;
/** Units of each state: 4 sessions, 20 ticks a second. */
const length = stress ? { rounds: 32, stateMs: 2_100 } : { rounds: 4, stateMs: 700 };
const always: Requirement = { met: true, reason: "" };

/** Both directions, each state against an idle session. */
const pairs = states.slice(1).map((state): [State, State] => ["idle", state]);
const comparisons = 2 * pairs.length;
/** A distance between spacings that chance explains once in a million runs, all comparisons of a run together. */
const leastP = 1e-6 / comparisons;
const mostSkill = 0.1;
/** A unit that comes later than any tick can: the other side or the network had stopped taking bytes. */
const stallMs = 2.5 * intervalMs;

async function recordStates(transport: WireTransport, change: Partial<RecordingOptions> = {}): Promise<Recording> {
  const cover = { mode: "constant", intervalMs } as const;
  const random = createRandom(seedFromEnvironment());
  return await record({ transport, cover, sessions, states, random, ...length, ...change });
}

function compareAll(recording: Recording): Comparison[] {
  return directions.flatMap((direction) => {
    const units = unitsOf(recording, direction);
    return pairs.filter((pair) => units.some(({ state }) => state === pair[1]))
      .map((pair) => compare(units, direction, pair));
  });
}

/** What gives a state away beyond doubt, in words. */
function findings(all: readonly Comparison[]): string[] {
  return all.filter(({ spacing, auc, aucWithControl }) =>
    spacing.p < leastP ||
    [auc, aucWithControl].some(({ value, error }) => Math.abs(value - 0.5) > Math.max(mostSkill, 5 * error))
  ).map(describe);
}

/** Units that are not one cell, in words. What a stalled connection had to keep comes in one piece when it goes on. */
function oddSizes(units: readonly Unit[]): string[] {
  const odd = units.filter(({ streamBytes }, i) =>
    streamBytes !== limits.cellBytes && units.slice(Math.max(0, i - 8), i + 1).every(({ gapMs }) => gapMs < stallMs)
  );
  return Array.from(unitSizes(odd), ([bytes, count]) => `${count} of ${bytes} bytes`);
}

function allUnits(recording: Recording): Unit[] {
  return directions.flatMap((direction) => unitsOf(recording, direction));
}

for (const [transport, requirement] of [["quic", always], ["grpc", node]] as const) {
  testWhen(requirement, `over ${transport}, idle, busy, joining and occasional sessions look the same`, async () => {
    let seen: string[] = [];
    // A finding must come twice: a neighbour on this machine can fall on one state by chance.
    for (let attempt = 0; attempt < 2; attempt++) {
      const recording = await recordStates(transport);
      const { work: { busy, second, joining } } = recording;
      assert(
        busy > 3 * second && second > 0 && joining > 0,
        `the agents did something: ${JSON.stringify(recording.work)}`,
      );
      const all = compareAll(recording);
      assert(
        all.length === comparisons && all.every(({ units: [a, b] }) => a > 100 && b > 100),
        all.map(describe).join("\n"),
      );
      if (stress || attempt > 0) {
        console.log([`over ${transport}, ticks of ${intervalMs} ms`, ...all.map(describe)].join("\n"));
      }
      // A socket forwarder cannot see which bytes are QUIC's own.
      const sizes = transport === "quic" && !packetCapture.met ? [] : oddSizes(allUnits(recording));
      seen = [...sizes, ...findings(all)];
      if (seen.length === 0) break;
    }
    assertEquals(seen, []);
  });
}

Deno.test("control: without cover to fill the ticks, the same tests tell idle from busy at once", async () => {
  const cover = { mode: "constant", intervalMs, budget: { bytes: 0, period: "day" } } as const;
  const short = { states: ["idle", "busy", "second"] as const, rounds: 2, stateMs: 1_000 };
  const recording = await recordStates("quic", { cover, ...short });
  const idle = allUnits(recording).filter(({ state }) => state === "idle").length;
  const busy = allUnits(recording).filter(({ state }) => state === "busy").length;
  assert(busy > 20 * (idle + 1), `${idle} units idle, ${busy} busy`);
  const told = directions.map((direction) => compare(unitsOf(recording, direction), direction, ["busy", "second"]));
  for (const comparison of told) assert(findings([comparison]).length === 1, describe(comparison));
});

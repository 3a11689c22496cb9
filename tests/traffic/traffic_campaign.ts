// Can an observer of real packets tell what a session does? With `constant` cover it must not, and
// where cover or padding is missing these same tests must see it. 5,000 units of each state are
// recorded, and what is found is printed.
import { assert, assertEquals } from "@std/assert";
import { tried } from "../support/campaign.ts";
import { node } from "../support/runtime/node.ts";
import { createRandom, seedFromEnvironment, testWhen } from "../support/mod.ts";
import { compare, describe, directions, unitsOf } from "./analysis.ts";
import { isBeyondDoubt, judge, oddSizes } from "./judgement.ts";
import { loneIntervalMs, recordSender } from "./lone_sender.ts";
import { packetCapture } from "./packet_capture.ts";
import { type Group, record, type Recording, type RecordingOptions, states } from "./stage.ts";

/**
 * A fifth of the slots of `strong`: times in a slot are drawn from half of it, so longer ones hide
 * more.
 */
const intervalMs = 50;
/** 20 units of each state a second, each way. */
const length = { rounds: 72, stateMs: 3_750 };
/** Enough to see what is not hidden, or the same through other eyes. */
const shortLength = { rounds: 8, stateMs: 2_500 };
/** In turns, four sessions are in each state. */
const roundsInTurns = length.rounds / 4;
const leastUnits = 5_000;
const leastUnitsOfShort = 200;

const cover = { mode: "constant", intervalMs } as const;
const capture = packetCapture.met ? "packets" : "sockets";
const quic: Group = { transport: "quic", cover, capture, states };
const grpc: Group = { transport: "grpc", cover, capture, states };
/**
 * No slot is filled: this client may not spend a byte on cover. Three that say something every
 * second: one says too little. Two that are busy: states that are drawn again leave one alone out
 * of all rounds once in ten draws, and separate as well then.
 */
const unfilled: Group = {
  transport: "quic",
  cover: { ...cover, budget: { bytes: 0, period: "day" } },
  capture,
  states: ["busy", "busy", "idle", "second", "second", "second"],
};
/** As on a machine without Wireshark, on every machine. */
const bySockets: readonly Group[] = [
  { ...quic, capture: "sockets", states: ["idle", "busy"] },
  ...(node.met ? [{ ...grpc, capture: "sockets", states: ["idle", "busy"] } as const] : []),
];

const random = createRandom(seedFromEnvironment());
const longGroups = [quic, ...(node.met ? [grpc] : [])];
const shortGroups = [unfilled, ...bySockets];

/**
 * The groups of a length are recorded at once, by whichever test asks first: minutes would pass
 * otherwise.
 */
let long: Promise<ReadonlyMap<Group, Recording>> | undefined;
let short: Promise<ReadonlyMap<Group, Recording>> | undefined;
async function recordingOf(group: Group): Promise<Recording> {
  const recordings = shortGroups.includes(group)
    ? short ??= recordGroups(shortGroups, { ...shortLength, arrangement: "at once" })
    : long ??= recordGroups(longGroups, { ...length, arrangement: "at once" });
  const recording = (await recordings).get(group);
  assert(recording !== undefined, "was recorded");
  return recording;
}

async function recordGroups(
  groups: readonly Group[],
  options: Omit<RecordingOptions, "groups" | "random">,
): Promise<ReadonlyMap<Group, Recording>> {
  const recorded = await record({ ...options, groups, random });
  return new Map(
    groups.flatMap((group, i) => recorded[i] === undefined ? [] : [[group, recorded[i]]]),
  );
}

function looksTheSame(group: Group, recording: Recording): void {
  const { work: { busy, second, joining } } = recording;
  const worked = busy > 3 * second &&
    (!group.states.includes("joining") || (second > 0 && joining > 0));
  assert(worked, `the agents did something: ${JSON.stringify(recording.work)}`);
  const { comparisons, findings, table } = judge(group, recording, random);
  console.log(table.join("\n"));
  assertEquals(comparisons.length, 2 * (group.states.length - 1));
  const least = shortGroups.includes(group) ? leastUnitsOfShort : leastUnits;
  for (const comparison of comparisons) {
    assert(Math.min(...comparison.units) >= least, describe(comparison));
  }
  tried(`${comparisons.length} comparisons of at least ${least} units`);
  assertEquals(findings, []);
}

Deno.test("over quic, idle, busy, joining and occasional sessions look the same", async () => {
  looksTheSame(quic, await recordingOf(quic));
});

testWhen(node, "over grpc, idle, busy, joining and occasional sessions look the same", async () => {
  looksTheSame(grpc, await recordingOf(grpc));
});

// Not judged: on one machine, an agent's work takes the processor from its own ticks and from the
// relay's.
Deno.test("in turns, all sessions of the machine idle or all of them busy: reported", async () => {
  const inTurns = await recordGroups(longGroups, {
    ...length,
    rounds: roundsInTurns,
    arrangement: "in turns",
  });
  const tables = inTurns.entries().flatMap(([group, recording]) =>
    judge(group, recording, random).table
  );
  console.log(tables.toArray().join("\n"));
});

Deno.test("what a forwarder at the socket layer sees looks the same too", async () => {
  for (const group of bySockets) looksTheSame(group, await recordingOf(group));
});

Deno.test("control: without cover to fill the ticks, the same tests tell idle from busy at once", async () => {
  const recording = await recordingOf(unfilled);
  for (const direction of directions) {
    const stretches = unitsOf(recording, direction, { transport: "quic", intervalMs });
    const [busy, idle] = (["busy", "idle"] as const).map((state) =>
      stretches.filter((stretch) => stretch.state === state).flatMap(({ units }) => units).length
    );
    assert((busy ?? 0) > 5 * ((idle ?? 0) + 1), `${direction}: ${idle} units idle, ${busy} busy`);
    const comparison = compare(stretches, { direction, states: ["busy", "second"] }, random);
    assert(isBeyondDoubt(comparison), describe(comparison));
  }
});

Deno.test("control: without fill in the cells, the same tests tell them by their sizes", async () => {
  const wire = { transport: "quic", intervalMs: loneIntervalMs } as const;
  const whole = await recordSender(random, (cell) => cell);
  assertEquals(oddSizes(unitsOf(whole, "up", wire)), []);
  const cut = await recordSender(
    random,
    (cell) => cell.subarray(0, 3 + (cell[1] ?? 0) * 256 + (cell[2] ?? 0)),
  );
  const stretches = unitsOf(cut, "up", wire);
  assert(oddSizes(stretches).length > 5, `${oddSizes(stretches)}`);
  const comparison = compare(stretches, { direction: "up", states: ["idle", "busy"] }, random);
  assert(comparison.cells.value > 0.9 && comparison.cells.chance <= 0.05, describe(comparison));
});

// Can an observer of real packets tell what a session does? With `constant` cover it must not, and where cover or padding is
// missing these same tests must see it. `STATIC_STRESS=1` records 5,000 units of each state and prints what it finds.
import { assert, assertEquals } from "@std/assert";
import { CellSender, limits } from "../../proto/mod.ts";
import { node } from "../runtime/node.ts";
import { createRandom, type Random, seedFromEnvironment, testWhen } from "../support/mod.ts";
import { compare, type Comparison, describe, directions, type Unit, unitSizes, unitsOf } from "./analysis.ts";
import type { Observation, WireTransport } from "./observation.ts";
import { packetCapture } from "./packet_capture.ts";
import { record, type Recording, type RecordingOptions, type State, states, type Stretch } from "./stage.ts";

const stress = Deno.env.get("STATIC_STRESS") === "1";
const intervalMs = 100;
const sessions = 4;
/** 40 units of each state a second, each way. */
const length = stress ? { rounds: 45, stateMs: 3_000 } : { rounds: 4, stateMs: 1_000 };

/** Both directions, each state against an idle session. */
const pairs = states.slice(1).map((state): [State, State] => ["idle", state]);
const comparisons = 2 * pairs.length;
/** A distance between spacings that chance explains once in a million runs, all comparisons of a run together. */
const leastP = 1e-6 / comparisons;
const mostSkill = 0.1;
const leastSingle = 0.95;

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

/**
 * What gives a size away, in words. Everything is a whole number of cells; more than one at once is what a sender that this
 * machine kept from its processor had to catch up on, and rare.
 */
function oddSizes(units: readonly Unit[]): string[] {
  const sizes = unitSizes(units);
  const odd = sizes.entries().filter(([bytes]) => bytes % limits.cellBytes !== 0).toArray();
  const single = (sizes.get(limits.cellBytes) ?? 0) / units.length;
  return [
    ...odd.map(([bytes, count]) => `${count} units of ${bytes} bytes`),
    ...(single < leastSingle ? [`only ${(100 * single).toFixed(1)} % of the units are one cell`] : []),
  ];
}

function allUnits(recording: Recording): Unit[] {
  return directions.flatMap((direction) => unitsOf(recording, direction));
}

Deno.test("over quic, idle, busy, joining and occasional sessions look the same", () => looksTheSame("quic"));

testWhen(node, "over grpc, idle, busy, joining and occasional sessions look the same", () => looksTheSame("grpc"));

async function looksTheSame(transport: WireTransport): Promise<void> {
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
}

Deno.test("control: without cover to fill the ticks, the same tests tell idle from busy at once", async () => {
  const cover = { mode: "constant", intervalMs, budget: { bytes: 0, period: "day" } } as const;
  const short = { states: ["idle", "busy", "second"] as const, rounds: 2, stateMs: 2_500 };
  const recording = await recordStates("quic", { cover, ...short });
  const idle = allUnits(recording).filter(({ state }) => state === "idle").length;
  const busy = allUnits(recording).filter(({ state }) => state === "busy").length;
  assert(busy > 20 * (idle + 1), `${idle} units idle, ${busy} busy`);
  const told = directions.map((direction) => compare(unitsOf(recording, direction), direction, ["busy", "second"]));
  for (const comparison of told) assert(findings([comparison]).length === 1, describe(comparison));
});

Deno.test("control: without fill in the cells, the same tests tell them by their sizes", async () => {
  const random = createRandom(seedFromEnvironment());
  const whole = await recordDatagrams(random, (cell) => cell);
  assertEquals(oddSizes(unitsOf(whole, "up")), []);
  const cut = await recordDatagrams(random, (cell) => cell.subarray(0, 3 + (cell[1] ?? 0) * 256 + (cell[2] ?? 0)));
  const units = unitsOf(cut, "up");
  assert(oddSizes(units).length > 5, `${oddSizes(units)}`);
  const comparison = compare(units, "up", ["idle", "busy"]);
  assertEquals(findings([comparison]).length, 1, describe(comparison));
});

/** A sender by itself, idle and busy in turns, over a socket that shows how it writes its cells. */
async function recordDatagrams(
  random: Random,
  write: (cell: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>,
): Promise<Recording> {
  const [from, to] = [0, 1].map(() => Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 }));
  assert(from !== undefined && to !== undefined);
  const observations: Observation[] = [];
  const now = (): number => performance.timeOrigin + performance.now();
  const watch = async (): Promise<void> => {
    for await (const [{ length }] of to) {
      // Something comes from the other side too, as in a session.
      observations.push({ atMs: now(), session: 1, fromClient: false, wireBytes: 1, streamBytes: 1 });
      observations.push({ atMs: now(), session: 1, fromClient: true, wireBytes: length, streamBytes: length });
    }
  };
  const watched = watch();
  const sender = new CellSender({
    cellBytes: limits.cellBytes,
    write: async (cells) => void await from.send(write(cells), to.addr),
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
    nowMs: () => performance.now(),
    random: () => random.uint32() / 2 ** 32,
  });
  sender.configure("constant", 10);
  const stretches: Stretch[] = [];
  for (let turn = 0; turn < 8; turn++) {
    const state = turn % 2 === 0 ? "idle" : "busy";
    const fromMs = now();
    const untilMs = fromMs + 400;
    while (now() < untilMs) {
      if (state === "busy") sender.push("data", random.bytes(1 + random.below(3_000)));
      // wait: the rate of a talkative agent; a state lasts as long as it is recorded
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    await sender.flush(1_000);
    stretches.push({ state, round: turn >> 1, fromMs, untilMs });
  }
  sender.stop();
  to.close();
  await watched;
  from.close();
  return { observations, stretches, work: { idle: 0, busy: 0, second: 0, joining: 0 } };
}

/**
 * Judges a recording the way an observer would: sizes, spacing, direction, bursts. Whether two
 * states of a session can be told apart is asked of each direction by itself.
 */
import { limits } from "../../proto/mod.ts";
import type { Random } from "../support/mod.ts";
import { rankRows } from "./features.ts";
import { type Observation, type WireTransport, withoutHttp } from "./observation.ts";
import {
  type LabelledStretch,
  separateGaps,
  separateUnits,
  type Separation,
  type Spacing,
} from "./separation.ts";
import type { Recording, State, Stretch } from "./stage.ts";

/** The wire's traffic of one tick, and of the time around it. */
export interface Unit {
  readonly streamBytes: number;
  /** Since the unit before it in this direction. */
  readonly gapMs: number;
  readonly earlierGapMs: number;
  /** Since the last unit of the other direction. */
  readonly sinceOtherMs: number;
  /** Units of the other direction since the one before. */
  readonly others: number;
  /** The transport's additions to it: packets, bytes. */
  readonly packets: number;
  readonly ownBytes: number;
  /** The transport's own traffic in this direction since the unit before: packets, bytes. */
  readonly controlPackets: number;
  readonly controlBytes: number;
}

/** The units of one direction of a session while it was in one state. */
export interface UnitStretch extends Stretch {
  readonly units: readonly Unit[];
}

export const directions = ["up", "down"] as const;
export type Direction = typeof directions[number];

export interface Wire {
  readonly transport: WireTransport;
  readonly intervalMs: number;
}

export function unitsOf(recording: Recording, direction: Direction, wire: Wire): UnitStretch[] {
  const seen = recording.observations.map((observations) =>
    unitsOfSession(joinTicks(observations, wire), direction)
  );
  return recording.stretches.map((stretch) => {
    const { session, fromMs, untilMs } = stretch;
    const inside = ({ atMs, gapMs }: TimedUnit): boolean =>
      atMs - gapMs >= fromMs && atMs <= untilMs;
    return { ...stretch, units: (seen[session] ?? []).filter(inside) };
  });
}

/** Packets of one write follow each other at once. */
const oneWriteMs = 3;

interface Tick extends Observation {
  readonly packets: number;
  readonly lastMs: number;
}

/**
 * Packets of one tick, joined: those that follow each other at once, and those that complete a cell
 * whose first packet was sent (the machine may take the processor away between two packets of a
 * write).
 */
function joinTicks(observations: readonly Observation[], { transport, intervalMs }: Wire): Tick[] {
  const joined: Tick[] = [];
  /** Index of the last unit of each direction. */
  const last = new Map<boolean, number>();
  for (const seen of observations) {
    const index = last.get(seen.fromClient);
    const before = index === undefined ? undefined : joined[index];
    const tick = { ...seen, packets: 1, lastMs: seen.atMs };
    if (index === undefined || before === undefined || !continues(before, seen, intervalMs)) {
      if (seen.streamBytes > 0) last.set(seen.fromClient, joined.length);
      joined.push({ ...tick, streamBytes: withoutHttp(seen.streamBytes, transport) });
      continue;
    }
    const streamBytes = withoutHttp(before.streamBytes + seen.streamBytes, transport);
    const [wireBytes, packets] = [before.wireBytes + seen.wireBytes, before.packets + 1];
    joined[index] = { ...before, wireBytes, streamBytes, packets, lastMs: seen.atMs };
  }
  return joined;
}

function continues(before: Tick, { streamBytes, atMs }: Observation, intervalMs: number): boolean {
  const isWhole = before.streamBytes % limits.cellBytes === 0;
  return streamBytes > 0 && atMs - before.lastMs < (isWhole ? oneWriteMs : intervalMs);
}

type TimedUnit = Unit & { readonly atMs: number };

function unitsOfSession(ticks: readonly Tick[], direction: Direction): TimedUnit[] {
  const units: TimedUnit[] = [];
  let [lastMs, gapMs, otherMs, others, controlPackets, controlBytes] = [NaN, NaN, NaN, 0, 0, 0];
  for (const { atMs, fromClient, streamBytes, wireBytes, packets } of ticks) {
    const ours = fromClient === (direction === "up");
    if (streamBytes === 0) {
      if (!ours) continue;
      controlPackets++;
      controlBytes += wireBytes;
    } else if (!ours) {
      others++;
      otherMs = atMs;
    } else {
      const [earlierGapMs, sinceOtherMs] = [gapMs, atMs - otherMs];
      gapMs = atMs - lastMs;
      const ownBytes = wireBytes - streamBytes;
      const around = {
        gapMs,
        earlierGapMs,
        sinceOtherMs,
        others,
        packets,
        ownBytes,
        controlPackets,
        controlBytes,
      };
      if (Number.isFinite(earlierGapMs + sinceOtherMs)) {
        units.push({ atMs, streamBytes, ...around });
      }
      [lastMs, others, controlPackets, controlBytes] = [atMs, 0, 0, 0];
    }
  }
  return units;
}

/** How often units of each size came. */
export function unitSizes(stretches: readonly UnitStretch[]): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const { streamBytes } of stretches.flatMap(({ units }) => units)) {
    sizes.set(streamBytes, (sizes.get(streamBytes) ?? 0) + 1);
  }
  return sizes;
}

export interface Comparison {
  readonly direction: Direction;
  readonly states: readonly [State, State];
  readonly units: readonly [number, number];
  readonly spacing: Spacing;
  /** By the cells alone. */
  readonly cells: Separation;
  /** With what the transport itself adds and sends. */
  readonly withControl: Separation;
}

export interface Question {
  readonly direction: Direction;
  readonly states: readonly [State, State];
}

/** Can the second state be told from the first? */
export function compare(
  stretches: readonly UnitStretch[],
  question: Question,
  random: Random,
): Comparison {
  const [one, other] = question.states;
  const label = (features: (unit: Unit) => number[]): LabelledStretch[] => {
    const ranked = rankRows(
      stretches.map(({ units, ...rest }) => ({ ...rest, rows: units.map(features) })),
    );
    return stretches.map(({ units, state, ...stretch }, i) => ({
      ...stretch,
      state,
      positive: state === other,
      gaps: units.map(({ gapMs }) => gapMs),
      rows: ranked[i] ?? [],
    })).filter(({ state }) => state === one || state === other);
  };
  const count = (state: State): number =>
    stretches.reduce(
      (sum, stretch) => sum + (stretch.state === state ? stretch.units.length : 0),
      0,
    );
  return {
    ...question,
    units: [count(one), count(other)],
    spacing: separateGaps(label(cellFeatures), random),
    cells: separateUnits(label(cellFeatures), random),
    withControl: separateUnits(
      label((unit) => [...cellFeatures(unit), ...controlFeatures(unit)]),
      random,
    ),
  };
}

function cellFeatures({ streamBytes, gapMs, earlierGapMs, sinceOtherMs, others }: Unit): number[] {
  return [streamBytes, gapMs, earlierGapMs, gapMs + earlierGapMs, sinceOtherMs, others];
}

function controlFeatures({ packets, ownBytes, controlPackets, controlBytes }: Unit): number[] {
  return [packets, ownBytes, controlPackets, controlBytes];
}

/**
 * Areas with what is right 95 times of 100. `chance`: how often states that are drawn again have
 * spacings as different.
 */
export const describedColumns =
  "way  states       n            KS D  p       chance  AUC            with control ";

export function describe(
  { direction, states, units, spacing, cells, withControl }: Comparison,
): string {
  const area = ({ value, error }: Separation): string =>
    `${value.toFixed(3)} ± ${(1.96 * error).toFixed(3)}`;
  return `${direction.padEnd(4)} ${states.join("/").padEnd(12)} ${units.join("/").padEnd(12)} ${
    spacing.value.toFixed(3)
  } ${spacing.p.toExponential(1)} ${spacing.chance.toFixed(3)}   ${area(cells)}  ${
    area(withControl)
  }`;
}

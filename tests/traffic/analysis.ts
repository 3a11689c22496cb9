/**
 * Judges a recording the way an observer would: sizes, spacing, direction, bursts. Whether two states of a session can be told
 * apart is asked of each direction by itself, with the tests of `statistics.ts`.
 */
import type { Observation } from "./observation.ts";
import type { Recording, State } from "./stage.ts";
import { type Auc, crossValidatedAuc, type KolmogorovSmirnov, kolmogorovSmirnov, type Sample } from "./statistics.ts";

/** One write of stream bytes, and what was seen around it. */
export interface Unit {
  readonly state: State;
  readonly block: number;
  readonly streamBytes: number;
  /** Since the unit before it in this direction. */
  readonly gapMs: number;
  readonly earlierGapMs: number;
  /** Since the last unit of the other direction. */
  readonly sinceOtherMs: number;
  /** Units of the other direction since the one before. */
  readonly others: number;
  /** What the transport itself sent in this direction since the unit before: packets, bytes. */
  readonly controlPackets: number;
  readonly controlBytes: number;
}

export interface Comparison {
  readonly direction: "up" | "down";
  readonly states: readonly [State, State];
  readonly units: readonly [number, number];
  readonly spacing: KolmogorovSmirnov;
  /** By the cells alone. */
  readonly auc: Auc;
  /** With the transport's own packets as well. */
  readonly aucWithControl: Auc;
}

export const directions = ["up", "down"] as const;
export type Direction = typeof directions[number];

/** How often units of each size came. */
export function unitSizes(units: readonly Unit[]): Map<number, number> {
  const sizes = new Map<number, number>();
  for (const { streamBytes } of units) sizes.set(streamBytes, (sizes.get(streamBytes) ?? 0) + 1);
  return sizes;
}

export function unitsOf(recording: Recording, direction: Direction): Unit[] {
  const sessions = Map.groupBy(recording.observations, ({ session }) => session);
  return sessions.values().flatMap((seen) => unitsOfSession(joinWrites(seen), direction, recording)).toArray();
}

/** A transport may cut one write into packets that follow each other at once. */
const oneWriteMs = 3;

function joinWrites(observations: readonly Observation[]): Observation[] {
  const joined: Observation[] = [];
  /** Index of the last unit of each direction. */
  const last = new Map<boolean, number>();
  for (const seen of observations) {
    const index = last.get(seen.fromClient);
    const before = index === undefined ? undefined : joined[index];
    const continues = before !== undefined && seen.streamBytes > 0 && seen.atMs - before.atMs < oneWriteMs;
    if (continues && index !== undefined) {
      const [wireBytes, streamBytes] = [before.wireBytes + seen.wireBytes, before.streamBytes + seen.streamBytes];
      joined[index] = { ...before, wireBytes, streamBytes };
    } else {
      if (seen.streamBytes > 0) last.set(seen.fromClient, joined.length);
      joined.push(seen);
    }
  }
  return joined;
}

function unitsOfSession(
  observations: readonly Observation[],
  direction: Direction,
  { stretches }: Recording,
): Unit[] {
  const units: Unit[] = [];
  let [lastMs, gapMs, otherMs, others, controlPackets, controlBytes] = [NaN, NaN, NaN, 0, 0, 0];
  for (const { atMs, fromClient, streamBytes, wireBytes } of observations) {
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
      const stretch = stretches.find(({ fromMs, untilMs }) => atMs - gapMs >= fromMs && atMs <= untilMs);
      if (stretch !== undefined && Number.isFinite(earlierGapMs + sinceOtherMs)) {
        const { state, round: block } = stretch;
        units.push({
          state,
          block,
          streamBytes,
          gapMs,
          earlierGapMs,
          sinceOtherMs,
          others,
          controlPackets,
          controlBytes,
        });
      }
      [lastMs, others, controlPackets, controlBytes] = [atMs, 0, 0, 0];
    }
  }
  return units;
}

/** Can the second state be told from the first? */
export function compare(units: readonly Unit[], direction: Direction, states: readonly [State, State]): Comparison {
  const [one, other] = states.map((state) => units.filter((unit) => unit.state === state));
  if (one === undefined || other === undefined) throw new Error("Two states are compared");
  const gaps = (of: readonly Unit[]): number[] => of.map(({ gapMs }) => gapMs);
  const judge = (features: (unit: Unit) => number[]): Auc =>
    crossValidatedAuc([...one, ...other].map((unit): Sample => ({
      features: features(unit),
      positive: unit.state === states[1],
      block: unit.block,
    })));
  return {
    direction,
    states,
    units: [one.length, other.length],
    spacing: kolmogorovSmirnov(gaps(one), gaps(other)),
    auc: judge(cellFeatures),
    aucWithControl: judge((unit) => [...cellFeatures(unit), unit.controlPackets, unit.controlBytes]),
  };
}

function cellFeatures({ streamBytes, gapMs, earlierGapMs, sinceOtherMs, others }: Unit): number[] {
  return [streamBytes, gapMs, earlierGapMs, gapMs + earlierGapMs, sinceOtherMs, others];
}

export function describe({ direction, states, units, spacing, auc, aucWithControl }: Comparison): string {
  const area = ({ value, error }: Auc): string => `${value.toFixed(3)} ± ${(1.96 * error).toFixed(3)}`;
  return `${direction.padEnd(4)} ${states.join("/").padEnd(13)} n ${units.join("/").padEnd(12)} ` +
    `KS D ${spacing.distance.toFixed(3)} p ${spacing.p.toExponential(1)}  AUC ${area(auc)}  with control ${
      area(aucWithControl)
    }`;
}

/**
 * The verdict on a recording, in words: figures for a table, and findings that are beyond doubt.
 */
import { limits } from "../../proto/mod.ts";
import type { Random } from "../support/mod.ts";
import {
  compare,
  type Comparison,
  describe,
  describedColumns,
  directions,
  unitSizes,
  unitsOf,
  type UnitStretch,
} from "./analysis.ts";
import { type Group, type Recording, type State } from "./stage.ts";

export interface Judgement {
  readonly comparisons: readonly Comparison[];
  /** Findings that reveal a state beyond doubt. */
  readonly findings: readonly string[];
  /** For people: one line for each direction and pair of states. */
  readonly table: readonly string[];
}

/**
 * A distance between spacings, or a skill, that chance explains once in a million runs, all
 * comparisons of a run together.
 */
const leastP = 1e-6 / 36;
/** The same for a normal distribution, in deviations to either side. */
const mostDeviations = 5.5;
/** Smaller skill is reported, not refused. */
const mostSkill = 0.1;
/** Limit for states that are drawn again, independent of the noise. */
const mostChance = 0.05;
/**
 * A sender that this machine kept from its processor may find two ticks due: rare, whatever a
 * session does.
 */
const leastSingle = 0.9;
/** A forwarder is a program too, and may be stopped for longer than a slot within a cell. */
const mostStalls = 0.05;

/** Each state against the first. */
export function judge(
  { transport, capture, cover, states }: Group,
  recording: Recording,
  random: Random,
): Judgement {
  const [first, ...others] = states;
  const wire = { transport, intervalMs: cover.intervalMs ?? 0 };
  const comparisons: Comparison[] = [];
  const findings: string[] = [];
  const table: string[] = [`      ${describedColumns}  sizes`];
  for (const direction of directions) {
    const stretches = unitsOf(recording, direction, wire);
    findings.push(
      ...oddSizes(stretches, capture === "sockets" ? mostStalls : 0).map((odd) =>
        `${transport} ${direction}: ${odd}`
      ),
    );
    for (const state of others) {
      const pair: [State, State] = [first ?? state, state];
      const comparison = compare(stretches, { direction, states: pair }, random);
      comparisons.push(comparison);
      const sizes = [...unitSizes(stretches.filter((stretch) => pair.includes(stretch.state)))];
      const line = `${transport.padEnd(5)} ${describe(comparison)}  sizes ${
        sizes.map(([bytes, count]) => `${bytes} × ${count}`).join(", ")
      }`;
      table.push(line);
      if (isBeyondDoubt(comparison)) findings.push(line);
    }
  }
  return { comparisons, findings, table };
}

export function isBeyondDoubt({ spacing, cells, withControl }: Comparison): boolean {
  return (spacing.p < leastP && spacing.chance <= mostChance) ||
    [cells, withControl].some(({ value, error, chance }) =>
      Math.abs(value - 0.5) > Math.max(mostSkill, mostDeviations * error) && chance <= mostChance
    );
}

/**
 * Sizes that reveal something: everything is a whole number of cells, and nearly always one.
 * `stalls` is a share of the units.
 */
export function oddSizes(stretches: readonly UnitStretch[], stalls = 0): string[] {
  const sizes = unitSizes(stretches);
  const all = [...sizes.values()].reduce((sum, count) => sum + count, 0);
  const odd = sizes.entries().filter(([bytes]) => bytes % limits.cellBytes !== 0).toArray();
  const isMany = odd.reduce((sum, [, count]) => sum + count, 0) > stalls * all;
  const single = (sizes.get(limits.cellBytes) ?? 0) / all;
  return [
    ...(isMany ? odd : []).map(([bytes, count]) => `${count} units of ${bytes} bytes`),
    ...(single < leastSingle
      ? [`only ${(100 * single).toFixed(1)} % of the units are one cell`]
      : []),
  ];
}

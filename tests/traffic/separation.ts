/**
 * How well two states can be told apart, and how well they could be if there were nothing to tell.
 * The second is not taken from a formula: ticks of one session are not independent, and what the
 * machine does falls on many of them. Which session was in which state was drawn at random in every
 * round, so the recording itself tells what chance does: the states are drawn again on paper, many
 * times, and everything is computed anew (a randomization test; it is exact whatever the noise is
 * like).
 */
import type { Random } from "../support/mod.ts";
import { areaUnderCurve, fitLine, kolmogorovSmirnov, momentsOf } from "./statistics.ts";

/** Measurements of one session in one state. */
export interface LabelledStretch {
  readonly session: number;
  readonly round: number;
  /** Stretches of a round with one slot have one state. */
  readonly slot: number;
  readonly positive: boolean;
  /** Times between units. */
  readonly gaps: readonly number[];
  /** The known values of each unit. */
  readonly rows: readonly (readonly number[])[];
}

export interface Separation {
  readonly value: number;
  /** The standard deviation among states that were drawn again: what chance alone does. */
  readonly error: number;
  /**
   * How many of those separate as well as the true ones, as a probability. Never below 1 / (draws +
   * 1).
   */
  readonly chance: number;
}

export interface Spacing extends Separation {
  /** The textbook's probability, for independent values. */
  readonly p: number;
}

type Labels = readonly boolean[];

const draws = 199;

/** Kolmogorov and Smirnov's distance between the gaps of the two states. */
export function separateGaps(stretches: readonly LabelledStretch[], random: Random): Spacing {
  const distance = (labels: Labels): number => judgeGaps(stretches, labels).distance;
  const truth = labelsOf(stretches);
  return {
    ...againstChance(stretches, distance, (value) => value, random),
    p: judgeGaps(stretches, truth).p,
  };
}

function judgeGaps(
  stretches: readonly LabelledStretch[],
  labels: Labels,
): { distance: number; p: number } {
  const of = (label: boolean): number[] =>
    stretches.flatMap(({ gaps }, i) => labels[i] === label ? gaps : []);
  return kolmogorovSmirnov(of(true), of(false));
}

/** The area under the curve of a linear classifier over everything that is known of a unit. */
export function separateUnits(stretches: readonly LabelledStretch[], random: Random): Separation {
  const judge = classifier(stretches);
  return againstChance(stretches, judge, (value) => Math.abs(value - 0.5), random);
}

function againstChance(
  stretches: readonly LabelledStretch[],
  judge: (labels: Labels) => number,
  size: (value: number) => number,
  random: Random,
): Separation {
  const truth = judge(labelsOf(stretches));
  const drawn = Array.from({ length: draws }, () => judge(drawLabels(stretches, random)));
  const average = drawn.reduce((sum, value) => sum + value, 0) / draws;
  const error = Math.sqrt(
    drawn.reduce((sum, value) => sum + (value - average) ** 2, 0) / (draws - 1),
  );
  const asLarge = drawn.filter((value) => size(value) >= size(truth)).length;
  return { value: truth, error, chance: (1 + asLarge) / (1 + draws) };
}

function labelsOf(stretches: readonly LabelledStretch[]): Labels {
  return stretches.map(({ positive }) => positive);
}

/** The states of every round, dealt out again. */
function drawLabels(stretches: readonly LabelledStretch[], random: Random): Labels {
  const dealt = new Map<number, Map<number, boolean>>();
  for (const [round, members] of Map.groupBy(stretches, ({ round }) => round)) {
    const slots = [...new Map(members.map(({ slot, positive }) => [slot, positive]))];
    const order = slots.map(([, positive]) => ({ positive, key: random.uint32() })).sort((a, b) =>
      a.key - b.key
    );
    dealt.set(round, new Map(slots.map(([slot], i) => [slot, order[i]?.positive ?? false])));
  }
  return stretches.map(({ round, slot }) => dealt.get(round)?.get(slot) ?? false);
}

/**
 * Units are ranked among those of the same round, along a line that was fitted to the other rounds:
 * what the machine did in a round can neither be mistaken for skill nor hide it.
 */
function classifier(stretches: readonly LabelledStretch[]): (labels: Labels) => number {
  const width = stretches.find(({ rows }) => rows.length > 0)?.rows[0]?.length ?? 0;
  const moments = stretches.map(({ rows }) => momentsOf(rows, width));
  const indexes = stretches.map((_, i) => i);
  const rounds = Map.groupBy(indexes, (i) => stretches[i]?.round).values().map((asked) => {
    const known = indexes.filter((i) => !asked.includes(i));
    return { asked, known, fit: fitLine(known.flatMap((i) => moments[i] ?? [])) };
  }).toArray();
  return (labels) => {
    let [won, pairs] = [0, 0];
    for (const { asked, known, fit } of rounds) {
      const line = fit(known.map((i) => labels[i] ?? false));
      const scores = (label: boolean): number[] =>
        asked.flatMap((i) => labels[i] === label ? (stretches[i]?.rows ?? []).map(line) : []);
      const [positive, negative] = [scores(true), scores(false)];
      const count = positive.length * negative.length;
      if (count === 0) continue;
      won += areaUnderCurve(positive, negative) * count;
      pairs += count;
    }
    return pairs === 0 ? 0.5 : won / pairs;
  };
}

/** What a statistician would try: do two samples come from one distribution, and can a simple classifier tell them apart. */

export interface KolmogorovSmirnov {
  /** The largest distance between the two empirical distributions. */
  readonly distance: number;
  /** How likely a distance like this is when they are the same; the asymptotic formula, good from 30 values on. */
  readonly p: number;
}

export function kolmogorovSmirnov(one: readonly number[], other: readonly number[]): KolmogorovSmirnov {
  const [a, b] = [one, other].map((values) => Float64Array.from(values).sort());
  if (a === undefined || b === undefined || a.length === 0 || b.length === 0) throw new Error("An empty sample");
  let [i, j, distance] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    const value = Math.min(a[i] ?? 0, b[j] ?? 0);
    while (i < a.length && (a[i] ?? 0) <= value) i++;
    while (j < b.length && (b[j] ?? 0) <= value) j++;
    distance = Math.max(distance, Math.abs(i / a.length - j / b.length));
  }
  const root = Math.sqrt(a.length * b.length / (a.length + b.length));
  return { distance, p: kolmogorovTail((root + 0.12 + 0.11 / root) * distance) };
}

/** Q(λ) = 2 Σ (-1)^(k-1) exp(-2 k² λ²). */
function kolmogorovTail(lambda: number): number {
  if (lambda < 0.2) return 1;
  let sum = 0;
  for (let k = 1; k <= 100; k++) sum += (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * k * k * lambda * lambda);
  return Math.min(1, Math.max(0, sum));
}

export interface Auc {
  readonly value: number;
  /** Standard error: at chance level (Mann-Whitney), or between blocks if that is larger. */
  readonly error: number;
}

/** The chance that a positive scores higher than a negative; ties count half. */
export function areaUnderCurve(positives: readonly number[], negatives: readonly number[]): Auc {
  const all = [
    ...positives.map((score) => ({ score, positive: true })),
    ...negatives.map((score) => ({ score, positive: false })),
  ]
    .sort((a, b) => a.score - b.score);
  let ranks = 0;
  for (let start = 0; start < all.length;) {
    let end = start;
    while (end < all.length && all[end]?.score === all[start]?.score) end++;
    for (let i = start; i < end; i++) if (all[i]?.positive) ranks += (start + end + 1) / 2;
    start = end;
  }
  const [n, m] = [positives.length, negatives.length];
  return { value: (ranks - n * (n + 1) / 2) / (n * m), error: Math.sqrt((n + m + 1) / (12 * n * m)) };
}

/** One observation: what an observer measured, which class it is of, and the block of time in which it was made. */
export interface Sample {
  readonly features: readonly number[];
  readonly positive: boolean;
  readonly block: number;
}

/**
 * Logistic regression over the features and their squares. Every block is judged by what was learnt from the others, so that
 * noise that only one block had cannot be mistaken for skill.
 */
export function crossValidatedAuc(samples: readonly Sample[]): Auc {
  const scores: Scored[] = [];
  for (const block of new Set(samples.map((sample) => sample.block))) {
    const [known, asked] = [samples.filter((s) => s.block !== block), samples.filter((s) => s.block === block)];
    const score = learn(known);
    for (const { features, positive } of asked) scores.push({ score: score(features), positive, block });
  }
  const of = (positive: boolean): number[] => scores.filter((s) => s.positive === positive).map(({ score }) => score);
  const { value, error } = areaUnderCurve(of(true), of(false));
  return { value, error: Math.max(error, errorBetweenBlocks(scores)) };
}

interface Scored {
  readonly score: number;
  readonly positive: boolean;
  readonly block: number;
}

/** What else the machine did falls on whole blocks: how much their own areas differ tells what one recording is worth. */
function errorBetweenBlocks(scores: readonly Scored[]): number {
  const areas = Map.groupBy(scores, ({ block }) => block).values().map((block) => {
    const of = (positive: boolean): number[] => block.filter((s) => s.positive === positive).map(({ score }) => score);
    return areaUnderCurve(of(true), of(false)).value;
  }).filter((area) => Number.isFinite(area)).toArray();
  if (areas.length < 2) return 0;
  const average = mean(areas);
  return Math.sqrt(mean(areas.map((area) => (area - average) ** 2)) / (areas.length - 1));
}

const steps = 300;
const rate = 0.5;
const decay = 1e-3;

function learn(samples: readonly Sample[]): (features: readonly number[]) => number {
  const width = samples[0]?.features.length ?? 0;
  const column = (i: number): number[] => samples.map(({ features }) => features[i] ?? 0);
  const means = Array.from({ length: width }, (_, i) => mean(column(i)));
  const deviations = Array.from(
    { length: width },
    (_, i) => Math.sqrt(mean(column(i).map((x) => (x - (means[i] ?? 0)) ** 2))),
  );
  const expand = (features: readonly number[]): number[] => {
    const scaled = features.map((x, i) => {
      const deviation = deviations[i] ?? 0;
      // Clipped, so that one stall of the machine does not decide everything.
      return deviation < 1e-12 ? 0 : Math.min(4, Math.max(-4, (x - (means[i] ?? 0)) / deviation));
    });
    return [1, ...scaled, ...scaled.map((x) => x * x)];
  };
  const rows = samples.map(({ features, positive }) => ({ x: expand(features), y: positive ? 1 : 0 }));
  const weights = new Float64Array(2 * width + 1);
  for (let step = 0; step < steps; step++) {
    const gradient = new Float64Array(weights.length);
    for (const { x, y } of rows) {
      const error = 1 / (1 + Math.exp(-dot(weights, x))) - y;
      for (let i = 0; i < x.length; i++) gradient[i] = (gradient[i] ?? 0) + error * (x[i] ?? 0);
    }
    for (let i = 0; i < weights.length; i++) {
      weights[i] = (weights[i] ?? 0) * (1 - rate * decay) - rate * (gradient[i] ?? 0) / rows.length;
    }
  }
  return (features) => dot(weights, expand(features));
}

function dot(a: Float64Array, b: readonly number[]): number {
  let sum = 0;
  for (let i = 0; i < b.length; i++) sum += (a[i] ?? 0) * (b[i] ?? 0);
  return sum;
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * A statistician's methods: do two samples come from one distribution, and does a score rank one
 * above the other.
 */

export interface KolmogorovSmirnov {
  /** The largest distance between the two empirical distributions. */
  readonly distance: number;
  /**
   * How likely a distance like this is when they are the same; the asymptotic formula, good from 30
   * values on.
   */
  readonly p: number;
}

export function kolmogorovSmirnov(
  one: readonly number[],
  other: readonly number[],
): KolmogorovSmirnov {
  const [a, b] = [one, other].map((values) => Float64Array.from(values).sort());
  if (a === undefined || b === undefined || a.length === 0 || b.length === 0) {
    return { distance: 0, p: 1 };
  }
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
  for (let k = 1; k <= 100; k++) {
    sum += (k % 2 === 1 ? 2 : -2) * Math.exp(-2 * k * k * lambda * lambda);
  }
  return Math.min(1, Math.max(0, sum));
}

/** The chance that a positive scores higher than a negative; ties count half. */
export function areaUnderCurve(positives: readonly number[], negatives: readonly number[]): number {
  const [a, b] = [Float64Array.from(positives).sort(), Float64Array.from(negatives).sort()];
  let [won, below, equal] = [0, 0, 0];
  for (const score of a) {
    while (below < b.length && (b[below] ?? 0) < score) below++;
    equal = Math.max(equal, below);
    while (equal < b.length && b[equal] === score) equal++;
    won += below + (equal - below) / 2;
  }
  return won / (a.length * b.length);
}

/** Keeps the fit defined where columns say the same. */
const ridge = 1e-3;

/**
 * The sums that a fit needs of rows with the same label: their number, their sum, and the sum of
 * their products (lower half).
 */
export interface Moments {
  readonly count: number;
  readonly sum: Float64Array;
  readonly products: Float64Array;
}

export function momentsOf(rows: readonly (readonly number[])[], width: number): Moments {
  const [sum, products] = [new Float64Array(width), new Float64Array(width * width)];
  for (const row of rows) {
    for (let i = 0; i < width; i++) {
      const value = row[i] ?? 0;
      sum[i] = (sum[i] ?? 0) + value;
      for (let j = 0; j <= i; j++) {
        products[i * width + j] = (products[i * width + j] ?? 0) + value * (row[j] ?? 0);
      }
    }
  }
  return { count: rows.length, sum, products };
}

/**
 * Fisher's linear discriminant between groups of rows with one label each: a row scores by how far
 * it lies from the one mean towards the other. It has no threshold, which would only tell how many
 * groups of each label it was made of. The costly half does not depend on the labels, and is done
 * once.
 */
export function fitLine(
  groups: readonly Moments[],
): (labels: readonly boolean[]) => (row: readonly number[]) => number {
  const width = groups[0]?.sum.length ?? 0;
  const total = addUp(groups.map(({ products }) => products), width * width, () => 1);
  const count = groups.reduce((all, group) => all + group.count, 0);
  const spread = Array.from({ length: width }, (_, i) => total.slice(i * width, (i + 1) * width));
  for (const [i, row] of spread.entries()) row[i] = (row[i] ?? 0) + ridge * count;
  const factor = choleskyInPlace(spread);
  return (labels) => {
    const positives = groups.reduce((all, group, g) => all + (labels[g] ? group.count : 0), 0);
    if (positives === 0 || positives === count) return () => 0;
    const between = addUp(
      groups.map(({ sum }) => sum),
      width,
      (g) => labels[g] ? 1 / positives : -1 / (count - positives),
    );
    const weights = solve(factor, between);
    return (row) => {
      let score = 0;
      for (let i = 0; i < width; i++) score += (row[i] ?? 0) * (weights[i] ?? 0);
      return score;
    };
  };
}

function addUp(
  vectors: readonly Float64Array[],
  width: number,
  factorOf: (index: number) => number,
): Float64Array {
  const sum = new Float64Array(width);
  for (const [v, vector] of vectors.entries()) {
    const factor = factorOf(v);
    for (let i = 0; i < width; i++) sum[i] = (sum[i] ?? 0) + factor * (vector[i] ?? 0);
  }
  return sum;
}

/** The lower triangle L with L Lᵀ = the matrix, of which only the lower half is read. */
function choleskyInPlace(matrix: Float64Array[]): Float64Array[] {
  const at = (i: number, j: number): number => matrix[i]?.[j] ?? 0;
  for (const [i, row] of matrix.entries()) {
    for (let j = 0; j <= i; j++) {
      let value = at(i, j);
      for (let k = 0; k < j; k++) value -= at(i, k) * at(j, k);
      row[j] = i === j ? Math.sqrt(Math.max(value, 1e-12)) : value / at(j, j);
    }
  }
  return matrix;
}

function solve(lower: readonly Float64Array[], target: Float64Array): Float64Array {
  const at = (i: number, j: number): number => lower[i]?.[j] ?? 0;
  const x = target.slice();
  for (let i = 0; i < x.length; i++) {
    for (let k = 0; k < i; k++) x[i] = (x[i] ?? 0) - at(i, k) * (x[k] ?? 0);
    x[i] = (x[i] ?? 0) / at(i, i);
  }
  for (let i = x.length - 1; i >= 0; i--) {
    for (let k = i + 1; k < x.length; k++) x[i] = (x[i] ?? 0) - at(k, i) * (x[k] ?? 0);
    x[i] = (x[i] ?? 0) / at(i, i);
  }
  return x;
}

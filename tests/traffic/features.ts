/**
 * Makes what is measured of units comparable between sessions: each value becomes its rank among
 * all values of its session, from -½ to ½. Sessions differ by themselves (how the slots of their
 * two directions lie to each other, for one), which an observer who watches for long can take out
 * just like this; and one stall of the machine does not decide everything. States play no part.
 */

export interface MeasuredStretch {
  readonly session: number;
  readonly rows: readonly (readonly number[])[];
}

/** Ranks, and how far each is from the middle: so that a wider spread shows as well as a shift. */
export function rankRows(stretches: readonly MeasuredStretch[]): number[][][] {
  const ranked = stretches.map(({ rows }) => rows.map(() => new Array<number>()));
  for (const members of Map.groupBy(stretches.keys(), (i) => stretches[i]?.session).values()) {
    const rows = members.flatMap((i) => stretches[i]?.rows ?? []);
    const targets = members.flatMap((i) => ranked[i] ?? []);
    const columns = (rows[0] ?? []).map((_, c) => rank(rows.map((row) => row[c] ?? 0)));
    for (const [r, target] of targets.entries()) {
      const ranks = columns.map((column) => column[r] ?? 0);
      target.push(...ranks, ...ranks.map((value) => value * value - 1 / 12));
    }
  }
  return ranked;
}

/** Equal values share the middle of their ranks. */
function rank(values: readonly number[]): Float64Array {
  const order = Uint32Array.from(values.keys()).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  const ranks = new Float64Array(values.length);
  for (let start = 0; start < order.length;) {
    let end = start;
    while (end < order.length && values[order[end] ?? 0] === values[order[start] ?? 0]) end++;
    for (let i = start; i < end; i++) ranks[order[i] ?? 0] = (start + end) / 2 / order.length - 0.5;
    start = end;
  }
  return ranks;
}

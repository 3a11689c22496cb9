/** Words by how near they are to one that was mistyped. */

export interface NearWord {
  readonly word: string;
  readonly distance: number;
}

/** The nearest first. */
export function byNearness(mistyped: string, words: readonly string[]): readonly NearWord[] {
  return words.map((word) => ({ word, distance: distance(mistyped, word) })).sort((a, b) =>
    a.distance - b.distance
  );
}

/** Letters to insert, delete, replace or swap with their neighbour (optimal string alignment). */
function distance(from: string, to: string): number {
  const rows = Array.from(
    { length: from.length + 1 },
    (_, i) => [i, ...new Array<number>(to.length).fill(0)],
  );
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  const [first] = rows;
  if (first !== undefined) { for (let j = 0; j <= to.length; j++) first[j] = j; }
  for (let i = 1; i <= from.length; i++) {
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1];
      let best = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (same ? 0 : 1));
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (swapped) best = Math.min(best, at(i - 2, j - 2) + 1);
      const row = rows[i];
      if (row !== undefined) row[j] = best;
    }
  }
  return at(from.length, to.length);
}

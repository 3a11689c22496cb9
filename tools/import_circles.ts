/**
 * Circles of imports: files, or folders, of which each leads to all others. None of them can be
 * read, or tested, alone.
 */

/** From each file or folder to those that it imports. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * The shortest way round from each place that no way before it has touched, in the order of the
 * alphabet.
 */
export function findCircles(arrows: ImportGraph): string[][] {
  const circles: string[][] = [];
  const told = new Set<string>();
  for (const place of [...arrows.keys()].sort()) {
    if (told.has(place)) continue;
    const circle = wayBack(place, arrows);
    if (circle === undefined) continue;
    for (const each of circle) told.add(each);
    circles.push(circle);
  }
  return circles;
}

/** The shortest way from a place back to itself. */
function wayBack(start: string, arrows: ImportGraph): string[] | undefined {
  const ways: string[][] = [[start]];
  const seen = new Set<string>();
  for (const way of ways) {
    for (const next of arrows.get(way.at(-1) ?? start) ?? []) {
      if (next === start) return way;
      if (seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

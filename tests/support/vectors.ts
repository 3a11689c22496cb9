/** Third-party test vectors, which are never committed: `deno task fetch` brings them. */
import { findFile, placesOf, remedy } from "../../tools/fetch/places.ts";
import { vectorSources } from "../../tools/fetch/sources.ts";
import type { Requirement } from "./requirement.ts";

/**
 * The requirement that one vector file is there, for `testWhen`. Throws for a file that nobody
 * could fetch.
 */
export function vectors(file: string, places = placesOf("vectors")): Requirement {
  if (!vectorSources.some(({ name }) => name === file)) {
    throw new Error(`${file} is not in tools/fetch/sources.ts`);
  }
  const met = findFile(file, places) !== undefined;
  return {
    met,
    reason: met
      ? ""
      : `third-party vectors ${file} are not on this machine (${remedy} brings them)`,
  };
}

export function readVectors(file: string): unknown {
  const path = findFile(file, placesOf("vectors"));
  if (path === undefined) throw new Error(vectors(file).reason);
  return JSON.parse(Deno.readTextFileSync(path));
}

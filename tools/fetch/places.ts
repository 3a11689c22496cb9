/**
 * The places of third-party files: beside the checkout, or in the cache that `deno task fetch`
 * fills. They are never in git. Tests find them here and nowhere else.
 */

export type SourceKind = "vectors" | "peers";

/** Returns the value of an environment variable. */
export type EnvironmentReader = (name: string) => string | undefined;

/** The remedy, as the reason of a skipped test ends with it. */
export const remedy = "deno task fetch";

const beside = `${import.meta.dirname}/../../../shared`;
const environment: EnvironmentReader = (name) => Deno.env.get(name);

/**
 * Returns `$XDG_CACHE_HOME/static`, or `~/.cache/static`. Undefined on a machine that has neither.
 */
export function cacheFolder(variable: EnvironmentReader = environment): string | undefined {
  const [cache = "", home = ""] = [variable("XDG_CACHE_HOME"), variable("HOME")];
  // The specification of this variable asks that a relative path is ignored.
  if (cache.startsWith("/")) return `${cache}/static`;
  return home === "" ? undefined : `${home}/.cache/static`;
}

/**
 * Returns the folders that may hold files of this kind, in the order in which they are looked at.
 */
export function placesOf(kind: SourceKind, variable: EnvironmentReader = environment): string[] {
  const [named, cache] = [
    kind === "vectors" ? variable("STATIC_VECTORS") : undefined,
    cacheFolder(variable),
  ];
  return [named ?? "", `${beside}/${kind}`, cache === undefined ? "" : `${cache}/${kind}`].filter((
    folder,
  ) => folder !== "");
}

/** Returns the path of the first file of this name, or undefined when no place has one. */
export function findFile(name: string, places: readonly string[]): string | undefined {
  return places.map((folder) => `${folder}/${name}`).find(isFile);
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

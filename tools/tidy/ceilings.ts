/**
 * Sizes that have a limit, and the places above it. `tools/large_files.json` lists those with a
 * ceiling each, which may only fall: more is a violation, and so is a ceiling that could be lower.
 * `deno run -A tools/tidy.ts --lower` lowers them.
 */
import type { Violation } from "../source.ts";

export const limits = {
  /** Outside of imports. */
  file_statements: 250,
  function_statements: 40,
  branches: 10,
  imports: 20,
  fields: 12,
  /** Tests apart. */
  folder_files: 25,
  /** Declarations with one name, in all of the product. */
  type_declarations: 1,
  /** A type's name that is one participle. */
  bare_participles: 0,
} as const;

type SizeRule = keyof typeof limits;

const remedies: Partial<Record<SizeRule, string>> = {
  type_declarations: "say in each name whose it is",
  bare_participles: "name the thing and not what was done to it",
};

export interface MeasuredSize {
  readonly rule: SizeRule;
  readonly path: string;
  readonly line: number;
  /** The name of a function or class in the file, "" for the file or the folder itself. */
  readonly place: string;
  readonly size: number;
}

/** Places that are above the limit for one reason. */
export interface Ceilings {
  readonly rule: string;
  readonly reason: string;
  readonly ceilings: Readonly<Record<string, number>>;
}

export const listPath = "tools/large_files.json";

export function checkSizes(sizes: readonly MeasuredSize[], list: readonly Ceilings[]): Violation[] {
  const ceilings = new Map(
    list.flatMap(({ rule, ceilings }) =>
      Object.entries(ceilings).map(([place, ceiling]) => [keyOf(rule, place), ceiling] as const)
    ),
  );
  const large = largest(sizes);
  const above = Array.from(large, ([key, sized]): Violation[] => {
    const { path, line, rule, place, size } = sized;
    const ceiling = ceilings.get(key) ?? limits[rule];
    if (size <= ceiling) return [];
    const what = `${place} has ${size}, the limit is ${ceiling}; ${
      remedies[rule] ?? "divide it"
    }, or give a reason in ${listPath}`;
    return [{ path, line, rule, what: what.trimStart() }];
  });
  const loose = Array.from(ceilings, ([key, ceiling]): Violation[] => {
    const size = large.get(key)?.size ?? 0;
    const lower = size === 0 ? "remove it" : `lower it to ${size}`;
    const what =
      `the ceiling of "${key}" is ${ceiling}; ${lower} (deno run -A tools/tidy.ts --lower)`;
    return size < ceiling ? [{ path: listPath, line: 1, rule: "ceiling", what }] : [];
  });
  const mute = list.filter(({ reason }) => reason.trim() === "")
    .map(({ rule }) => ({
      path: listPath,
      line: 1,
      rule: "ceiling",
      what: `${rule}: give a reason`,
    }));
  return [above, loose, mute].flat(2);
}

/**
 * The list with each ceiling at its place's size, and without places that are within the limit.
 * None rises.
 */
export function lowered(sizes: readonly MeasuredSize[], list: readonly Ceilings[]): Ceilings[] {
  const large = largest(sizes);
  return list.flatMap(({ rule, reason, ceilings }) => {
    const left = Object.entries(ceilings).flatMap(([place, ceiling]) => {
      const size = large.get(keyOf(rule, place))?.size;
      return size === undefined ? [] : [[place, Math.min(size, ceiling)] as const];
    });
    return left.length === 0 ? [] : [{ rule, reason, ceilings: Object.fromEntries(left) }];
  });
}

/**
 * Returns sizes above the limit. Functions of one name in one file are one place: the largest
 * counts.
 */
function largest(sizes: readonly MeasuredSize[]): Map<string, MeasuredSize> {
  const large = new Map<string, MeasuredSize>();
  for (const sized of sizes) {
    const key = keyOf(sized.rule, `${sized.path} ${sized.place}`.trimEnd());
    if (sized.size > limits[sized.rule] && sized.size > (large.get(key)?.size ?? 0)) {
      large.set(key, sized);
    }
  }
  return large;
}

function keyOf(rule: string, place: string): string {
  return `${rule}: ${place}`;
}

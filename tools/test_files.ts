/**
 * The files of a suite as one program. `deno test` gives each file an isolate of its own, which
 * loads and compiles the whole product again: a third of the processor time of most suites. So a
 * suite has one isolate for each lane, whatever it holds.
 */

export interface TestPaths {
  /** Folders and files below the project's. */
  readonly paths: readonly string[];
  readonly without?: readonly string[];
  /** `x_test.ts` for the test command, `x_campaign.ts` for campaigns. */
  readonly kinds?: readonly ("test" | "campaign")[];
}

/** Folders that hold no tests of ours, whatever lies in them. */
const foreign = [".git", ".static", "dist", "node_modules"];

/** Every test below the folders, sorted, and the files that are named. */
export async function findTestFiles(
  root: string,
  { paths, without = [], kinds = ["test"] }: TestPaths,
): Promise<string[]> {
  const endings = kinds.map((kind) => `_${kind}.ts`);
  const files = (await Promise.all(paths.map((path) => findBelow(root, path, endings)))).flat();
  return files.filter((file) =>
    !without.some((other) => file === other || file.startsWith(`${other}/`))
  ).sort();
}

async function findBelow(
  root: string,
  path: string,
  endings: readonly string[],
): Promise<string[]> {
  if (path.endsWith(".ts")) return [path];
  const entries = await Array.fromAsync(Deno.readDir(`${root}/${path}`));
  const found = await Promise.all(entries.map(({ name, isDirectory }) => {
    const inside = path === "." ? name : `${path}/${name}`;
    if (isDirectory) return foreign.includes(name) ? [] : findBelow(root, inside, endings);
    return endings.some((ending) => name.endsWith(ending)) ? [inside] : [];
  }));
  return found.flat();
}

/** Deals the files to as many programs as there are lanes, and returns the programs' paths. */
export async function writeTestPrograms(
  { root, folder, files, lanes }: {
    root: string;
    folder: string;
    files: readonly string[];
    lanes: number;
  },
): Promise<string[]> {
  const programs = Array.from(
    { length: Math.min(lanes, files.length) },
    (_, lane) => files.filter((_, index) => index % lanes === lane),
  );
  return await Promise.all(programs.map(async (part, lane) => {
    const path = `${folder}/lane_${lane + 1}_test.ts`;
    const imports = part.map((file) =>
      `import ${JSON.stringify(new URL(file, `file://${root}/`).href)};\n`
    );
    await Deno.writeTextFile(path, imports.join(""));
    return path;
  }));
}

/**
 * Programs that stand on packages which only building and testing needs: compilers, bundlers,
 * validators. They are a project of their own in `tools/npm`, and each runs as a process of its
 * own, because `deno task` downloads everything that the lock file of its project names: else every
 * user would wait for them.
 */
const root = new URL("../", import.meta.url);
const project = new URL("npm/", import.meta.url);

/** Flags with which Deno runs or checks what stands in `tools/npm`. */
export const npmProjectFlags: readonly string[] = flagsFor(project.pathname);

function flagsFor(folder: string): string[] {
  return ["--quiet", "--config", `${folder}/deno.json`];
}

interface ScriptOptions {
  readonly args?: readonly string[];
  readonly input?: Uint8Array<ArrayBuffer>;
  /** A folder that `installPackages` has filled with all that the script needs. */
  readonly project?: string;
}

/**
 * Runs a script of `tools/npm` and returns what it prints. Throws with its errors when it fails.
 */
export async function runNpmScript(
  script: string,
  { args = [], input = new Uint8Array(), project: folder = project.pathname }: ScriptOptions = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      ...flagsFor(folder),
      new URL(script, project).pathname,
      ...args,
    ],
    cwd: root,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ success, stdout, stderr }] = await Promise.all([
    child.output(),
    write(child.stdin, input),
  ]);
  if (!success) throw new Error(`tools/npm/${script} failed: ${new TextDecoder().decode(stderr)}`);
  return stdout;
}

/**
 * Makes `folder` a project whose `node_modules` holds the packages of the whole project, and of
 * `tools/npm` those that are named. Deno fills it from its own cache, in the versions of the lock
 * files.
 */
export async function installPackages(
  folder: string,
  names: readonly string[] = [],
): Promise<void> {
  const [ours, tools] = await Promise.all([
    readJson("deno.json", root),
    readJson("deno.json", project),
  ]);
  const wanted = Object.entries(tools.imports ?? {}).filter(([name]) => names.includes(name));
  const imports = Object.fromEntries([
    ...Object.entries(ours.imports ?? {}).filter(([, target]) => target.startsWith("npm:")),
    ...wanted,
  ]);
  await Deno.writeTextFile(
    `${folder}/deno.json`,
    JSON.stringify({ imports, nodeModulesDir: "auto" }),
  );
  await Deno.writeTextFile(
    `${folder}/deno.lock`,
    JSON.stringify(await joinedLock(Object.values(imports))),
  );
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["install", "--quiet"],
    cwd: folder,
  })
    .output();
  if (!success) throw new Error(`Cannot prepare node_modules: ${new TextDecoder().decode(stderr)}`);
}

/**
 * Both lock files as one. Where both name a package, they name the same bytes: a version of npm
 * never changes. Deno installs all that is specified in a lock file, so this one specifies what is
 * wanted.
 */
async function joinedLock(wanted: readonly string[]): Promise<DenoFile> {
  const [ours, tools] = await Promise.all([
    readJson("deno.lock", root),
    readJson("deno.lock", project),
  ]);
  const specifiers = Object.entries({ ...tools.specifiers, ...ours.specifiers });
  return {
    version: ours.version ?? "",
    specifiers: Object.fromEntries(specifiers.filter(([specifier]) => wanted.includes(specifier))),
    npm: { ...tools.npm, ...ours.npm },
  };
}

/** The parts of a `deno.json` and of a lock file that are read. */
interface DenoFile {
  readonly imports?: Readonly<Record<string, string>>;
  readonly version?: string;
  readonly specifiers?: Readonly<Record<string, string>>;
  readonly npm?: Readonly<Record<string, unknown>>;
}

async function readJson(name: string, folder: URL): Promise<DenoFile> {
  return JSON.parse(await Deno.readTextFile(new URL(name, folder)));
}

async function write(
  stream: WritableStream<Uint8Array<ArrayBuffer>>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const writer = stream.getWriter();
  // A script that has ended early says why itself.
  await writer.write(bytes).then(() => writer.close()).catch(() => {});
}

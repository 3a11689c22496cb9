/**
 * Puts the command `static` of this checkout into `~/.local/bin`, and its completion where bash and
 * fish look for it. `deno task install` runs it; `deno task uninstall` deletes the same files. Each
 * file only leads to the checkout, so it stays true when the checkout changes.
 */

const checkout = decodeURIComponent(new URL("../", import.meta.url).pathname).replace(/\/$/, "");
const mark = "Written by deno task install of Static. deno task uninstall deletes it.";

/** How this user calls Deno: by npx, if there is only Node. */
const deno = Deno.env.get("npm_command") === "exec" ? `npx -y deno@${Deno.version.deno}` : "deno";

interface InstalledFile {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
}

interface InstallFolders {
  readonly programs: string;
  readonly data: string;
}

/** The program first. */
function placesIn(
  { programs, data }: InstallFolders,
): readonly [InstalledFile, ...InstalledFile[]] {
  const program = `${programs}/static`;
  return [
    { path: program, text: launcher(), mode: 0o755 },
    {
      path: `${data}/bash-completion/completions/static`,
      text: `# ${mark}\neval "$(${quoted(program)} completion bash)"\n`,
      mode: 0o644,
    },
    {
      path: `${data}/fish/vendor_completions.d/static.fish`,
      text: `# ${mark}\n${quoted(program)} completion fish | source\n`,
      mode: 0o644,
    },
  ];
}

/**
 * The Deno that runs this stands last in PATH: users whose Deno came with npx have no other, and
 * npx is slow.
 */
function launcher(): string {
  const folder = Deno.execPath().replace(/\/[^/]*$/, "");
  return `#!/bin/sh
# ${mark}
checkout=${quoted(checkout)}
if [ ! -x "$checkout/static" ]; then
  echo "error: The checkout of Static is no longer in $checkout. Run ${deno} task install where it is now." >&2
  exit 1
fi
export PATH="$PATH":${quoted(folder)} STATIC_PROGRAM=static
exec "$checkout/static" "$@"
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Throws at a file of somebody else, before anything is changed. */
async function refuseForeign(places: readonly InstalledFile[]): Promise<void> {
  for (const { path } of places) {
    if (await isOurs(path) !== false) continue;
    throw new Error(
      `${path} exists, and deno task install did not write it. Move it away, then run this again.`,
    );
  }
}

/** Returns undefined if there is no such file. */
async function isOurs(path: string): Promise<boolean | undefined> {
  try {
    const { isFile } = await Deno.lstat(path);
    return isFile && (await Deno.readTextFile(path)).includes(mark);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function install(folders: InstallFolders): Promise<void> {
  const places = placesIn(folders);
  await refuseForeign(places);
  for (const { path, text, mode } of places) {
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(`${path}.part`, text, { mode });
    await Deno.rename(`${path}.part`, path);
  }
  const shell = (Deno.env.get("SHELL") ?? "").replace(/.*\//, "");
  const isInPath = (Deno.env.get("PATH") ?? "").split(":").some((each) =>
    each.replace(/\/$/, "") === folders.programs
  );
  console.log(`Installed: ${places[0].path}`);
  console.log(
    isInPath
      ? "Its folder is in your PATH: static --help works in every folder."
      : pathAdvice(shell, folders),
  );
  console.log(completionAdvice(shell));
  console.log(
    `It uses this checkout. After moving the checkout, run this again; ${deno} task uninstall removes it.`,
  );
}

function pathAdvice(shell: string, { programs }: InstallFolders): string {
  const line = shell === "fish"
    ? `fish_add_path ${quoted(programs)}`
    : `export PATH=${quoted(programs)}:"$PATH"`;
  return `Its folder is not in your PATH. Add this line to ${
    startFile(shell)
  } and open a new terminal:\n  ${line}`;
}

function completionAdvice(shell: string): string {
  if (shell === "fish") return "Completion works in new terminals.";
  const line = `  eval "$(static completion ${shell === "zsh" ? "zsh" : "bash"})"`;
  const needed = `add this line to ${startFile(shell)}:\n${line}`;
  return shell === "zsh"
    ? `For completion, ${needed}`
    : `Completion works in new terminals that load the package bash-completion. Without it, ${needed}`;
}

function startFile(shell: string): string {
  const files: Readonly<Record<string, string>> = {
    bash: "~/.bashrc",
    zsh: "~/.zshrc",
    fish: "~/.config/fish/config.fish",
  };
  return files[shell] ?? "the file that your shell reads at its start";
}

async function uninstall(folders: InstallFolders): Promise<void> {
  const places = placesIn(folders);
  await refuseForeign(places);
  for (const { path } of places) {
    if (await isOurs(path) === undefined) continue;
    await Deno.remove(path);
    console.log(`Deleted: ${path}`);
  }
  console.log("static is not installed. Accounts, keys and agents of this user are as before.");
}

async function main(args: readonly string[]): Promise<void> {
  const home = Deno.env.get("HOME");
  if (Deno.build.os === "windows") {
    throw new Error(`Windows has no such folder. Use ${deno} task static in the checkout.`);
  }
  if (!home) {
    throw new Error("The variable HOME is not set, so there is no folder to install into. Set it.");
  }
  const folders = {
    programs: `${home}/.local/bin`,
    data: Deno.env.get("XDG_DATA_HOME") || `${home}/.local/share`,
  };
  if (args.length === 0) return await install(folders);
  if (args.join(" ") === "--remove") return await uninstall(folders);
  throw new Error(
    `deno task install takes no arguments, not ${
      args.join(" ")
    }. To remove it: ${deno} task uninstall`,
  );
}

if (import.meta.main) {
  try {
    await main(Deno.args);
  } catch (error) {
    console.error(`error: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}

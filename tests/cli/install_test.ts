// `deno task install` as a new user runs it: a home that has nothing, and a PATH without Deno
// afterwards.
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { version } from "../../proto/mod.ts";
import { installed, testWhen } from "../support/mod.ts";

const repository = new URL("../../", import.meta.url).pathname;

/**
 * A new user of this machine. Packages that Deno has downloaded are there, everything else is not.
 */
class NewUser implements AsyncDisposable {
  readonly #folder: string;
  readonly home: string;
  readonly program: string;

  private constructor(folder: string) {
    this.#folder = folder;
    this.home = `${folder}/it's a home`;
    this.program = `${this.home}/.local/bin/static`;
  }

  static async create(): Promise<NewUser> {
    const user = new NewUser(await Deno.makeTempDir({ prefix: "static-install-" }));
    await Deno.mkdir(user.home);
    await Deno.mkdir(user.#tools);
    for (const tool of ["bash", "dirname", "fish", "mv", "zsh"]) {
      const found = ["/usr/bin", "/bin", "/usr/local/bin"].map((each) => `${each}/${tool}`).find(
        isFile,
      );
      if (found !== undefined) await Deno.symlink(found, `${user.#tools}/${tool}`);
    }
    return user;
  }

  get #tools(): string {
    return `${this.#folder}/tools`;
  }

  /** The task, in the checkout. As with npx, Deno is in no folder of PATH. */
  async task(name: string, variables: Readonly<Record<string, string>> = {}): Promise<string> {
    const place = { cwd: repository, PATH: this.#tools };
    return await this.#run(Deno.execPath(), ["task", "--quiet", name], { ...place, ...variables });
  }

  /** A command in the home, where neither Deno nor npx is known. */
  async run(command: string, ...args: readonly string[]): Promise<string> {
    return await this.#run(command, args, {
      cwd: this.home,
      PATH: `${this.home}/.local/bin:${this.#tools}`,
    });
  }

  async #run(
    command: string,
    args: readonly string[],
    { cwd = "", ...variables }: Readonly<Record<string, string>>,
  ): Promise<string> {
    const { success, stdout, stderr } = await new Deno.Command(command, {
      args: [...args],
      cwd,
      clearEnv: true,
      env: {
        HOME: this.home,
        DENO_DIR: await denoFolder(),
        NO_COLOR: "1",
        SHELL: "/bin/bash",
        ...variables,
      },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    return success ? text : `failed: ${text}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.#folder, { recursive: true });
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

let known: string | undefined;

async function denoFolder(): Promise<string> {
  const { stdout } = known === undefined
    ? await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output()
    : { stdout: new Uint8Array() };
  return known ??= String(JSON.parse(new TextDecoder().decode(stdout)).denoDir);
}

async function filesIn(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    files.push(
      ...isDirectory
        ? (await filesIn(`${folder}/${name}`)).map((each) => `${name}/${each}`)
        : [name],
    );
  }
  return files.sort();
}

testWhen(
  installed("bash"),
  "deno task install puts static on the PATH, with completion, and uninstall removes it",
  async () => {
    await using user = await NewUser.create();
    const first = await user.task("install");
    assertStringIncludes(
      first,
      `Installed: ${user.program}\nIts folder is not in your PATH. Add this line to ~/.bashrc`,
    );
    assertEquals(await user.task("install"), first, "a second run does the same");

    const [, line = ""] = /^ {2}(export PATH=.*)$/m.exec(first) ?? [];
    const shell = (script: string): Promise<string> =>
      user.run("bash", "--norc", "--noprofile", "-c", script);
    assertEquals(
      await shell(`${line}; cd /; static --version`),
      `${version}\n`,
      "from another folder, by the line that it told",
    );
    assertStringIncludes(
      await user.run(user.program, "whoami"),
      "with: static signup",
      "hints can be copied",
    );

    const script = `source "$HOME/.local/share/bash-completion/completions/static"
    COMP_WORDS=(static channel f) COMP_CWORD=2; complete -p static; _static; echo "\${COMPREPLY[@]}"`;
    assertEquals(await shell(script), "complete -o default -F _static static\nfingerprint\n");

    const inPath = await user.task("install", {
      PATH: `${user.home}/.local/bin/`,
      npm_command: "exec",
    });
    assertStringIncludes(
      inPath,
      "Its folder is in your PATH: static --help works in every folder.",
    );
    assertMatch(inPath, /\bnpx -y deno@\S+ task uninstall removes it/, "a user of npx can copy it");

    const removed = await user.task("uninstall");
    assertEquals(removed.match(/^Deleted: /gm)?.length, 3);
    assertEquals(await filesIn(`${user.home}/.local`), []);
    assertEquals(
      await user.task("uninstall"),
      removed.replace(/^Deleted: .*\n/gm, ""),
      "a second run is no error",
    );
  },
);

testWhen(
  installed("zsh"),
  "zsh completes static with the line that deno task install tells",
  async () => {
    await using user = await NewUser.create();
    const told = await user.task("install", { SHELL: "/bin/zsh" });
    const [, line = ""] = /^ {2}(eval .*)$/m.exec(told) ?? [];
    await Deno.writeTextFile(`${user.home}/.zshrc`, `${line}\n`);
    assertEquals(
      await user.run("zsh", "-d", "-i", "-c", "print ${_comps[static]}"),
      "_bash_complete -o default -F _static\n",
    );
  },
);

testWhen(installed("fish"), "fish completes static after deno task install", async () => {
  await using user = await NewUser.create();
  assertStringIncludes(
    await user.task("install", { SHELL: "/usr/bin/fish" }),
    "Completion works in new terminals.",
  );
  assertMatch(await user.run("fish", "-c", 'complete -C "static channel f"'), /^fingerprint\b/);
});

Deno.test("deno task install changes no file that it did not write, and says which", async () => {
  await using user = await NewUser.create();
  await Deno.mkdir(`${user.home}/.local/bin`, { recursive: true });
  await Deno.symlink(`${repository}static`, user.program);
  const before = await Deno.readTextFile(`${repository}static`);
  for (const task of ["install", "uninstall"]) {
    assertStringIncludes(
      await user.task(task),
      `failed: error: ${user.program} exists, and deno task install did not write it.`,
    );
  }
  assertEquals(await filesIn(user.home), [".local/bin/static"]);
  assert((await Deno.lstat(user.program)).isSymlink);
  assertEquals(await Deno.readTextFile(`${repository}static`), before);
});

/** The real Claude Code and Codex, from npm, at a terminal each. */
import { type Requirement } from "../support/requirement.ts";
import { cacheFolder } from "../../tools/fetch/places.ts";

export const versions = { claude: "2.1.328", codex: "0.169.0" } as const;

const system = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
const folder = `${cacheFolder() ?? ""}/harnesses-${versions.claude}-${versions.codex}`;

export const programs = {
  claude: `${folder}/node_modules/@anthropic-ai/claude-code-${system}/claude`,
  codex: `${folder}/node_modules/.bin/codex`,
} as const;

/** Brings both, about 0.8 GB, unless they are there. They are too large for the test command. */
export async function bringHarnesses(): Promise<Requirement> {
  const isThere = (path: string): Promise<boolean> => Deno.stat(path).then(() => true, () => false);
  if (!(await Promise.all(Object.values(programs).map(isThere))).every(Boolean)) {
    await Deno.mkdir(folder, { recursive: true });
    const wanted = [
      `@anthropic-ai/claude-code@${versions.claude}`,
      `@openai/codex@${versions.codex}`,
    ];
    const args = ["install", "--prefix", folder, "--no-save", "--ignore-scripts", "--no-audit"];
    await new Deno.Command("npm", { args: [...args, ...wanted], stdout: "null", stderr: "null" })
      .output().catch(() => {});
  }
  const met = (await Promise.all(Object.values(programs).map(isThere))).every(Boolean);
  return { met, reason: "npm cannot bring Claude Code and Codex" };
}

/** A program at a terminal of `script`, which answers what programs ask their terminals. */
export class HarnessTerminal implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #keys: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>;
  /** Everything that was shown. */
  screen = "";

  constructor(
    command: string,
    { env, cwd }: { readonly env: Readonly<Record<string, string>>; readonly cwd: string },
  ) {
    this.#child = new Deno.Command("script", {
      args: [
        "--quiet",
        "--flush",
        "--command",
        `stty rows 40 cols 120; exec ${command}`,
        "/dev/null",
      ],
      cwd,
      clearEnv: true,
      env: { SHELL: "/bin/sh", TERM: "xterm-256color", LANG: "C.UTF-8", ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#keys = this.#child.stdin.getWriter();
    this.#reading = this.#read();
  }

  async type(text: string): Promise<void> {
    await this.#keys.write(new TextEncoder().encode(text)).catch(() => {});
  }

  async #read(): Promise<void> {
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      this.screen += text;
      // Where the cursor is, and which terminal it is.
      if (text.includes("\x1b[6n")) await this.type("\x1b[1;1R");
      if (text.includes("\x1b[c")) await this.type("\x1b[?62c");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keys.close().catch(() => {});
    try {
      this.#child.kill("SIGTERM");
    } catch {
      // It has ended by itself.
    }
    await this.#child.status;
    await this.#reading;
  }
}

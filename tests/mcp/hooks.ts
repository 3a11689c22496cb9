/**
 * Stands for Claude Code at the end of a turn: runs the Stop hook of the plugin in a shell, with
 * what Claude Code gives it, and says whether it would begin a turn, and with which words.
 */
import { program } from "./session.ts";

export interface HookEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export const quiet: HookEnd = { code: 0, stdout: "", stderr: "" };

/** A folder with a `static` that is this checkout's. */
export async function writeProgram(folder: string): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  const words = [Deno.execPath(), ...program].map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(`${folder}/static`, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
}

/** The command of the plugin in this folder. */
export async function hookOf(plugin: string): Promise<string> {
  const { hooks: { Stop: [{ hooks: [hook] }] } } = JSON.parse(
    await Deno.readTextFile(`${plugin}/hooks/hooks.json`),
  );
  return hook.command;
}

export class HookRun implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly end: Promise<HookEnd>;

  constructor(command: string, env: Readonly<Record<string, string>>) {
    this.#child = new Deno.Command("sh", {
      args: ["-c", command],
      env: { ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    void this.#tell();
    this.end = this.#child.output().then(({ code, stdout, stderr }) => {
      const [out = "", errors = ""] = [stdout, stderr].map((each) =>
        new TextDecoder().decode(each)
      );
      return { code, stdout: out, stderr: errors };
    });
  }

  /** The model's last words are in it: others may have chosen them. */
  async #tell(): Promise<void> {
    const writer = this.#child.stdin.getWriter();
    const input = { hook_event_name: "Stop", last_assistant_message: "$(echo psst)`id`\n; psst" };
    await writer.write(new TextEncoder().encode(JSON.stringify(input))).catch(() => {});
    await writer.close().catch(() => {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.#child.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await this.end;
  }
}

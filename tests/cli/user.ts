/**
 * Somebody with a home of their own who runs commands. No run may show a stack trace or a secret
 * that it was not asked for.
 */
import { assert, assertEquals } from "@std/assert";
import { commands } from "../../cli/mod.ts";
import {
  type Outcome,
  type Running,
  startCli,
  type TestHostOptions,
} from "../../cli/testing/test_host.ts";

export interface RunOptions extends Omit<TestHostOptions, "folder"> {
  /** The exit code that is expected; 0 when not given. */
  readonly code?: number;
}

/** The exit codes of each command so far, by any user. */
export const endings: ReadonlyMap<string, Set<number>> = new Map(
  commands.map(({ path }) => [path, new Set()]),
);

export class User implements AsyncDisposable {
  readonly folder: string;
  readonly variables: Readonly<Record<string, string>>;
  /** Must never be printed, unless a test takes it off. */
  readonly secrets = new Set<string>();

  private constructor(folder: string, variables: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.variables = variables;
  }

  static async create(variables: Readonly<Record<string, string>> = {}): Promise<User> {
    // Each run holds its agent itself, so that nothing stays behind; `hosted.ts` is about hosts.
    return new User(await Deno.makeTempDir({ prefix: "static-user-" }), {
      STATIC_HOST: "off",
      ...variables,
    });
  }

  get credentialsFile(): string {
    return `${this.folder}/config/static/credentials.json`;
  }

  async credentials(): Promise<Record<string, string>> {
    return JSON.parse(await Deno.readTextFile(this.credentialsFile));
  }

  start(argv: readonly string[], { variables = {}, ...options }: RunOptions = {}): Running {
    const all = { folder: this.folder, variables: { ...this.variables, ...variables }, ...options };
    const running = startCli(argv, all);
    const path = [3, 2, 1].map((words) => argv.slice(0, words).join(" ")).find((each) =>
      endings.has(each)
    );
    void running.done.then(({ code }) => endings.get(path ?? "")?.add(code));
    return running;
  }

  async run(argv: readonly string[], options: RunOptions = {}): Promise<Outcome> {
    const outcome = await this.start(argv, options).done;
    const shown = `${argv.join(" ")}\n${outcome.stdout}${outcome.stderr}`;
    assertEquals(outcome.code, options.code ?? 0, shown);
    this.check(shown);
    return outcome;
  }

  /** The result as JSON. */
  // deno-lint-ignore no-explicit-any
  async json(argv: readonly string[], options: RunOptions = {}): Promise<any> {
    const { stdout, stderr, code } = await this.run([...argv, "--json"], options);
    return JSON.parse(code === 0 ? stdout : stderr);
  }

  check(shown: string): void {
    assertNoStackTrace(shown);
    for (const secret of this.secrets) {
      assert(!shown.includes(secret), `a secret was printed: ${shown}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.folder, { recursive: true });
  }
}

export function assertNoStackTrace(shown: string): void {
  assert(
    !/^\s+at \S.*[:(]/m.test(shown) && !/Uncaught|Unhandled/i.test(shown),
    `a stack trace was shown: ${shown}`,
  );
}

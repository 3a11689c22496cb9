/**
 * The program itself, in a shell with pipes: under Deno as the task starts it, and under Node from
 * the npm package.
 */
import { assertEquals, assertMatch } from "@std/assert";
import { buildPackage, cliPackage } from "../../tools/build_npm.ts";
import { createProject } from "../../tools/bundle.ts";
import { node } from "../support/runtime/node.ts";
import type { Stack } from "../support/stack.ts";
import { eventually, installed, runCommand } from "../support/mod.ts";
import { assertNoStackTrace, User } from "./user.ts";

const repository = new URL("../../", import.meta.url).pathname;

/** Defines the array `STATIC`, with which a shell starts the program. */
async function denoProgram(): Promise<string> {
  const { tasks } = JSON.parse(await Deno.readTextFile(`${repository}deno.json`));
  return `STATIC=(env ${String(tasks.static).replace(/\bdeno run\b/, `${Deno.execPath()} run`)})`;
}

interface Shell {
  readonly environment: Readonly<Record<string, string>>;
  readonly definition: string;
}

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function shell({ environment, definition }: Shell, script: string): Promise<Outcome> {
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: [
      "--norc",
      "--noprofile",
      "-o",
      "pipefail",
      "-c",
      `${definition}\nstatic() { "${"${STATIC[@]}"}" "$@"; }\n${script}`,
    ],
    cwd: repository,
    env: { ...environment },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  const outcome = { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  assertNoStackTrace(outcome.stdout + outcome.stderr);
  return outcome;
}

/**
 * Listens until the last message is there, is told to end, several times as by a terminal and a
 * task, and does.
 */
const untilTerminated = `
"\${STATIC[@]}" channel listen "$NAME" > "$XDG_DATA_HOME/heard" & listener=$!
for _ in {1..600}; do grep -q three "$XDG_DATA_HOME/heard" && break; sleep 0.1; done
for _ in 1 2 3; do kill -TERM $listener || true; sleep 0.01; done 2> /dev/null
wait $listener; echo code $?
`;

/** The file is there when `head` has ended: a process closes its input before its output. */
const untilClosed =
  'static channel listen "$NAME" | head -1 | { cat; touch "$XDG_DATA_HOME/closed"; }';

/** Somebody in this process who owns a channel, and a shell whose agent was let into it. */
class Pair implements AsyncDisposable {
  readonly name: string;
  readonly owner: User;
  readonly #shell: Shell;

  private constructor(name: string, owner: User, shell: Shell) {
    this.name = name;
    this.owner = owner;
    this.#shell = shell;
  }

  static async create(stack: Stack, name: string, definition: string): Promise<Pair> {
    const variables = {
      STATIC_API_URL: stack.api.url,
      STATIC_RELAY_URL: `${stack.quicUrl},${stack.grpcUrl}`,
      STATIC_CA_FILE: stack.caFile,
      STATIC_API_KEY: stack.account.apiKey,
      STATIC_HOST: "off",
    };
    const owner = await User.create(variables);
    owner.secrets.add(stack.account.apiKey);
    const folders = { XDG_CONFIG_HOME: `${owner.folder}/c`, XDG_DATA_HOME: `${owner.folder}/d` };
    const environment = { ...variables, ...folders, STATIC_AGENT: "guest", NAME: name };
    return new Pair(name, owner, { environment, definition });
  }

  async run(script: string, variables: Readonly<Record<string, string>> = {}): Promise<Outcome> {
    const { environment, definition } = this.#shell;
    const outcome = await shell(
      { environment: { ...environment, ...variables }, definition },
      script,
    );
    this.owner.check(outcome.stdout + outcome.stderr);
    return outcome;
  }

  /** The token goes through a pipe, so do messages both ways. */
  async meet(): Promise<void> {
    const { name, owner } = this;
    await owner.run(["channel", "create", name]);
    const inviting = owner.start(["channel", "invite", name]);
    await eventually(
      { what: "a token" },
      () => Promise.resolve(inviting.stdout()),
      (out) => out !== "",
    );
    const [token = ""] = inviting.stdout().split("\n");
    const joined = await this.run('static channel join "$NAME" <<< "$TOKEN"', { TOKEN: token });
    assertEquals(joined.code, 0, joined.stderr);
    assertMatch(joined.stdout, /^✓ Joined /);
    await inviting.done;
    const sent = await this.run('echo "through a pipe" | static channel send "$NAME"');
    assertEquals([sent.code, sent.stdout], [0, ""], sent.stderr);
    assertEquals(
      (await owner.run(["channel", "listen", name, "--count", "1"])).stdout,
      "through a pipe\n",
    );
    await owner.run(["channel", "send", name, "one"]);
    const upper = await this.run('static channel listen "$NAME" --json --count 1 | tr a-z A-Z');
    assertMatch(upper.stdout, /"TEXT":"ONE"/);
  }

  /**
   * Nobody can know that a pipe is closed before writing to it, so there is one message more for
   * that.
   */
  async listenUntilClosed(): Promise<Outcome> {
    const { name, owner } = this;
    await owner.run(["channel", "send", name, "tick"]);
    const listening = this.run(untilClosed);
    await eventually(
      { what: "the end of head" },
      () => Deno.stat(`${owner.folder}/d/closed`).then(() => true, () => false),
      (isClosed) => isClosed,
    );
    await owner.run(["channel", "send", name, "tock"]);
    return await listening;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.owner[Symbol.asyncDispose]();
  }
}

export const forPipes = installed("bash");
export const forNode = {
  met: node.met && installed("npm", "tar").met,
  reason: "node, npm or tar is missing",
};

export async function checkPipesUnderDeno(stack: Stack): Promise<void> {
  await using pair = await Pair.create(stack, "acme/pipes/deno", await denoProgram());
  await pair.meet();
  await pair.owner.run(["channel", "send", pair.name, "three"]);
  const ended = await pair.run(untilTerminated);
  assertEquals(ended.stdout, "code 0\n", ended.stderr);
  assertEquals((await pair.listenUntilClosed()).stdout, "tick\n");
  const wrong = await pair.run(
    "static channel create wrong; echo $?; STATIC_API_URL=http://127.0.0.1:1 static usage; echo $?",
  );
  assertEquals(wrong.stdout, "2\n5\n");
  const long = await pair.run(
    '(echo before; head -c 2000000 /dev/zero) | static channel send "$NAME" --lines; echo $?',
  );
  assertEquals(long.stdout, "2\n");
  assertMatch(long.stderr, /^error: A line of the input has more than 1048576 bytes\n$/);
}

export async function checkPipesUnderNode(stack: Stack, { program }: NodeProgram): Promise<void> {
  await using pair = await Pair.create(stack, "acme/pipes/node", `STATIC=(${program})`);
  await pair.meet();
  const script =
    'static channel send "$NAME" hosted && static host status --json && static host stop --json';
  const { code, stdout, stderr } = await pair.run(script, { STATIC_HOST: "" });
  assertEquals(code, 0, stderr);
  assertMatch(stdout, /"running":true.*"runtime":"node .*\n.*"stopped":true/);
  // Node has ML-KEM of its own from 24.7 on.
  const told = await pair.run(
    `static doctor; node -p 'typeof require("node:crypto").decapsulate'`,
  );
  const whose = told.stdout.endsWith("function\n") ? "the runtime's" : "portable, in JavaScript";
  assertMatch(told.stdout, new RegExp(`✓ ML-KEM +${whose}`), told.stderr);
}

export interface NodeProgram extends AsyncDisposable {
  /** The link to the package's script that npm makes, in the PATH of its users. */
  readonly program: string;
}

/** The package as npm would install it: packed, and unpacked beside its dependencies. */
export async function installNodeProgram(): Promise<NodeProgram> {
  await using opened = new AsyncDisposableStack();
  const out = await Deno.makeTempDir({ prefix: "static-npm-" });
  opened.defer(() => Deno.remove(out, { recursive: true }));
  const project = opened.use(await createProject());
  const { tarball } = await buildPackage(out, cliPackage);
  const target = `${project.folder}/node_modules/static-cli`;
  await Deno.mkdir(target);
  await runCommand("tar", ["-xzf", tarball, "--strip-components=1", "-C", target]);
  const { bin } = JSON.parse(await Deno.readTextFile(`${target}/package.json`));
  const program = `${project.folder}/node_modules/.bin/static`;
  await Deno.mkdir(`${project.folder}/node_modules/.bin`, { recursive: true });
  await Deno.chmod(`${target}/${bin.static}`, 0o755);
  await Deno.symlink(`${target}/${bin.static}`, program);
  const moved = opened.move();
  return { program, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}

/**
 * A stranger's desk: the pages' commands run here as they stand, in the repository, with folders of
 * their own and ports that are free on this machine in the place of those that the pages name.
 */
import { freePorts } from "../support/mod.ts";
import { shortLived } from "../support/short_lived.ts";

export interface Desk extends AsyncDisposable {
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  /** The text with this desk's ports and data directory. */
  translate(text: string): string;
  /** Returns the output of the commands; throws with it when one fails. */
  run(commands: string, answers: readonly string[]): Promise<string>;
  /** Starts a command that serves; resolves when it has printed `until`. */
  serve(command: string, until: string): Promise<Service>;
}

export interface Service {
  /**
   * Ctrl-C, as a terminal gives it to the whole group; returns the exit code and everything that
   * was printed.
   */
  interrupt(): Promise<{ readonly code: number; readonly output: string }>;
}

const repository = new URL("../../", import.meta.url).pathname;
const commandMs = 120_000;

export async function openDesk(): Promise<Desk> {
  const folder = await Deno.makeTempDir({ prefix: "static-docs-" });
  await installDeno(`${folder}/bin`);
  const ports = freePorts(6);
  const [api = 0, grpc = 0, quic = 0, admin = 0, edge = 0, internal = 0] = ports;
  const data = `${folder}/data`;
  const environment = {
    ...shortLived,
    PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
    XDG_CONFIG_HOME: `${folder}/config`,
    XDG_DATA_HOME: `${folder}/agents`,
    STATIC_HOST: "off",
    NO_COLOR: "1",
    STATIC_DATA_DIR: data,
    STATIC_API_PORT: String(api),
    STATIC_RELAY_GRPC_PORT: String(grpc),
    STATIC_RELAY_QUIC_PORT: String(quic),
    STATIC_ADMIN_PORT: String(admin),
    STATIC_INTERNAL_PORT: String(internal),
    // The variables that `deno task start` tells users to set when ports and directory are not the
    // default ones.
    STATIC_API_URL: `http://127.0.0.1:${api}`,
    STATIC_RELAY_URL: `quic://localhost:${quic},https://localhost:${grpc}`,
    STATIC_CA_FILE: `${data}/ca.pem`,
  };
  const replacements: readonly [RegExp, string][] = [
    [/(?<=(localhost|127\.0\.0\.1):)8080\b/g, String(api)],
    [/(?<=(localhost|127\.0\.0\.1|\[::\]):)5000\b/g, String(grpc)],
    [/(?<=(localhost|127\.0\.0\.1|\[::\]):)4433\b/g, String(quic)],
    [/(?<=(localhost|127\.0\.0\.1):)9464\b/g, String(admin)],
    [/(?<=(localhost|127\.0\.0\.1):)9465\b/g, String(admin + 1)],
    [/(?<=--port[ =]|127\.0\.0\.1:)8000\b/g, String(edge)],
    [/(?<![\w/.])\.static\b/g, data],
  ];
  const translate = (text: string): string =>
    replacements.reduce((changed, [pattern, value]) => changed.replace(pattern, value), text);
  return {
    folder,
    environment,
    translate,
    run: (commands, answers) => run(translate(commands), answers, environment),
    serve: (command, until) => serve(translate(command), until, environment),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** `deno`, and `npx -y deno@…` for users of Node: both are the Deno that runs this test. */
async function installDeno(folder: string): Promise<void> {
  await Deno.mkdir(folder);
  await Deno.symlink(Deno.execPath(), `${folder}/deno`);
  const npx =
    `#!/bin/sh\n[ "$1 $2" = "-y deno@2.9.5" ] || { echo "unexpected: npx $*" >&2; exit 64; }\nshift 2\nnpm_command=exec exec deno "$@"\n`;
  await Deno.writeTextFile(`${folder}/npx`, npx, { mode: 0o755 });
}

async function run(
  commands: string,
  answers: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(commands, environment);
  const timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), commandMs);
  const writer = child.stdin.getWriter();
  // A command that asks for nothing may have ended before it is answered.
  await writer.write(new TextEncoder().encode(answers.map((line) => `${line}\n`).join(""))).catch(
    () => {},
  );
  await writer.close().catch(() => {});
  const [{ code }, printed, errors] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  clearTimeout(timer);
  if (code !== 0) throw new Error(`exit code ${code} of\n${commands}\n${printed}${errors}`);
  return printed + errors;
}

async function serve(
  command: string,
  until: string,
  environment: Readonly<Record<string, string>>,
): Promise<Service> {
  const child = spawn(command, environment);
  await child.stdin.close();
  const ready = Promise.withResolvers<void>();
  let output = "";
  const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> => {
    for await (const text of stream.pipeThrough(new TextDecoderStream())) {
      output += text;
      if (output.includes(until)) ready.resolve();
    }
  };
  const ended = Promise.all([child.status, collect(child.stdout), collect(child.stderr)]).then((
    [{ code }],
  ) => code);
  const timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), commandMs);
  const early = ended.then((code) => {
    throw new Error(`"${until}" did not appear; exit code ${code} of\n${command}\n${output}`);
  });
  await Promise.race([ready.promise, early]).finally(() => clearTimeout(timer));
  early.catch(() => {});
  return {
    interrupt: async () => {
      const timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), commandMs);
      signalGroup(child.pid, "SIGINT");
      const code = await ended;
      clearTimeout(timer);
      return { code, output };
    },
  };
}

/** In a group of its own, so that nothing that it starts is left behind. */
function spawn(commands: string, environment: Readonly<Record<string, string>>): Deno.ChildProcess {
  return new Deno.Command("bash", {
    args: ["-euo", "pipefail", "-c", commands],
    cwd: repository,
    env: environment,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
    detached: true,
  }).spawn();
}

function signalGroup(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(-pid, signal);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

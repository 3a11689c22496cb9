/**
 * A throw-away PostgreSQL from the installed package: own cluster in a temporary folder, ephemeral
 * loopback port, gone at the end. PostgreSQL refuses to run as root, so root becomes the package's
 * `postgres` user for it. In the test command its files are copied, which takes a fifth of making
 * them, and tests that leave the server alone share one (`openSharedDatabase`).
 */
import postgres from "postgres";
import type { TestCertificate } from "./certificate.ts";
import { oncePerRun } from "./once_per_run.ts";
import { freePort } from "./ports.ts";
import type { Requirement } from "./requirement.ts";

const packageFolder = "/usr/lib/postgresql";

export interface TestPostgres {
  /** A superuser's address on loopback, for one fresh database per call. */
  createDatabase(): Promise<string>;
  /** As a crash would. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /**
   * Stops every process of the server without ending it: connections stay open and nothing answers.
   */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  close(): Promise<void>;
}

export interface PostgresOptions {
  /** PEM files to offer TLS with. */
  readonly tls?: TestCertificate;
  /** An empty folder of the caller's for its files; a temporary one unless given. */
  readonly folder?: string;
  /** The most connections; 100 unless given. */
  readonly connections?: number;
}

export interface SharedDatabase {
  readonly url: string;
  close(): Promise<void>;
}

export const postgresInstalled: Requirement = {
  get met() {
    return binaries() !== undefined;
  },
  reason: `PostgreSQL is not installed in ${packageFolder}`,
};

/**
 * A copy of a database on the server of this run, which nobody may kill or freeze. `fill` fills the
 * first, once. Undefined outside of the test command.
 */
export async function openSharedDatabase(
  fill: (url: string) => Promise<void>,
): Promise<SharedDatabase | undefined> {
  const file = await oncePerRun("postgres.url", async (path) => {
    const folder = `${path}.files`;
    await Deno.mkdir(folder);
    const server = await startPostgres({ folder, connections: 500 });
    const url = await server.createDatabase();
    await fill(url);
    await Deno.writeTextFile(path, url);
  });
  if (file === undefined) return undefined;
  const filled = new URL(await Deno.readTextFile(file));
  const name = newName();
  const command = async (statement: string): Promise<void> => {
    const sql = postgres(new URL("/postgres", filled).href, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement);
    await sql.end();
  };
  await command(`CREATE DATABASE ${name} TEMPLATE ${filled.pathname.slice(1)}`);
  return {
    url: new URL(`/${name}`, filled).href,
    close: () => command(`DROP DATABASE ${name} WITH (FORCE)`),
  };
}

export async function startPostgres(options: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = binaries();
  if (folder === undefined) throw new Error(postgresInstalled.reason);
  const user = await serverUser();
  const root = options.folder ?? await Deno.makeTempDir({ prefix: "static-pg-" });
  await Deno.chown(root, user.uid ?? null, user.gid ?? null);
  const cluster = `${root}/cluster`;
  const port = freePort();
  const run = (program: string, ...args: string[]): Promise<string> =>
    runProgram(`${folder}/${program}`, args, user);
  // Small files of its log, which are filled when they are made, and copied; how much there may be
  // of it is as by default.
  const flags = "-U postgres -A trust -E UTF8 --no-sync --no-instructions --wal-segsize=1".split(
    " ",
  );
  await makeCluster(cluster, (path) => run("initdb", "-D", path, ...flags));

  // No Unix socket: the path of one may have little more than a hundred characters.
  const settings = [
    "listen_addresses=127.0.0.1",
    `port=${port}`,
    "unix_socket_directories=",
    "fsync=off",
  ];
  settings.push(
    "min_wal_size=80MB",
    "max_wal_size=1GB",
    `max_connections=${options.connections ?? 100}`,
  );
  if (options.tls !== undefined) {
    await Deno.writeTextFile(`${cluster}/server.crt`, options.tls.cert);
    await Deno.writeTextFile(`${cluster}/server.key`, options.tls.key, { mode: 0o600 });
    for (const file of ["server.crt", "server.key"]) {
      await Deno.chown(`${cluster}/${file}`, user.uid ?? null, user.gid ?? null);
    }
    settings.push("ssl=on");
  }
  const serverFlags = settings.map((setting) => `-c ${setting}`).join(" ");
  const start = async (): Promise<void> => {
    await run(
      "pg_ctl",
      "-D",
      cluster,
      "-w",
      "-t",
      "20",
      "-l",
      `${root}/log`,
      "-o",
      serverFlags,
      "start",
    );
  };
  const kill = async (): Promise<void> => {
    await run("pg_ctl", "-D", cluster, "-w", "-m", "immediate", "stop");
  };
  await start();

  return {
    createDatabase: async () => {
      const name = newName();
      await run("createdb", "-h", "127.0.0.1", "-p", String(port), "-U", "postgres", name);
      return `postgres://postgres@127.0.0.1:${port}/${name}`;
    },
    kill,
    start,
    freeze: () => signalServer(cluster, "SIGSTOP"),
    thaw: () => signalServer(cluster, "SIGCONT"),
    close: async () => {
      // A test that failed may have left it frozen, in which it hears nothing, or killed; then
      // these fail, which is fine.
      await signalServer(cluster, "SIGCONT").catch(() => {});
      await kill().catch(() => {});
      await Deno.remove(root, { recursive: true });
    },
  };
}

/** Copies the empty cluster of this run of the tests. */
async function makeCluster(
  path: string,
  initialise: (path: string) => Promise<unknown>,
): Promise<void> {
  const kept = await oncePerRun("cluster", async (made) => {
    await initialise(path);
    await runProgram("mv", [path, made], {});
  });
  if (kept === undefined) await initialise(path);
  else await runProgram("cp", ["-a", kept, path], {});
}

function newName(): string {
  return `test_${crypto.randomUUID().replaceAll("-", "")}`;
}

/** The newest installed version's programs. */
function binaries(): string | undefined {
  try {
    const versions = [...Deno.readDirSync(packageFolder)].map(({ name }) => name).sort((a, b) =>
      Number(b) - Number(a)
    );
    return versions.map((version) => `${packageFolder}/${version}/bin`).find((bin) =>
      Deno.statSync(`${bin}/postgres`).isFile
    );
  } catch {
    return undefined;
  }
}

interface User {
  readonly uid?: number;
  readonly gid?: number;
}

async function serverUser(): Promise<User> {
  if (Deno.uid() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ["-u", "-g"].map((flag) => runProgram("id", [flag, "postgres"], {})),
  );
  return { uid: Number(uid), gid: Number(gid) };
}

async function runProgram(program: string, args: readonly string[], user: User): Promise<string> {
  // pg_ctl's child inherits its pipes, so output goes to files where it must not be waited for.
  const detached = args.includes("start");
  const output = detached ? "null" : "piped";
  const { success, stdout, stderr } = await runCommand(program, args, user, output);
  if (!success) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
  return stdout;
}

async function runCommand(
  program: string,
  args: readonly string[],
  user: User,
  output: "null" | "piped",
): Promise<{ success: boolean; stdout: string; stderr: string }> {
  const command = new Deno.Command(program, {
    args: [...args],
    ...user,
    cwd: "/",
    stdout: output,
    stderr: output,
  });
  const child = command.spawn();
  if (output === "null") {
    return { success: (await child.status).success, stdout: "", stderr: "see the server's log" };
  }
  const result = await child.output();
  const decoder = new TextDecoder();
  return {
    success: result.success,
    stdout: decoder.decode(result.stdout).trim(),
    stderr: decoder.decode(result.stderr),
  };
}

/** The postmaster and its children, from the postmaster's own pid file. */
async function signalServer(cluster: string, signal: "SIGSTOP" | "SIGCONT"): Promise<void> {
  const pid = Number((await Deno.readTextFile(`${cluster}/postmaster.pid`)).split("\n")[0]);
  const children = (await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`)).trim().split(" ")
    .map(Number);
  for (const process of [pid, ...children]) {
    try {
      Deno.kill(process, signal);
    } catch (error) {
      // A child may have ended since the list was read.
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

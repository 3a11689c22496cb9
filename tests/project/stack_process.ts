/** `deno task start` as a process of its own, as a user runs it. */
import { shortLived } from "../support/short_lived.ts";

export const root = new URL("../../", import.meta.url);

const ephemeral = {
  STATIC_API_PORT: "0",
  STATIC_INTERNAL_PORT: "0",
  STATIC_ADMIN_PORT: "0",
  STATIC_RELAY_GRPC_PORT: "0",
  STATIC_RELAY_QUIC_PORT: "0",
};

/** They may hold secrets of the API. Empty is as if they were not set. */
export const secretNames = [
  "DATABASE_URL",
  "STATIC_DATABASE_CA",
  "STATIC_JWT_KEYS",
  "STATIC_ADMIN_SECRET",
  "STATIC_SMTP_URL",
];

/** `deno task start` as a user runs it. */
export function start(
  variables: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start", ...flags],
    cwd: root,
    env: {
      ...ephemeral,
      ...shortLived,
      ...Object.fromEntries(secretNames.map((name) => [name, ""])),
      ...variables,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** One that must fail: its exit code and what it said. */
export async function failedStart(
  variables: Readonly<Record<string, string>>,
  ...flags: readonly string[]
): Promise<{ code: number; errors: string }> {
  const child = start(variables, ...flags);
  const [{ code }, errors] = await Promise.all([
    child.status,
    new Response(child.stderr).text(),
    child.stdout.cancel(),
  ]);
  return { code, errors };
}

/** The first start makes the database, which takes seconds; the later ones find it. */
export async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "static-start, by o'clock " });
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

export interface RunningStack {
  readonly child: Deno.ChildProcess;
  readonly apiUrl: string;
  readonly grpcUrl: string;
  readonly caFile: string;
  readonly metricsUrls: readonly string[];
  /** Everything that was printed so far. */
  output(): string;
  /** Waits until this has been printed. */
  printed(pattern: RegExp): Promise<void>;
  /** The exit code. */
  ended(): Promise<number>;
}

/** `variables` beside those of every such test. */
export async function startStack(
  folder: string,
  flags: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): Promise<RunningStack> {
  const given = {
    STATIC_DATA_DIR: folder,
    STATIC_API_URL: "https://elsewhere.example",
    ...variables,
  };
  const child = start(given, ...flags);
  let output = "";
  let onText = (): void => {};
  const reading = (async () => {
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += text;
      onText();
    }
  })();
  const printed = (pattern: RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      onText = () => pattern.test(output) && resolve();
      onText();
      void reading.then(() => reject(new Error(`${pattern} did not appear in: ${output}`)));
    });
  await printed(flags.includes("--watch") ? /Watching the code/ : /Ctrl-C stops it\./);
  const find = (pattern: RegExp): string => pattern.exec(output)?.[1] ?? `nothing like ${pattern}`;
  return {
    child,
    apiUrl: find(/API +(http:\S+)/),
    grpcUrl: find(/ +(https:\S+) +\(gRPC/),
    caFile: find(/Trust +(.+)/),
    metricsUrls: find(/Metrics +(.+)/).split(/ +/),
    output: () => output,
    printed,
    ended: async () => {
      const [{ code }] = await Promise.all([child.status, reading, child.stderr.cancel()]);
      if (output.includes("unowned_socket_error")) {
        throw new Error(`A socket had no owner: ${output}`);
      }
      return code;
    },
  };
}

/** Addresses on which a process listens, TCP and UDP, as the system writes them. */
export async function boundAddresses(pid: number): Promise<string[]> {
  const sockets = new Set<string>();
  for await (const { name } of Deno.readDir(`/proc/${pid}/fd`)) {
    const target = await Deno.readLink(`/proc/${pid}/fd/${name}`).catch(() => "");
    const [, inode] = /^socket:\[(\d+)\]$/.exec(target) ?? [];
    if (inode !== undefined) sockets.add(inode);
  }
  return ["tcp", "tcp6", "udp", "udp6"].flatMap((protocol) => {
    const rows = Deno.readTextFileSync(`/proc/${pid}/net/${protocol}`).trim().split("\n").slice(1);
    return rows.map((row) => row.trim().split(/\s+/)).flatMap(
      ([, local = "", , state, , , , , , inode = ""]) => {
        const isBound = protocol.startsWith("udp") || state === listening;
        return isBound && sockets.has(inode) ? [local.slice(0, local.indexOf(":"))] : [];
      },
    );
  });
}

/** The state of a TCP socket in the system's table. */
const listening = "0A";

/**
 * The descendant of a process whose command line contains this, and which is this program, if it is
 * named.
 */
export async function processOf(ancestor: number, part: string, program?: string): Promise<number> {
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name) || !isDescendant(Number(name), ancestor)) continue;
    if (program !== undefined && Deno.readTextFileSync(`/proc/${name}/comm`).trim() !== program) {
      continue;
    }
    if (Deno.readTextFileSync(`/proc/${name}/cmdline`).includes(part)) return Number(name);
  }
  throw new Error(`No process runs ${part}`);
}

function isDescendant(pid: number, ancestor: number): boolean {
  for (let current = pid; current > 1; current = parentOf(current)) {
    if (current === ancestor) return true;
  }
  return false;
}

function parentOf(pid: number): number {
  try {
    return Number(/\) \w (\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/stat`))?.[1] ?? 0);
  } catch {
    return 0; // It has ended meanwhile.
  }
}

export function isRunning(pid: number): boolean {
  return parentOf(pid) !== 0;
}

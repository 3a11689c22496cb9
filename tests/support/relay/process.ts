/** The relay as its own process, with no more permissions than `docs/relay.md` gives it in production. */
import { eventually } from "../api/harness.ts";

export interface RelayProcess {
  readonly grpcUrl: string;
  readonly quicUrl: string;
  readonly caFile: string;
  readonly pid: number;
  metrics(): Promise<string>;
  /** `GET` on the gRPC port, trusting this authority. */
  get(path: string, ca?: string): Promise<string>;
  /** Everything written to standard output and error so far. */
  output(): string;
  signal(name: Deno.Signal): void;
  /** The exit code. */
  finished(): Promise<number>;
  /** Ends it if it still runs, whatever happened before. */
  stop(): Promise<void>;
}

export interface ExitedProcess {
  readonly code: number;
  readonly output: string;
}

const repository = new URL("../../../", import.meta.url);
/** For a machine that has much else to do; who waits in vain is told what was printed. */
const startMs = 60_000;
const ephemeral = { STATIC_RELAY_GRPC_PORT: "0", STATIC_RELAY_QUIC_PORT: "0", STATIC_ADMIN_PORT: "0" };

export async function startRelayProcess(
  environment: Readonly<Record<string, string>>,
  how: "permitted" | "as task" = "permitted",
): Promise<RelayProcess> {
  const { child, lines, status, state } = spawn(environment, how);
  const { listening } = await eventually(
    { withinMs: startMs, what: "listening" },
    () => Promise.resolve({ listening: listeningLine(lines.text), ...state, output: lines.text }),
    ({ listening, ended }) => listening !== undefined || ended,
  );
  if (listening === undefined) {
    await status;
    throw new Error(`The relay did not start: ${lines.text}`);
  }
  const { url, quic_url: quicUrl, admin_url: adminUrl, ca_file: caFile } = listening;
  return {
    grpcUrl: url,
    quicUrl,
    caFile,
    pid: child.pid,
    metrics: async () => await (await fetch(`${adminUrl}/metrics`)).text(),
    get: async (path, ca) => {
      using client = Deno.createHttpClient({ caCerts: [ca ?? await Deno.readTextFile(caFile)] });
      return await (await fetch(url + path, { client })).text();
    },
    output: () => lines.text,
    signal: (name) => {
      if (!state.ended) child.kill(name);
    },
    finished: () => status,
    stop: async () => {
      if (!state.ended) child.kill("SIGKILL");
      await status;
    },
  };
}

/** A start that is expected to fail. */
export async function runRelayProcess(environment: Readonly<Record<string, string>>): Promise<ExitedProcess> {
  const { child, lines, status } = spawn(environment, "permitted");
  const timer = setTimeout(() => child.kill("SIGKILL"), startMs);
  const code = await status;
  clearTimeout(timer);
  return { code, output: lines.text };
}

interface Spawned {
  readonly child: Deno.ChildProcess;
  readonly lines: { text: string };
  readonly state: { ended: boolean };
  readonly status: Promise<number>;
}

function spawn(environment: Readonly<Record<string, string>>, how: "permitted" | "as task"): Spawned {
  const variables: Record<string, string> = { ...ephemeral, ...environment };
  const run = ["run", "--no-check", ...permissions(variables), "relay/main.ts"];
  const child = new Deno.Command(Deno.execPath(), {
    args: how === "as task" ? ["task", "--quiet", "relay"] : run,
    cwd: repository,
    env: variables,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines = { text: "" };
  const reading = Promise.all([collect(child.stdout, lines), collect(child.stderr, lines)]);
  const state = { ended: false };
  const status = child.status.then(async ({ code }) => {
    state.ended = true;
    await reading;
    return code;
  });
  return { child, lines, state, status };
}

/** Ports to listen on, the API to ask, the data directory, the certificate's files, and the engine's worker. */
function permissions(variables: Readonly<Record<string, string>>): string[] {
  const { STATIC_RELAY_GRPC_PORT, STATIC_RELAY_QUIC_PORT, STATIC_ADMIN_PORT, STATIC_DATA_DIR = ".static" } = variables;
  const api = new URL(variables.STATIC_API_URL ?? "http://127.0.0.1:8080").host;
  const net = [
    `[::]:${STATIC_RELAY_GRPC_PORT}`,
    `[::]:${STATIC_RELAY_QUIC_PORT}`,
    `127.0.0.1:${STATIC_ADMIN_PORT}`,
    api,
  ];
  const { STATIC_TLS_CERT: cert, STATIC_TLS_KEY: key } = variables;
  const files = [STATIC_DATA_DIR, cert, key].filter((path) => path !== undefined);
  return [
    "--no-prompt",
    `--allow-net=${net.join(",")}`,
    "--allow-env=STATIC_*",
    `--allow-read=${files.join(",")}`,
    `--allow-write=${STATIC_DATA_DIR}`,
  ];
}

function listeningLine(text: string): Record<"url" | "quic_url" | "admin_url" | "ca_file", string> | undefined {
  const line = text.split("\n").slice(0, -1).find((line) => line.includes('"event":"listening"'));
  return line === undefined ? undefined : JSON.parse(line);
}

async function collect(stream: ReadableStream<Uint8Array>, into: { text: string }): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) into.text += text;
}

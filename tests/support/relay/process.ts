/**
 * The relay as its own process, with no more permissions than `docs/operations.md` gives it in
 * production.
 */
import { relayMemory } from "../../../deploy/local/commands.ts";
import { tracesVariable } from "../../../server/mod.ts";
import {
  type PartProcess,
  readMetrics,
  type SpawnOptions,
  spawnPart,
  startMs,
  untilListening,
} from "../part_process.ts";

export interface RelayProcess extends PartProcess {
  readonly grpcUrl: string;
  readonly quicUrl: string;
  readonly caFile: string;
  readonly adminUrl: string;
  metrics(): Promise<string>;
  /** `GET` on the gRPC port, trusting this authority. */
  get(path: string, ca?: string): Promise<string>;
}

export interface ExitedProcess {
  readonly code: number;
  readonly output: string;
}

export const ephemeral = {
  STATIC_RELAY_GRPC_PORT: "0",
  STATIC_RELAY_QUIC_PORT: "0",
  STATIC_ADMIN_PORT: "0",
};

export async function startRelayProcess(
  environment: Readonly<Record<string, string>>,
  how: "permitted" | "as task" = "permitted",
  options: SpawnOptions = {},
): Promise<RelayProcess> {
  const part = spawn(environment, how, options);
  const listening = await untilListening(part);
  const { url = "", quic_url: quicUrl = "", ca_file: caFile = "", admin_url: adminUrl = "" } =
    listening;
  return {
    ...part,
    grpcUrl: url,
    quicUrl,
    caFile,
    adminUrl,
    metrics: () => readMetrics(listening),
    get: async (path, ca) => {
      using client = Deno.createHttpClient({ caCerts: [ca ?? await Deno.readTextFile(caFile)] });
      return await (await fetch(url + path, { client })).text();
    },
  };
}

/** A start that is expected to fail. */
export async function runRelayProcess(
  environment: Readonly<Record<string, string>>,
): Promise<ExitedProcess> {
  const part = spawn(environment, "permitted");
  const timer = setTimeout(() => part.signal("SIGKILL"), startMs);
  const code = await part.finished();
  clearTimeout(timer);
  return { code, output: part.output() };
}

function spawn(
  environment: Readonly<Record<string, string>>,
  how: "permitted" | "as task",
  options: SpawnOptions = {},
): PartProcess {
  const variables: Record<string, string> = { ...ephemeral, ...environment };
  const run = ["run", "--no-check", ...permissions(variables), "relay/main.ts"];
  return spawnPart(how === "as task" ? ["task", "--quiet", "relay"] : run, {
    ...relayMemory,
    ...variables,
  }, options);
}

/**
 * Ports to listen on, the API to ask, the data directory, the files of the certificate and of the
 * nodes' keys, and the engine's worker.
 */
function permissions(variables: Readonly<Record<string, string>>): string[] {
  const {
    STATIC_RELAY_GRPC_PORT,
    STATIC_RELAY_QUIC_PORT,
    STATIC_ADMIN_PORT,
    STATIC_DATA_DIR = ".static",
  } = variables;
  const {
    STATIC_API_URL = "http://127.0.0.1:8080",
    STATIC_API_INTERNAL_URL = "http://127.0.0.1:9466",
  } = variables;
  const api = [STATIC_API_URL, STATIC_API_INTERNAL_URL].map((url) => new URL(url).host);
  const { STATIC_NATS_URLS = "", STATIC_NATS_MONITOR_URLS = "" } = variables;
  const nodes = [STATIC_NATS_URLS, STATIC_NATS_MONITOR_URLS].flatMap((urls) => urls.split(","))
    .filter((url) => url !== "")
    .map((url) => new URL(url).host);
  const { [tracesVariable]: collector } = variables;
  const net = [
    `[::]:${STATIC_RELAY_GRPC_PORT}`,
    `[::]:${STATIC_RELAY_QUIC_PORT}`,
    `127.0.0.1:${STATIC_ADMIN_PORT}`,
    ...api,
    ...nodes,
    ...collector === undefined ? [] : [new URL(collector).host],
  ];
  const { STATIC_TLS_CERT: cert, STATIC_TLS_KEY: key } = variables;
  const { STATIC_NATS_CA: nodesCa, STATIC_NATS_CREDENTIALS: nodesKey } = variables;
  const files = [STATIC_DATA_DIR, cert, key, nodesCa, nodesKey].filter((path) =>
    path !== undefined && path !== ""
  );
  return [
    "--no-prompt",
    `--allow-net=${net.join(",")}`,
    `--allow-env=${["STATIC_*", ...collector === undefined ? [] : [tracesVariable]].join(",")}`,
    `--allow-read=${files.join(",")}`,
    `--allow-write=${STATIC_DATA_DIR}`,
    "--allow-sys=statfs",
  ];
}

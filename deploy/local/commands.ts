/**
 * How each part is called: permissions as in its own task, ports that stay the same when it is
 * started again.
 */
import type { Config as ApiConfig } from "../../api/mod.ts";
import type { RelayConfig } from "../../relay/mod.ts";
import type { ListeningReport } from "./supervised_process.ts";
import type { PartCommand } from "./part_process.ts";
import {
  keptFromApi,
  pathList,
  readableBy,
  type VariableOf,
  writableBy,
} from "./permitted_paths.ts";

/** The name in server/traces.ts. Permissions are known before anything of the product is loaded. */
export const tracesVariable = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

/**
 * Bytes of code, about, that a function of WebAssembly runs before the engine compiles it again,
 * for speed; by itself the engine takes a hundredth of that. Nearly everything in the embedded
 * database runs a little when it starts: compiling all of it again took as long as the migrations
 * themselves.
 */
const compileAgainAfter = 1_000_000_000;

/**
 * A relay that is flooded makes much garbage, and the engine collects it in smaller steps: with
 * silent sockets the relay grew by 70 MiB in place of 109, with KeyPackages by 113 in place of 156.
 * A flood of resets is not bounded by it.
 */
export const relayMemory = { DENO_V8_FLAGS: "--max-semi-space-size=8" } as const;

export interface ApiPartOptions {
  readonly config: Pick<ApiConfig, "listen">;
  /** The environment of the process that starts it. */
  readonly variables: Readonly<Record<string, string>>;
  /** The plan of accounts. */
  readonly plan: string | undefined;
  /** Addresses of relays that clients are told; undefined: those that the API finds by itself. */
  readonly relayUrls: readonly string[] | undefined;
}

export function apiCommand(
  last: ListeningReport | undefined,
  { config, variables, plan, relayUrls }: ApiPartOptions,
): PartCommand {
  return {
    entry: "deploy/local/api/main.ts",
    flags: [
      ...apiPermissions((name) => variables[name]),
      `--v8-flags=--wasm-tiering-budget=${compileAgainAfter}`,
    ],
    environment: {
      STATIC_API_HOST: config.listen.host,
      ...portOf(last?.url, "STATIC_API_PORT"),
      ...portOf(last?.internal_url, "STATIC_INTERNAL_PORT"),
      ...portOf(last?.admin_url, "STATIC_ADMIN_PORT"),
      ...(plan === undefined ? {} : { STATIC_DEFAULT_PLAN: plan }),
      ...(relayUrls === undefined ? {} : { STATIC_RELAY_URL: relayUrls.join(",") }),
    },
    withheld: [],
  };
}

/** `PG…` and the names of the user are asked for by the driver of the database. */
export function apiPermissions(variable: VariableOf): string[] {
  return [
    "--allow-net",
    `--allow-env=STATIC_*,DATABASE_URL,PG*,USER,USERNAME,LOGNAME,${tracesVariable}`,
    `--allow-read=${readableBy("api", variable)}`,
    `--allow-write=${writableBy(variable)}`,
    `--deny-read=${keptFromApi(variable)}`,
    `--deny-write=${keptFromApi(variable)}`,
  ];
}

/**
 * Where the API beside it is, whatever clients are told to use. The relay is told when the API is
 * up.
 */
export function relayVariables(
  { apiUrl, apiInternalUrl }: Pick<RelayConfig, "apiUrl" | "apiInternalUrl">,
): Readonly<Record<string, string>> {
  return { STATIC_API_URL: apiUrl, STATIC_API_INTERNAL_URL: apiInternalUrl };
}

/**
 * `place` has what differs between several relays. The database's address, the keys that sign
 * tokens and the secrets of operators and of the mail server are the API's alone.
 */
export function relayCommand(
  { dataDir, host, tls, admin, core }: RelayConfig,
  last: ListeningReport | undefined,
  place: Readonly<Record<string, string>> = {},
): PartCommand {
  const readable = [dataDir, ...tls === undefined ? [] : [tls.certFile, tls.keyFile]];
  return {
    entry: "deploy/local/relay/main.ts",
    flags: [
      "--allow-net",
      `--allow-env=STATIC_*,${tracesVariable}`,
      `--allow-read=${pathList(readable)}`,
      `--allow-write=${pathList([dataDir])}`,
      "--allow-sys=statfs",
    ],
    defaults: relayMemory,
    environment: {
      STATIC_RELAY_HOST: host,
      STATIC_ADMIN_PORT: admin === undefined ? "off" : String(admin.port),
      STATIC_RELAY_DRAIN_SECONDS: String(core.drainMs / 1000),
      ...place,
      ...portOf(last?.url, "STATIC_RELAY_GRPC_PORT"),
      ...portOf(last?.quic_url, "STATIC_RELAY_QUIC_PORT"),
      ...portOf(last?.admin_url, "STATIC_ADMIN_PORT"),
    },
    withheld: [
      "DATABASE_URL",
      "STATIC_DATABASE_CA",
      "STATIC_JWT_KEYS",
      "STATIC_ADMIN_SECRET",
      "STATIC_SMTP_URL",
    ],
  };
}

/** Clients keep the address that they were told, also where the system chose the port. */
function portOf(url: string | undefined, variable: string): Record<string, string> {
  return url === undefined ? {} : { [variable]: new URL(url).port };
}

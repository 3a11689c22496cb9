/** How each part is called: permissions as in its own task, ports that stay the same when it is started again. */
import type { Config as ApiConfig } from "../../api/mod.ts";
import type { RelayConfig } from "../../relay/mod.ts";
import type { Listening } from "./part.ts";
import type { PartCommand } from "./part_process.ts";

/**
 * Bytes of code, about, that a function of WebAssembly runs before the engine compiles it again, for speed; by itself the engine
 * takes a hundredth of that. Nearly everything in the embedded database runs a little when it starts: compiling all of it again
 * took as long as the migrations themselves.
 */
const compileAgainAfter = 1_000_000_000;

/**
 * A relay that is flooded makes much garbage, and the engine collects it in smaller steps: with silent sockets the relay grew by 70
 * MiB in place of 109, with KeyPackages by 113 in place of 156. A flood of resets is not bounded by it.
 */
export const relayMemory = { DENO_V8_FLAGS: "--max-semi-space-size=8" } as const;

export interface ApiOptions {
  readonly config: Pick<ApiConfig, "listen" | "dataDir" | "jwtKeys">;
  /** Of the process that starts it. */
  readonly variables: Readonly<Record<string, string>>;
  /** Of accounts. */
  readonly plan: string | undefined;
  /** Addresses of relays that clients are told; undefined: those that the API finds by itself. */
  readonly relayUrls: readonly string[] | undefined;
}

export function apiCommand(
  last: Listening | undefined,
  { config, variables, plan, relayUrls }: ApiOptions,
): PartCommand {
  return {
    entry: "deploy/local/api/main.ts",
    flags: [
      ...apiPermissions(config, (name) => variables[name]),
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

/** Variables of the API that name files. */
const apiFiles = ["STATIC_TLS_CERT", "STATIC_TLS_KEY", "STATIC_CA_FILE", "STATIC_DATABASE_CA"];
/** Packages whose files, beside their code, the embedded database reads. */
const databasePackages = ["@electric-sql/pglite", "@electric-sql/pglite-prepopulatedfs"];

/**
 * The API writes to its folder alone. It reads that, files that variables name, its migrations, and the code of its threads. `PG…` and
 * the names of the user are asked for by the driver of the database.
 */
export function apiPermissions(
  { dataDir, jwtKeys }: Pick<ApiConfig, "dataDir" | "jwtKeys">,
  variable: (name: string) => string | undefined,
): string[] {
  const root = new URL("../../", import.meta.url);
  const code = ["api", "migrations"].map((name) => new URL(name, root).pathname);
  const packages = databasePackages.map((name) => new URL("..", import.meta.resolve(name)).pathname);
  const keys = jwtKeys !== undefined && "file" in jwtKeys ? [jwtKeys.file] : [];
  const named = apiFiles.flatMap((name) => variable(name) || []);
  return [
    "--allow-net",
    "--allow-env=STATIC_*,DATABASE_URL,PG*,USER,USERNAME,LOGNAME",
    `--allow-read=${[dataDir, ...named, ...keys, ...code, ...packages].map(escaped).join(",")}`,
    `--allow-write=${escaped(dataDir)}`,
  ];
}

/** Where the API beside it is, whatever clients are told to use. The relay is told when the API is up. */
export function relayVariables(
  { apiUrl, apiInternalUrl }: Pick<RelayConfig, "apiUrl" | "apiInternalUrl">,
): Readonly<Record<string, string>> {
  return { STATIC_API_URL: apiUrl, STATIC_API_INTERNAL_URL: apiInternalUrl };
}

/**
 * `place` has what differs between several relays. The database's address, the keys that sign tokens and the secrets of operators
 * and of the mail server are the API's alone.
 */
export function relayCommand(
  { dataDir, host, tls, admin, core }: RelayConfig,
  last: Listening | undefined,
  place: Readonly<Record<string, string>> = {},
): PartCommand {
  const readable = [dataDir, ...tls === undefined ? [] : [tls.certFile, tls.keyFile]];
  return {
    entry: "deploy/local/relay/main.ts",
    flags: [
      "--allow-net",
      "--allow-env=STATIC_*",
      `--allow-read=${readable.map(escaped).join(",")}`,
      `--allow-write=${escaped(dataDir)}`,
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
    withheld: ["DATABASE_URL", "STATIC_DATABASE_CA", "STATIC_JWT_KEYS", "STATIC_ADMIN_SECRET", "STATIC_SMTP_URL"],
  };
}

/** Commas stand between paths, and two for one that belongs to a path. */
function escaped(path: string): string {
  return path.replaceAll(",", ",,");
}

/** Clients keep the address that they were told, also where the system chose the port. */
function portOf(url: string | undefined, variable: string): Record<string, string> {
  return url === undefined ? {} : { [variable]: new URL(url).port };
}

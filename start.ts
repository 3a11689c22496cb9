/**
 * The whole stack on one machine, in this process: the HTTP API with its embedded database, and the relay, which reaches the
 * API over loopback as it would anywhere. It says plainly what this checkout does not contain yet.
 */
import * as api from "./api/mod.ts";
import * as relay from "./relay/mod.ts";

/** Parts of the stack that are still missing, by the file that will bring them. */
const missing = [
  { entry: "sdk/mod.ts", what: "SDK: client library for Deno, Node and browsers" },
  { entry: "cli/main.ts", what: "CLI: the static command" },
];

try {
  const configs = readConfigs();
  console.log("Static: starting (the first start makes the database and takes some seconds) …");
  const writeLog = (line: string): void => console.log(line);
  const runningApi = await api.startApi(configs.api, { writeLog }).catch((error) => {
    throw isPortTaken(error) ? new relay.PortTaken(takenByApi(configs.api)) : error;
  });
  const runningRelay = await relay.startRelay({ ...configs.relay, apiUrl: configs.apiUrl ?? runningApi.url }, {
    writeLog,
  }).catch(async (error) => {
    await runningApi.close();
    throw error;
  });
  await greet(runningApi, runningRelay, configs.api.dataDir);

  await relay.untilAskedToStop(() => Deno.exit(1));
  console.log("Stopping …");
  // The relay gives its leases back to the API.
  await runningRelay.close();
  await runningApi.close();
  Deno.exit(0);
} catch (error) {
  const explained = error instanceof relay.PortTaken || error instanceof api.ConfigError;
  console.error(explained ? error.message : error);
  Deno.exit(1);
}

interface Configs {
  readonly api: api.Config;
  readonly relay: relay.RelayConfig;
  /** With TLS the API's certificate is for its public name, so that name is used here too. */
  readonly apiUrl: string | undefined;
}

/** Faults of both parts are reported together. */
function readConfigs(): Configs {
  const faults: string[] = [];
  const read = <Config>(from: () => Config): Config | undefined => {
    try {
      return from();
    } catch (error) {
      if (!(error instanceof api.ConfigError || error instanceof relay.ConfigError)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  };
  const apiConfig = read(api.configFromEnvironment);
  const usesTls = apiConfig?.tls !== undefined;
  const relayConfig = read(() => relay.readConfig((name) => relayVariable(name, usesTls)));
  if (apiConfig === undefined || relayConfig === undefined) throw new api.ConfigError([...new Set(faults)]);
  return { api: apiConfig, relay: relayConfig, apiUrl: usesTls ? relayConfig.apiUrl : undefined };
}

/** The relay's metrics are on the port after the API's, and its API is the one beside it, whatever clients are told to use. */
function relayVariable(name: string, usesTls: boolean): string | undefined {
  const text = Deno.env.get(name);
  if (name === "STATIC_API_URL" && !usesTls) return undefined;
  if (name === "STATIC_ADMIN_PORT" && text !== undefined && /^[1-9]\d*$/.test(text)) return String(Number(text) + 1);
  return text;
}

function isPortTaken(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, "code") === "EADDRINUSE";
}

/** The API listens first on its own port, then on the one for metrics: the first that cannot be had is the culprit. */
function takenByApi({ listen, admin }: api.Config): string {
  const [port, variable] = isFree(listen) ? [admin?.port, "STATIC_ADMIN_PORT"] : [listen.port, "STATIC_API_PORT"];
  return `Cannot listen: port ${port} is taken. Stop what uses it, or set ${variable} to another port`;
}

function isFree({ host, port }: { host: string; port: number }): boolean {
  try {
    Deno.listen({ hostname: host, port }).close();
    return true;
  } catch {
    return false;
  }
}

async function greet(api: api.RunningApi, relay: relay.RunningRelay, dataDir: string): Promise<void> {
  const trust = relay.caFile === undefined ? "" : `--cacert ${relay.caFile} `;
  const metrics = [api.adminUrl, relay.adminUrl].filter((url) => url !== undefined).map((url) => `${url}/metrics`);
  console.log(`
API       ${api.url}   (documentation: ${api.url}/docs)
Relay     ${relay.quicUrl}   (native agents; browsers: the same port over WebTransport)
          ${relay.grpcUrl}   (gRPC, gRPC-Web, Connect)
Trust     ${relay.caFile ?? "the configured certificate's authority"}
Metrics   ${metrics.join("   ") || "off"}
Data      ${dataDir}

Try:
  curl ${api.url}/health
  curl ${trust}${relay.grpcUrl}/health
  curl -X POST ${api.url}/v1/accounts -H 'content-type: application/json' -d '{"email":"you@example.org","password":"a long password"}'
  curl -X POST ${api.url}/v1/tokens -H 'authorization: Bearer <the api_key above>'
`);
  const absent = (await Promise.all(missing.map(async (part) => await exists(part.entry) ? [] : [part.what]))).flat();
  if (absent.length > 0) console.log(`Not in this checkout yet:\n${absent.map((what) => `  ${what}`).join("\n")}\n`);
  console.log("Ctrl-C stops it.");
}

async function exists(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(new URL(path, import.meta.url))).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

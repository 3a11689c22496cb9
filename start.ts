/**
 * The whole stack on one machine, in this process: the HTTP API with its embedded database, and the relay, which reaches the
 * API over loopback as it would anywhere.
 */
import * as api from "./api/mod.ts";
import * as relay from "./relay/mod.ts";

/** A Deno that npx has brought is not in the user's PATH. */
const task = Deno.execPath().includes("_npx") ? `npx -y deno@${Deno.version.deno} task` : "deno task";

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
  greet(runningApi, runningRelay, configs.api.dataDir);

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

function greet(api: api.RunningApi, relay: relay.RunningRelay, dataDir: string): void {
  const metrics = [api.adminUrl, relay.adminUrl].filter((url) => url !== undefined).map((url) => `${url}/metrics`);
  console.log(`
API       ${api.url}   (documentation: ${api.url}/docs)
Relay     ${relay.quicUrl}   (native agents; browsers: the same port over WebTransport)
          ${relay.grpcUrl}   (gRPC, gRPC-Web, Connect)
Trust     ${relay.caFile ?? "the configured certificate's authority"}
Metrics   ${metrics.join("   ") || "off"}
Data      ${dataDir}

Next, in another terminal:${whereabouts(api, relay)}
  ${task} static demo       # two agents talk; see what the relay sees of it
  ${task} static signup     # an account for you
  ${task} static channel create acme/ops/deploy

Ctrl-C stops it.`);
}

/** What the CLI has to be told when it would not find this stack by itself: it knows the default ports and directory. */
function whereabouts(api: api.RunningApi, relay: relay.RunningRelay): string {
  const [apiUrl, relayUrl] = ["http://127.0.0.1:8080", "quic://localhost:4433,https://localhost:5000"];
  const actual = { api: api.url, relay: `${relay.quicUrl},${relay.grpcUrl}`, ca: relay.caFile };
  if (actual.api === apiUrl && actual.relay === relayUrl && actual.ca === ".static/ca.pem") return "";
  const trust = actual.ca === undefined ? "" : ` STATIC_CA_FILE=${actual.ca}`;
  return `\n  export STATIC_API_URL=${actual.api} STATIC_RELAY_URL=${actual.relay}${trust}`;
}

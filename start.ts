/**
 * The whole stack on one machine: the HTTP API with its embedded database, and the relay, which reaches the API over loopback
 * as it would anywhere. Each is a process of its own, kept running by this one. `--watch` restarts what changed code concerns.
 */
import * as api from "./api/mod.ts";
import * as relay from "./relay/mod.ts";
import { after, ConfigError, explain, untilAskedToStop } from "./server/mod.ts";
import { watchCode } from "./deploy/local/code_watch.ts";
import { apiCommand, relayCommand } from "./deploy/local/commands.ts";
import { lockDirectory } from "./deploy/local/directory_lock.ts";
import { checkPorts, type WantedPort } from "./deploy/local/free_ports.ts";
import { greetingOf } from "./deploy/local/greeting.ts";
import { LogFile } from "./deploy/local/log_file.ts";
import { type Listening, Part } from "./deploy/local/part.ts";
import { type PartCommand, spawnPart } from "./deploy/local/part_process.ts";
import { showProgress } from "./deploy/local/progress.ts";

/** Together less than the five seconds in which a Ctrl-C is done. */
const relayStopMs = 3_500;
const apiStopMs = 1_000;
/** Agents of one machine are sent away quickly, for the same reason. */
const drainSeconds = "1";
const root = new URL("./", import.meta.url);

const usage = `Usage: ${denoOfUser()} task start [--watch] [--plan NAME]

Runs the API and the relay on this machine until Ctrl-C.

  --watch                   start a part again when its code changes
  --plan NAME               plan of accounts here: free (10,000 messages a month), dev, team or enterprise (no limit)
  STATIC_DATA_DIR           where everything is kept (.static)
  STATIC_API_PORT           the API (8080)
  STATIC_RELAY_GRPC_PORT    the relay over TCP (5000)
  STATIC_RELAY_QUIC_PORT    the relay over UDP (4433)
  STATIC_INTERNAL_PORT      the API for the relay (9466)
  STATIC_ADMIN_PORT         metrics of the API (9464), those of the relay one port after`;

if (Deno.args.includes("--help")) {
  console.log(usage);
  Deno.exit(0);
}
const planAt = Deno.args.indexOf("--plan");
const plan = planAt < 0 ? undefined : Deno.args[planAt + 1] ?? "";
if (plan !== undefined && !["free", "dev", "team", "enterprise"].includes(plan)) {
  console.error(`"--plan" takes free, dev, team or enterprise\n\n${usage}`);
  Deno.exit(2);
}
const surplus = Deno.args.find((argument, index) =>
  argument !== "--watch" && (planAt < 0 || (index !== planAt && index !== planAt + 1))
);
if (surplus !== undefined) {
  console.error(`"start" does not take "${surplus}"\n\n${usage}`);
  Deno.exit(2);
}
try {
  const configs = readConfigs();
  using _lock = await lockDirectory(configs.api.dataDir);
  checkPorts(portsOf(configs));
  await runStack(configs);
  Deno.exit(0);
} catch (error) {
  console.error(explain(error));
  Deno.exit(1);
}

async function runStack(configs: Configs): Promise<void> {
  const { dataDir } = configs.api;
  const made = await exists(`${dataDir}/database`) && !await exists(`${dataDir}/database.making`);
  const isFirst = configs.api.database === undefined && !made;
  const apiPart = createPart("API", dataDir, (last) => apiCommand(last, plan));
  const addresses = { apiUrl: "", apiInternalUrl: "" };
  const relayPart = createPart("Relay", dataDir, (last) => relayCommand({ ...configs.relay, ...addresses }, last));
  const asked = untilAskedToStop(() => {
    for (const part of [relayPart, apiPart]) part.kill();
    Deno.exit(1);
  });

  console.log("Static is starting");
  const up = (async () => {
    const what = isFirst ? "API, making its database (the first time only)" : "API";
    const apiUp = await showProgress(what, apiPart.start(), asked);
    addresses.apiUrl = configs.addresses?.apiUrl ?? apiUp.url ?? "";
    addresses.apiInternalUrl = configs.addresses?.apiInternalUrl ?? apiUp.internal_url ?? "";
    const relayUp = await showProgress("Relay", relayPart.start(), asked);
    return greetingOf({ api: apiUp, relay: relayUp, dataDir, deno: denoOfUser() });
  })();
  try {
    const greeting = await Promise.race([up, asked]);
    if (greeting !== undefined) console.log(greeting);
    using _watch = Deno.args.includes("--watch") ? watchParts({ api: apiPart, relay: relayPart }) : undefined;
    await asked;
    console.log("Stopping …");
  } finally {
    // The relay gives its leases back to the API.
    if (!await relayPart.stop(relayStopMs)) console.log("Relay took too long and was ended; nothing accepted is lost");
    if (!await apiPart.stop(apiStopMs)) console.log("API took too long and was ended");
    await up.catch(() => {});
  }
}

function createPart(
  name: string,
  dataDir: string,
  commandOf: (last: Listening | undefined) => PartCommand,
): Part {
  const say = (text: string): void => console.log(text);
  const log = new LogFile(`${dataDir}/logs/${name.toLowerCase()}.log`, say);
  return new Part({
    name,
    spawn: (last) => spawnPart(commandOf(last), Deno.env.toObject()),
    onLine: (line) => {
      log.write(line);
      if (/"level":"(warn|error)"/.test(line)) console.log(`${name}: ${line}`);
    },
    say,
    after,
    nowMs: () => performance.now(),
  });
}

function watchParts(parts: { readonly api: Part; readonly relay: Part }): Disposable {
  let restarts = Promise.resolve();
  const restart = async (name: keyof typeof parts): Promise<void> => {
    console.log(`The code of the ${name} has changed`);
    await parts[name].restart();
  };
  const watch = watchCode({
    root,
    folders: { api: ["api/", "migrations/", "proto/", "server/"], relay: ["relay/", "proto/", "server/"] },
    // One after the other, also when code changes while a part is being restarted.
    onChange: (names) => {
      for (const name of names) restarts = restarts.then(() => restart(name));
    },
  });
  // Said last: a change that comes right after these words is seen.
  console.log("Watching the code: changes restart the part that they concern.");
  return watch;
}

interface Configs {
  readonly api: api.Config;
  readonly relay: relay.RelayConfig;
  /** With TLS the API's certificate is for its public name, so that name is used here too. */
  readonly addresses: Pick<relay.RelayConfig, "apiUrl" | "apiInternalUrl"> | undefined;
}

function portsOf(configs: Configs): WantedPort[] {
  const { listen, internal } = configs.api;
  const { host: hostname, grpcPort, quicPort } = configs.relay;
  const admin = [configs.api.admin, configs.relay.admin].filter((address) => address !== undefined);
  return [
    { hostname: listen.host, port: listen.port, transport: "tcp", variable: "STATIC_API_PORT" },
    { hostname: internal.host, port: internal.port, transport: "tcp", variable: "STATIC_INTERNAL_PORT" },
    { hostname, port: grpcPort, transport: "tcp", variable: "STATIC_RELAY_GRPC_PORT" },
    { hostname, port: quicPort, transport: "udp", variable: "STATIC_RELAY_QUIC_PORT" },
    ...admin.map(({ host, port }): WantedPort => {
      return { hostname: host, port, transport: "tcp", variable: "STATIC_ADMIN_PORT" };
    }),
  ];
}

/** Faults of both parts are reported together. */
function readConfigs(): Configs {
  const faults: string[] = [];
  const read = <Config>(from: () => Config): Config | undefined => {
    try {
      return from();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  };
  const apiConfig = read(api.configFromEnvironment);
  const usesTls = apiConfig?.tls !== undefined;
  const relayConfig = read(() => relay.readConfig((name) => relayVariable(name, usesTls)));
  if (apiConfig === undefined || relayConfig === undefined) throw new ConfigError("Static", [...new Set(faults)]);
  return { api: apiConfig, relay: relayConfig, addresses: usesTls ? relayConfig : undefined };
}

/** The relay's metrics are on the port after the API's, and its API is the one beside it, whatever clients are told to use. */
function relayVariable(name: string, usesTls: boolean): string | undefined {
  const text = Deno.env.get(name);
  if (/^STATIC_API(_INTERNAL)?_URL$/.test(name) && !usesTls) return undefined;
  if (name === "STATIC_ADMIN_PORT" && text !== undefined && /^[1-9]\d*$/.test(text)) return String(Number(text) + 1);
  if (name === "STATIC_RELAY_DRAIN_SECONDS") return text ?? drainSeconds;
  return text;
}

/** Who has only Node calls Deno through npx, and can copy what is shown. */
function denoOfUser(): string {
  return Deno.env.get("npm_command") === "exec" ? `npx -y deno@${Deno.version.deno}` : "deno";
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

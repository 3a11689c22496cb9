/**
 * The whole stack on one machine: the HTTP API with its embedded database, and the relay, which
 * reaches the API over loopback as it would anywhere. Each is a process of its own, kept running by
 * this one. `--watch` restarts what changed code concerns. With `--relays` there are several
 * relays, and three NATS nodes that keep their log.
 */
import * as api from "./api/config.ts";
import { faultsOfNames } from "./proto/base/variables.ts";
import * as relay from "./relay/config.ts";
import {
  after,
  ConfigError,
  explain,
  openDevelopmentCertificate,
  ownNames,
  ownVariable,
  readVariables,
  StartFailed,
  untilAskedToStop,
} from "./server/mod.ts";
import { parseArguments, type StartArguments } from "./deploy/local/arguments.ts";
import { watchCode } from "./deploy/local/code_watch.ts";
import { apiCommand, relayCommand, relayVariables } from "./deploy/local/commands.ts";
import { lockDirectory } from "./deploy/local/directory_lock.ts";
import { checkPorts, type WantedPort } from "./deploy/local/free_ports.ts";
import { greetingOf } from "./deploy/local/greeting.ts";
import { LogFile } from "./deploy/local/log_file.ts";
import { keepLocalKeys } from "./deploy/local/nats_keys.ts";
import { spawnNatsNode } from "./deploy/local/nats_process.ts";
import { findNatsServer, type NatsNode, oldestNats } from "./deploy/local/nats_server.ts";
import {
  type ListeningReport,
  type PartProcess,
  SupervisedProcess,
} from "./deploy/local/supervised_process.ts";
import { type LateVariables, spawnPart } from "./deploy/local/part_process.ts";
import { showProgress } from "./deploy/local/progress.ts";
import {
  clusterVariables,
  placeNodes,
  placeRelays,
  prepareFolder,
  type RelayLayout,
  relayUrlsOf,
  wantedPorts,
} from "./deploy/local/cluster_layout.ts";
import { buildConsole } from "./tools/build_console.ts";

/** Together less than the five seconds in which a Ctrl-C is done. */
const relayStopMs = 3_500;
const [apiStopMs, natsStopMs] = [1_000, 1_000];
/** Agents of one machine are sent away quickly, for the same reason. */
const drainSeconds = "1";
/** Between a Ctrl-C that a part has heard of and the one of this process. */
const sameSignalMs = 500;
const root = new URL("./", import.meta.url);

/** Addresses of the ports for clients, where no variable names others. */
const ownAddresses: Readonly<Record<string, string>> = {
  STATIC_API_HOST: "127.0.0.1",
  STATIC_RELAY_HOST: "localhost",
};
const everyAddress: Readonly<Record<string, string>> = {
  STATIC_API_HOST: "::",
  STATIC_RELAY_HOST: "::",
};

/** Clients of other machines would be told of no relay, or of `localhost`. */
const unreachable =
  "STATIC_RELAY_URL must be set to the relay's addresses for other machines, because of --public: " +
  "quic://relay.example:4433,https://relay.example:5000";

const usage = `Usage: ${denoOfUser()} task start [--public] [--watch] [--plan NAME] [--relays N]

Runs the API and the relay on this machine, and for it alone, until Ctrl-C.

  --public                  let other machines connect to the API and the relay; needs a certificate (STATIC_TLS_CERT)
                            and the relay's address as they reach it (STATIC_RELAY_URL)
  --watch                   start a part again when its code changes
  --plan NAME               plan of accounts here: free (10,000 messages a month), dev, team or enterprise (no limit)
  --relays N                N relays on one log, which three NATS nodes keep; needs nats-server ${oldestNats} or newer
  STATIC_DATA_DIR           where everything is kept (.static)
  STATIC_RELAY_URL          what clients are told (quic://localhost:4433,https://localhost:5000)
  STATIC_API_PORT           the API (8080)
  STATIC_RELAY_GRPC_PORT    the relay over TCP (5000)
  STATIC_RELAY_QUIC_PORT    the relay over UDP (4433)
  STATIC_INTERNAL_PORT      the API for the relay (9466)
  STATIC_ADMIN_PORT         metrics of the API (9464), those of the relay one port after
  STATIC_NATS_SERVER        with --relays: the program (nats-server in PATH)
  STATIC_NATS_PORT          with --relays: the first NATS node (4222); nodes and relays are ten ports apart`;

if (Deno.args.includes("--help")) {
  console.log(usage);
  Deno.exit(0);
}
const given = parseArguments(Deno.args);
if (typeof given === "string") {
  console.error(`${given}\n\n${usage}`);
  Deno.exit(2);
}
try {
  // Before anything else: without it nothing of what follows is of use.
  const program = given.relays === undefined ? "" : natsProgram();
  const configs = readConfigs(given);
  const { nats } = configs;
  using _lock = await lockDirectory(configs.api.dataDir);
  checkPorts(portsOf(configs));
  if (nats.length > 0) await keepLocalKeys(`${configs.api.dataDir}/nats`);
  await runStack(configs, given, (node) => spawnNatsNode(program, node, nats));
  Deno.exit(0);
} catch (error) {
  console.error(explain(error));
  Deno.exit(1);
}

interface StackParts {
  readonly api: SupervisedProcess;
  readonly relays: readonly SupervisedProcess[];
  readonly nats: readonly SupervisedProcess[];
}

async function runStack(
  configs: Configs,
  { plan, watch }: StartArguments,
  spawnNode: (node: NatsNode) => PartProcess,
): Promise<void> {
  const { dataDir } = configs.api;
  const apiUp = Promise.withResolvers<ListeningReport>();
  const told: LateVariables = apiUp.promise.then((api) => {
    const { apiUrl = api.url ?? "", apiInternalUrl = api.internal_url ?? "" } = configs.addresses ??
      {};
    return relayVariables({ apiUrl, apiInternalUrl });
  });
  const variables = Deno.env.toObject();
  const parts: StackParts = {
    api: createPart("API", dataDir, (last) => {
      return spawnPart(
        apiCommand(last, { config: configs.api, variables, plan, relayUrls: toldUrls(configs) }),
        variables,
      );
    }),
    relays: configs.places.map((place) =>
      createPart(place.name, dataDir, (last) => {
        if (place.folder !== dataDir) prepareFolder(place, dataDir);
        const config = { ...configs.relay, dataDir: place.folder };
        return spawnPart(relayCommand(config, last, place.environment), variables, told);
      })
    ),
    nats: configs.nats.map((node) =>
      createPart(`NATS ${node.number}`, dataDir, () => spawnNode(node))
    ),
  };
  const asked = untilAskedToStop(() => {
    for (const part of [...parts.relays, ...parts.nats, parts.api]) part.kill();
    Deno.exit(1);
  });

  console.log("Static is starting");
  const up = (async () => {
    const building = configs.api.console ? buildConsole() : undefined;
    // Told below, when its turn has come.
    building?.catch(() => {});
    // One relay loads its code while the API comes up, or makes its database.
    const [only] = parts.nats.length === 0 ? parts.relays : [];
    const early = only?.start();
    // Told below, when its turn has come.
    early?.catch(() => {});
    const api = onThisMachine(await startApi(configs, parts, asked));
    apiUp.resolve(api);
    const relays = early === undefined
      ? await startRelays(configs, parts, asked)
      : [await showProgress("Relay", early, asked)];
    const isBuilt = building !== undefined && await hasConsole(building, asked);
    return greetingOf({ api, relays, hasConsole: isBuilt, dataDir, deno: denoOfUser() });
  })();
  try {
    const greeting = await Promise.race([up.catch((error) => unlessAsked(error, asked)), asked]);
    if (greeting !== undefined) console.log(greeting);
    using _watch = watch ? watchParts(parts, asked) : undefined;
    await asked;
    console.log("Stopping …");
  } finally {
    await stop(parts);
    await up.catch(() => {});
  }
}

/** Everything else works without it. */
async function hasConsole(building: Promise<unknown>, asked: Promise<void>): Promise<boolean> {
  try {
    await showProgress("Console", building, asked);
    return true;
  } catch (error) {
    const why = error instanceof Error ? error.message : error;
    console.log(
      `Cannot build the console: ${why}. Everything else works. To try again: ${denoOfUser()} task build`,
    );
    return false;
  }
}

/** A part that is not up yet may die of the same Ctrl-C before this process hears of it. */
async function unlessAsked(error: unknown, asked: Promise<void>): Promise<undefined> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const cancel = after(sameSignalMs, () => resolve(true));
  const isOurs = await Promise.race([asked, late]);
  cancel();
  if (isOurs) throw error;
}

/** An address that stands for all of them is no place to connect to. */
function onThisMachine({ url, internal_url, ...others }: ListeningReport): ListeningReport {
  const named = (text?: string): string | undefined =>
    text?.replace(/\/\/(?:\[::\]|0\.0\.0\.0):/, "//127.0.0.1:");
  return { ...others, url: named(url), internal_url: named(internal_url) };
}

/** The nodes of NATS come up beside it: each needs another one to be well. */
async function startApi(
  { api }: Configs,
  parts: StackParts,
  asked: Promise<void>,
): Promise<ListeningReport> {
  const { dataDir } = api;
  const made = await exists(`${dataDir}/database`) && !await exists(`${dataDir}/database.making`);
  const isFirst = api.database === undefined && !made;
  const nats = Promise.all(parts.nats.map((part) => part.start()));
  // Told below, when its turn has come.
  nats.catch(() => {});
  const what = isFirst ? "API, making its database (the first time only)" : "API";
  const up = await showProgress(what, parts.api.start(), asked);
  if (parts.nats.length > 0) await showProgress(`NATS, ${parts.nats.length} nodes`, nats, asked);
  return up;
}

/** Several have one authority, and the first makes the streams on the nodes. */
async function startRelays(
  { relay }: Configs,
  { relays }: StackParts,
  asked: Promise<void>,
): Promise<ListeningReport[]> {
  const [first, ...others] = relays;
  if (first === undefined) return [];
  const { dataDir } = relay;
  const shared = relay.tls === undefined
    ? await openDevelopmentCertificate({ dataDir, nowMs: Date.now })
    : undefined;
  const start = async (): Promise<ListeningReport[]> => {
    const up = [await first.start(), ...await Promise.all(others.map((part) => part.start()))];
    return up.map((relay) => ({ ...relay, ca_file: shared?.caFile }));
  };
  return await showProgress(`Relays, ${relays.length}`, start(), asked);
}

/** Relays give their leases back to the API, and write to the nodes until they end. */
async function stop({ api, relays, nats }: StackParts): Promise<void> {
  const stopAll = (parts: readonly SupervisedProcess[], ms: number): Promise<boolean[]> =>
    Promise.all(parts.map((part) => part.stop(ms)));
  if ((await stopAll(relays, relayStopMs)).includes(false)) {
    console.log("Relay took too long and was ended; nothing accepted is lost");
  }
  const [[apiEnded]] = await Promise.all([stopAll([api], apiStopMs), stopAll(nats, natsStopMs)]);
  if (apiEnded === false) console.log("API took too long and was ended");
}

function createPart(
  name: string,
  dataDir: string,
  spawn: (last: ListeningReport | undefined) => PartProcess,
): SupervisedProcess {
  const say = (text: string): void => console.log(text);
  const log = new LogFile(`${dataDir}/logs/${name.toLowerCase().replaceAll(" ", "-")}.log`, say);
  return new SupervisedProcess({
    name,
    spawn,
    onLine: (line) => {
      log.write(line);
      if (/"level":"(warn|error)"/.test(line)) console.log(`${name}: ${line}`);
    },
    say,
    after,
    nowMs: () => performance.now(),
  });
}

function watchParts({ api, relays }: StackParts, asked: Promise<void>): Disposable {
  let changes = Promise.resolve();
  const restart = async (name: string, parts: readonly SupervisedProcess[]): Promise<void> => {
    console.log(`The code of the ${name} has changed`);
    // When there are several relays, one is down at a time.
    for (const part of parts) await part.restart();
  };
  const concerned = {
    api: () => restart("api", [api]),
    relay: () => restart("relay", relays),
    console: () => hasConsole(buildConsole(), asked),
  };
  const watch = watchCode({
    root,
    folders: {
      api: ["api/", "migrations/", "proto/", "server/"],
      relay: ["relay/", "proto/", "server/"],
      console: ["api/console/", "proto/", "sdk/", "wasm/"],
    },
    // One after the other, also when code changes while a part is being restarted.
    onChange: (names) => {
      for (const name of names) changes = changes.then(async () => void await concerned[name]());
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
  /** One without `--relays`. */
  readonly places: readonly RelayLayout[];
  /** None without `--relays`. */
  readonly nats: readonly NatsNode[];
}

function portsOf({ api, relay, places, nats }: Configs): WantedPort[] {
  const { listen, internal, admin } = api;
  return [
    { hostname: listen.host, port: listen.port, transport: "tcp", variable: "STATIC_API_PORT" },
    {
      hostname: internal.host,
      port: internal.port,
      transport: "tcp",
      variable: "STATIC_INTERNAL_PORT",
    },
    ...(admin === undefined ? [] : [
      {
        hostname: admin.host,
        port: admin.port,
        transport: "tcp",
        variable: "STATIC_ADMIN_PORT",
      } as const,
    ]),
    ...wantedPorts(places, nats, { host: relay.host, adminHost: relay.admin?.host }),
  ];
}

/**
 * Addresses that clients are told; undefined where the user has set them, or the API finds them by
 * itself.
 */
function toldUrls({ places, nats }: Configs): readonly string[] | undefined {
  return nats.length === 0 || Deno.env.get("STATIC_RELAY_URL") ? undefined : relayUrlsOf(places);
}

/** Throws `StartFailed`. */
function natsProgram(): string {
  const search = findNatsServer({
    named: Deno.env.get("STATIC_NATS_SERVER"),
    path: Deno.env.get("PATH") ?? "",
  });
  if (search.outcome === "found") return search.program;
  throw new StartFailed(
    `Cannot start several relays: ${search.why}. Install nats-server ${oldestNats} or newer (nats.io), name it with STATIC_NATS_SERVER, or start without --relays`,
  );
}

/** Faults of both parts are reported together. */
function readConfigs({ relays, isPublic }: StartArguments): Configs {
  const faults = [...faultsOfNames(ownNames())];
  const read = <Config>(from: () => Config): Config | undefined => {
    try {
      return from();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      faults.push(...error.faults);
      return undefined;
    }
  };
  const hosts = isPublic ? everyAddress : ownAddresses;
  const variable = (name: string): string | undefined => Deno.env.get(name) || hosts[name];
  if (isPublic && variable("STATIC_RELAY_URL") === undefined) faults.push(unreachable);
  const apiConfig = read(() => api.readConfig(variable));
  const usesTls = apiConfig?.tls !== undefined;
  const nats = relays === undefined ? [] : read(readNodes);
  const shared = nats === undefined || nats.length === 0 ? {} : clusterVariables(nats);
  const relayConfig = read(() =>
    relay.readConfig((name) => shared[name] ?? relayVariable(name, variable(name), usesTls))
  );
  if (
    apiConfig === undefined || relayConfig === undefined || nats === undefined || faults.length > 0
  ) {
    throw new ConfigError("Static", [...new Set(faults)]);
  }
  const places = relays === undefined
    ? onePlace(relayConfig)
    : placeRelays(relays, relayConfig, nats);
  return {
    api: apiConfig,
    relay: relayConfig,
    addresses: usesTls ? relayConfig : undefined,
    places,
    nats,
  };
}

function readNodes(): readonly NatsNode[] {
  return readVariables({ what: "Static", variable: ownVariable }, (read) => {
    const port = read.integer("STATIC_NATS_PORT", 4222, { min: 1024, max: 65_000 });
    return placeNodes(port, read.text("STATIC_DATA_DIR", ".static"));
  });
}

function onePlace(
  { dataDir, grpcPort, quicPort, admin }: relay.RelayConfig,
): readonly RelayLayout[] {
  return [{
    name: "Relay",
    folder: dataDir,
    environment: {},
    grpcPort,
    quicPort,
    adminPort: admin?.port,
  }];
}

/**
 * The relay's metrics are on the port after the API's, and its API is the one beside it, whatever
 * clients are told to use.
 */
function relayVariable(
  name: string,
  text: string | undefined,
  usesTls: boolean,
): string | undefined {
  if (/^STATIC_API(_INTERNAL)?_URL$/.test(name) && !usesTls) return undefined;
  if (name === "STATIC_ADMIN_PORT" && text !== undefined && /^[1-9]\d*$/.test(text)) {
    return String(Number(text) + 1);
  }
  if (name === "STATIC_RELAY_DRAIN_SECONDS") return text ?? drainSeconds;
  return text;
}

/** A user with Node only calls Deno through npx, and can copy what is shown. */
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

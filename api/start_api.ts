/**
 * The wiring: configuration → database, hashing, domain, app. `createApi` makes everything but
 * sockets (the edge entry uses it as it is); `startApi` adds the listeners and is what `main.ts`,
 * tests and the whole stack's `start.ts` call.
 */
import {
  createLog,
  createOriginCheck,
  every,
  loadRelaySecret,
  type Log,
  type LogState,
  needed,
  openTraces,
  type Secret,
  serveAdmin,
  waits,
} from "../server/mod.ts";
import { createAdmin } from "./admin/create_admin.ts";
import { type App, createApp } from "./app.ts";
import { createClientAddress } from "./client_address.ts";
import { createConsoleFiles } from "./console/mod.ts";
import { type Config, describeConfig, hasNoMailServer, warningsOf } from "./config.ts";
import { createDomain } from "./create_domain.ts";
import { createDiscovery } from "./discovery.ts";
import { type KeyRingSource, openKeyRings } from "./key_ring_file.ts";
import { createLastUsed } from "./domain/last_used.ts";
import type { Clock } from "./domain/deps.ts";
import type { Store } from "./domain/store.ts";
import { createPools } from "./hashing/pools.ts";
import { createMail } from "./mail/create_mail.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { connectionLimits, internalLimits, openSockets } from "./sockets.ts";
import { openEmbeddedStore, type OpenStore, openStore } from "./store/mod.ts";
import { startUpkeep } from "./upkeep.ts";

export const maxBodyBytes = 64 * 1024;

export interface ApiOptions {
  /** Receives each line of the log. */
  readonly writeLog: (line: string) => void;
  readonly clock?: Clock;
  /** The address of a collector of traces. Undefined: as the environment says. */
  readonly tracesUrl?: string | undefined;
  /** Rates stand in the database: other processes count the same clients. */
  readonly sharesRates?: boolean;
  /** Counts such errors of this process so far; for its metrics. */
  readonly unownedSocketErrors?: () => number;
  /** Returns the state of the place where the lines go; for metrics. */
  readonly logState?: () => LogState;
}

export interface Api {
  readonly app: App;
  readonly metrics: Metrics;
  readonly log: Log;
  /** Commands of the admin port. */
  readonly answerAdmin: (request: Request) => Promise<Response | undefined>;
  /** Resolves when only a new process can go on. */
  readonly failed: Promise<Error>;
  /** Lets go of relays that wait for changes. */
  stopWaiting(): void;
  /** Writes what is pending and releases everything. */
  close(): Promise<void>;
}

export interface RunningApi {
  readonly url: string;
  /** The address for relays. */
  readonly internalUrl: string;
  readonly adminUrl: string | undefined;
  /** Resolves when nothing is accepted any more; only a new process helps. */
  readonly failed: Promise<Error>;
  /** Looks for another certificate now; it is looked for every few seconds anyway. */
  reloadCertificate(): Promise<void>;
  /** Stop accepting, finish requests in flight, flush, release. */
  close(): Promise<void>;
}

interface ApiSecrets {
  readonly keyRing: KeyRingSource;
  readonly relaySecret: Secret;
}

export async function createApi(config: Config, options: ApiOptions): Promise<Api> {
  const clock = options.clock ?? Date.now;
  const startedMs = clock();
  const log = createLog({ write: options.writeLog, nowMs: clock });
  logConfig(log, config);
  const traces = openTraces("static-api", log, options.tracesUrl);
  const { keyRing, relaySecret } = await openSecrets(config);
  const { store, applied, failed, close: closeStore } = await openDatabase(config);
  if (applied.length > 0) log("info", "migrated", { applied });
  await raisePlans(config, { store, clock, log });

  const pools = createPools(config.hashing);
  const metrics = createMetrics();
  metrics.gauge("static_api_hash_queue", "Jobs that wait for an Argon2 worker.", pools.waiting);
  metrics.counter(
    "static_api_unowned_socket_errors_total",
    "Errors of sockets that no code took care of: a defect.",
    options.unownedSocketErrors ?? (() => 0),
  );
  addLogMetrics(metrics, options.logState ?? (() => ({ lostLines: 0, waitingMs: 0 })));
  const lastUsed = createLastUsed({ store, clock });
  const discovery = createDiscovery(config, clock);
  const domain = createDomain({
    config,
    store,
    pools,
    clock,
    log,
    keyRing,
    relaySecret,
    onUse: lastUsed.note,
    sharesRates: options.sharesRates ?? false,
  });

  const app = createApp({
    ...domain,
    store,
    clock,
    discovery,
    consoleFiles: config.console ? createConsoleFiles() : undefined,
    secureCookies: config.tls !== undefined || config.tlsTerminated,
    relaySecret,
    maxBodyBytes,
    log,
    metrics,
    elapsedMs: () => performance.now(),
    newRequestId: () => crypto.randomUUID(),
    clientAddress: createClientAddress(config.trustedProxies, config.trustedHeader),
    isAllowedOrigin: createOriginCheck(config.corsOrigins),
    traces,
  });

  const mail = createMail(config, { store, clock, log });
  metrics.gauge("static_api_mail_queue", "Messages that wait for the mail server.", mail.waiting);
  metrics.gauge(
    "static_api_mail_to_files",
    "1 when others reach this API and their mail becomes files, else 0.",
    () => hasNoMailServer(config) ? 1 : 0,
  );
  const stopUpkeep = startUpkeep({
    lastUsed,
    keyRing,
    usage: domain.usage,
    mail,
    store,
    clock,
    log,
    every,
  });
  return {
    app,
    metrics,
    log,
    answerAdmin: await createAdmin(config, {
      store,
      clock,
      log,
      startedMs,
      waitingHashes: pools.waiting,
      waitingMail: mail.waiting,
      relayUrls: discovery.relayUrls,
      readCa: async () => (await discovery.certificates()).ca?.pem,
    }),
    failed,
    stopWaiting: domain.changes.stop,
    close: async () => {
      await traces?.close();
      await stopUpkeep();
      await domain.resets.stop();
      pools.close();
      await closeStore();
    },
  };
}

export async function startApi(config: Config, options: ApiOptions): Promise<RunningApi> {
  const limits = await needed(
    "the data directory cannot be used (STATIC_DATA_DIR)",
    Deno.mkdir(config.dataDir, { recursive: true, mode: 0o700 }).then(() =>
      connectionLimits(config)
    ),
  );
  const api = await createApi(config, options);
  await using opened = new AsyncDisposableStack();
  opened.defer(api.close);
  const { log, metrics } = api;
  const port = {
    ...config.listen,
    variable: "STATIC_API_PORT",
    tls: config.tls,
    limits,
    maxBodyBytes,
    log,
  };
  const sockets = await openSockets({ ...port, handler: api.app.fetch });
  opened.defer(sockets.close);
  const internal = await openSockets({
    ...port,
    ...config.internal,
    variable: "STATIC_INTERNAL_PORT",
    limits: internalLimits(limits),
    handler: api.app.fetchInternal,
  });
  opened.defer(internal.close);
  metrics.gauge("static_api_connections", "Open connections.", sockets.connections);
  metrics.gauge(
    "static_api_connections_limit",
    "The most connections that there may be.",
    () => limits.connections,
  );
  const admin = config.admin && await serveAdmin(config.admin, metrics.render, api.answerAdmin);
  opened.defer(async () => await admin?.close());
  const urls = { url: sockets.url, internalUrl: internal.url, adminUrl: admin?.url };
  log("info", "listening", {
    url: urls.url,
    internal_url: urls.internalUrl,
    admin_url: urls.adminUrl,
    max_connections: limits.connections,
  });
  opened.defer(api.stopWaiting);
  const running = opened.move();
  return {
    ...urls,
    failed: Promise.race([sockets.failed, internal.failed, api.failed]),
    reloadCertificate: async () =>
      void await Promise.all([sockets, internal].map((one) => one.reloadCertificate())),
    close: () => running.disposeAsync(),
  };
}

function addLogMetrics(metrics: Metrics, state: () => LogState): void {
  metrics.counter(
    "static_api_log_lost_lines_total",
    "Lines of the log that nobody took.",
    () => state().lostLines,
  );
  metrics.gauge(
    "static_api_log_waiting_seconds",
    "How long the log has waited to be taken.",
    () => state().waitingMs / 1000,
  );
}

function logConfig(log: Log, config: Config): void {
  log("info", "configuration", describeConfig(config));
  for (const warning of warningsOf(config)) log("warn", "configuration", { warning });
}

/**
 * The embedded database is one machine's: what its owner says now holds for accounts that were made
 * before, too.
 */
async function raisePlans(
  { database, defaultPlan }: Config,
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
): Promise<void> {
  if (database !== undefined || defaultPlan === "free") return;
  const accounts = await store.movePlan("free", defaultPlan, { atMs: clock(), actor: "start" });
  if (accounts > 0) log("info", "plans_raised", { accounts, plan: defaultPlan });
}

async function openSecrets({ jwtKeys, relaySecret, dataDir }: Config): Promise<ApiSecrets> {
  const reading = openKeyRings(jwtKeys, dataDir);
  return {
    keyRing: await needed(
      "the token keys cannot be read (STATIC_JWT_KEYS, STATIC_DATA_DIR)",
      reading,
    ),
    relaySecret: relaySecret ??
      await needed("the relay's secret cannot be read (STATIC_DATA_DIR)", loadRelaySecret(dataDir)),
  };
}

async function openDatabase(
  { database, databaseConnections, dataDir }: Config,
): Promise<OpenStore> {
  if (database === undefined) {
    const opening = openEmbeddedStore(dataDir, waits.embeddedDatabase.ms);
    return await needed("the embedded database cannot be used (STATIC_DATA_DIR)", opening);
  }
  const opening = openStore(database, {
    maxConnections: databaseConnections,
    deadlineMs: waits.database.ms,
  });
  return await needed("the database cannot be used (DATABASE_URL)", opening);
}

/**
 * The wiring: configuration → database, hashing, domain, app. `createApi` makes everything but sockets (the edge entry
 * uses it as it is); `startApi` adds the listeners and is what `main.ts`, tests and the whole stack's `start.ts` call.
 */
import {
  after,
  createLog,
  createOriginCheck,
  describeFailure,
  every,
  isLoopback,
  loadAdminSecret,
  loadRelaySecret,
  type Log,
  needed,
  type Secret,
  serveAdmin,
  waits,
} from "../server/mod.ts";
import type { KeyId } from "../proto/mod.ts";
import { runCommand } from "./admin/commands.ts";
import { type HealthDeps, readHealth } from "./admin/health.ts";
import { createOperatorPage } from "./admin/page.ts";
import { type AdminWay, createAdminPort } from "./admin/port.ts";
import { rotateJwtKey } from "./admin/run_admin.ts";
import { readView } from "./admin/views.ts";
import { type App, type AppDeps, createApp } from "./app.ts";
import { createClientAddress } from "./client_address.ts";
import { createConsoleFiles, createOperatorFiles } from "./console/mod.ts";
import { type Config, describeConfig, warningsOf } from "./config.ts";
import { createDiscovery } from "./discovery.ts";
import { createFingerprint, createSign } from "./cryptography.ts";
import { type KeyRingSource, openKeyRing } from "./key_ring_file.ts";
import { createAccountLife } from "./domain/account_life.ts";
import { createAccounts } from "./domain/accounts.ts";
import { createAttempts } from "./domain/attempts.ts";
import { createAuthenticator } from "./domain/authentication.ts";
import { createChanges } from "./domain/changes.ts";
import { createDevices } from "./domain/devices.ts";
import { createKeys } from "./domain/keys.ts";
import { createLastUsed } from "./domain/last_used.ts";
import { createRateLimiter } from "./domain/rate_limit.ts";
import type { Clock } from "./domain/deps.ts";
import type { Store } from "./domain/store.ts";
import { createMailQueue, type MailQueue } from "./domain/mail/mail_queue.ts";
import { createResets } from "./domain/resets.ts";
import { createSessions } from "./domain/sessions.ts";
import { createTokens } from "./domain/tokens.ts";
import { createUsage } from "./domain/usage.ts";
import { createHashingPool, type HashingPool, platformWorker } from "./hashing/pool.ts";
import { createFileMailer, mailFolder } from "./mail/file_mailer.ts";
import { createSmtpMailer } from "./mail/smtp_mailer.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { createPasswordGuesses, createRateLimits, createResetLimits } from "./rate_limits.ts";
import { connectionLimits, internalLimits, openSockets } from "./sockets.ts";
import { openEmbeddedStore, type OpenStore, openStore } from "./store/mod.ts";
import { startUpkeep } from "./upkeep.ts";

export const maxBodyBytes = 64 * 1024;
const maxWaitingResets = 1000;

export interface ApiOptions {
  /** Receives each line of the log. */
  readonly writeLog: (line: string) => void;
  readonly clock?: Clock;
  /** Of this process, so far; for its metrics. */
  readonly unownedSocketErrors?: () => number;
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
  /** For relays. */
  readonly internalUrl: string;
  readonly adminUrl: string | undefined;
  /** Resolves when nothing is accepted any more; only a new process helps. */
  readonly failed: Promise<Error>;
  /** Looks for another certificate now; it is looked for every few seconds anyway. */
  reloadCertificate(): Promise<void>;
  /** Stop accepting, finish requests in flight, flush, release. */
  close(): Promise<void>;
}

interface Secrets {
  readonly keyRing: KeyRingSource;
  readonly relaySecret: Secret;
}

export async function createApi(config: Config, options: ApiOptions): Promise<Api> {
  const clock = options.clock ?? Date.now;
  const startedMs = clock();
  const log = createLog({ write: options.writeLog, nowMs: clock });
  logConfig(log, config);
  const { keyRing, relaySecret } = await openSecrets(config);
  const { store, applied, failed, close: closeStore } = await openDatabase(config);
  if (applied.length > 0) log("info", "migrated", { applied });
  await raisePlans(config, { store, clock, log });

  const pools = createPools(config);
  const metrics = createMetrics();
  metrics.gauge("static_api_hash_queue", "Jobs that wait for an Argon2 worker.", pools.waiting);
  metrics.counter(
    "static_api_unowned_socket_errors_total",
    "Errors of sockets that no code took care of: a defect.",
    options.unownedSocketErrors ?? (() => 0),
  );
  const lastUsed = createLastUsed({ store, clock });
  const discovery = createDiscovery(config, clock);
  const domain = createDomain({ config, store, pools, clock, log, keyRing, relaySecret, onUse: lastUsed.note });

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
  });

  const mail = createMail(config, { store, clock, log });
  metrics.gauge("static_api_mail_queue", "Messages that wait for the mail server.", mail.waiting);
  const stopUpkeep = startUpkeep({ lastUsed, keyRing, usage: domain.usage, mail, store, clock, log, every });
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
    Deno.mkdir(config.dataDir, { recursive: true, mode: 0o700 }).then(() => connectionLimits(config)),
  );
  const api = await createApi(config, options);
  await using opened = new AsyncDisposableStack();
  opened.defer(api.close);
  const { log, metrics } = api;
  const port = { ...config.listen, variable: "STATIC_API_PORT", tls: config.tls, limits, maxBodyBytes, log };
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
  metrics.gauge("static_api_connections_limit", "The most connections that there may be.", () => limits.connections);
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
    reloadCertificate: async () => void await Promise.all([sockets, internal].map((one) => one.reloadCertificate())),
    close: () => running.disposeAsync(),
  };
}

function logConfig(log: Log, config: Config): void {
  log("info", "configuration", describeConfig(config));
  for (const warning of warningsOf(config)) log("warn", "configuration", { warning });
}

type Domain = Pick<
  AppDeps,
  | "accounts"
  | "life"
  | "sessions"
  | "changes"
  | "keys"
  | "tokens"
  | "usage"
  | "authenticator"
  | "attempts"
  | "beginGuess"
  | "devices"
  | "resets"
  | "rateLimits"
>;

interface DomainDeps {
  readonly config: Config;
  readonly store: Store;
  readonly pools: Pools;
  readonly clock: Clock;
  readonly log: Log;
  readonly keyRing: KeyRingSource;
  readonly relaySecret: Secret;
  readonly onUse: (keyId: KeyId) => void;
}

function createDomain({ config, store, pools, clock, log, keyRing, relaySecret, onUse }: DomainDeps): Domain {
  const hasher = pools.keys.hasher(config.hashing.keys);
  const passwords = pools.passwords.hasher(config.hashing.passwords);
  const newId = (): string => crypto.randomUUID();
  const { environment } = config;
  const randomBytes = (length: number): Uint8Array<ArrayBuffer> => crypto.getRandomValues(new Uint8Array(length));
  const keys = createKeys({ store, hasher, clock, randomBytes, newId, environment, limits: config });
  const rateLimits = createRateLimits(config, clock);
  const plan = config.defaultPlan;
  const devices = createDevices({ secret: relaySecret, store, clock, randomBytes });
  const resetLimits = createResetLimits(config, clock);
  const resetMails = resetLimits.mails;
  const life = createAccountLife({ store, passwords, keys, devices, clock, newId, randomBytes, plan, resetMails });
  return {
    accounts: createAccounts({ store, passwords, keys, devices, clock, newId, plan, logIn: life.logIn }),
    life,
    sessions: createSessions({ store, clock, newId, randomBytes }),
    changes: createChanges({ store, clock, after }),
    keys,
    tokens: createTokens({ ring: keyRing.ring, createSign, clock }),
    usage: createUsage({ store, clock, newId }),
    authenticator: createAuthenticator({
      store,
      clock,
      hasher,
      environment,
      fingerprint: createFingerprint(),
      memorySize: config.keyMemory,
      onUse,
    }),
    attempts: createAttempts(rateLimits.failures),
    beginGuess: createPasswordGuesses(config, clock),
    devices,
    resets: createResets({
      places: maxWaitingResets,
      elapsedMs: () => performance.now(),
      askReset: life.askReset,
      clients: resetLimits.clients,
      onDropped: (reason, error) =>
        log("warn", "reset_not_sent", { reason, ...(error !== undefined && { error: describeFailure(error) }) }),
    }),
    rateLimits,
  };
}

async function createAdmin(
  config: Config,
  deps: HealthDeps & { readonly store: Store; readonly clock: Clock; readonly log: Log },
): Promise<Api["answerAdmin"]> {
  const { store, clock, log } = deps;
  if (config.admin === undefined || !isLoopback(config.admin.host)) return () => Promise.resolve(undefined);
  const secret = config.adminSecret ??
    await needed("the operator's secret cannot be read (STATIC_DATA_DIR)", loadAdminSecret(config.dataDir));
  return createAdminPort({
    secret,
    failures: createRateLimiter("admin", config.rateLimits.failures, clock),
    run: (args, way: AdminWay) =>
      runCommand(args, {
        store,
        act: { atMs: clock(), actor: `admin:${way}` },
        rotateJwtKey: () => rotateJwtKey(config, clock()),
      }),
    view: (query) => readView(query, { store, atMs: clock(), readHealth: () => readHealth(deps) }),
    page: config.console ? createOperatorPage(createOperatorFiles()) : () => Promise.resolve(undefined),
    log,
  });
}

/** The embedded database is one machine's: what its owner says now holds for accounts that were made before, too. */
async function raisePlans(
  { database, defaultPlan }: Config,
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
): Promise<void> {
  if (database !== undefined || defaultPlan === "free") return;
  const accounts = await store.movePlan("free", defaultPlan, { atMs: clock(), actor: "start" });
  if (accounts > 0) log("info", "plans_raised", { accounts, plan: defaultPlan });
}

function createMail(
  { mail, dataDir }: Config,
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
): MailQueue {
  const mailer = mail.server === undefined
    ? createFileMailer(mailFolder(dataDir), clock)
    : createSmtpMailer(mail.server, mail.from);
  const onFailure = (attempts: number, error?: unknown): void =>
    error === undefined
      ? log("warn", "mail_given_up", { attempts })
      : log("warn", "mail_not_sent", { attempts, error: describeFailure(error) });
  return createMailQueue({ store, mailer, clock, onFailure });
}

interface Pools {
  readonly passwords: HashingPool;
  readonly keys: HashingPool;
  waiting(): number;
  close(): void;
}

/** Keys have workers of their own: passwords take six times as long, and anybody may send as many of them as there is room. */
function createPools({ hashing: { workers, queueLimit } }: Config): Pools {
  const create = (): HashingPool => createHashingPool({ workers, queueLimit, createWorker: platformWorker() });
  const [passwords, keys] = [create(), create()];
  return {
    passwords,
    keys,
    waiting: () => passwords.waiting() + keys.waiting(),
    close: () => [passwords, keys].forEach((pool) => pool.close()),
  };
}

async function openSecrets({ jwtKeys, relaySecret, dataDir }: Config): Promise<Secrets> {
  const reading = openKeyRing(jwtKeys, dataDir);
  return {
    keyRing: await needed("the token keys cannot be read (STATIC_JWT_KEYS, STATIC_DATA_DIR)", reading),
    relaySecret: relaySecret ??
      await needed("the relay's secret cannot be read (STATIC_DATA_DIR)", loadRelaySecret(dataDir)),
  };
}

async function openDatabase({ database, databaseConnections, dataDir }: Config): Promise<OpenStore> {
  if (database === undefined) {
    const opening = openEmbeddedStore(dataDir, waits.embeddedDatabase.ms);
    return await needed("the embedded database cannot be used (STATIC_DATA_DIR)", opening);
  }
  const opening = openStore(database, { maxConnections: databaseConnections, deadlineMs: waits.database.ms });
  return await needed("the database cannot be used (DATABASE_URL)", opening);
}

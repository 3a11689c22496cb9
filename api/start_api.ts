/**
 * The wiring: configuration → database, hashing, domain, app. `createApi` makes everything but sockets (the edge entry
 * uses it as it is); `startApi` adds the listeners and is what `main.ts`, tests and the whole stack's `start.ts` call.
 */
import {
  createLog,
  createOriginCheck,
  every,
  loadRelaySecret,
  type Log,
  needed,
  type Secret,
  serveAdmin,
} from "../server/mod.ts";
import { type App, type AppDeps, createApp } from "./app.ts";
import { createClientAddress } from "./client_address.ts";
import { type Config, describeConfig, warningsOf } from "./config.ts";
import { createFingerprint, createSign } from "./cryptography.ts";
import { type KeyRingSource, openKeyRing } from "./key_ring_file.ts";
import { createAccounts } from "./domain/accounts.ts";
import { createAttempts } from "./domain/attempts.ts";
import { createAuthenticator } from "./domain/authentication.ts";
import { createKeys } from "./domain/keys.ts";
import { createLastUsed } from "./domain/last_used.ts";
import { createAddressLimiter, createRateLimiter } from "./domain/rate_limit.ts";
import type { Clock } from "./domain/deps.ts";
import { createTokens } from "./domain/tokens.ts";
import { createUsage } from "./domain/usage.ts";
import { createHashingPool, type HashingPool, platformWorker } from "./hashing/pool.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { connectionLimits, internalLimits, openSockets } from "./sockets.ts";
import { openEmbeddedStore, type OpenStore, openStore } from "./store/mod.ts";
import { startUpkeep } from "./upkeep.ts";

const maxBodyBytes = 64 * 1024;
/** Every request must be answered within two seconds when the database is away. */
const databaseDeadlineMs = 1500;
/** The embedded database cannot be away, only busy: it does one thing at a time. */
const embeddedDeadlineMs = 10_000;

export interface ApiOptions {
  /** Receives each line of the log. */
  readonly writeLog: (line: string) => void;
  readonly clock?: Clock;
}

export interface Api {
  readonly app: App;
  readonly metrics: Metrics;
  readonly log: Log;
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
  const log = createLog({ write: options.writeLog, nowMs: clock });
  logConfig(log, config);
  const { keyRing, relaySecret } = await openSecrets(config);
  const { store, applied, close: closeStore } = await openDatabase(config);
  if (applied.length > 0) log("info", "migrated", { applied });

  const pools = createPools(config);
  const keyHasher = pools.keys.hasher(config.hashing.keys);
  const lastUsed = createLastUsed({ store, clock });
  const newId = (): string => crypto.randomUUID();
  const keys = createKeys({
    store,
    hasher: keyHasher,
    clock,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    newId,
    environment: config.environment,
    maxActiveKeys: config.maxActiveKeys,
  });
  const usage = createUsage({ store, clock, newId, ...config });
  const metrics = createMetrics();
  metrics.gauge("static_api_hash_queue", "Jobs that wait for an Argon2 worker.", pools.waiting);
  const rateLimits = createRateLimits(config, clock);

  const app = createApp({
    accounts: createAccounts({
      store,
      passwords: pools.passwords.hasher(config.hashing.passwords),
      keys,
      clock,
      newId,
    }),
    keys,
    tokens: createTokens({ ring: keyRing.ring, createSign, clock }),
    usage,
    authenticator: createAuthenticator({
      store,
      hasher: keyHasher,
      environment: config.environment,
      fingerprint: createFingerprint(),
      memorySize: config.keyMemory,
      onUse: lastUsed.note,
    }),
    attempts: createAttempts(rateLimits.failures),
    store,
    relaySecret,
    maxBodyBytes,
    rateLimits,
    log,
    metrics,
    elapsedMs: () => performance.now(),
    newRequestId: newId,
    clientAddress: createClientAddress(config.trustedProxies),
    isAllowedOrigin: createOriginCheck(config.corsOrigins),
  });

  const stopUpkeep = startUpkeep({ lastUsed, keyRing, usage, log, every });
  return {
    app,
    metrics,
    log,
    close: async () => {
      await stopUpkeep();
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
  const port = { ...config.listen, variable: "STATIC_API_PORT", tls: config.tls, limits, log };
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
  const admin = config.admin && await serveAdmin(config.admin, metrics.render);
  opened.defer(async () => await admin?.close());
  const urls = { url: sockets.url, internalUrl: internal.url, adminUrl: admin?.url };
  log("info", "listening", {
    url: urls.url,
    internal_url: urls.internalUrl,
    admin_url: urls.adminUrl,
    max_connections: limits.connections,
  });
  const running = opened.move();
  return {
    ...urls,
    failed: Promise.race([sockets.failed, internal.failed]),
    reloadCertificate: async () => void await Promise.all([sockets, internal].map((one) => one.reloadCertificate())),
    close: () => running.disposeAsync(),
  };
}

function logConfig(log: Log, config: Config): void {
  log("info", "configuration", describeConfig(config));
  for (const warning of warningsOf(config)) log("warn", "configuration", { warning });
}

function createRateLimits({ rateLimits }: Config, clock: Clock): AppDeps["rateLimits"] {
  return {
    signUp: createAddressLimiter("sign-up", rateLimits.signUp, clock),
    failures: createAddressLimiter("failures", rateLimits.failures, clock),
    account: createRateLimiter("account", rateLimits.account, clock),
    passwords: createRateLimiter("passwords", rateLimits.passwords, clock),
  };
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
    const opening = openEmbeddedStore(dataDir, embeddedDeadlineMs);
    return await needed("the embedded database cannot be used (STATIC_DATA_DIR)", opening);
  }
  const opening = openStore(database, { maxConnections: databaseConnections, deadlineMs: databaseDeadlineMs });
  return await needed("the database cannot be used (DATABASE_URL)", opening);
}

/**
 * The wiring: configuration → database, hashing, domain, app. `createApi` makes everything but sockets (the edge entry
 * uses it as it is); `startApi` adds the listeners and is what `main.ts`, tests and the whole stack's `start.ts` call.
 */
import { type App, createApp } from "./app.ts";
import { createClientAddress } from "./client_address.ts";
import { type Config, describeConfig, warningsOf } from "./config.ts";
import { createOriginCheck } from "./cors.ts";
import { createFingerprint, createSign } from "./cryptography.ts";
import { type KeyRingSource, loadRelaySecret, openKeyRing } from "./key_ring_file.ts";
import { createAccounts } from "./domain/accounts.ts";
import { createAuthenticator } from "./domain/authentication.ts";
import { createKeys } from "./domain/keys.ts";
import { createLastUsed } from "./domain/last_used.ts";
import { createRateLimiter } from "./domain/rate_limit.ts";
import type { Clock } from "./domain/deps.ts";
import { needed, type Secret } from "../server/mod.ts";
import { createTokens } from "./domain/tokens.ts";
import { createUsage } from "./domain/usage.ts";
import { createHashingPool, platformWorker } from "./hashing/pool.ts";
import { type Listener, listenPlain, listenTls } from "./listen.ts";
import { createLogger, type Logger } from "./batched_output.ts";
import { createMetrics, type Metrics } from "./metrics.ts";
import { naming } from "./ports.ts";
import { openEmbeddedStore, type OpenStore, openStore } from "./store/mod.ts";
import { everyInterval, startUpkeep } from "./upkeep.ts";

const maxBodyBytes = 64 * 1024;
/** Every request must be answered within two seconds when the database is away. */
const databaseDeadlineMs = 1500;
/** The embedded database cannot be away, only busy: it does one thing at a time. */
const embeddedDeadlineMs = 10_000;
const shutdownDeadlineMs = 10_000;

export interface ApiOptions {
  /** Receives each line of the log. */
  readonly writeLog: (line: string) => void;
  readonly clock?: Clock;
}

export interface Api {
  readonly app: App;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Writes what is pending and releases everything. */
  close(): Promise<void>;
}

export interface RunningApi {
  readonly url: string;
  readonly adminUrl: string | undefined;
  /** Stop accepting, finish requests in flight, flush, release. */
  close(): Promise<void>;
}

interface Secrets {
  readonly keyRing: KeyRingSource;
  readonly relaySecret: Secret;
}

export async function createApi(config: Config, options: ApiOptions): Promise<Api> {
  const clock = options.clock ?? Date.now;
  const logger = createLogger({ write: options.writeLog, now: clock });
  logger.log("info", "configuration", describeConfig(config));
  for (const warning of warningsOf(config)) logger.log("warn", "configuration", { warning });
  const { keyRing, relaySecret } = await openSecrets(config);
  const { store, applied, close: closeStore } = await openDatabase(config);
  if (applied.length > 0) logger.log("info", "migrated", { applied });

  const pool = createHashingPool({ ...config.hashing, createWorker: platformWorker() });
  const keyHasher = pool.hasher(config.hashing.keys);
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
  metrics.gauge("static_api_hash_queue", "Jobs that wait for an Argon2 worker.", pool.waiting);
  const { signUp, failures, account, passwords } = config.rateLimits;

  const app = createApp({
    accounts: createAccounts({ store, passwords: pool.hasher(config.hashing.passwords), keys, clock, newId }),
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
    store,
    relaySecret,
    maxBodyBytes,
    rateLimits: {
      signUp: createRateLimiter("sign-up", signUp, clock),
      failures: createRateLimiter("failures", failures, clock),
      account: createRateLimiter("account", account, clock),
      passwords: createRateLimiter("passwords", passwords, clock),
    },
    logger,
    metrics,
    elapsed: () => performance.now(),
    newRequestId: newId,
    clientAddress: createClientAddress(config.trustedProxies),
    isAllowedOrigin: createOriginCheck(config.corsOrigins),
  });

  const stopUpkeep = startUpkeep({ lastUsed, keyRing, usage, logger, every: everyInterval });
  return {
    app,
    metrics,
    logger,
    close: async () => {
      await stopUpkeep();
      pool.close();
      await closeStore();
    },
  };
}

export async function startApi(config: Config, options: ApiOptions): Promise<RunningApi> {
  const api = await createApi(config, options);
  const listeners: Listener[] = [];
  const close = async (): Promise<void> => {
    await Promise.all(listeners.map((each) => each.close(shutdownDeadlineMs)));
    await api.close();
  };
  try {
    const listen = { ...config.listen, handler: api.app.fetch };
    const { tls } = config;
    const listener = await naming(
      { port: listen.port, variable: "STATIC_API_PORT" },
      () =>
        tls === undefined
          ? listenPlain(listen)
          : listenTls({ ...listen, certificate: tls.certificate, key: tls.key.reveal() }),
    );
    listeners.push(listener);
    const admin = await startAdmin(config, api.metrics);
    if (admin !== undefined) listeners.push(admin);
    api.logger.log("info", "listening", { url: listener.url, admin_url: admin?.url });
    return { url: listener.url, adminUrl: admin?.url, close };
  } catch (error) {
    await close();
    throw error;
  }
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

async function startAdmin({ admin }: Config, metrics: Metrics): Promise<Listener | undefined> {
  if (admin === undefined) return undefined;
  return await naming(
    { port: admin.port, variable: "STATIC_ADMIN_PORT" },
    () => listenPlain({ ...admin, handler: (request) => answerAdmin(request, metrics) }),
  );
}

function answerAdmin(request: Request, metrics: Metrics): Response {
  if (new URL(request.url).pathname !== "/metrics") return new Response("Not found\n", { status: 404 });
  return new Response(metrics.render(), { headers: { "content-type": "text/plain; version=0.0.4; charset=utf-8" } });
}

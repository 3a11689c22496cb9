/**
 * Opens everything behind the relay's sockets: engine, certificate, tokens, quota, and what the
 * core needs of the process.
 */
import {
  after,
  type CertificateSource,
  describeError,
  describeFailure,
  every,
  loadRelaySecret,
  type Log,
  needed,
  openCertificate,
  openDevelopmentCertificate,
  openTraces,
  readOrCreateOwned,
  soon,
  StartFailed,
} from "../server/mod.ts";
import type { OpenCluster } from "./cluster/open_cluster.ts";
import type { RelayConfig } from "./config.ts";
import type { CoreDeps } from "./core/deps.ts";
import { createMeter } from "./core/meter.ts";
import { verifyEd25519 } from "./ed25519.ts";
import { type Engine, EngineError, openSqliteEngine, type Records } from "./engine/mod.ts";
import { type ApiClient, createApiClient } from "./operations/api_client.ts";
import { createCoreLog } from "./operations/core_log.ts";
import { watchLoopLag } from "./operations/loop_lag.ts";
import { connectionLimit } from "./operations/open_sockets.ts";
import { LeasedQuota } from "./quota/leased_quota.ts";
import { settleAnother } from "./quota/settlement.ts";
import { createTokenKeys } from "./tokens/token_keys.ts";
import { createTokenVerifier } from "./tokens/token_verifier.ts";

const quotaTickMs = 5_000;

export interface OpenedParts {
  readonly api: ApiClient;
  readonly certificate: CertificateSource;
  readonly quota: LeasedQuota;
  readonly deps: CoreDeps;
  readonly cluster: OpenCluster | undefined;
  /** Records of this relay alone: others have their own. */
  readonly ownRecords: Records;
  /** TCP connections that this process may have. */
  readonly connections: number;
  readonly failed: Promise<Error>;
  readonly fail: (error: Error) => void;
}

/** `opened` closes them in the opposite order. */
export async function openParts(
  { dataDir, ...config }: RelayConfig,
  log: Log,
  opened: AsyncDisposableStack,
): Promise<OpenedParts> {
  const { promise: failed, resolve: fail } = Promise.withResolvers<Error>();
  await needed(
    "the data directory cannot be used (STATIC_DATA_DIR)",
    Deno.mkdir(dataDir, { recursive: true, mode: 0o700 }),
  );
  const connections = connectionLimit(dataDir);
  // Leases belong to it: a relay that came back under another id could not return what it held.
  const relayId = config.cluster?.relayId ??
    (await readOrCreateOwned(`${dataDir}/relay_id`, () => crypto.randomUUID())).trim();
  const { engine, cluster } = await openEngine({ ...config, dataDir }, { relayId, log, fail });
  opened.defer(() => engine.close());
  const certificate = await loadCertificate(config.tls, dataDir);
  const traces = openTraces("static-relay", log);
  opened.defer(async () => await traces?.close());
  const api = createApiClient({
    traces,
    url: config.apiUrl,
    internalUrl: config.apiInternalUrl,
    relaySecret: config.relaySecret ?? await loadRelaySecret(dataDir),
    nowMs: () => performance.now(),
    clockMs: Date.now,
  });
  const quota = new LeasedQuota({
    api,
    book: engine.leases,
    relayId,
    nowMs: Date.now,
    newNonce: () => crypto.randomUUID(),
    log,
  });
  opened.defer(every(quotaTickMs, () => quota.tick()));
  if (cluster !== undefined) {
    cluster.peers.onGivenUp = (other) =>
      settleAnother({ api, book: cluster.leasesOf(other), relayId: other, log });
  }
  const keys = createTokenKeys({
    fetchKeySet: api.fetchKeySet,
    nowMs: Date.now,
    onFailedRefresh: (error) =>
      log("warn", "token_keys_not_refreshed", { error: describeFailure(error) }),
  });
  const loopLag = watchLoopLag();
  opened.defer(loopLag.stop);
  const deps: CoreDeps = {
    engine,
    cluster: cluster?.cluster,
    quota,
    tokens: createTokenVerifier({ keys, nowMs: Date.now }),
    nowMs: Date.now,
    elapsedMs: () => performance.now(),
    cpuMs,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    verifySignature: verifyEd25519,
    after,
    soon,
    loopLagMs: loopLag.currentMs,
    log: createCoreLog(log, Date.now),
    meter: createMeter(),
    traces,
  };
  const ownRecords = cluster === undefined
    ? engine.records
    : withPrefix(engine.records, `relay/${relayId}/`);
  return { api, certificate, quota, deps, cluster, ownRecords, connections, failed, fail };
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}

/** A part of the records, under keys of its own. */
function withPrefix(records: Records, prefix: string): Records {
  return {
    ...records,
    get: (key) => records.get(prefix + key),
    put: (key, record, revision) => records.put(prefix + key, record, revision),
    delete: (key) => records.delete(prefix + key),
  };
}

interface EngineHost {
  readonly relayId: string;
  readonly log: Log;
  readonly fail: (error: Error) => void;
}

async function openEngine(
  config: Pick<RelayConfig, "dataDir" | "engine" | "cluster" | "diskBytes">,
  { relayId, log, fail }: EngineHost,
): Promise<{ readonly engine: Engine; readonly cluster?: OpenCluster }> {
  const { dataDir, diskBytes } = config;
  if (config.cluster !== undefined) {
    // Not loaded by relays that are alone.
    const { openCluster } = await import("./cluster/open_cluster.ts");
    const { credentials, ...nodes } = config.cluster;
    const cluster = await needed(
      "the shared log cannot be used (STATIC_NATS_URLS)",
      openCluster({
        ...nodes,
        credentials: credentials?.reveal(),
        relay: relayId,
        path: `${dataDir}/copy.sqlite`,
        maxBytes: diskBytes,
        nowMs: Date.now,
        log,
        onFailed: fail,
      }),
    );
    return { engine: cluster.engine, cluster };
  }
  const engine = await openSqliteEngine({
    path: config.engine === "memory" ? ":memory:" : `${dataDir}/relay.sqlite`,
    maxBytes: diskBytes,
    onListenerError: (error) =>
      log("error", "fault", { where: "watcher", error: describeError(error) }),
    onFailed: fail,
    onMigrated: ({ from, to, names }) => log("info", "migrated", { from, to, applied: names }),
  }).catch((cause) => {
    throw cause instanceof EngineError ? new StartFailed(cause.message, { cause }) : cause;
  });
  return { engine };
}

async function loadCertificate(
  files: RelayConfig["tls"],
  dataDir: string,
): Promise<CertificateSource> {
  return files === undefined
    ? await needed(
      "the development certificate cannot be kept (STATIC_DATA_DIR)",
      openDevelopmentCertificate({ dataDir, nowMs: Date.now }),
    )
    : await needed(
      "the certificate cannot be used (STATIC_TLS_CERT and STATIC_TLS_KEY)",
      openCertificate(files),
    );
}

/**
 * The wiring: configuration → engine, certificate, tokens, quota, core, sockets. Opened parts are closed in the
 * opposite order, whether the relay stops or fails to start.
 */
import {
  after,
  type CertificateSource,
  type ConfiguredPort,
  createLog,
  createOriginCheck,
  describeError,
  describeFailure,
  every,
  loadRelaySecret,
  type Log,
  naming,
  needed,
  openCertificate,
  openDevelopmentCertificate,
  readOrCreateOwned,
  renderMetrics,
  serveAdmin,
  soon,
  StartFailed,
  urlHost,
  waits,
  within,
} from "../server/mod.ts";
import type { RelayConfig } from "./config.ts";
import type { CoreDeps } from "./core/deps.ts";
import { createMeter } from "./core/meter.ts";
import { sheddingLevel } from "./core/limits/load_shedding.ts";
import { createRelayCore, type RelayCore } from "./core/relay_core.ts";
import { StorageWatch } from "./core/limits/storage_watch.ts";
import { verifyEd25519 } from "./ed25519.ts";
import { openRelayEdge, type RelayEdge } from "./edge.ts";
import { sayGoodbye, stopServing } from "./goodbye.ts";
import type { OpenCluster } from "./cluster/open_cluster.ts";
import type { Problem } from "./grpc/listener.ts";
import { type Engine, EngineError, openSqliteEngine, type Records } from "./engine/mod.ts";
import { FollowedAccounts } from "./operations/account_changes.ts";
import { type ApiClient, createApiClient } from "./operations/api_client.ts";
import { logProblems, problemsOf } from "./operations/problems.ts";
import { createCoreLog } from "./operations/core_log.ts";
import { watchLoopLag } from "./operations/loop_lag.ts";
import { collectMetrics } from "./operations/metrics.ts";
import { connectionLimit, type PortWatch, watchPort } from "./operations/open_sockets.ts";
import { readUdpDrops } from "./operations/udp_drops.ts";
import { LeasedQuota } from "./quota/leased_quota.ts";
import { settleAnother } from "./quota/settlement.ts";
import { createTokenKeys } from "./tokens/token_keys.ts";
import { createTokenVerifier } from "./tokens/token_verifier.ts";

export interface RelayOptions {
  /** Receives each line of the log. */
  readonly writeLog: (line: string) => void;
  /** Of this process, so far; for its metrics. */
  readonly unownedSocketErrors?: () => number;
}

export interface RunningRelay {
  readonly grpcUrl: string;
  readonly quicUrl: string;
  readonly adminUrl: string | undefined;
  /** The certificate authority that clients must trust; undefined when the certificate was configured. */
  readonly caFile: string | undefined;
  /** Resolves when the disk, the shared log or a port let the relay down, and its agents were told: only a new process can go on. */
  readonly failed: Promise<Error>;
  /** Looks for another certificate now; it is looked for every few seconds anyway. */
  reloadCertificate(): Promise<void>;
  /** Writes a copy of the relay's file beside it, and says in the log what became of it. */
  backUp(): Promise<void>;
  /** Stops accepting, sends clients away, returns leases, writes what is pending, lets go of everything. */
  close(): Promise<void>;
}

const quotaTickMs = 5_000;
const certificateCheckMs = 10_000;

export async function startRelay(config: RelayConfig, options: RelayOptions): Promise<RunningRelay> {
  const log = createLog({ write: options.writeLog, nowMs: Date.now });
  log("info", "configuration", { ...config });
  await using opened = new AsyncDisposableStack();
  const parts = await openParts(config, log, opened);
  const { certificate, quota, deps } = parts;
  const [startedMs, begunMs] = [Date.now(), performance.now()];
  const apiMs = (): number => performance.now() - (parts.api.answeredMs() ?? begunMs);
  const storage = new StorageWatch(() => deps.engine.storage(), Date.now);
  const problems = (): readonly Problem[] =>
    problemsOf({
      sharedLog: parts.cluster?.silences.problem,
      sharedMemory: parts.cluster?.silences.memoryProblem,
      diskMs: deps.engine.diskMs(),
      storage: storage.level,
      hasRoomElsewhere: parts.cluster?.cluster.hasRoomElsewhere() ?? false,
      apiMs: apiMs(),
      hasApiAnswered: parts.api.answeredMs() !== undefined,
    });
  const { core, edge, watch, accounts, grpcUrl, quicUrl } = await serve(config, { ...parts, problems }, log);
  opened.defer(logProblems(problems, log));
  opened.defer(() => accounts.close());
  opened.defer(() => watch.stop());
  opened.defer(() => stopServing(edge, quota, { log, drainMs: config.core.drainMs + waits.agentsGone.ms }));
  const reloadCertificate = (): Promise<void> => reload(certificate, edge, log);
  opened.defer(every(certificateCheckMs, reloadCertificate));

  const render = (): string =>
    renderMetrics(collectMetrics({
      meter: deps.meter,
      core: core.stats(),
      edge: edge.stats(),
      quota: quota.stats(),
      loopLagMs: deps.loopLagMs(),
      isReady: edge.notReady() === undefined,
      diskMs: deps.engine.diskMs(),
      apiMs: apiMs(),
      startedMs,
      udpDrops: readUdpDrops(edge.quicPort),
      certificateExpiresAtMs: certificate.expiresAtMs,
      memoryBytes: Deno.memoryUsage().rss,
      unownedSocketErrors: options.unownedSocketErrors?.() ?? 0,
      cluster: parts.cluster?.stats(),
    }));
  const admin = config.admin &&
    await serveAdmin(config.admin, render, (request) => Promise.resolve(answerHealth(edge, request)));
  if (admin !== undefined) opened.defer(admin.close);
  const urls = { grpcUrl, quicUrl, adminUrl: admin?.url, caFile: certificate.caFile };
  log("info", "listening", {
    url: urls.grpcUrl,
    quic_url: urls.quicUrl,
    admin_url: urls.adminUrl,
    ca_file: urls.caFile,
  });
  void quota.tick();
  const backUp = (): Promise<void> => writeBackup(deps, `${config.dataDir}/relay.sqlite.backup`, log);
  const failed = parts.failed.then(async (error) => {
    await sayGoodbye(edge, log);
    return error;
  });
  const running = opened.move();
  return { ...urls, failed, reloadCertificate, backUp, close: () => running.disposeAsync() };
}

interface Parts {
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

/** Everything behind the sockets. */
async function openParts({ dataDir, ...config }: RelayConfig, log: Log, opened: AsyncDisposableStack): Promise<Parts> {
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
  const api = createApiClient({
    url: config.apiUrl,
    internalUrl: config.apiInternalUrl,
    relaySecret: config.relaySecret ?? await loadRelaySecret(dataDir),
    nowMs: () => performance.now(),
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
    cluster.peers.onGivenUp = (other) => settleAnother({ api, book: cluster.leasesOf(other), relayId: other, log });
  }
  const keys = createTokenKeys({
    fetchKeySet: api.fetchKeySet,
    nowMs: Date.now,
    onFailedRefresh: (error) => log("warn", "token_keys_not_refreshed", { error: describeFailure(error) }),
  });
  const loopLag = watchLoopLag();
  opened.defer(loopLag.stop);
  const deps: CoreDeps = {
    engine,
    cluster: cluster?.cluster,
    quota,
    tokens: createTokenVerifier({ keys, nowMs: Date.now }),
    nowMs: Date.now,
    randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
    verifySignature: verifyEd25519,
    after,
    soon,
    loopLagMs: loopLag.currentMs,
    log: createCoreLog(log, Date.now),
    meter: createMeter(),
  };
  const ownRecords = cluster === undefined ? engine.records : withPrefix(engine.records, `relay/${relayId}/`);
  return { api, certificate, quota, deps, cluster, ownRecords, connections, failed, fail };
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
    onListenerError: (error) => log("error", "fault", { where: "watcher", error: describeError(error) }),
    onFailed: fail,
    onMigrated: ({ from, to, names }) => log("info", "migrated", { from, to, applied: names }),
  }).catch((cause) => {
    throw cause instanceof EngineError ? new StartFailed(cause.message, { cause }) : cause;
  });
  return { engine };
}

async function loadCertificate(files: RelayConfig["tls"], dataDir: string): Promise<CertificateSource> {
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

interface Serving {
  readonly accounts: FollowedAccounts;
  readonly core: RelayCore;
  readonly edge: RelayEdge;
  readonly watch: PortWatch;
  readonly grpcUrl: string;
  readonly quicUrl: string;
}

async function serve(
  config: RelayConfig,
  parts: Parts & { readonly problems: () => readonly Problem[] },
  log: Log,
): Promise<Serving> {
  const { api, certificate, quota, deps, connections, fail } = parts;
  const watched: { port?: PortWatch } = {};
  // Filled in when the ports are known, which is before anybody can have dialled them.
  const origins: string[] = [...config.origins ?? []];
  const coreConfig = { ...config.core, origins };
  const core = createRelayCore(coreConfig, deps);
  const accounts = new FollowedAccounts({
    follow: api.followChanges,
    core,
    onLimits: () => quota.forgetRefusals(),
    records: parts.ownRecords,
    nowMs: deps.nowMs,
    log,
  });
  // Not for long: a relay serves although the API is away.
  await within(waits.apiAnswer.ms, accounts.standing);
  const { host: hostname, grpcPort, quicPort } = config;
  const edge = await naming((error) => takenPort(config, error), () =>
    openRelayEdge({
      core,
      config: coreConfig,
      deps,
      listen: { hostname, grpcPort, quicPort },
      certificate: certificate.current,
      coverBudget: config.coverBudget,
      balancers: config.balancers,
      socketsPerAddress: config.socketsPerAddress,
      newSocketsPerAddress: config.newSocketsPerAddress,
      callsPerAddress: config.callsPerAddress,
      connections,
      lagMs: deps.loopLagMs,
      onSocket: () => watched.port?.accepted(),
      isBusy: () =>
        sheddingLevel({
          loopLagMs: deps.loopLagMs(),
          appendsWaiting: 0,
          verdictMs: deps.cluster?.waitingMs() ?? 0,
        }) > 0,
      problems: parts.problems,
      allowsOrigin: createOriginCheck(config.corsOrigins),
      onFault: (error) => log("error", "fault", { where: "listener", error: describeError(error) }),
    })).catch(async (error) => {
      await accounts.close();
      await core.close();
      throw error;
    });
  void edge.failed.then(fail);
  const watch = watched.port = watchPort({ host: hostname, port: edge.grpcPort }, fail);
  if (config.origins === undefined) origins.push(...loopbackOrigins(edge));
  const name = ["::", "0.0.0.0"].includes(hostname) ? "localhost" : urlHost(hostname);
  return {
    core,
    edge,
    watch,
    accounts,
    grpcUrl: `https://${name}:${edge.grpcPort}`,
    quicUrl: `quic://${name}:${edge.quicPort}`,
  };
}

/** Node's error names the port; that of a QUIC endpoint does not. */
function takenPort({ grpcPort, quicPort }: RelayConfig, error: Error): ConfiguredPort {
  return Reflect.get(error, "port") === grpcPort
    ? { port: grpcPort, variable: "STATIC_RELAY_GRPC_PORT" }
    : { port: quicPort, variable: "STATIC_RELAY_QUIC_PORT" };
}

function loopbackOrigins({ grpcPort, quicPort }: RelayEdge): string[] {
  return ["localhost", "127.0.0.1", "[::1]"].flatMap((name) => [
    `quic://${name}:${quicPort}`,
    `https://${name}:${quicPort}`,
    `https://${name}:${grpcPort}`,
    `grpc://${name}:${grpcPort}`,
  ]);
}

/** The same as on the TCP port, for balancers that check by plain HTTP. */
function answerHealth(edge: RelayEdge, { url, method }: Request): Response | undefined {
  const answer = edge.health(new URL(url).pathname);
  if (answer === undefined || (method !== "GET" && method !== "HEAD")) return undefined;
  return Response.json(answer.value, { status: answer.status, headers: { "cache-control": "no-store" } });
}

async function writeBackup({ engine, nowMs }: CoreDeps, path: string, log: Log): Promise<void> {
  const startedMs = nowMs();
  try {
    await engine.backUp(path, startedMs);
    log("info", "backup_written", { path, bytes: (await Deno.stat(path)).size, ms: nowMs() - startedMs });
  } catch (error) {
    log("error", "backup_failed", { path, error: describeFailure(error) });
  }
}

async function reload(certificate: CertificateSource, edge: RelayEdge, log: Log): Promise<void> {
  try {
    const changed = await certificate.check();
    if (changed === undefined) return;
    edge.setCertificate(changed);
    log("info", "certificate_changed", { expires_at: new Date(certificate.expiresAtMs).toISOString() });
  } catch (error) {
    log("error", "certificate_not_changed", { error: describeFailure(error) });
  }
}

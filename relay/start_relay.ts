/**
 * The wiring: configuration → what is behind the sockets, core, sockets. Opened parts are closed in
 * the opposite order, whether the relay stops or fails to start.
 */
import {
  type CertificateSource,
  type ConfiguredPort,
  createLog,
  createOriginCheck,
  describeError,
  describeFailure,
  every,
  type Log,
  type LogState,
  naming,
  renderMetrics,
  serveAdmin,
  urlHost,
  waits,
  within,
} from "../server/mod.ts";
import type { RelayConfig } from "./config.ts";
import type { CoreDeps } from "./core/deps.ts";
import { sheddingLevel } from "./core/limits/load_shedding.ts";
import { createRelayCore, type RelayCore } from "./core/relay_core.ts";
import { StorageWatch } from "./core/limits/storage_watch.ts";
import { openRelayEdge, type RelayEdge } from "./edge.ts";
import { sayGoodbye, stopServing } from "./shutdown.ts";
import type { Problem } from "./grpc/listener.ts";
import { FollowedAccounts } from "./operations/account_changes.ts";
import { logProblems, problemsOf } from "./operations/problems.ts";
import { collectMetrics } from "./operations/metrics.ts";
import { type PortWatch, watchPort } from "./operations/open_sockets.ts";
import { readUdpDrops } from "./operations/udp_drops.ts";
import { type OpenedParts, openParts } from "./open_parts.ts";

export interface RelayStartOptions {
  /** Receives each line of the log. */
  readonly writeLog: (line: string) => void;
  /** Counts such errors of this process so far; for its metrics. */
  readonly unownedSocketErrors?: () => number;
  /** Returns the state of the place where the lines go; for metrics. */
  readonly logState?: () => LogState;
}

export interface RunningRelay {
  readonly grpcUrl: string;
  readonly quicUrl: string;
  readonly adminUrl: string | undefined;
  /**
   * The certificate authority that clients must trust; undefined when the certificate was
   * configured.
   */
  readonly caFile: string | undefined;
  /**
   * Resolves when the disk, the shared log or a port let the relay down, and its agents were told:
   * only a new process can go on.
   */
  readonly failed: Promise<Error>;
  /** Looks for another certificate now; it is looked for every few seconds anyway. */
  reloadCertificate(): Promise<void>;
  /** Writes a copy of the relay's file beside it, and says in the log what became of it. */
  backUp(): Promise<void>;
  /**
   * Stops accepting, sends clients away, returns leases, writes what is pending, lets go of
   * everything.
   */
  close(): Promise<void>;
}

const certificateCheckMs = 10_000;

export async function startRelay(
  config: RelayConfig,
  options: RelayStartOptions,
): Promise<RunningRelay> {
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
      aheadMs: parts.api.aheadMs(),
    });
  const { core, edge, watch, accounts, grpcUrl, quicUrl } = await serve(config, {
    ...parts,
    problems,
  }, log);
  opened.defer(logProblems(problems, log));
  opened.defer(() => accounts.close());
  opened.defer(() => watch.stop());
  opened.defer(() =>
    stopServing(edge, quota, { log, drainMs: config.core.drainMs + waits.agentsGone.ms })
  );
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
      aheadMs: parts.api.aheadMs(),
      startedMs,
      udpDrops: readUdpDrops(edge.quicPort),
      certificateExpiresAtMs: certificate.expiresAtMs,
      memoryBytes: Deno.memoryUsage().rss,
      unownedSocketErrors: options.unownedSocketErrors?.() ?? 0,
      log: options.logState?.() ?? { lostLines: 0, waitingMs: 0 },
      cluster: parts.cluster?.stats(),
    }));
  const admin = config.admin &&
    await serveAdmin(
      config.admin,
      render,
      (request) => Promise.resolve(answerHealth(edge, request)),
    );
  if (admin !== undefined) opened.defer(admin.close);
  const urls = { grpcUrl, quicUrl, adminUrl: admin?.url, caFile: certificate.caFile };
  log("info", "listening", {
    url: urls.grpcUrl,
    quic_url: urls.quicUrl,
    admin_url: urls.adminUrl,
    ca_file: urls.caFile,
  });
  void quota.tick();
  const backUp = (): Promise<void> =>
    writeBackup(deps, `${config.dataDir}/relay.sqlite.backup`, log);
  const failed = parts.failed.then(async (error) => {
    await sayGoodbye(edge, log);
    return error;
  });
  const running = opened.move();
  return { ...urls, failed, reloadCertificate, backUp, close: () => running.disposeAsync() };
}

interface StartedRelay {
  readonly accounts: FollowedAccounts;
  readonly core: RelayCore;
  readonly edge: RelayEdge;
  readonly watch: PortWatch;
  readonly grpcUrl: string;
  readonly quicUrl: string;
}

async function serve(
  config: RelayConfig,
  parts: OpenedParts & { readonly problems: () => readonly Problem[] },
  log: Log,
): Promise<StartedRelay> {
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
  return Response.json(answer.value, {
    status: answer.status,
    headers: { "cache-control": "no-store" },
  });
}

async function writeBackup({ engine, nowMs }: CoreDeps, path: string, log: Log): Promise<void> {
  const startedMs = nowMs();
  try {
    await engine.backUp(path, startedMs);
    log("info", "backup_written", {
      path,
      bytes: (await Deno.stat(path)).size,
      ms: nowMs() - startedMs,
    });
  } catch (error) {
    log("error", "backup_failed", { path, error: describeFailure(error) });
  }
}

async function reload(certificate: CertificateSource, edge: RelayEdge, log: Log): Promise<void> {
  try {
    const changed = await certificate.check();
    if (changed === undefined) return;
    edge.setCertificate(changed);
    log("info", "certificate_changed", {
      expires_at: new Date(certificate.expiresAtMs).toISOString(),
    });
  } catch (error) {
    log("error", "certificate_not_changed", { error: describeFailure(error) });
  }
}

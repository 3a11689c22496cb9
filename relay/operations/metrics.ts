/**
 * The relay's metrics for Prometheus. Everything is read at the time of the scrape;
 * `docs/operations.md` lists the same names.
 */
import type { LogState, Metric } from "../../server/mod.ts";
import type { Meter } from "../core/meter.ts";
import type { CoreStats } from "../core/core_stats.ts";
import type { QuotaStats } from "../quota/leased_quota.ts";
import type { ClusterStats } from "../cluster/stats.ts";
import type { RelayEdgeStats } from "../edge.ts";

export interface MetricSources {
  readonly meter: Meter;
  readonly core: CoreStats;
  readonly edge: RelayEdgeStats;
  readonly quota: QuotaStats;
  readonly loopLagMs: number;
  /** New sessions are taken. */
  readonly isReady: boolean;
  /** How long the disk has left a write unconfirmed. */
  readonly diskMs: number;
  /** How long the API has not answered. */
  readonly apiMs: number;
  /** How far the relay's clock is ahead of the API's. */
  readonly aheadMs: number | undefined;
  readonly startedMs: number;
  readonly udpDrops: number | undefined;
  readonly certificateExpiresAtMs: number;
  readonly memoryBytes: number;
  readonly unownedSocketErrors: number;
  readonly log: LogState;
  /** The state of the cluster, where the relay shares its log with others. */
  readonly cluster?: ClusterStats | undefined;
}

export function collectMetrics(sources: MetricSources): readonly Metric[] {
  return [
    ...sessionMetrics(sources),
    ...channelMetrics(sources),
    ...quotaMetrics(sources),
    ...processMetrics(sources),
    ...(sources.cluster === undefined ? [] : clusterMetrics(sources.cluster)),
  ];
}

function sessionMetrics({ meter, core, edge }: MetricSources): Metric[] {
  return [
    gauge("sessions", "Sessions, authenticated or not.", core.sessions),
    gauge("sessions_authenticated", "Sessions of agents.", core.authenticated),
    gauge("quic_connections", "QUIC connections, WebTransport included.", edge.quic.connections),
    gauge("grpc_connections", "HTTP/2 connections.", edge.grpc.connections),
    counter(
      "quic_refused_total",
      "QUIC connections that were refused because of a limit.",
      edge.quic.refused,
    ),
    counter(
      "calls_refused_total",
      "Calls without a session that were refused with 429, or ended for others.",
      edge.grpc.peers.refusedCalls,
    ),
    counter(
      "sockets_refused_total",
      "TCP connections that were refused, or closed for others.",
      edge.grpc.peers.refusedSockets,
    ),
    counter(
      "offences_total",
      "How often an address flooded and was refused for a while.",
      edge.grpc.peers.offences,
    ),
    counter(
      "sessions_refused_total",
      "Sessions that were refused because of a limit or load.",
      meter.sessionsRefused,
    ),
    counter(
      "sessions_evicted_total",
      "Sessions that ended to make room for others.",
      meter.sessionsEvicted,
    ),
    counter(
      "sessions_moved_total",
      "Sessions that were sent to relays that have fewer.",
      meter.sessionsMoved,
    ),
    counter(
      "slow_readers_total",
      "Sessions that were cut off because they did not read.",
      meter.slowReaders,
    ),
    counter("requests_total", "Requests.", meter.requests),
    counter(
      "request_errors_total",
      "Requests that were answered with an error.",
      meter.requestErrors,
    ),
    counter(
      "requests_over_budget_total",
      "Requests that were refused because their account has had its share of the work.",
      meter.requestsOverBudget,
    ),
    gauge(
      "requests_waiting",
      "Requests that wait for the turn of their account.",
      core.requestsWaiting,
    ),
    gauge("logins_waiting", "Agents that were told when to log in.", core.loginsWaiting),
    counter(
      "shed_total",
      "Requests and connections that were refused because of load.",
      meter.shed,
    ),
    gauge(
      "shedding_level",
      "0 none, 1 connections, 2 joins too, 3 messages too.",
      core.sheddingLevel,
    ),
  ];
}

function channelMetrics({ meter, core }: MetricSources): Metric[] {
  return [
    gauge("channels", "Channels in memory.", core.channels),
    gauge(
      "queue_bytes",
      "Application messages that wait in the channels in memory.",
      core.queueBytes,
    ),
    counter(
      "messages_accepted_total",
      "Application messages that were accepted.",
      meter.messagesAccepted,
    ),
    counter(
      "messages_dropped_total",
      "Application messages that gave way to gaps.",
      meter.messagesDropped,
    ),
    counter("commits_accepted_total", "Commits that were accepted.", meter.commitsAccepted),
    counter(
      "epoch_conflicts_total",
      "Commits and messages that came too late for their epoch.",
      meter.epochConflicts,
    ),
    counter("deliveries_total", "Entries that were delivered to sessions.", meter.deliveries),
    counter("delivered_bytes_total", "Bytes of these.", meter.deliveredBytes),
    gauge("storage_bytes", "Bytes in the relay's file.", core.storage.usedBytes),
    gauge("storage_available_bytes", "Bytes that still fit.", finite(core.storage.availableBytes)),
    gauge(
      "storage_level",
      "0 room, 1 nearly full: no growth, 2 full: only what makes room.",
      ["ok", "tight", "full"].indexOf(core.storage.level),
    ),
    counter(
      "storage_refusals_total",
      "Requests that were refused because the disk, or an account's share of it, is full.",
      meter.storageRefusals,
    ),
    counter("members_lapsed_total", "Members that were absent too long.", meter.membersLapsed),
    counter(
      "key_packages_claimed_total",
      "KeyPackages that were claimed.",
      meter.keyPackagesClaimed,
    ),
    counter(
      "welcomes_refused_total",
      "Additions that were refused because too much waits for the agent.",
      meter.welcomesRefused,
    ),
  ];
}

function quotaMetrics({ meter, quota }: MetricSources): Metric[] {
  return [
    gauge("quota_leases", "Leases in use.", quota.leases),
    gauge("quota_messages_left", "Messages that the leases still pay for.", quota.messagesLeft),
    gauge(
      "quota_leases_unreported",
      "Leases that ended and that the API has not heard of yet.",
      quota.leasesUnreported,
    ),
    counter(
      "quota_failures_total",
      "Questions to the API about leases that brought nothing.",
      quota.failures,
    ),
    counter(
      "handshakes_charged_total",
      "Commits and Welcomes that were paid for as messages.",
      meter.handshakesCharged,
    ),
    counter(
      "quota_refusals_total",
      "Messages that were refused for want of quota.",
      meter.quotaRefusals,
    ),
  ];
}

function processMetrics(sources: MetricSources): Metric[] {
  const { loopLagMs, udpDrops, certificateExpiresAtMs, memoryBytes, unownedSocketErrors } = sources;
  const { isReady, diskMs, apiMs, aheadMs, startedMs, log } = sources;
  return [
    gauge("ready", "1 when new sessions are welcome, else 0; /health says why.", isReady ? 1 : 0),
    gauge("started_timestamp_seconds", "When the process started.", startedMs / 1000),
    gauge("disk_wait_seconds", "How long the disk has left a write unconfirmed.", diskMs / 1000),
    gauge("api_silent_seconds", "How long the API has not answered.", apiMs / 1000),
    gauge(
      "clock_ahead_seconds",
      "How far this clock is ahead of the API's.",
      aheadMs === undefined ? undefined : aheadMs / 1000,
    ),
    counter("log_lost_lines_total", "Lines of the log that nobody took.", log.lostLines),
    gauge(
      "log_waiting_seconds",
      "How long the log has waited to be taken.",
      log.waitingMs / 1000,
    ),
    gauge("event_loop_lag_seconds", "How late timers run, smoothed.", loopLagMs / 1000),
    counter(
      "udp_drops_total",
      "Datagrams that the kernel dropped; see the page on UDP buffers.",
      udpDrops,
    ),
    gauge(
      "certificate_expires_timestamp_seconds",
      "When the certificate ends.",
      certificateExpiresAtMs / 1000,
    ),
    gauge("memory_bytes", "Resident memory of the process.", memoryBytes),
    counter(
      "unowned_socket_errors_total",
      "Errors of sockets that no code took care of: a defect.",
      unownedSocketErrors,
    ),
  ];
}

/** `docs/cluster.md` lists these. */
function clusterMetrics(stats: ClusterStats): Metric[] {
  return [
    gauge("cluster_relays", "Relays that are alive, this one included.", stats.relays),
    gauge(
      "cluster_lag",
      "Entries of the shared log that this relay knows of and has not read.",
      stats.lag,
    ),
    gauge(
      "cluster_verdict_seconds",
      "How long the oldest command has waited for its verdict.",
      stats.waitingMs / 1000,
    ),
    counter(
      "cluster_clients_total",
      "Clients of the nodes that took the place of a silent one.",
      stats.clients,
    ),
    counter("cluster_resends_total", "Batches that were sent again.", stats.resends),
    counter(
      "cluster_elections_total",
      "Leaders of the shared log that were elected.",
      stats.elections,
    ),
    counter(
      "cluster_differences_total",
      "Copies of other relays that differed from this one.",
      stats.differences,
    ),
  ];
}

/** Unknown values are not shown. */
function finite(value: number): number | undefined {
  return Number.isFinite(value) ? value : undefined;
}

function gauge(name: string, help: string, value: number | undefined): Metric {
  return { name: `static_relay_${name}`, type: "gauge", help, value };
}

function counter(name: string, help: string, value: number | undefined): Metric {
  return { name: `static_relay_${name}`, type: "counter", help, value };
}

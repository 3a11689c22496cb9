/**
 * The relay's edge in one piece: the QUIC port and the gRPC port around one core. Its caller makes
 * the core and says where to listen; nothing here reads the environment or ends the process.
 */
import { CoverBudget, type CoverBudgetOptions } from "../proto/mod.ts";
import { type Budgets, defaultBudgets, type ServerStats } from "../server/http2/mod.ts";
import type { AddressRange } from "../server/limits/mod.ts";
import type { KeyedCertificate } from "../server/mod.ts";
import type { LinkHost } from "./cells/link_host.ts";
import type { CoreConfig } from "./core/config.ts";
import type { CoreDeps } from "./core/deps.ts";
import type { ClientLink, CoreSession } from "./core/client_link.ts";
import { createCoreUpstream } from "./grpc/core_upstream.ts";
import { type GrpcListener, type HealthAnswer, listenGrpc, type Problem } from "./grpc/listener.ts";
import { createGrpcService, type GrpcService, type GrpcSessionCounts } from "./grpc/service.ts";
import { Strangers } from "./strangers.ts";
import {
  defaultQuicLimits,
  listenQuic,
  type QuicLimits,
  type QuicListener,
  type QuicStats,
} from "./listeners/quic.ts";

export interface RelayEdgeOptions {
  /** The result of `createRelayCore`. The edge drains and closes it. */
  readonly core: {
    open(link: ClientLink): CoreSession;
    drain(): Promise<void>;
    leave(): Promise<void>;
    close(): Promise<void>;
  };
  /** The core's own configuration and ports: the edge uses some of them. */
  readonly config: CoreConfig;
  readonly deps: Pick<CoreDeps, "quota" | "nowMs" | "after" | "randomBytes">;
  readonly listen: {
    /** `::` for IPv4 and IPv6. */
    readonly hostname: string;
    /** 0 lets the system choose. */
    readonly quicPort: number;
    readonly grpcPort: number;
  };
  readonly certificate: KeyedCertificate;
  /** Whether scripts of this web origin may reach the relay (CORS, WebTransport). */
  readonly allowsOrigin: (origin: string) => boolean;
  /**
   * Limits on connections and sessions that have not authenticated; each port counts for itself.
   */
  readonly limits?: Partial<QuicLimits>;
  /** Balancers before the TCP port: their sockets say first whose they are. */
  readonly balancers?: readonly AddressRange[];
  /** TCP connections at once, of all addresses; 10,000 unless told. */
  readonly connections?: number;
  /**
   * Sockets of one address, without those that carry sessions; 256 unless told, or a quarter of all
   * if that is less.
   */
  readonly socketsPerAddress?: number | undefined;
  /**
   * New TCP connections that one address may open in a second, four times as many at once; 32
   * unless told.
   */
  readonly newSocketsPerAddress?: number;
  /**
   * Calls without a session that one address may make in a second, four times as many at once; 100
   * unless told.
   */
  readonly callsPerAddress?: number;
  /** Called for each TCP socket that was accepted. */
  readonly onSocket?: () => void;
  /** How late the event loop runs, smoothed: strangers have less then. */
  readonly lagMs?: () => number;
  /** Whether the process has too much to do for new sessions. */
  readonly isBusy?: () => boolean;
  /** Things that the relay needs and that do not answer. */
  readonly problems?: () => readonly Problem[];
  /** Limit of cover traffic for each account; none when absent. */
  readonly coverBudget?: CoverBudgetOptions | undefined;
  /** A fault of our own code, for the log; nothing that a peer does is one. */
  readonly onFault: (error: unknown) => void;
}

export interface RelayEdge {
  readonly quicPort: number;
  readonly grpcPort: number;
  /** Resolves when a port accepts no more: only a new process can. */
  readonly failed: Promise<Error>;
  /**
   * Why load balancers should send new sessions elsewhere; undefined when they are welcome. One
   * that comes is tried all the same.
   */
  notReady(): string | undefined;
  stats(): RelayEdgeStats;
  /** The answer to `GET` of `/health` or `/ready`; undefined for other paths. */
  health(path: string): HealthAnswer | undefined;
  /** Sets the certificate of handshakes from now on, on both ports; open connections stay. */
  setCertificate(certificate: KeyedCertificate): void;
  /**
   * Refuses new connections and lets the core tell its sessions to go, spread over its drain time.
   */
  drain(): Promise<void>;
  /** Ends what is left of sessions and connections, now. */
  leave(): Promise<void>;
  /** The same, and the core writes what is not on disk yet. */
  close(): Promise<void>;
}

export interface RelayEdgeStats extends GrpcSessionCounts {
  readonly quic: QuicStats;
  readonly grpc: ServerStats;
}

/** Time that an ending session gets to write its last cells. */
const flushMs = 2_000;

export async function openRelayEdge(options: RelayEdgeOptions): Promise<RelayEdge> {
  const { core, config, deps } = options;
  const limits: QuicLimits = {
    ...defaultQuicLimits,
    strangers: config.maxUnauthenticated,
    openingMs: config.authenticationMs,
    ...options.limits,
  };
  const host = createHost(options);
  let draining = false;
  const notReady = (): string | undefined => {
    if (draining) return "draining";
    const problem = options.problems?.().find(({ isUnready }) => isUnready);
    return problem?.text ?? (options.isBusy?.() ? "busy" : undefined);
  };
  const service = createGrpcService({
    upstream: createCoreUpstream(host),
    strangers: new Strangers(limits.strangers),
    idleTimeoutMs: config.limits.idleTimeoutMs,
    nowMs: deps.nowMs,
    after: deps.after,
    randomBytes: deps.randomBytes,
    isServing: () => notReady() === undefined,
    onFault: options.onFault,
  });
  const { grpc, quic } = await openPorts(options, { host, service, limits, notReady });
  const leave = async (): Promise<void> => {
    quic.refuse();
    await core.leave();
    // Their sessions are over; connections get the time that their last cells may take.
    const late = Promise.withResolvers<void>();
    const cancel = deps.after(flushMs, late.resolve);
    await Promise.all([Promise.race([quic.idle(), late.promise]), grpc.close()]);
    cancel();
    quic.close();
  };
  let leaving: Promise<void> | undefined;
  const leaveOnce = (): Promise<void> => leaving ??= leave();
  return {
    quicPort: quic.port,
    grpcPort: grpc.port,
    failed: Promise.race([grpc.failed, quic.failed]),
    notReady,
    stats: () => ({ ...service.stats(), quic: quic.stats(), grpc: grpc.stats() }),
    health: (path) => grpc.health(path),
    setCertificate: (renewed) => {
      quic.setCertificate(renewed);
      grpc.setCertificate(renewed);
    },
    drain: async () => {
      draining = true;
      quic.refuse();
      grpc.drain();
      await core.drain();
    },
    leave: leaveOnce,
    close: async () => void await Promise.all([leaveOnce(), core.close()]),
  };
}

interface EdgeParts {
  readonly host: LinkHost;
  readonly service: GrpcService;
  readonly limits: QuicLimits;
  readonly notReady: () => string | undefined;
}

/** Both or none: a port that is taken must not leave the other one open. */
async function openPorts(
  options: RelayEdgeOptions,
  { host, service, limits, notReady }: EdgeParts,
): Promise<{ grpc: GrpcListener; quic: QuicListener }> {
  const { listen, certificate, allowsOrigin, balancers = [], onFault } = options;
  const { hostname } = listen;
  const grpc = await listenGrpc({
    service,
    hostname,
    port: listen.grpcPort,
    certificate,
    allowsOrigin,
    isBalancer: (address) => balancers.some((range) => range.contains(address)),
    notReady,
    ...(options.problems && { problems: options.problems }),
    budgets: budgetsOf(options),
    ...(options.lagMs && { lagMs: options.lagMs }),
    ...(options.onSocket && { onSocket: options.onSocket }),
    onFault,
  });
  try {
    const quic = await listenQuic({
      host,
      hostname,
      port: listen.quicPort,
      certificate,
      limits,
      allowsOrigin,
      onFault,
    });
    return { grpc, quic };
  } catch (error) {
    await grpc.close();
    throw error;
  }
}

function budgetsOf(options: RelayEdgeOptions): Partial<Budgets> {
  const { connections = defaultBudgets.connections, newSocketsPerAddress, callsPerAddress } =
    options;
  const usual = Math.min(defaultBudgets.connectionsPerAddress, Math.ceil(connections / 4));
  return {
    connections,
    connectionsPerAddress: options.socketsPerAddress ?? usual,
    ...(newSocketsPerAddress !== undefined && newSocketBudgets(newSocketsPerAddress)),
    ...(callsPerAddress !== undefined && strangerBudgets(callsPerAddress)),
  };
}

/** Sockets that may come at once may also wait for their handshakes. */
export function newSocketBudgets(
  perSecond: number,
): Pick<Budgets, "socketsPerAddress" | "waitingSockets"> {
  const burst = 4 * perSecond;
  return {
    socketsPerAddress: { burst, perSecond },
    waitingSockets: Math.max(defaultBudgets.waitingSockets, burst),
  };
}

/** All addresses together never have less than one of them. */
export function strangerBudgets(
  perSecond: number,
): Pick<Budgets, "strangerCalls" | "strangerCallsInAll"> {
  const burst = 4 * perSecond;
  const strangerCallsInAll = Math.max(defaultBudgets.strangerCallsInAll, burst);
  return { strangerCalls: { burst, perSecond }, strangerCallsInAll };
}

function createHost({ core, config, deps, coverBudget }: RelayEdgeOptions): LinkHost {
  const budget = coverBudget && new CoverBudget(coverBudget);
  return {
    open: (link) => core.open(link),
    cellBytes: config.cellBytes,
    idleTimeoutMs: config.limits.idleTimeoutMs,
    lowWaterBytes: config.lowWaterBytes,
    flushMs,
    nowMs: deps.nowMs,
    after: deps.after,
    random: () => unitInterval(deps.randomBytes(6)),
    countBytes: (account, bytes) => deps.quota.countBytes(account, bytes),
    ...(budget && { spendCover: (account, bytes) => budget.spend(account, bytes, deps.nowMs()) }),
  };
}

/** 48 random bits as a fraction. */
function unitInterval(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => (sum + byte) / 256, 0);
}

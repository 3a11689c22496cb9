/**
 * A whole relay on real sockets for tests and benchmarks that need no API: tokens name their
 * account and are believed, and quota is a lease that lasts. Everything else is the real thing.
 */
import { type CoverBudgetOptions, parseAccountId } from "../../proto/mod.ts";
import { after, soon } from "../../server/mod.ts";
import { type CoreConfig, defaultCoreConfig } from "../core/config.ts";
import type { CoreEvent, Quota, VerifiedToken } from "../core/deps.ts";
import { createMeter, type Meter } from "../core/meter.ts";
import type { CoreStats } from "../core/core_stats.ts";
import { createRelayCore } from "../core/relay_core.ts";
import { verifyEd25519 } from "../ed25519.ts";
import { openRelayEdge, type RelayEdge, type RelayEdgeOptions } from "../edge.ts";
import type { OpenCluster } from "../cluster/open_cluster.ts";
import { openSqliteEngine, type SqliteEngineOptions } from "../engine/mod.ts";

export interface TestRelayOptions {
  /** A file, or nothing for an engine in memory. */
  readonly path?: string;
  /**
   * In place of an engine of its own: the log that it shares with others. It is closed with the
   * relay.
   */
  readonly cluster?: Pick<OpenCluster, "engine" | "cluster">;
  readonly certificate: { readonly cert: string; readonly key: string };
  readonly config?: Partial<CoreConfig>;
  /** 0 lets the system choose. */
  readonly ports?: { readonly quicPort: number; readonly grpcPort: number };
  /** Messages that all accounts may send together. */
  readonly granted?: number;
  readonly coverBudget?: CoverBudgetOptions;
  readonly onEvent?: (event: CoreEvent) => void;
  /** Web origins that may come; all unless told. */
  readonly allowsOrigin?: (origin: string) => boolean;
  readonly isBusy?: () => boolean;
  readonly problems?: RelayEdgeOptions["problems"];
  /** Hears of fill and cover that accounts are charged for. */
  readonly countBytes?: Quota["countBytes"];
  /** The relay's clock, if it is not the machine's. */
  readonly nowMs?: () => number;
  /** Formats of the file, if there are others than the program has. */
  readonly formats?: Pick<SqliteEngineOptions, "migrations" | "onMigrated">;
}

export interface TestRelay {
  readonly quicPort: number;
  readonly grpcPort: number;
  readonly edge: RelayEdge;
  readonly meter: Meter;
  stats(): CoreStats & Meter;
  close(): Promise<void>;
}

const hourMs = 60 * 60 * 1000;
const leaseId = "granted";

/** The token of an account, as these relays take it. */
export function grantedToken(account: string, expiresAtMs = Date.now() + hourMs): string {
  return `${account} ${expiresAtMs}`;
}

export async function openTestRelay(options: TestRelayOptions): Promise<TestRelay> {
  const {
    path = ":memory:",
    certificate,
    config,
    ports = { quicPort: 0, grpcPort: 0 },
    onEvent = logFault,
  } = options;
  const { nowMs = Date.now, formats } = options;
  const engine = options.cluster?.engine ?? await openSqliteEngine({ path, ...formats });
  const [held] = await engine.leases.list();
  const granted = held?.granted ?? options.granted ?? 1_000_000_000;
  const account = parseAccountId("00000000-0000-4000-8000-000000000000");
  const expiresAtMs = nowMs() + 1_000 * hourMs;
  if (held === undefined) {
    await engine.leases.open({ leaseId, fence: 1, account, granted, expiresAtMs });
  }
  const meter = createMeter();
  const origins: string[] = [];
  const deps = {
    engine,
    cluster: options.cluster?.cluster,
    tokens: { verify: (token: string) => Promise.resolve(readToken(token, nowMs())) },
    quota: createQuota(granted - (held?.consumed ?? 0), options.countBytes),
    nowMs,
    elapsedMs: () => performance.now(),
    after,
    randomBytes: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
    verifySignature: verifyEd25519,
    soon,
    loopLagMs: () => 0,
    log: onEvent,
    meter,
  };
  const coreConfig: CoreConfig = { ...defaultCoreConfig, origins, ...config };
  const core = createRelayCore(coreConfig, deps);
  const edge = await openRelayEdge({
    core,
    config: coreConfig,
    deps,
    listen: { hostname: "::", ...ports },
    certificate,
    coverBudget: options.coverBudget,
    allowsOrigin: options.allowsOrigin ?? (() => true),
    ...(options.isBusy && { isBusy: options.isBusy }),
    ...(options.problems && { problems: options.problems }),
    limits: { strangers: 2_000, handshakes: 500 },
    onFault: (error) => onEvent({ event: "fault", where: "edge", error }),
  });
  const { quicPort, grpcPort } = edge;
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    origins.push(`quic://${host}:${quicPort}`, `https://${host}:${quicPort}`);
    origins.push(`grpc://${host}:${grpcPort}`, `https://${host}:${grpcPort}`);
  }
  return {
    quicPort,
    grpcPort,
    edge,
    meter,
    stats: () => ({ ...core.stats(), ...meter }),
    close: async () => {
      await edge.drain();
      await edge.close();
      await engine.close();
    },
  };
}

function readToken(
  token: string,
  nowMs: number,
): VerifiedToken | { refused: string } {
  const [account = "", expiresAtMs = "0"] = token.split(" ");
  if (Number(expiresAtMs) <= nowMs) return { refused: "The token has expired" };
  return {
    account: parseAccountId(account),
    plan: "dev",
    issuedAtMs: nowMs,
    expiresAtMs: Number(expiresAtMs),
  };
}

function createQuota(granted: number, countBytes: Quota["countBytes"] = () => {}): Quota {
  let left = granted;
  return {
    reserve: (_account, cost) => {
      if (left < cost.messages) return { kind: "exhausted" };
      left -= cost.messages;
      return { kind: "reserved", charge: { leaseId, fence: 1, ...cost } };
    },
    settle: (_account, { messages }, appended) => {
      if (appended === false) left += messages;
    },
    countBytes,
  };
}

function logFault(event: CoreEvent): void {
  if (event.event === "fault") console.error(event.where, event.error);
}

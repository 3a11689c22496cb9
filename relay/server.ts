/**
 * The relay's edge in one piece: the QUIC port and the gRPC port around one core. Whoever starts it makes the core and says
 * where to listen; nothing here reads the environment or ends the process.
 */
import type { CoreConfig } from "./core/config.ts";
import type { CoreDeps, Link, RelaySession } from "./core/ports.ts";
import { type Certificate, defaultQuicLimits, listenQuic, type QuicLimits, type QuicStats } from "./listeners/quic.ts";
import type { SessionHost } from "./listeners/session_host.ts";

export interface RelayServerOptions {
  /** What `createRelayCore` answers. The server drains and closes it. */
  readonly core: {
    open(link: Link): RelaySession;
    drain(): Promise<void>;
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
  readonly certificate: Certificate;
  /** Whether scripts of this web origin may reach the relay (CORS, WebTransport). */
  readonly allowsOrigin: (origin: string) => boolean;
  readonly limits?: Partial<QuicLimits>;
  /** A fault of our own code, for the log; nothing that a peer does is one. */
  readonly onFault: (error: unknown) => void;
}

export interface RelayServer {
  readonly quicPort: number;
  readonly grpcPort: number;
  stats(): RelayServerStats;
  /** For handshakes from now on, on both ports; open connections stay. */
  setCertificate(certificate: Certificate): void;
  /** Refuses new connections and lets the core tell its sessions to go, spread over its drain time. */
  drain(): Promise<void>;
  /** Ends what is left, and the core. */
  close(): Promise<void>;
}

export interface RelayServerStats {
  readonly quic: QuicStats;
}

/** What an ending session gets to write its last cells. */
const flushMs = 2_000;

// deno-lint-ignore require-await
export async function startRelayServer(options: RelayServerOptions): Promise<RelayServer> {
  const host = createHost(options);
  const quic = listenQuic({
    host,
    hostname: options.listen.hostname,
    port: options.listen.quicPort,
    certificate: options.certificate,
    limits: { ...defaultQuicLimits, ...options.limits },
    allowsOrigin: options.allowsOrigin,
    onFault: options.onFault,
  });
  return {
    quicPort: quic.port,
    grpcPort: 0,
    stats: () => ({ quic: quic.stats() }),
    setCertificate: (certificate) => quic.setCertificate(certificate),
    drain: async () => {
      quic.refuse();
      await options.core.drain();
    },
    close: async () => {
      quic.close();
      await options.core.close();
    },
  };
}

function createHost({ core, config, deps }: RelayServerOptions): SessionHost {
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
  };
}

/** 48 random bits as a fraction. */
function unitInterval(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => (sum + byte) / 256, 0);
}

/**
 * Every limit of an HTTP/2 connection and of the server around it, in one place. A peer that goes
 * above one costs itself its stream or its connection, never the process. README.md says
 * how members and strangers are told apart.
 */
import type { Rate } from "../limits/mod.ts";

export interface Budgets {
  /** SETTINGS_MAX_CONCURRENT_STREAMS; more are refused, which clients retry. */
  readonly concurrentStreams: number;
  /**
   * Handlers of one connection that still run for streams open or already reset; more streams are
   * refused until some finish.
   */
  readonly unfinishedHandlers: number;
  /** SETTINGS_MAX_HEADER_LIST_SIZE; a larger list is answered with 431. */
  readonly headerListBytes: number;
  /**
   * Encoded bytes of one header block over all its CONTINUATION frames; above it the connection
   * ends.
   */
  readonly headerBlockBytes: number;
  /** Frames of one header block. */
  readonly headerBlockFrames: number;
  /** Streams that the peer resets, makes us reset, or opens above the limit: of one connection. */
  readonly resets: Rate;
  /**
   * The same of all connections of one address: those that the application vouched for, and all
   * others.
   */
  readonly memberResets: Rate;
  readonly strangerResets: Rate;
  /** The same of all strangers in a second; each address has an equal part. */
  readonly strangerResetsInAll: number;
  /** Calls of strangers, of one address; more are answered with 429. */
  readonly strangerCalls: Rate;
  /** Calls of all strangers in a second; each address has an equal part. */
  readonly strangerCallsInAll: number;
  /**
   * Calls of strangers under way, also of streams that are gone; when there are more, the address
   * with most gives one up.
   */
  readonly strangerHandlers: number;
  /**
   * Health checks, of one address; more are answered with 429. Calls of strangers leave them alone.
   */
  readonly checks: Rate;
  /** Health checks of all addresses in a second; each has an equal part. */
  readonly checksInAll: number;
  /** A stranger's call that takes longer is reset. */
  readonly strangerCallMs: number;
  /**
   * SETTINGS, PING, PRIORITY, WINDOW_UPDATE and unknown frames; every DATA frame in either
   * direction gives some back.
   */
  readonly controlFrames: Rate;
  /** The same of all connections of one address that nobody vouched for. */
  readonly strangerControlFrames: Rate;
  /** DATA without a byte and without the end of its stream. */
  readonly emptyFrames: Rate;
  /** SETTINGS_INITIAL_WINDOW_SIZE: what a stream may queue for a handler that does not read. */
  readonly streamWindowBytes: number;
  /** Bytes that all streams of a connection may queue together. */
  readonly connectionWindowBytes: number;
  /** Bytes waiting for a peer that does not read. */
  readonly queuedBytes: number;
  /**
   * TLS handshake, then preface and settings with their acknowledgement, then each header block:
   * each within this time.
   */
  readonly handshakeTimeoutMs: number;
  /** A connection without streams for this long is told to go away. */
  readonly idleTimeoutMs: number;
  /** Silence after which a PING asks whether the peer is still there. */
  readonly keepAliveIntervalMs: number;
  /** Further silence after which it is not. */
  readonly keepAliveTimeoutMs: number;
  /**
   * A response that can move no byte for this long, because the peer grants no window, is reset.
   */
  readonly stalledStreamMs: number;
  /** Time for streams to finish after a graceful shutdown has begun. */
  readonly drainTimeoutMs: number;
  /**
   * Sockets of balancers that have not said yet whose connection they carry, and how long each may
   * take.
   */
  readonly headerSockets: number;
  readonly headerMs: number;
  /** New sockets of one address; more are closed before TLS. */
  readonly socketsPerAddress: Rate;
  /**
   * TLS handshakes that begin, of all addresses. Sockets above it wait, and addresses take turns.
   */
  readonly handshakes: Rate;
  /**
   * Sockets that wait for their handshake; when there are more, the address with most gives one up.
   */
  readonly waitingSockets: number;
  /** How long sockets of an address are refused that went above a budget which ends connections. */
  readonly offenderMs: number;
  /**
   * Open sockets of one client address that no member's session carries, and of all addresses, with
   * those that are carried. When there are more in all, the address with most gives one up that is
   * not carried.
   */
  readonly connectionsPerAddress: number;
  readonly connections: number;
}

export const defaultBudgets: Budgets = {
  // 300 parallel calls of one agent fit.
  concurrentStreams: 512,
  unfinishedHandlers: 1_024,
  // Four times gRPC's default for metadata. HPACK bombs are decoded, and not kept.
  headerListBytes: 32_768,
  // Four times the list: metadata that is too large costs its call (431), not the connection.
  headerBlockBytes: 131_072,
  // Honest peers fill their CONTINUATION frames.
  headerBlockFrames: 16,
  // Cancelling 300 calls five times within a second is honest.
  resets: { burst: 1_500, perSecond: 150 },
  memberResets: { burst: 3_000, perSecond: 300 },
  strangerResets: { burst: 200, perSecond: 20 },
  strangerResetsInAll: 400,
  strangerCalls: { burst: 400, perSecond: 100 },
  strangerCallsInAll: 400,
  strangerHandlers: 1_024,
  checks: { burst: 40, perSecond: 10 },
  checksInAll: 200,
  strangerCallMs: 60_000,
  // Each DATA frame, either way, gives three back.
  controlFrames: { burst: 4_000, perSecond: 400 },
  strangerControlFrames: { burst: 8_000, perSecond: 800 },
  emptyFrames: { burst: 200, perSecond: 20 },
  streamWindowBytes: 262_144,
  connectionWindowBytes: 1_048_576,
  // Bodies stop at 64 KiB: only answers to the peer's own frames can reach this.
  queuedBytes: 1_048_576,
  handshakeTimeoutMs: 10_000,
  idleTimeoutMs: 300_000,
  keepAliveIntervalMs: 30_000,
  // Finds half-open peers, and readers that do not read.
  keepAliveTimeoutMs: 15_000,
  stalledStreamMs: 300_000,
  drainTimeoutMs: 30_000,
  headerSockets: 1_024,
  headerMs: 3_000,
  // A handshake costs about 2 ms.
  socketsPerAddress: { burst: 128, perSecond: 32 },
  handshakes: { burst: 50, perSecond: 200 },
  waitingSockets: 2_000,
  offenderMs: 10_000,
  connectionsPerAddress: 256,
  connections: 10_000,
};

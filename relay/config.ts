/**
 * Configuration from environment variables: every one is checked here, once, and all faults are
 * reported together, so that nobody fixes them one restart at a time. `docs/configuration.md`
 * has the list; a test compares it with the names that are read.
 */
import { type CoverBudgetOptions, limits, type RelayLimits } from "../proto/mod.ts";
import { type AddressRange, parseAddressRange } from "../server/limits/mod.ts";
import { type CoreConfig, defaultCoreConfig } from "./core/config.ts";
import {
  type AdminAddress,
  type CertificateFiles,
  isLoopback,
  ownNames,
  ownVariable,
  parseWebOrigin,
  readAdminAddress,
  readCertificateFiles,
  type ReadVariable,
  readVariables,
  Secret,
  type VariableReader,
} from "../server/mod.ts";

export interface RelayConfig {
  readonly dataDir: string;
  readonly host: string;
  readonly grpcPort: number;
  readonly quicPort: number;
  /** Undefined: no metrics. */
  readonly admin: AdminAddress | undefined;
  readonly apiUrl: string;
  /** Where the API serves relays: leases of quota. */
  readonly apiInternalUrl: string;
  /** Undefined: from the data directory, which the API of the same machine shares. */
  readonly relaySecret: Secret | undefined;
  /** Addresses that clients dial; undefined: the loopback names with this relay's ports. */
  readonly origins: readonly string[] | undefined;
  /** Origins of pages that may connect; undefined: a development machine, loopback origins. */
  readonly corsOrigins: readonly string[] | undefined;
  /** PEM files; undefined: a development certificate in the data directory. */
  readonly tls: CertificateFiles | undefined;
  readonly engine: "file" | "memory" | "jetstream";
  /** Undefined unless the engine is `jetstream`. */
  readonly cluster: ClusterConfig | undefined;
  /** Size limit of the relay's file; undefined: the size of its disk. */
  readonly diskBytes: number | undefined;
  /**
   * Limit of cover traffic for each account at this relay; undefined: as much as clients ask for.
   */
  readonly coverBudget: CoverBudgetOptions | undefined;
  /** Machines before the TCP port, which say whose connections theirs are (PROXY protocol). */
  readonly balancers: readonly AddressRange[];
  /**
   * TCP connections of one address at once, without those that carry sessions; undefined: as many
   * as the edge has for one.
   */
  readonly socketsPerAddress: number | undefined;
  /**
   * New TCP connections that one address may open in a second; a burst may be four times as many.
   */
  readonly newSocketsPerAddress: number;
  /**
   * Calls without a session that one address may make in a second; a burst may be four times as
   * many.
   */
  readonly callsPerAddress: number;
  /** Without origins, which are known when the ports are. */
  readonly core: Omit<CoreConfig, "origins">;
}

/** A log that several relays share, on NATS nodes. */
export interface ClusterConfig {
  /** Addresses of the nodes for clients of NATS. */
  readonly urls: readonly string[];
  /**
   * Every node is asked there for its version, and whether its acknowledgements wait for its disk.
   */
  readonly monitorUrls: readonly string[];
  readonly isTls: boolean;
  /** The content of a file with the relay's key for the nodes. */
  readonly credentials: Secret | undefined;
  /** PEM: the authority of the nodes' certificates. */
  readonly ca: string | undefined;
  /** All names at the nodes begin with this. */
  readonly prefix: string;
  /** Undefined: from the data directory. */
  readonly relayId: string | undefined;
  readonly replicas: number;
}

interface NumericVariable<Field> {
  readonly name: string;
  readonly field: Field;
  readonly min: number;
  readonly max: number;
  /** Seconds in the variable, milliseconds in the program. */
  readonly seconds?: true;
}

type NumericKeys<Config> = {
  [Key in keyof Config]-?: Config[Key] extends number ? Key : never;
}[keyof Config];

const coreLimits: readonly NumericVariable<NumericKeys<CoreConfig>>[] = [
  { name: "STATIC_RELAY_SESSIONS", field: "maxSessions", min: 1, max: 1_000_000 },
  {
    name: "STATIC_RELAY_SESSIONS_PER_ACCOUNT",
    field: "sessionsPerAccount",
    min: 1,
    max: 1_000_000,
  },
  {
    name: "STATIC_RELAY_ACCOUNT_BYTES",
    field: "storageBytesPerAccount",
    min: limits.envelopeBytes,
    max: Number.MAX_SAFE_INTEGER,
  },
  {
    name: "STATIC_RELAY_HANDSHAKE_BYTES",
    field: "handshakeBytesPerDay",
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
  },
  {
    name: "STATIC_RELAY_VISITOR_MESSAGES",
    field: "visitorMessagesPerDay",
    min: 1,
    max: 1_000_000_000,
  },
  { name: "STATIC_RELAY_ACCOUNT_WORK_MS", field: "accountWorkMs", min: 40, max: 1_000_000 },
  { name: "STATIC_RELAY_DRAIN_SECONDS", field: "drainMs", min: 0, max: 600, seconds: true },
];

const queueAge: NumericVariable<NumericKeys<RelayLimits>> = {
  name: "STATIC_RELAY_QUEUE_SECONDS",
  field: "queueAgeMs",
  min: 60,
  max: 365 * 86_400,
  seconds: true,
};

const { origins: _, ...coreDefaults } = defaultCoreConfig;

/** Throws `ConfigError`. */
export function readConfig(variable: ReadVariable, names: readonly string[] = []): RelayConfig {
  return readVariables({ what: "the relay", variable, names }, readAll);
}

function readAll(read: VariableReader): RelayConfig {
  const config: RelayConfig = {
    dataDir: read.text("STATIC_DATA_DIR", ".static"),
    // Both families on one socket: browsers take localhost to be ::1.
    host: read.text("STATIC_RELAY_HOST", "::"),
    grpcPort: read.port("STATIC_RELAY_GRPC_PORT", 5000),
    quicPort: read.port("STATIC_RELAY_QUIC_PORT", 4433),
    admin: readAdminAddress(read, 9465),
    ...readApi(read),
    origins: read.list(
      "STATIC_RELAY_ORIGINS",
      parseRelayOrigin,
      "like quic://relay.example.com:4433, with its port",
    ),
    corsOrigins: read.list(
      "STATIC_CORS_ORIGINS",
      parseWebOrigin,
      "an origin such as https://app.example.com",
    ),
    tls: readCertificateFiles(read),
    engine: read.choice("STATIC_RELAY_ENGINE", ["file", "memory", "jetstream"]),
    cluster: read.given("STATIC_RELAY_ENGINE") === "jetstream" ? readCluster(read) : undefined,
    diskBytes:
      read.integer("STATIC_RELAY_DISK_BYTES", 0, { min: 0, max: Number.MAX_SAFE_INTEGER }) ||
      undefined,
    coverBudget: readCoverBudget(read),
    balancers: read.list(
      "STATIC_RELAY_BALANCERS",
      parseAddressRange,
      "an address or a range such as 10.0.0.0/8",
    ) ?? [],
    socketsPerAddress:
      read.integer("STATIC_RELAY_SOCKETS_PER_ADDRESS", 0, { min: 1, max: 1_000_000 }) || undefined,
    newSocketsPerAddress: read.integer("STATIC_RELAY_NEW_SOCKETS_PER_ADDRESS", 32, {
      min: 1,
      max: 1_000_000,
    }),
    callsPerAddress: read.integer("STATIC_RELAY_CALLS_PER_ADDRESS", 100, {
      min: 1,
      max: 1_000_000,
    }),
    core: readCore(read),
  };
  if (config.tls !== undefined && read.given("STATIC_RELAY_ORIGINS") === undefined) {
    read.fault(
      "STATIC_RELAY_ORIGINS",
      "given with STATIC_TLS_CERT: the addresses that clients dial, which they sign",
    );
  }
  return config;
}

function readCluster(read: VariableReader): ClusterConfig {
  const urls =
    read.list("STATIC_NATS_URLS", parseNode, "an address such as tls://nats-1.example.com:4222") ??
      [];
  const monitorUrls =
    read.list("STATIC_NATS_MONITOR_URLS", parseMonitor, "like https://nats-1.example.com:8222") ??
      [];
  if (urls.length === 0) {
    read.fault("STATIC_NATS_URLS", "the NATS nodes that keep the log, with commas");
  }
  if (monitorUrls.length === 0) {
    read.fault(
      "STATIC_NATS_MONITOR_URLS",
      "where each node tells of itself: only there it can be seen what it promises",
    );
  }
  const isTls = urls.length > 0 && urls.every((url) => url.startsWith("tls:"));
  if (!isTls && !urls.every((url) => isLoopback(new URL(url).hostname))) {
    read.fault("STATIC_NATS_URLS", "tls:// for every node, unless all of them are on this machine");
  }
  if (!monitorUrls.every((url) => url.startsWith("https:") || isLoopback(new URL(url).hostname))) {
    read.fault("STATIC_NATS_MONITOR_URLS", "https:// for every node that is not on this machine");
  }
  const credentials = read.file("STATIC_NATS_CREDENTIALS");
  return {
    urls,
    monitorUrls,
    isTls,
    credentials: credentials === undefined ? undefined : new Secret(credentials),
    ca: read.file("STATIC_NATS_CA"),
    prefix: readName(read, "STATIC_RELAY_CLUSTER") ?? "static",
    relayId: readName(read, "STATIC_RELAY_ID"),
    replicas: read.integer("STATIC_RELAY_LOG_REPLICAS", 3, { min: 1, max: 5 }),
  };
}

function parseNode(text: string): string | undefined {
  return /^(nats|tls):\/\/([\w.-]+|\[[\da-fA-F:.]+\]):\d{1,5}$/.test(text) && URL.canParse(text)
    ? text
    : undefined;
}

function parseMonitor(text: string): string | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) &&
      [url.origin, `${url.origin}/`].includes(text)
    ? url.origin
    : undefined;
}

/** A part of names at the nodes, where dots and stars have a meaning. */
function readName(read: VariableReader, name: string): string | undefined {
  const text = read.given(name);
  if (text !== undefined && !/^[\w-]{1,64}$/.test(text)) {
    read.fault(name, "1 to 64 letters, digits, - or _");
  }
  return text;
}

/** The process's own environment. */
export function configFromEnvironment(): RelayConfig {
  return readConfig(ownVariable, ownNames());
}

function readApi(
  read: VariableReader,
): Pick<RelayConfig, "apiUrl" | "apiInternalUrl" | "relaySecret"> {
  const text = read.text(
    "STATIC_API_URL",
    `http://127.0.0.1:${read.port("STATIC_API_PORT", 8080)}`,
  );
  const relaySecret = read.secret("STATIC_RELAY_SECRET", 32);
  const url = readOrigin(read, "STATIC_API_URL", text);
  const internal = read.given("STATIC_API_INTERNAL_URL");
  const internalUrl = internal === undefined
    ? undefined
    : readOrigin(read, "STATIC_API_INTERNAL_URL", internal);
  if (url === undefined) return { apiUrl: text, apiInternalUrl: text, relaySecret };
  if (!isLoopback(url.hostname) && read.given("STATIC_RELAY_SECRET") === undefined) {
    read.fault("STATIC_RELAY_SECRET", "the API's, which is on another machine");
  }
  const beside = `${url.protocol}//${url.hostname}:${read.port("STATIC_INTERNAL_PORT", 9466)}`;
  return { apiUrl: url.origin, apiInternalUrl: internalUrl?.origin ?? beside, relaySecret };
}

/** An address without a path, and with TLS unless nobody else can read what passes. */
function readOrigin(read: VariableReader, name: string, text: string): URL | undefined {
  const url = URL.parse(text);
  if (
    url === null || !/^https?:$/.test(url.protocol) ||
    ![url.origin, `${url.origin}/`].includes(text)
  ) {
    read.fault(name, "an address such as https://api.example.com, without a path");
    return undefined;
  }
  if (
    !isLoopback(url.hostname) && url.protocol === "http:" && !read.flag("STATIC_TLS_TERMINATED")
  ) {
    read.fault(name, "https, or on a network that only you can read, STATIC_TLS_TERMINATED true");
  }
  return url;
}

/** With fewer places, the shares of accounts and of newcomers are smaller too. */
function readCore(read: VariableReader): RelayConfig["core"] {
  const sessions = Number(read.given("STATIC_RELAY_SESSIONS") ?? defaultCoreConfig.maxSessions);
  const sessionsPerAccount = Math.max(1, Math.ceil(sessions / 4) || 1);
  const core = {
    ...coreDefaults,
    ...readLimits(read, coreLimits, { ...defaultCoreConfig, sessionsPerAccount }),
  };
  return {
    ...core,
    maxUnauthenticated: Math.ceil(core.maxSessions / 10),
    accountWorkMsPerSecond: core.accountWorkMs / 40,
    limits: { ...core.limits, ...readLimits(read, [queueAge], core.limits) },
  };
}

/** `1000000/month`. */
function readCoverBudget(read: VariableReader): CoverBudgetOptions | undefined {
  const parse = (text: string): CoverBudgetOptions | undefined => {
    const [, bytes, period] = /^([1-9]\d{0,15})\/(day|month)$/.exec(text) ?? [];
    return bytes === undefined
      ? undefined
      : { bytes: Number(bytes), period: period === "day" ? "day" : "month" };
  };
  const expected = "<bytes>/day or <bytes>/month, for example 1000000000/month";
  return read.parsed<CoverBudgetOptions | undefined>("STATIC_RELAY_COVER_BYTES", undefined, {
    parse,
    expected,
  });
}

function readLimits<Field extends string>(
  read: VariableReader,
  table: readonly NumericVariable<Field>[],
  defaults: Readonly<Record<Field, number>>,
): Partial<Record<Field, number>> {
  const values: Partial<Record<Field, number>> = {};
  for (const { name, field, min, max, seconds } of table) {
    const unit = seconds === true ? 1000 : 1;
    values[field] = unit * read.integer(name, defaults[field] / unit, { min, max });
  }
  return values;
}

function parseRelayOrigin(text: string): string | undefined {
  return /^(quic|https|grpc):\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\]):\d{1,5}$/.test(text)
    ? text
    : undefined;
}

/**
 * Configuration from environment variables: every one is checked here, once, and all faults are
 * reported together, so that nobody fixes them one restart at a time.
 */
import { type ApiKeyEnvironment, isDomain, maxRelayAddresses, parseApiUrl } from "../proto/mod.ts";
import {
  type AdminAddress,
  type CertificateFiles,
  isLoopback,
  isPair,
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
import { type AddressRange, parseAddressRange } from "../server/limits/mod.ts";
import type { ForwardingHeader } from "./client_address.ts";
import type { RateLimit } from "./domain/rate_limit.ts";
import type { Argon2Profile } from "./hashing/argon2.ts";
import type { DatabaseAddress, TlsMode } from "./store/mod.ts";
import { readProfile, readRate } from "./variables.ts";

export interface Config {
  readonly dataDir: string;
  readonly environment: ApiKeyEnvironment;
  readonly listen: { readonly host: string; readonly port: number };
  /** The address for relays. */
  readonly internal: { readonly host: string; readonly port: number };
  /** Undefined: no metrics. */
  readonly admin: AdminAddress | undefined;
  readonly tls: CertificateFiles | undefined;
  /** An edge in front of this process ends TLS. */
  readonly tlsTerminated: boolean;
  /** Undefined: the embedded database in the data directory. */
  readonly database: (DatabaseAddress & { readonly kind: "url" }) | undefined;
  readonly databaseConnections: number;
  /**
   * A private JWK set as JSON, or the path of a file that holds one. Undefined: made in the data
   * directory.
   */
  readonly jwtKeys: { readonly file: string } | { readonly json: Secret } | undefined;
  readonly relaySecret: Secret | undefined;
  readonly adminSecret: Secret | undefined;
  /** The name that badges of this service carry. Undefined: it issues none. */
  readonly badgeDomain: string | undefined;
  /** Whether this process serves the console. */
  readonly console: boolean;
  readonly trustedProxies: readonly AddressRange[];
  /** The one header in which they tell the client's address. */
  readonly trustedHeader: ForwardingHeader;
  /** Undefined: a development machine, loopback origins. */
  readonly corsOrigins: readonly string[] | undefined;
  readonly hashing: {
    readonly passwords: Argon2Profile;
    readonly keys: Argon2Profile;
    readonly workers: number;
    readonly queueLimit: number;
  };
  readonly rateLimits: Readonly<
    Record<"signUp" | "failures" | "account" | "changes" | "passwords" | "mail", RateLimit>
  >;
  readonly mail: {
    /** Undefined: each message becomes a file in the data directory. */
    readonly server: Secret | undefined;
    readonly from: string;
  };
  /** The plan of new accounts. */
  readonly defaultPlan: string;
  /** Addresses that clients are told. */
  readonly relayUrls: readonly string[];
  /** Authority of the relay's certificate, where that is not a public one. */
  readonly caFile: string | undefined;
  /** Fewer where the process may not open as many files. */
  readonly maxConnections: number;
  readonly keyMemory: number;
  readonly maxActiveKeys: number;
  readonly maxGuests: number;
}

/** Reads files that variables name (certificates). Throws `ConfigError`. */
export function readConfig(variable: ReadVariable, names: readonly string[] = []): Config {
  return readVariables({ what: "the API", variable, names }, readAll);
}

function readAll(read: VariableReader): Config {
  const host = read.text("STATIC_API_HOST", "127.0.0.1");
  const tls = readTls(read);
  const tlsTerminated = read.flag("STATIC_TLS_TERMINATED");
  const internalHost = read.text("STATIC_INTERNAL_HOST", "127.0.0.1");
  for (
    const [name, each] of [["STATIC_API_HOST", host], [
      "STATIC_INTERNAL_HOST",
      internalHost,
    ]] as const
  ) {
    if (tls !== undefined || isLoopback(each) || tlsTerminated) continue;
    read.fault(
      name,
      "an address that only this machine can reach, such as 127.0.0.1, without TLS. Set STATIC_TLS_CERT and STATIC_TLS_KEY, " +
        "or, behind an edge that terminates TLS, STATIC_TLS_TERMINATED=true",
    );
  }
  return {
    dataDir: read.text("STATIC_DATA_DIR", ".static"),
    environment: read.choice("STATIC_ENVIRONMENT", ["live", "test"]),
    listen: { host, port: read.port("STATIC_API_PORT", 8080) },
    internal: { host: internalHost, port: read.port("STATIC_INTERNAL_PORT", 9466) },
    admin: readAdminAddress(read, 9464),
    tls,
    tlsTerminated,
    database: readDatabase(read),
    databaseConnections: read.integer("STATIC_DATABASE_CONNECTIONS", 10, { min: 1, max: 1000 }),
    jwtKeys: readJwtKeys(read),
    relaySecret: read.secret("STATIC_RELAY_SECRET", 32),
    adminSecret: read.secret("STATIC_ADMIN_SECRET", 32),
    badgeDomain: readBadgeDomain(read, isDevelopment({ host, tlsTerminated })),
    console: read.choice("STATIC_CONSOLE", ["on", "off"]) === "on",
    trustedProxies: read.list(
      "STATIC_TRUSTED_PROXIES",
      parseAddressRange,
      "an address or a range such as 10.0.0.0/8",
    ) ?? [],
    trustedHeader: read.choice("STATIC_TRUSTED_HEADER", ["X-Forwarded-For", "Forwarded"]),
    corsOrigins: read.list(
      "STATIC_CORS_ORIGINS",
      parseWebOrigin,
      "an origin such as https://app.example.com",
    ),
    hashing: {
      passwords: readProfile(read, "STATIC_PASSWORD_ARGON2", {
        memoryKiB: 19456,
        iterations: 2,
        parallelism: 1,
      }),
      keys: { memoryKiB: 4096, iterations: 1, parallelism: 1 },
      workers: read.integer("STATIC_HASH_WORKERS", Math.max(1, navigator.hardwareConcurrency - 1), {
        min: 1,
        max: 64,
      }),
      queueLimit: 64,
    },
    rateLimits: readRates(read),
    mail: readMail(read),
    relayUrls: readRelayUrls(read, isDevelopment({ host, tlsTerminated })),
    // Not read here: a relay that is started after the API may have to make it first.
    caFile: read.given("STATIC_CA_FILE"),
    defaultPlan: read.choice("STATIC_DEFAULT_PLAN", ["free", "dev", "team", "enterprise"]),
    maxConnections: read.integer("STATIC_API_CONNECTIONS", 10_000, { min: 16, max: 1_000_000 }),
    keyMemory: read.integer("STATIC_KEY_MEMORY", 100_000, { min: 0, max: 10_000_000 }),
    maxActiveKeys: read.integer("STATIC_MAX_KEYS", 100, { min: 1, max: 10_000 }),
    maxGuests: 1000,
  };
}

/**
 * Reads the rates. An account has as many changes in an hour as it has requests in a shorter time.
 */
function readRates(read: VariableReader): Config["rateLimits"] {
  const hourMs = 3_600_000;
  const account = readRate(read, "STATIC_RATE_ACCOUNT", { limit: 1200, windowMs: 60_000 });
  return {
    signUp: readRate(read, "STATIC_RATE_SIGN_UP", { limit: 20, windowMs: hourMs }),
    failures: readRate(read, "STATIC_RATE_FAILURES", { limit: 30, windowMs: 60_000 }),
    account,
    changes: { limit: account.limit, windowMs: Math.max(hourMs, account.windowMs) },
    passwords: readRate(read, "STATIC_RATE_PASSWORDS", { limit: 10, windowMs: 60_000 }),
    mail: readRate(read, "STATIC_RATE_MAIL", { limit: 5, windowMs: hourMs }),
  };
}

/** The process's own environment. */
export function configFromEnvironment(): Config {
  return readConfig(ownVariable, ownNames());
}

/** Whether people who use this service wait for mail that only its operator can read. */
export function hasNoMailServer({ mail, tlsTerminated, listen: { host } }: Config): boolean {
  return mail.server === undefined && !isDevelopment({ host, tlsTerminated });
}

/** Settings that are allowed and probably not meant, for the log. */
export function warningsOf(config: Config): readonly string[] {
  const { tls, tlsTerminated, trustedProxies, badgeDomain } = config;
  const isEdgeUnknown = tls === undefined && tlsTerminated && trustedProxies.length === 0;
  return [
    ...(isEdgeUnknown
      ? [
        "STATIC_TLS_TERMINATED is set and STATIC_TRUSTED_PROXIES is not: every client has the edge's address, so a few failed " +
        "attempts of one lock out all others. Set STATIC_TRUSTED_PROXIES to the edge's addresses",
      ]
      : []),
    ...(badgeDomain === undefined
      ? [
        "STATIC_API_URL is not set, so this API does not know the name that badges carry, and agents get none. Set it to " +
        "the address that clients use",
      ]
      : []),
    ...(hasNoMailServer(config)
      ? [
        "STATIC_SMTP_URL is not set, so mail becomes files in the data directory: nobody can verify an address or reset a " +
        "password. Set it to your mail server",
      ]
      : []),
  ];
}

/**
 * The configuration in force, for the log: secrets hide themselves, long values are told in brief.
 */
export function describeConfig(config: Config): Readonly<Record<string, unknown>> {
  const { tls, database, trustedProxies } = config;
  return {
    ...config,
    tls: tls !== undefined,
    database: database === undefined
      ? "embedded"
      : { tls: database.tls, ca: database.ca !== undefined },
    trustedProxies: trustedProxies.length,
  };
}

function readTls(read: VariableReader): Config["tls"] {
  const files = readCertificateFiles(read);
  const [cert, key] = [read.file("STATIC_TLS_CERT"), read.file("STATIC_TLS_KEY")];
  if (files === undefined || cert === undefined || key === undefined) return undefined;
  if (!isPair({ cert, key })) {
    read.fault(
      "STATIC_TLS_CERT and STATIC_TLS_KEY",
      "the PEM files of a certificate and of its private key",
    );
  }
  return files;
}

function readDatabase(read: VariableReader): Config["database"] {
  const text = read.secretText("DATABASE_URL");
  const ca = read.file("STATIC_DATABASE_CA");
  if (text === undefined) return undefined;
  const url = URL.parse(text);
  if (url === null || !["postgres:", "postgresql:"].includes(url.protocol) || !isDecodable(url)) {
    read.fault(
      "DATABASE_URL",
      "postgres://user:password@host:port/database?sslmode=…, with %25 for a % in any part of it",
    );
    return undefined;
  }
  const modes: readonly TlsMode[] = ["disable", "require", "verify-full"];
  const local = isLoopback(url.hostname) || (url.searchParams.get("host") ?? "").startsWith("/");
  const given = url.searchParams.get("sslmode") ?? (local ? "disable" : undefined);
  const tls = modes.find((mode) => mode === given);
  if (tls === undefined) {
    read.fault(
      "DATABASE_URL",
      `given with sslmode=${
        modes.join(" or sslmode=")
      }, because the database is on another machine`,
    );
    return undefined;
  }
  return { kind: "url", url: new Secret(text), tls, ca };
}

/**
 * Where nothing is said, the relay of this machine is meant, unless its ports are the system's
 * choice.
 */
/** Behind an edge that ends TLS, loopback is how a public service listens. */
export function isDevelopment(
  { host, tlsTerminated }: { host: string; tlsTerminated: boolean },
): boolean {
  return isLoopback(host) && !tlsTerminated;
}

function readRelayUrls(read: VariableReader, isLocal: boolean): readonly string[] {
  const given = read.list(
    "STATIC_RELAY_URL",
    parseRelayUrl,
    "an address such as quic://relay.example:4433",
  );
  const [quic, grpc] = [
    read.port("STATIC_RELAY_QUIC_PORT", 4433),
    read.port("STATIC_RELAY_GRPC_PORT", 5000),
  ];
  if ((given?.length ?? 0) > maxRelayAddresses) {
    read.fault("STATIC_RELAY_URL", `at most ${maxRelayAddresses} addresses`);
  }
  if (given !== undefined || !isLocal) return given ?? [];
  return [
    ...(quic === 0 ? [] : [`quic://localhost:${quic}`]),
    ...(grpc === 0 ? [] : [`https://localhost:${grpc}`]),
  ];
}

/**
 * An installation without a domain of its own. Nobody can own this name (RFC 6761), so nobody can
 * be believed by it without a look at the key.
 */
const namelessDomain = "static.localhost";
/** A longer one leaves no room in a badge. */
const maxBadgeDomain = 200;

/**
 * The host of this API as its clients know it. On a development machine the variable is another
 * API's, which its user works with.
 */
function readBadgeDomain(read: VariableReader, isLocal: boolean): string | undefined {
  const text = isLocal ? undefined : read.given("STATIC_API_URL");
  if (text === undefined) return isLocal ? namelessDomain : undefined;
  const url = parseApiUrl(text);
  if (url === undefined) {
    read.fault("STATIC_API_URL", "the public address of this API, such as https://api.example.com");
    return undefined;
  }
  const { hostname } = new URL(url);
  return isDomain(hostname) && hostname.length <= maxBadgeDomain ? hostname : namelessDomain;
}

function parseRelayUrl(text: string): string | undefined {
  return /^(quic|grpc|https):\/\/([\w.-]+|\[[\da-fA-F:.]+\])(:\d{1,5})?\/?$/.test(text)
    ? text.replace(/\/$/, "")
    : undefined;
}

function readMail(read: VariableReader): Config["mail"] {
  const server = read.secret("STATIC_SMTP_URL", 1);
  const url = server === undefined ? undefined : URL.parse(server.reveal());
  if (
    url === null ||
    (url !== undefined &&
      (!/^smtps?:$/.test(url.protocol) || url.hostname === "" || !isDecodable(url)))
  ) {
    read.fault(
      "STATIC_SMTP_URL",
      "smtps://user:password@host:465 or smtp://user:password@host:587",
    );
  }
  const from = url?.searchParams.get("from") ?? "static@localhost";
  if (!/^[^\s@<>,]+@[^\s@<>,]+$/.test(from)) {
    read.fault("STATIC_SMTP_URL", "given with ?from= and an e-mail address, or without it");
  }
  return { server, from };
}

/**
 * Keys that are put wrongly (without `{"keys":`, in quotes) must not be taken for a path: paths are
 * shown.
 */
function readJwtKeys(read: VariableReader): Config["jwtKeys"] {
  const text = read.given("STATIC_JWT_KEYS");
  if (text === undefined) return undefined;
  if (/[{["]/.test(text)) return { json: new Secret(text) };
  return read.file("STATIC_JWT_KEYS") === undefined ? undefined : { file: text };
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    for (const part of [username, password, pathname]) decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/**
 * Names of all environment variables of Static, of every part, so that each part refuses one that
 * none knows: a name that is misspelt would leave the default in force without a word. Each part
 * reads its own, and its page says what they mean; a test compares.
 */
import { byNearness } from "./nearest.ts";

export const variableNames: readonly string[] = [
  // API, relay, proxy and `deno task start`.
  "STATIC_ADMIN_HOST",
  "STATIC_ADMIN_NAMES",
  "STATIC_ADMIN_PORT",
  "STATIC_ADMIN_SECRET",
  "STATIC_API_CONNECTIONS",
  "STATIC_API_HOST",
  "STATIC_API_INTERNAL_URL",
  "STATIC_API_PORT",
  "STATIC_CONSOLE",
  "STATIC_CORS_ORIGINS",
  "STATIC_DATABASE_CA",
  "STATIC_DATABASE_CONNECTIONS",
  "STATIC_DEFAULT_PLAN",
  "STATIC_ENVIRONMENT",
  "STATIC_HASH_WORKERS",
  "STATIC_INTERNAL_HOST",
  "STATIC_INTERNAL_PORT",
  "STATIC_JWT_KEYS",
  "STATIC_KEY_MEMORY",
  "STATIC_MAX_KEYS",
  "STATIC_NATS_CA",
  "STATIC_NATS_CREDENTIALS",
  "STATIC_NATS_MONITOR_URLS",
  "STATIC_NATS_PORT",
  "STATIC_NATS_SERVER",
  "STATIC_NATS_URLS",
  "STATIC_PASSWORD_ARGON2",
  "STATIC_RATE_ACCOUNT",
  "STATIC_RATE_FAILURES",
  "STATIC_RATE_MAIL",
  "STATIC_RATE_PASSWORDS",
  "STATIC_RATE_SIGN_UP",
  "STATIC_RELAY_ACCOUNT_BYTES",
  "STATIC_RELAY_ACCOUNT_WORK_MS",
  "STATIC_RELAY_BALANCERS",
  "STATIC_RELAY_CALLS_PER_ADDRESS",
  "STATIC_RELAY_CLUSTER",
  "STATIC_RELAY_COVER_BYTES",
  "STATIC_RELAY_DISK_BYTES",
  "STATIC_RELAY_DRAIN_SECONDS",
  "STATIC_RELAY_ENGINE",
  "STATIC_RELAY_GRPC_PORT",
  "STATIC_RELAY_HANDSHAKE_BYTES",
  "STATIC_RELAY_HOST",
  "STATIC_RELAY_ID",
  "STATIC_RELAY_LOG_REPLICAS",
  "STATIC_RELAY_NEW_SOCKETS_PER_ADDRESS",
  "STATIC_RELAY_ORIGINS",
  "STATIC_RELAY_QUEUE_SECONDS",
  "STATIC_RELAY_QUIC_PORT",
  "STATIC_RELAY_SECRET",
  "STATIC_RELAY_SESSIONS",
  "STATIC_RELAY_SESSIONS_PER_ACCOUNT",
  "STATIC_RELAY_SOCKETS_PER_ADDRESS",
  "STATIC_RELAY_VISITOR_MESSAGES",
  "STATIC_SMTP_URL",
  "STATIC_TLS_CERT",
  "STATIC_TLS_KEY",
  "STATIC_TLS_TERMINATED",
  "STATIC_TRUSTED_HEADER",
  "STATIC_TRUSTED_PROXIES",
  // Clients; some of them servers read too.
  "STATIC_AGENT",
  "STATIC_API_KEY",
  "STATIC_API_URL",
  "STATIC_CA_FILE",
  "STATIC_DATA_DIR",
  "STATIC_DEBUG",
  "STATIC_HOST",
  "STATIC_PASSPHRASE",
  "STATIC_PROGRAM",
  "STATIC_RELAY_URL",
  "STATIC_RUNTIME",
  // Told to the command of `channel on-message`.
  "STATIC_ATTEMPT",
  "STATIC_CHANNEL",
  "STATIC_CONTENT_TYPE",
  "STATIC_CONVERSATION",
  "STATIC_MESSAGE_ID",
  "STATIC_REPLY_TO",
  "STATIC_SENDER",
  "STATIC_SENDER_IDENTITY",
  "STATIC_SENDER_KNOWN_AS",
  "STATIC_TIME",
  // Tests, benchmarks and tools.
  "STATIC_BENCH_RESULTS",
  "STATIC_CAMPAIGN_FILE",
  "STATIC_STRESS",
  "STATIC_TEST_PAGES",
  "STATIC_TEST_RUN",
  "STATIC_TEST_SEED",
  "STATIC_TEST_SERVICE",
  "STATIC_VECTORS",
];

/** Kubernetes tells each container of every Service by such names, unless it is told not to. */
const serviceLink = /_(?:SERVICE_(?:HOST|PORT)|PORT_\d+_(?:TCP|UDP))(?:_\w+)?$|_PORT$/;

/**
 * A sentence for each of these names that begins with `STATIC_` and that no part knows. Values are
 * not asked for.
 */
export function faultsOfNames(given: Iterable<string>): readonly string[] {
  const unknown = Array.from(given).filter((name) =>
    name.startsWith("STATIC_") && !variableNames.includes(name)
  );
  return unknown.sort().map((name) => {
    const advice = serviceLink.test(name)
      ? "If Kubernetes set it for a Service, give the pod enableServiceLinks: false"
      : "Correct the name, or unset it";
    return `${name} is not a variable of Static. The nearest is ${
      byNearness(name, variableNames)[0]?.word
    }. ${advice}`;
  });
}

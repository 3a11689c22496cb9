import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { defaultCoreConfig } from "./core/config.ts";
import { ConfigError } from "../server/mod.ts";
import { readConfig, type RelayConfig } from "./config.ts";

function configOf(variables: Readonly<Record<string, string>>): RelayConfig {
  return readConfig((name) => variables[name]);
}

function faultsOf(variables: Readonly<Record<string, string>>): readonly string[] {
  return assertThrows(() => configOf(variables), ConfigError).faults;
}

Deno.test("without any variable the relay is one for this machine", () => {
  const { core, ...config } = configOf({});
  assertEquals({ origins: [], ...core }, defaultCoreConfig);
  assertEquals(config, {
    dataDir: ".static",
    host: "::",
    grpcPort: 5000,
    quicPort: 4433,
    admin: { host: "127.0.0.1", port: 9465, names: [] },
    apiUrl: "http://127.0.0.1:8080",
    apiInternalUrl: "http://127.0.0.1:9466",
    relaySecret: undefined,
    origins: undefined,
    corsOrigins: undefined,
    coverBudget: undefined,
    balancers: [],
    socketsPerAddress: undefined,
    newSocketsPerAddress: 32,
    callsPerAddress: 100,
    tls: undefined,
    engine: "file",
    cluster: undefined,
    diskBytes: undefined,
  });
});

Deno.test("every variable arrives", () => {
  const config = configOf({
    STATIC_DATA_DIR: "/var/lib/static",
    STATIC_RELAY_HOST: "0.0.0.0",
    STATIC_RELAY_GRPC_PORT: "443",
    STATIC_RELAY_QUIC_PORT: "443",
    STATIC_ADMIN_PORT: "off",
    STATIC_API_URL: "https://api.example.com/",
    STATIC_RELAY_SECRET: "s".repeat(32),
    STATIC_RELAY_ORIGINS: "quic://relay.example.com:443, https://relay.example.com:443",
    STATIC_CORS_ORIGINS: "https://app.example.com",
    STATIC_TLS_CERT: "/etc/relay.pem",
    STATIC_TLS_KEY: "/etc/relay.key",
    STATIC_RELAY_ENGINE: "memory",
    STATIC_RELAY_COVER_BYTES: "1000000/month",
    STATIC_RELAY_SESSIONS: "400",
    STATIC_RELAY_ACCOUNT_WORK_MS: "2000",
    STATIC_RELAY_DRAIN_SECONDS: "20",
    STATIC_RELAY_QUEUE_SECONDS: "3600",
  });
  assertEquals(config.apiUrl, "https://api.example.com");
  assertEquals(config.relaySecret?.reveal(), "s".repeat(32));
  assertEquals(config.origins, ["quic://relay.example.com:443", "https://relay.example.com:443"]);
  assertEquals([config.admin, config.engine, config.host], [undefined, "memory", "0.0.0.0"]);
  assertEquals(config.coverBudget, { bytes: 1_000_000, period: "month" });
  assertEquals(config.tls, { certFile: "/etc/relay.pem", keyFile: "/etc/relay.key" });
  const { drainMs, limits: { queueAgeMs } } = config.core;
  assertEquals([drainMs, queueAgeMs], [20_000, 3_600_000]);
  const {
    maxSessions,
    sessionsPerAccount,
    maxUnauthenticated,
    accountWorkMs,
    accountWorkMsPerSecond,
  } = config.core;
  assertEquals([maxSessions, sessionsPerAccount, maxUnauthenticated], [400, 100, 40]);
  assertEquals([accountWorkMs, accountWorkMsPerSecond], [2_000, 50]);
});

Deno.test("a shared log: nodes, their keys, and names; every variable arrives, and the key is not shown", async () => {
  const file = await Deno.makeTempFile({ prefix: "static-nats-" });
  await Deno.writeTextFile(file, "canary");
  const { engine, cluster } = configOf({
    STATIC_RELAY_ENGINE: "jetstream",
    STATIC_NATS_URLS: "tls://a.example.com:4222, tls://b.example.com:4222",
    STATIC_NATS_MONITOR_URLS: "https://a.example.com:8222/,https://10.0.0.2:8222",
    STATIC_NATS_CREDENTIALS: file,
    STATIC_NATS_CA: file,
    STATIC_RELAY_CLUSTER: "blue",
    STATIC_RELAY_ID: "relay-7",
    STATIC_RELAY_LOG_REPLICAS: "5",
  });
  const { credentials, ...rest } = cluster ?? {};
  assertEquals([engine, credentials?.reveal(), String(credentials).includes("canary")], [
    "jetstream",
    "canary",
    false,
  ]);
  assertEquals(rest, {
    urls: ["tls://a.example.com:4222", "tls://b.example.com:4222"],
    monitorUrls: ["https://a.example.com:8222", "https://10.0.0.2:8222"],
    isTls: true,
    ca: "canary",
    prefix: "blue",
    relayId: "relay-7",
    replicas: 5,
  });
  await Deno.remove(file);
});

Deno.test("a shared log on nodes that cannot be trusted with it is refused at the start", () => {
  const local = {
    STATIC_RELAY_ENGINE: "jetstream",
    STATIC_NATS_URLS: "nats://127.0.0.1:4222",
    STATIC_NATS_MONITOR_URLS: "http://127.0.0.1:8222",
  };
  assertEquals([configOf(local).cluster?.isTls, configOf(local).cluster?.prefix], [
    false,
    "static",
  ]);
  const refused: [Record<string, string>, string][] = [
    [{ STATIC_NATS_URLS: "" }, "STATIC_NATS_URLS must be the NATS nodes"],
    [
      { STATIC_NATS_URLS: "nats://10.0.0.1:4222" },
      "STATIC_NATS_URLS must be tls:// for every node",
    ],
    [
      { STATIC_NATS_URLS: "tls://a:1,nats://b:1" },
      "STATIC_NATS_URLS must be tls:// for every node",
    ],
    [{ STATIC_NATS_URLS: "nats://user:canary@127.0.0.1:4222" }, "STATIC_NATS_URLS must be a list"],
    [
      { STATIC_NATS_MONITOR_URLS: "http://10.0.0.1:8222" },
      "STATIC_NATS_MONITOR_URLS must be https:// for every node",
    ],
    [{ STATIC_NATS_MONITOR_URLS: "" }, "STATIC_NATS_MONITOR_URLS must be where each node tells"],
    [{ STATIC_RELAY_ID: "a.b" }, "STATIC_RELAY_ID must be 1 to 64 letters"],
    [{ STATIC_RELAY_CLUSTER: "*" }, "STATIC_RELAY_CLUSTER must be 1 to 64 letters"],
    [{ STATIC_RELAY_LOG_REPLICAS: "0" }, "STATIC_RELAY_LOG_REPLICAS must be"],
  ];
  for (const [variables, text] of refused) {
    const faults = faultsOf({ ...local, ...variables }).join("\n");
    assertStringIncludes(faults, text);
    assert(!faults.includes("canary"));
  }
});

Deno.test("all faults are reported together, each with what is expected, none with a value", () => {
  const faults = faultsOf({
    STATIC_RELAY_GRPC_PORT: "65536",
    STATIC_RELAY_QUIC_PORT: "-1",
    STATIC_ADMIN_PORT: "none",
    STATIC_API_URL: "http://api.example.com",
    STATIC_RELAY_SECRET: "short-canary",
    STATIC_RELAY_ORIGINS: "relay.example.com",
    STATIC_CORS_ORIGINS: "https://app.example.com/path",
    STATIC_TLS_CERT: "/etc/relay.pem",
    STATIC_RELAY_ENGINE: "postgres",
    STATIC_RELAY_COVER_BYTES: "1000/week",
    STATIC_RELAY_SESSIONS: "0",
    STATIC_RELAY_QUEUE_SECONDS: "1e3",
  });
  const named = [
    "STATIC_RELAY_GRPC_PORT",
    "STATIC_RELAY_QUIC_PORT",
    "STATIC_ADMIN_PORT",
    "STATIC_RELAY_SECRET",
    "STATIC_API_URL",
    "STATIC_RELAY_ORIGINS",
    "STATIC_CORS_ORIGINS",
    "STATIC_TLS_CERT and STATIC_TLS_KEY",
    "STATIC_RELAY_ENGINE",
    "STATIC_RELAY_COVER_BYTES",
    "STATIC_RELAY_SESSIONS",
    "STATIC_RELAY_QUEUE_SECONDS",
  ];
  assertEquals(
    faults.map((fault) => fault.slice(0, fault.indexOf(" must be "))).sort(),
    named.sort(),
  );
  assert(faults.every((fault) => !fault.includes("canary")));
});

Deno.test("what could go wrong in production is refused at the start", () => {
  const refused: [Record<string, string>, string][] = [
    [{ STATIC_API_URL: "https://api.example.com" }, "STATIC_RELAY_SECRET must be the API's"],
    [{ STATIC_API_URL: "ftp://localhost" }, "STATIC_API_URL must be an address"],
    [{ STATIC_API_INTERNAL_URL: "http://10.0.0.1:9466" }, "STATIC_API_INTERNAL_URL must be https"],
    [{ STATIC_API_URL: "https://user:password@localhost" }, "STATIC_API_URL must be an address"],
    [{ STATIC_TLS_CERT: "a", STATIC_TLS_KEY: "b" }, "STATIC_RELAY_ORIGINS must be given"],
    [
      { STATIC_RELAY_ORIGINS: "quic://Relay.example.com:4433" },
      "STATIC_RELAY_ORIGINS must be a list",
    ],
    [{ STATIC_RELAY_ORIGINS: "quic://relay.example.com" }, "with its port"],
  ];
  for (const [variables, text] of refused) {
    assertStringIncludes(faultsOf(variables).join("\n"), text);
  }
});

Deno.test("printing the configuration shows no secret", () => {
  const config = configOf({ STATIC_RELAY_SECRET: "canary".padEnd(40, "x") });
  for (const text of [JSON.stringify(config), Deno.inspect(config), `${config.relaySecret}`]) {
    assert(!text.includes("canary"), text);
  }
});

Deno.test("the API serves relays beside its public address, unless told otherwise", () => {
  const given = { STATIC_API_URL: "https://api.example.com", STATIC_RELAY_SECRET: "s".repeat(32) };
  assertEquals(configOf(given).apiInternalUrl, "https://api.example.com:9466");
  assertEquals(
    configOf({ ...given, STATIC_INTERNAL_PORT: "444" }).apiInternalUrl,
    "https://api.example.com:444",
  );
  const inside = { ...given, STATIC_API_INTERNAL_URL: "https://api.internal.example:9466" };
  assertEquals(configOf(inside).apiInternalUrl, "https://api.internal.example:9466");
});

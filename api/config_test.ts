import { assert, assertEquals, assertThrows } from "@std/assert";
import { createCertificate } from "../tests/support/mod.ts";
import { ConfigError } from "../server/mod.ts";
import { createDiscovery, type Discovery } from "./discovery.ts";
import { type Config, describeConfig, readConfig as readFrom, warningsOf } from "./config.ts";

const readConfig = (environment: Record<string, string>): Config =>
  readFrom((name) => environment[name]);

const faultsOf = (environment: Record<string, string>): readonly string[] =>
  assertThrows(() => readConfig(environment), ConfigError).faults;

Deno.test("an empty environment is a development machine on loopback", () => {
  const config: Config = readConfig({});
  assertEquals(config.listen, { host: "127.0.0.1", port: 8080 });
  assertEquals([config.dataDir, config.environment, config.database, config.tls], [
    ".static",
    "live",
    undefined,
    undefined,
  ]);
  assertEquals(config.hashing.passwords, { memoryKiB: 19456, iterations: 2, parallelism: 1 });
  assertEquals(config.hashing.keys, { memoryKiB: 4096, iterations: 1, parallelism: 1 });
  assertEquals([config.maxActiveKeys, config.corsOrigins, config.trustedProxies], [
    100,
    undefined,
    [],
  ]);
});

Deno.test("several relays are told to clients, up to 32 addresses", () => {
  const urls = Array.from({ length: 33 }, (_, index) => `quic://r${index}.example`);
  assertEquals(readConfig({ STATIC_RELAY_URL: urls.slice(1).join(", ") }).relayUrls, urls.slice(1));
  assertEquals(faultsOf({ STATIC_RELAY_URL: urls.join() }), [
    "STATIC_RELAY_URL must be at most 32 addresses",
  ]);
});

Deno.test("all faults are reported together, without repeating secrets", () => {
  const faults = faultsOf({
    STATIC_ENVIRONMENT: "prod",
    STATIC_API_PORT: "80x",
    DATABASE_URL: "mysql://user:canary@host/db",
    STATIC_RELAY_SECRET: "canary",
    STATIC_TRUSTED_PROXIES: "10.0.0.0/8, nowhere",
    STATIC_CORS_ORIGINS: "https://ok.example, https://no.example/path",
    STATIC_PASSWORD_ARGON2: "m=1,t=1,p=1",
    STATIC_RATE_SIGN_UP: "many",
    STATIC_TLS_CERT: "/nonexistent/certificate",
    STATIC_MAX_KEYS: "0",
  });
  assertEquals(faults.length, 11, faults.join("\n"));
  assert(!faults.join("\n").includes("canary"));
});

Deno.test("a public address without TLS refuses to start, unless an edge terminates it", () => {
  for (const host of ["0.0.0.0", "::", "192.0.2.1", "api.example.com"]) {
    assert(faultsOf({ STATIC_API_HOST: host })[0]?.includes("without TLS"), host);
    assertEquals(
      readConfig({ STATIC_API_HOST: host, STATIC_TLS_TERMINATED: "true" }).listen.host,
      host,
    );
  }
  for (const host of ["127.0.0.1", "127.1.2.3", "::1", "localhost"]) {
    readConfig({ STATIC_API_HOST: host });
  }
});

Deno.test("an edge whose forwarded addresses are not trusted is warned of: all its clients would share their limits", () => {
  const warn = (environment: Record<string, string>): number =>
    warningsOf(readConfig(environment)).length;
  const edge = {
    STATIC_TLS_TERMINATED: "true",
    STATIC_API_URL: "https://api.example.com",
    STATIC_SMTP_URL: "smtps://mail.example.com",
  };
  assertEquals(warn(edge), 1);
  assertEquals(warn({ ...edge, STATIC_TRUSTED_PROXIES: "10.0.0.0/8" }), 0);
  assertEquals(warn({}), 0);
});

Deno.test("a public service without a mail server is warned of: nobody gets its mail", () => {
  const edge = { STATIC_TLS_TERMINATED: "true", STATIC_TRUSTED_PROXIES: "10.0.0.0/8" };
  const mailOf = (environment: Record<string, string>): readonly string[] =>
    warningsOf(readConfig(environment)).filter((text) => text.startsWith("STATIC_SMTP_URL is not"));
  assertEquals(mailOf(edge).length, 1);
  assertEquals(mailOf({ ...edge, STATIC_SMTP_URL: "smtps://mail.example.com" }), []);
  assertEquals(mailOf({}), []);
});

Deno.test("badges carry the host of the public address, or a name that nobody can own", () => {
  const domainOf = (url: string): string | undefined =>
    readConfig({ STATIC_TLS_TERMINATED: "true", STATIC_API_URL: url }).badgeDomain;
  for (
    const [url, domain] of [
      ["https://api.acme.com", "api.acme.com"],
      ["https://API.acme.com:8443/base/", "api.acme.com"],
      ["https://münchen.example", "xn--mnchen-3ya.example"],
      ["https://10.0.0.7", "static.localhost"],
      ["https://[2001:db8::1]:8443", "static.localhost"],
      ["https://intranet", "static.localhost"],
      ["http://localhost:8080", "static.localhost"],
      ["https://under_score.example", "static.localhost"],
      [`https://${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.example.com`, undefined],
    ] as const
  ) assertEquals(domainOf(url), domain ?? "static.localhost", url);
  for (const url of ["http://api.acme.com", "api.acme.com", "ftp://api.acme.com"]) {
    const faults = faultsOf({ STATIC_TLS_TERMINATED: "true", STATIC_API_URL: url });
    assertEquals(faults.length, 1);
    assert(faults[0]?.startsWith("STATIC_API_URL must be the public address of this API"));
  }
  // A developer's shell names the API that its user works with.
  const elsewhere = readConfig({ STATIC_API_URL: "https://api.acme.com" });
  assertEquals([elsewhere.badgeDomain, readConfig({}).badgeDomain], [
    "static.localhost",
    "static.localhost",
  ]);
  const unnamed = readConfig({
    STATIC_TLS_TERMINATED: "true",
    STATIC_TRUSTED_PROXIES: "10.0.0.0/8",
  });
  assertEquals(unnamed.badgeDomain, undefined);
  assert(warningsOf(unnamed)[0]?.startsWith("STATIC_API_URL is not set"));
});

Deno.test("a certificate with another one's key is a fault: every handshake would fail", async () => {
  const folder = await Deno.makeTempDir();
  const [own, other] = await Promise.all([createCertificate(), createCertificate()]);
  const [cert, key, otherKey] = [`${folder}/cert`, `${folder}/key`, `${folder}/other`];
  await Promise.all([
    Deno.writeTextFile(cert, own.cert),
    Deno.writeTextFile(key, own.key),
    Deno.writeTextFile(otherKey, other.key),
  ]);
  assertEquals(readConfig({ STATIC_TLS_CERT: cert, STATIC_TLS_KEY: key }).tls?.certFile, cert);
  for (const wrong of [{ STATIC_TLS_KEY: otherKey }, { STATIC_TLS_KEY: cert }]) {
    const [fault, ...more] = faultsOf({ STATIC_TLS_CERT: cert, ...wrong });
    assertEquals(more, []);
    assert(fault?.startsWith("STATIC_TLS_CERT and STATIC_TLS_KEY must be the PEM files"), fault);
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("a database on another machine needs a stated sslmode; on this one plain text is the default", () => {
  const tlsOf = (url: string): string | undefined =>
    readConfig({ DATABASE_URL: url }).database?.tls;
  assertEquals(tlsOf("postgres://u:p@127.0.0.1:5432/db"), "disable");
  assertEquals(tlsOf("postgres:///db?host=/run/postgresql"), "disable");
  assertEquals(tlsOf("postgresql://u:p@127.0.0.1/db?sslmode=require"), "require");
  assertEquals(tlsOf("postgres://u:p@db.example/db?sslmode=verify-full"), "verify-full");
  const percent = "postgres://u:50%off@127.0.0.1/db";
  assert(faultsOf({ DATABASE_URL: percent })[0]?.includes("%25"));
  for (
    const url of ["postgres://u:p@db.example/db", "postgres://u:p@db.example/db?sslmode=prefer"]
  ) {
    assert(faultsOf({ DATABASE_URL: url })[0]?.includes("sslmode"), url);
  }
});

Deno.test("token keys are a readable file or, when they look like JSON of any kind, the keys themselves", async () => {
  const file = await Deno.makeTempFile();
  try {
    assertEquals(readConfig({ STATIC_JWT_KEYS: file }).jwtKeys, { file });
  } finally {
    await Deno.remove(file);
  }
  for (const text of [' {"keys":[]}', '[{"d":"canary"}]', '"{\\"keys\\":[]}"', `'{"keys":[]}'`]) {
    const config = readConfig({ STATIC_JWT_KEYS: text });
    assertEquals("json" in (config.jwtKeys ?? {}), true, text);
    assert(!JSON.stringify(describeConfig(config)).includes("canary"));
  }
  const [fault = "", ...more] = faultsOf({ STATIC_JWT_KEYS: "Y2FuYXJ5LWluLWJhc2U2NA" });
  assert(
    more.length === 0 && fault.includes("STATIC_JWT_KEYS") && !fault.includes("Y2FuYXJ5"),
    fault,
  );
});

Deno.test("the configuration in force is told without secrets: they hide themselves, and the database only by its TLS", () => {
  const secret = "correct-horse-battery-staple-0123456789";
  const config = readConfig({
    STATIC_RELAY_SECRET: secret,
    STATIC_JWT_KEYS: `{"keys":"${secret}"}`,
    DATABASE_URL: `postgres://static:${secret}@localhost/static`,
    STATIC_TRUSTED_PROXIES: "10.0.0.0/8,::1",
  });
  const told = JSON.stringify(describeConfig(config));
  assert(!told.includes(secret), told);
  assert(told.includes('"trustedProxies":2') && told.includes('"database":{"tls":"disable"'), told);
});

Deno.test("an API on loopback behind an edge is no development machine: it names no relay of its own", () => {
  assertEquals(readConfig({}).relayUrls, ["quic://localhost:4433", "https://localhost:5000"]);
  assertEquals(readConfig({ STATIC_TLS_TERMINATED: "true" }).relayUrls, []);
});

Deno.test("an API behind an edge tells nobody the folder of its mail and the certificates of its machine", async () => {
  const dataDir = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(
      `${dataDir}/ca.pem`,
      "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    );
    const discover = (environment: Record<string, string>): Discovery =>
      createDiscovery(readConfig({ STATIC_DATA_DIR: dataDir, ...environment }), Date.now);
    const [local, edge] = [discover({}), discover({ STATIC_TLS_TERMINATED: "true" })];
    assertEquals([local.mail.folder !== undefined, edge.mail.folder], [true, undefined]);
    assertEquals([(await local.certificates()).ca !== null, (await edge.certificates()).ca], [
      true,
      null,
    ]);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

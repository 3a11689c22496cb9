import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { connect, type TLSSocket } from "node:tls";
import { createCertificate, eventually, type TestCertificate } from "../support/mod.ts";
import { type RelayProcess, runRelayProcess, startRelayProcess } from "../support/relay/process.ts";
import { refusedStart } from "../support/relay/refused_start.ts";

/** The certificate that a new TLS connection gets. */
function certificateShown({ grpcUrl }: RelayProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    const port = Number(new URL(grpcUrl).port);
    const socket: TLSSocket = connect(
      { port, host: "127.0.0.1", rejectUnauthorized: false },
      () => {
        resolve(new Uint8Array(socket.getPeerCertificate().raw).toBase64());
        socket.destroy();
      },
    );
    socket.on("error", reject);
  });
}

async function isTrustedOverQuic({ quicUrl }: RelayProcess, ca: string): Promise<boolean> {
  const port = Number(quicUrl.slice(quicUrl.lastIndexOf(":") + 1));
  try {
    const options = {
      hostname: "localhost",
      port,
      alpnProtocols: ["static-relay/1"],
      caCerts: [ca],
    };
    (await Deno.connectQuic(options)).close();
    return true;
  } catch {
    return false;
  }
}

function withoutFrame(pem: string): string {
  return pem.replace(/-----[^-]+-----|\s/g, "");
}

/** The health of a relay that serves and has no API. */
const withoutApi = {
  status: "degraded",
  problems: [
    "The API has not answered this relay since it started. Check that it runs, and the relay's log",
  ],
};

Deno.test("a relay without an API serves, and says in its log what it misses", async (t) => {
  const dataDir = await Deno.makeTempDir({ prefix: "static-relay-" });
  let relay = await startRelayProcess({ STATIC_DATA_DIR: dataDir });
  try {
    await t.step("health answers over TLS 1.3 that trusts the development authority", async () => {
      assertEquals(JSON.parse(await relay.get("/health")), withoutApi);
      await assertRejects(
        async () => await relay.get("/health", (await createCertificate()).cert),
        TypeError,
      );
      assertStringIncludes(relay.output(), '"event":"quota_api_failed"');
    });
    await t.step(
      "a relay that never reached its API is not ready, and says so",
      () => assertNotReady(relay),
    );
    await t.step(
      "the admin port serves exactly the metrics that docs/operations.md lists",
      () => compareMetrics(relay),
    );
    await t.step(
      "a port that is taken is named with its variable, and a data directory in use with its reason",
      () => collide(relay, dataDir),
    );
    await t.step(
      "a restart keeps the authority that clients trust and the relay's id",
      async () => {
        const identity = async (): Promise<string> =>
          await Deno.readTextFile(relay.caFile) + await Deno.readTextFile(`${dataDir}/relay_id`);
        const before = await identity();
        relay.signal("SIGKILL");
        assertNotEquals(await relay.finished(), 0);
        relay = await startRelayProcess({ STATIC_DATA_DIR: dataDir });
        assertEquals(await identity(), before);
      },
    );
    await t.step("SIGTERM ends it in order", async () => {
      relay.signal("SIGTERM");
      assertEquals(await relay.finished(), 0, relay.output());
      assertStringIncludes(relay.output(), '"event":"stopped"');
    });
  } finally {
    await relay.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
});

async function assertNotReady({ grpcUrl, caFile }: RelayProcess): Promise<void> {
  using client = Deno.createHttpClient({ caCerts: [await Deno.readTextFile(caFile)] });
  const answer = await fetch(`${grpcUrl}/ready`, { client });
  const { status, reason } = await answer.json();
  assertEquals([answer.status, status], [503, "not_ready"]);
  assertMatch(reason, /^The API has not answered this relay since it started/);
}

async function compareMetrics(relay: RelayProcess): Promise<void> {
  const page = await Deno.readTextFile(new URL("../../docs/operations.md", import.meta.url));
  const metrics = await relay.metrics();
  assertMatch(metrics, /^# TYPE static_relay_sessions gauge\nstatic_relay_sessions 0$/m);
  const served = Array.from(metrics.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name ?? "");
  // This process has no permission to read the one, and no API has told it the other.
  const unknown = ["static_relay_udp_drops_total", "static_relay_clock_ahead_seconds"];
  const [, section = ""] = page.split("\n## Metrics\n");
  const listed = new Set(
    Array.from(
      section.split("\n## ")[0]?.matchAll(/`(static_relay_\w+)`/g) ?? [],
      ([, name]) => name ?? "",
    ),
  );
  assertEquals([...listed].sort(), [...served, ...unknown].sort());
}

Deno.test("docs/configuration.md lists exactly the variables that the relay reads", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/configuration.md", import.meta.url));
  const sources = await Promise.all(
    ["relay/config.ts", "relay/start_relay.ts", "server/admin.ts", "server/certificate.ts"]
      .map((file) => Deno.readTextFile(new URL(`../../${file}`, import.meta.url))),
  );
  const read = sources.flatMap((text) =>
    Array.from(text.matchAll(/"(STATIC_\w+)"/g), ([, name]) => name ?? "")
  );
  const [, section = ""] = page.split("\n## Relay\n");
  const documented = Array.from(
    (section.split("\n## ")[0] ?? "").matchAll(/`(STATIC_\w+)`/g),
    ([, name]) => name ?? "",
  );
  assertEquals([...new Set(documented)].sort(), [...new Set(read)].sort());
});

async function collide(relay: RelayProcess, dataDir: string): Promise<void> {
  const other = await Deno.makeTempDir({ prefix: "static-relay-" });
  const port = new URL(relay.grpcUrl).port;
  const quic = relay.quicUrl.slice(relay.quicUrl.lastIndexOf(":") + 1);
  const admin = /"admin_url":"http:\/\/127\.0\.0\.1:(\d+)"/.exec(relay.output())?.[1] ?? "";
  const taken = {
    STATIC_RELAY_GRPC_PORT: port,
    STATIC_RELAY_QUIC_PORT: quic,
    STATIC_ADMIN_PORT: admin,
  };
  for (const [variable, number] of Object.entries(taken)) {
    const { message } = await refusedStart({ STATIC_DATA_DIR: other, [variable]: number });
    assertStringIncludes(
      message,
      `port ${number} is taken. Stop what uses it, or set ${variable} to another port`,
    );
  }
  const { code, output } = await runRelayProcess({ STATIC_DATA_DIR: dataDir });
  assertEquals(code, 1);
  assertMatch(output, /^Cannot open the relay's database .*another process/m);
  assert(!output.includes("    at "), output);
  const tls = {
    STATIC_TLS_CERT: `${dataDir}/missing.pem`,
    STATIC_TLS_KEY: `${dataDir}/ca_key.pem`,
    STATIC_RELAY_ORIGINS: "quic://localhost:4433",
  };
  for (
    const wrong of [{ STATIC_DATA_DIR: `${dataDir}/ca.pem` }, { STATIC_DATA_DIR: other, ...tls }]
  ) {
    const { message } = await refusedStart(wrong);
    assertMatch(
      message,
      /^Cannot start: .+ \((STATIC_DATA_DIR|STATIC_TLS_CERT and STATIC_TLS_KEY)\): \S/,
    );
  }
  assertEquals(JSON.parse(await relay.get("/health")), withoutApi);
  await Deno.remove(other, { recursive: true });
}

Deno.test("every fault of the configuration is told at once, without the values", async () => {
  const { code, output } = await runRelayProcess({
    STATIC_RELAY_SESSIONS: "0",
    STATIC_RELAY_SECRET: "canary",
    STATIC_TLS_KEY: "canary.key",
    STATIC_RELAY_ENGINE: "canary",
  });
  assertEquals(code, 1);
  const named = [
    "STATIC_RELAY_SESSIONS",
    "STATIC_RELAY_SECRET",
    "STATIC_TLS_CERT and STATIC_TLS_KEY",
    "STATIC_RELAY_ENGINE",
  ];
  for (const name of named) assertStringIncludes(output, `  - ${name} must be `);
  assert(!output.includes("canary") && !output.includes("    at "), output);
});

Deno.test("a certificate that was replaced is shown to new connections after SIGHUP; a bad one changes nothing", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-relay-tls-" });
  const files = { STATIC_TLS_CERT: `${folder}/cert.pem`, STATIC_TLS_KEY: `${folder}/key.pem` };
  const write = async ({ cert, key }: TestCertificate): Promise<void> => {
    await Deno.writeTextFile(files.STATIC_TLS_CERT, cert);
    await Deno.writeTextFile(files.STATIC_TLS_KEY, key);
  };
  const [first, second] = [await createCertificate(), await createCertificate()];
  await write(first);
  {
    const variables = {
      STATIC_DATA_DIR: `${folder}/data`,
      ...files,
      STATIC_RELAY_ORIGINS: "quic://localhost:4433",
    };
    await using relay = await startRelayProcess(variables);
    assertEquals(await certificateShown(relay), withoutFrame(first.cert));
    await Deno.writeTextFile(files.STATIC_TLS_CERT, second.cert);
    relay.signal("SIGHUP");
    await eventually(
      { what: "the refusal" },
      () => Promise.resolve(relay.output()),
      (output) => output.includes('"event":"certificate_not_changed"'),
    );
    assertEquals(await certificateShown(relay), withoutFrame(first.cert));
    await write(second);
    relay.signal("SIGHUP");
    await eventually(
      { what: "the new certificate" },
      () => certificateShown(relay),
      (shown) => shown === withoutFrame(second.cert),
    );
    assertEquals(JSON.parse(await relay.get("/health", second.cert)), withoutApi);
    assertEquals(
      await Promise.all([first, second].map(({ cert }) => isTrustedOverQuic(relay, cert))),
      [false, true],
    );
    assert(!relay.output().includes("PRIVATE"));
  }
  await Deno.remove(folder, { recursive: true });
});

Deno.test("deno task relay runs in the data directory and with the certificate that the variables name", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-relay-task-" });
  const { cert, key } = await createCertificate();
  await Deno.writeTextFile(`${folder}/tls cert.pem`, cert);
  await Deno.writeTextFile(`${folder}/tls key.pem`, key);
  const relay = await startRelayProcess({
    STATIC_DATA_DIR: `${folder}/data`,
    STATIC_TLS_CERT: `${folder}/tls cert.pem`,
    STATIC_TLS_KEY: `${folder}/tls key.pem`,
    STATIC_RELAY_ORIGINS: "quic://localhost:4433",
  }, "as task");
  try {
    assertEquals(JSON.parse(await relay.get("/health", cert)), withoutApi);
    relay.signal("SIGTERM");
    assertEquals(await relay.finished(), 0, relay.output());
  } finally {
    await relay.stop();
    await Deno.remove(folder, { recursive: true });
  }
});

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { startApi } from "../../api/mod.ts";
import {
  createCertificate,
  eventually,
  installed,
  postgresInstalled,
  startPostgres,
  testWhen,
} from "../support/mod.ts";
import { assertRefused } from "./contract/contract.ts";
import {
  anyBackend,
  createCall,
  readTestConfig,
  signUp,
  startTestApi,
} from "../support/api/harness.ts";
import { startProcess } from "../support/api/process.ts";

testWhen(
  postgresInstalled,
  "TLS to the database is used as configured, and a connection that should be encrypted and is not is refused",
  async () => {
    const certificate = await createCertificate();
    const elsewhere = await createCertificate({ dns: ["elsewhere.example", "localhost"] });
    const servers = await Promise.all([
      startPostgres({ tls: certificate }),
      startPostgres({ tls: elsewhere }),
      startPostgres(),
    ]);
    const [encrypted, misnamed, plain] = servers;
    const dataDir = await Deno.makeTempDir({ prefix: "static-" });
    const caFile = `${dataDir}/ca.pem`;
    await Deno.writeTextFile(caFile, certificate.cert + elsewhere.cert);
    const start = (
      url: string,
      environment: Record<string, string> = {},
    ): ReturnType<typeof startTestApi> =>
      startTestApi({ STATIC_DATA_DIR: dataDir, DATABASE_URL: url, ...environment });
    try {
      const url = await encrypted.createDatabase();
      for (
        const [mode, ca] of [["disable", false], ["require", false], ["verify-full", true]] as const
      ) {
        const api = await start(`${url}?sslmode=${mode}`, ca ? { STATIC_DATABASE_CA: caFile } : {});
        assertEquals((await api.call("GET", "/ready")).status, 200, mode);
        await api.close();
      }
      // Not signed by an authority we know.
      await assertRejects(() => start(`${url}?sslmode=verify-full`), Error, "certificate");
      // Known, but issued for other names than the address we connect to.
      const other = await misnamed.createDatabase();
      await assertRejects(
        () => start(`${other}?sslmode=verify-full`, { STATIC_DATABASE_CA: caFile }),
        Error,
        "does not match",
      );
      await assertRejects(
        async () => start(`${await plain.createDatabase()}?sslmode=require`),
        Error,
      );
    } finally {
      await Promise.all(servers.map((server) => server.close()));
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

testWhen(
  installed("openssl"),
  "with a certificate the API speaks TLS 1.3 and refuses 1.2",
  async () => {
    const { cert: certificate, key } = await createCertificate();
    const backend = await anyBackend.open();
    const folder = backend.environment.STATIC_DATA_DIR;
    await Deno.writeTextFile(`${folder}/tls.crt`, certificate);
    await Deno.writeTextFile(`${folder}/tls.key`, key);
    const api = await startApi(
      readTestConfig({
        ...backend.environment,
        STATIC_API_HOST: "0.0.0.0",
        STATIC_TLS_CERT: `${folder}/tls.crt`,
        STATIC_TLS_KEY: `${folder}/tls.key`,
      }),
      { writeLog: () => {} },
    );
    const port = new URL(api.url).port;
    const client = Deno.createHttpClient({ caCerts: [certificate] });
    try {
      assertEquals(new URL(api.url).protocol, "https:");
      const call = createCall(`https://localhost:${port}`, { client });
      const { apiKey, email, password } = await signUp(call);
      assertEquals((await call("GET", "/v1/keys", { key: apiKey })).status, 200);
      // No other host of the domain and no page without TLS can set a cookie of this name, and no
      // other name is read.
      const session = await call("POST", "/v1/session", { body: { email, password } });
      const [[cookie = "", ...attributes] = [], [device = "", ...of] = []] = session.headers
        .getSetCookie()
        .map((text) => text.split("; "));
      assertEquals(attributes.sort(), [
        "HttpOnly",
        "Max-Age=3600",
        "Path=/",
        "SameSite=Strict",
        "Secure",
      ]);
      assertEquals(device, `__Host-static_device=${session.headers.get("static-device")}`);
      assertEquals(of.sort(), [
        "HttpOnly",
        `Max-Age=${90 * 86_400}`,
        "Path=/",
        "SameSite=Strict",
        "Secure",
      ]);
      assertEquals((await call("GET", "/v1/session", { headers: { cookie } })).status, 200);
      const planted = cookie.replace("__Host-", "");
      assert(planted !== cookie);
      assertRefused(
        await call("GET", "/v1/session", { headers: { cookie: planted } }),
        401,
        "auth_failed",
      );
      assertRefused(
        await call("POST", "/v1/keys", { key: apiKey, body: { name: "x".repeat(70_000) } }),
        413,
        "payload_too_large",
      );
      assertEquals((await call("HEAD", "/health")).status, 200);
      const handshake = async (version: string): Promise<string> => {
        const args = ["s_client", version, "-connect", `127.0.0.1:${port}`];
        const { stdout, stderr } = await new Deno.Command("openssl", { args, stdin: "null" })
          .output();
        return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      };
      assertStringIncludes(await handshake("-tls1_3"), "New, TLSv1.3");
      const old = await handshake("-tls1_2");
      assertStringIncludes(old, "New, (NONE), Cipher is (NONE)");
      assertStringIncludes(old, "alert protocol version");
    } finally {
      client.close();
      await api.close();
      await backend.close();
    }
  },
);

Deno.test("SIGHUP: new connections get the new certificate, open ones stay, and a bad file changes nothing", async () => {
  const [first, second] = [await createCertificate(), await createCertificate()];
  const backend = await anyBackend.open();
  const [cert, key] = ["crt", "key"].map((ending) =>
    `${backend.environment.STATIC_DATA_DIR}/tls.${ending}`
  );
  const write = async (pair: { cert: string; key: string }): Promise<void> => {
    await Deno.writeTextFile(cert ?? "", pair.cert);
    await Deno.writeTextFile(key ?? "", pair.key);
  };
  await write(first);
  await using api = await startProcess({
    ...backend.environment,
    STATIC_TLS_CERT: cert ?? "",
    STATIC_TLS_KEY: key ?? "",
  });
  const url = `https://localhost:${new URL(api.url).port}`;
  // One connection, which it keeps; a new one would not trust the second certificate.
  using oldClient = Deno.createHttpClient({ caCerts: [first.cert], poolMaxIdlePerHost: 1 });
  using newClient = Deno.createHttpClient({ caCerts: [second.cert], poolMaxIdlePerHost: 0 });
  const [old, fresh] = [
    createCall(url, { client: oldClient }),
    createCall(url, { client: newClient }),
  ];
  assertEquals((await old("GET", "/health")).status, 200);
  await Deno.writeTextFile(cert ?? "", "half a certificate");
  api.signal("SIGHUP");
  const logged = (event: string): Promise<string> =>
    eventually(
      { what: event },
      () => Promise.resolve(api.output()),
      (text) => text.includes(event),
    );
  await logged("certificate_not_changed");
  await write(second);
  api.signal("SIGHUP");
  await logged("certificate_changed");
  assertEquals((await fresh("GET", "/health")).status, 200);
  assertEquals((await old("GET", "/health")).status, 200);
  await backend.close();
});

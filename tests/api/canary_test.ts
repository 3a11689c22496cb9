import { assert, assertEquals, assertMatch } from "@std/assert";
import { encodeApiKey } from "../../proto/mod.ts";
import { postgresInstalled, startPostgres, testWhen } from "../support/mod.ts";
import { signUp, testEnvironment } from "../support/api/harness.ts";
import { startProcess } from "../support/api/process.ts";

const canary = "canary-7f3a9c";

testWhen(
  postgresInstalled,
  "no secret reaches a log line, an error answer, the metrics or the output of a failed start",
  async () => {
    const server = await startPostgres();
    const dataDir = await Deno.makeTempDir({ prefix: "static-" });
    const url = (await server.createDatabase()).replace(
      "postgres@",
      `postgres:${canary}-database@`,
    );
    const relaySecret = `${canary}-relay-0123456789abcdef0123456789`;
    const api = await startProcess({
      STATIC_DATA_DIR: dataDir,
      DATABASE_URL: url,
      STATIC_RELAY_SECRET: relaySecret,
    });
    const seen: string[] = [];
    try {
      const { apiKey, password, email } = await signUp(api.call);
      const { json: { token } } = await api.call("POST", "/v1/tokens", { key: apiKey });
      const login = await api.call("POST", "/v1/accounts/keys", { body: { email, password } });
      const device = login.headers.get("static-device") ?? "";
      assertMatch(device, /^[\w-]{80,}$/);
      const unknown = encodeApiKey({
        environment: "live",
        lookup: "00000000",
        secret: "canary".padEnd(32, "0"),
      });
      const foreign = encodeApiKey({
        environment: "test",
        lookup: "00000000",
        secret: "canary".padEnd(32, "0"),
      });
      const provoke = async (): Promise<void> => {
        const answers = await Promise.all([
          api.call("POST", "/v1/accounts", { body: { email, password } }),
          api.call("POST", "/v1/accounts", {
            body: { email: `${canary}`, password: `${canary}-password` },
          }),
          api.call("POST", "/v1/accounts", {
            raw: `{"password":"${canary}-password"`,
            headers: { "content-type": "application/json" },
          }),
          api.call("POST", "/v1/accounts/keys", {
            body: { email, password: `${canary}-password` },
            headers: { "static-device": device },
          }),
          api.call("POST", "/v1/keys", {
            key: apiKey,
            body: { name: { nested: `${canary}-name` } },
          }),
          api.call("GET", `/v1/keys?api_key=${apiKey}&x=${canary}`, { key: foreign }),
          api.call("GET", `/v1/${canary}/${apiKey}`),
          api.call("DELETE", `/v1/keys/${apiKey}`, { key: unknown }),
          api.call("POST", "/v1/tokens", { key: token }),
          api.call("POST", "/v1/tokens", {
            key: `${canary}-key`,
            headers: { cookie: `${canary}-cookie` },
          }),
          api.call("GET", "/internal/v1/leases?relay_id=r", { key: `${relaySecret}x` }),
          api.call("GET", "/ready"),
        ]);
        seen.push(...answers.flatMap(({ text, headers }) => [text, JSON.stringify([...headers])]));
      };
      await provoke();
      seen.push(await api.metrics());
      await server.kill();
      await provoke();
      seen.push(await api.metrics());

      const failed = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "api/main.ts"],
        env: {
          ...testEnvironment,
          STATIC_DATA_DIR: dataDir,
          DATABASE_URL: url,
          STATIC_RELAY_SECRET: relaySecret,
        },
      }).output();
      const misconfigured = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "api/main.ts"],
        env: {
          ...testEnvironment,
          DATABASE_URL: `mysql://u:${canary}@h/d`,
          STATIC_RELAY_SECRET: canary,
          STATIC_JWT_KEYS: `{"keys":"${canary}"}`,
        },
      }).output();
      for (const { code, stdout, stderr } of [failed, misconfigured]) {
        const said = new TextDecoder().decode(stderr);
        assertEquals(code, 1);
        assert(!said.includes("    at "), said);
        seen.push(new TextDecoder().decode(stdout), said);
      }
      assertMatch(
        seen.at(-3) ?? "",
        /^Cannot start: the database cannot be used \(DATABASE_URL\): .*ECONNREFUSED/m,
      );
      api.signal("SIGTERM");
      await api.finished();
      seen.push(api.output());

      const ring = JSON.parse(await Deno.readTextFile(`${dataDir}/jwt_keys.json`));
      const secrets = {
        canary,
        password,
        apiKey,
        secretPart: apiKey.slice(16, 48),
        token,
        device,
        unknown,
        foreign,
        d: ring.keys[0].d,
      };
      for (const [name, secret] of Object.entries(secrets)) {
        const leak = seen.find((text) => text.includes(secret));
        assert(leak === undefined, `${name} leaked: ${leak?.slice(0, 2000)}`);
      }
      assert(api.output().includes('"event":"request"'), "there were logs to look at");
    } finally {
      await server.start();
      await server.close();
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { StartFailed } from "../../server/mod.ts";
import { eventually, postgresInstalled, testWhen } from "../support/mod.ts";
import { assertRefused } from "./contract/contract.ts";
import {
  anyBackend,
  embedded,
  type OpenBackend,
  realPostgres,
  signUp,
  startTestApi,
  testEnvironment,
} from "../support/api/harness.ts";
import { type ApiProcess, startProcess } from "../support/api/process.ts";
import { shortLived } from "../support/short_lived.ts";

testWhen(
  postgresInstalled,
  "two API processes: a revocation holds on the other's next request, and SIGTERM finishes what is in flight and exits 0",
  async () => {
    const backend = await realPostgres.open();
    const [first, second] = await Promise.all([
      startProcess(backend.environment),
      startProcess(backend.environment),
    ]);
    const sql = backend.sql();
    try {
      const { apiKey, keyId } = await signUp(first.call);
      for (const { call } of [first, second]) {
        assertEquals((await call("POST", "/v1/tokens", { key: apiKey })).status, 200);
      }
      assertEquals((await first.call("DELETE", `/v1/keys/${keyId}`, { key: apiKey })).status, 204);
      assertRefused(
        await second.call("POST", "/v1/tokens", { key: apiKey }),
        401,
        "auth_key_invalid",
      );

      // A sign-up is in flight as long as nobody may write accounts.
      const slow = await sql.begin(async (locking) => {
        await locking`LOCK TABLE accounts IN EXCLUSIVE MODE`;
        const asked = second.call("POST", "/v1/accounts", {
          body: { email: "slow@example.com", password: "1234567 apples" },
        });
        await eventually(
          { what: "a request in flight" },
          second.metrics,
          (text) => /requests_in_flight 1$/m.test(text),
        );
        second.signal("SIGTERM");
        return { asked };
      });
      assertEquals((await slow.asked).status, 201);
      assertEquals(await second.finished(), 0, second.output());
      await assertRejects(() => second.call("GET", "/health"), TypeError);
      first.signal("SIGINT");
      assertEquals(await first.finished(), 0, first.output());
    } finally {
      await Promise.all([first.stop(), second.stop(), sql.end()]);
      await backend.close();
    }
  },
);

testWhen(postgresInstalled, "a stop writes last_used_at before any timer does", async () => {
  const backend = await realPostgres.open();
  try {
    const api = await startTestApi(backend.environment);
    const { apiKey } = await api.signUp();
    const { json: spare } = await api.call("POST", "/v1/keys", { key: apiKey });
    await eventually(
      { what: "a flush" },
      () => api.call("GET", "/v1/keys", { key: apiKey }),
      ({ json }) =>
        json.keys?.some(({ last_used_at }: { last_used_at: string | null }) =>
          last_used_at !== null
        ),
    );
    // A flush has just been, so the next one is almost a second away.
    assertEquals((await api.call("POST", "/v1/tokens", { key: spare.key })).status, 200);
    await api.close();
    const sql = backend.sql();
    const [row] = await sql`SELECT last_used_at FROM api_keys WHERE id = ${spare.id}`;
    await sql.end();
    assert(row?.last_used_at instanceof Date);
  } finally {
    await backend.close();
  }
});

Deno.test("what keeps the API from starting is told in words, with the variable that leads to it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "static-api-" });
  await Deno.writeTextFile(`${folder}/file`, "");
  const wrong = [
    { STATIC_DATA_DIR: folder, DATABASE_URL: "postgres://user:canary@127.0.0.1:1/name" },
    { STATIC_DATA_DIR: `${folder}/file`, DATABASE_URL: "postgres://user:canary@127.0.0.1:1/name" },
  ];
  const said = [
    /the database cannot be used \(DATABASE_URL\): .*ECONNREFUSED/,
    /the data directory cannot be used \(STATIC_DATA_DIR\): /,
  ];
  // In this process. `canary_test.ts` has the output of one of its own.
  for (const [index, environment] of wrong.entries()) {
    const { message } = await assertRejects(() => startTestApi(environment), StartFailed);
    assertMatch(message, said[index] ?? /^$/);
    assert(!message.includes("canary"), message);
  }
  await Deno.remove(folder, { recursive: true });
});

// One test, because to open the embedded database takes seconds of processor: it is opened twice,
// the second time as the task does.
Deno.test("the embedded database is for its user only, survives a crash, keeps a second process out, and takes an administrator's command", async (t) => {
  const backend = await embedded.open();
  const dataDir = backend.environment.STATIC_DATA_DIR ?? "";
  await Deno.chmod(dataDir, 0o755);
  const modeOf = async (path: string): Promise<number> =>
    ((await Deno.stat(`${dataDir}/${path}`)).mode ?? 0) & 0o777;
  const assertPrivate = async ({ call }: ApiProcess): Promise<void> => {
    assertEquals((await call("GET", "/ready")).status, 200);
    assertEquals([await modeOf("database"), await modeOf(".s.PGSQL.5432") & 0o077], [0o700, 0]);
  };
  try {
    await using first = await startProcess({ ...backend.environment, ...shortLived });
    const account = await signUp(first.call);
    await t.step(
      "others cannot read it, also in a directory that they may enter",
      () => assertPrivate(first),
    );
    await t.step("a second process is kept out", () => assertKeptOut(backend));
    await t.step("an administrator's command works beside the API", async () => {
      await setPlan(backend, account.email.toUpperCase(), "team");
      assertEquals(
        (await first.call("GET", "/v1/usage", { key: account.apiKey })).json.messages.limit,
        5_000_000,
      );
    });
    first.signal("SIGKILL");
    await first.finished();
    // As a folder that was made before it was private.
    await Deno.chmod(`${dataDir}/database`, 0o755);
    const keys = await makeKeys();
    await Deno.writeTextFile(`${dataDir}/keys of this test.json`, keys.ring);
    const STATIC_JWT_KEYS = `${dataDir}/keys of this test.json`;
    await using again = await startTask({ ...backend.environment, ...shortLived, STATIC_JWT_KEYS });
    await t.step("after a crash everything is there", async () => {
      const { status, json } = await again.call("GET", "/v1/usage", { key: account.apiKey });
      assertEquals([status, json.plan], [200, "team"]);
    });
    await t.step("a folder from before this rule is made private", () => assertPrivate(again));
    await t.step(
      "deno task api runs in the data directory, with keys from a file",
      () => assertInOrder(again, keys),
    );
  } finally {
    await backend.close();
  }
});

/** The second process is this one. */
async function assertKeptOut({ environment }: OpenBackend): Promise<void> {
  await assertRejects(() => startTestApi(environment), StartFailed, "another process has");
}

async function setPlan({ environment }: OpenBackend, email: string, plan: string): Promise<void> {
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "admin", "set-plan", email, plan],
    env: { ...testEnvironment, ...environment },
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
}

Deno.test("deno task api has the keys that a variable has, tells them to no process, and says which file is missing", async () => {
  const keys = await makeKeys();
  const { environment, close } = await anyBackend.open();
  {
    await using api = await startTask({ ...environment, STATIC_JWT_KEYS: keys.ring });
    await assertInOrder(api, keys);
  }
  const misplaced = { ...environment, STATIC_JWT_KEYS: keys.secret };
  const { message } = await assertRejects(
    () => startTask(misplaced),
    Error,
    "STATIC_JWT_KEYS must",
  );
  assert(
    message.includes("there is none, or --allow-read") && !message.includes(keys.secret),
    message,
  );
  await close();
});

interface SigningKeys {
  /** As `STATIC_JWT_KEYS` takes it. */
  readonly ring: string;
  readonly secret: string;
}

const kid = "of-this-test";

async function makeKeys(): Promise<SigningKeys> {
  const { privateKey } = await crypto.subtle.generateKey("Ed25519", true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair; // cast: Ed25519 makes pairs
  const { kty, crv, x, d = "" } = await crypto.subtle.exportKey("jwk", privateKey);
  return { ring: JSON.stringify({ keys: [{ kty, crv, kid, x, d }] }), secret: d };
}

async function startTask(environment: Readonly<Record<string, string>>): Promise<ApiProcess> {
  return await startProcess({ ...environment, STATIC_CA_FILE: "" }, { how: "as task" });
}

/** Ends it. */
async function assertInOrder(api: ApiProcess, { secret }: SigningKeys): Promise<void> {
  assertEquals((await api.call("GET", "/ready")).status, 200);
  assertStringIncludes((await api.call("GET", "/.well-known/jwks.json")).text, kid);
  await assertNotAmongArguments(secret);
  api.signal("SIGTERM");
  assertEquals(await api.finished(), 0, api.output());
}

/** Everybody on a machine can read the arguments of every process. */
async function assertNotAmongArguments(secret: string): Promise<void> {
  for await (const { name } of Deno.readDir("/proc")) {
    const line = /^\d+$/.test(name)
      ? await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "")
      : "";
    assert(!line.includes(secret), `process ${name} has a key among its arguments`);
  }
}

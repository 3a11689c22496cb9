/**
 * A running API for tests: real sockets, real database, light hashing, and everything it logged.
 */
import postgres from "postgres";
import { type Config, createApi, readConfig, startApi } from "../../../api/mod.ts";
import { tracesVariable } from "../../../server/mod.ts";
import {
  oncePerRun,
  openSharedDatabase,
  postgresInstalled,
  type Requirement,
  runCommand,
  startPostgres,
} from "../mod.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; tests assert on what they expect of it. */
  // deno-lint-ignore no-explicit-any
  readonly json: any;
}

export interface RequestOptions {
  readonly key?: string;
  readonly body?: unknown;
  /** A body sent as it is. */
  readonly raw?: BodyInit;
  readonly headers?: Record<string, string>;
}

export interface SignedUp {
  readonly id: string;
  readonly email: string;
  readonly password: string;
  readonly apiKey: string;
  readonly keyId: string;
}

export interface TestApi {
  readonly url: string;
  /** For relays. */
  readonly internalUrl: string;
  readonly adminUrl: string;
  readonly logs: string[];
  readonly relaySecret: string;
  /** Milliseconds that the service's clock is ahead of the real one. */
  readonly clock: { aheadMs: number };
  call(method: string, path: string, options?: RequestOptions): Promise<Answer>;
  signUp(): Promise<SignedUp>;
  close(): Promise<void>;
}

/** Where the data lives: one contract, two databases. */
export interface Backend {
  readonly name: string;
  readonly requirement: Requirement;
  /**
   * In the test command a copy of one that has every table, because to make them takes longer than
   * most tests.
   */
  open(): Promise<OpenBackend>;
  /** Without any table. */
  openEmpty(): Promise<OpenBackend>;
}

export interface OpenBackend {
  /** The API's variables for the database. */
  readonly environment: Record<string, string>;
  sql(): postgres.Sql;
  close(): Promise<void>;
}

export const embedded: Backend = {
  name: "embedded PGlite",
  requirement: { met: true, reason: "" },
  open: async () => {
    const filled = await oncePerRun("embedded", async (dataDir) => {
      await Deno.mkdir(dataDir);
      await makeTables({ STATIC_DATA_DIR: dataDir });
    });
    const backend = await embedded.openEmpty();
    const { STATIC_DATA_DIR: dataDir = "" } = backend.environment;
    if (filled !== undefined) await runCommand("cp", ["-a", `${filled}/database`, dataDir]);
    return backend;
  },
  openEmpty: async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "static-" });
    return {
      environment: { STATIC_DATA_DIR: dataDir },
      sql: () =>
        postgres({
          path: `${dataDir}/.s.PGSQL.5432`,
          user: "postgres",
          database: "postgres",
          max: 1,
        }),
      close: () => Deno.remove(dataDir, { recursive: true }),
    };
  },
};

export const realPostgres: Backend = {
  name: "PostgreSQL",
  requirement: postgresInstalled,
  open: async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "static-" });
    const database = await openSharedDatabase((url) =>
      makeTables({ STATIC_DATA_DIR: dataDir, DATABASE_URL: url })
    );
    return database === undefined
      ? await onServerOfItsOwn(dataDir)
      : onDatabase(database.url, dataDir, database.close);
  },
  openEmpty: async () => await onServerOfItsOwn(await Deno.makeTempDir({ prefix: "static-" })),
};

async function onServerOfItsOwn(dataDir: string): Promise<OpenBackend> {
  const server = await startPostgres();
  return onDatabase(await server.createDatabase(), dataDir, server.close);
}

function onDatabase(url: string, dataDir: string, close: () => Promise<void>): OpenBackend {
  return {
    environment: { STATIC_DATA_DIR: dataDir, DATABASE_URL: url },
    sql: () => postgres(url, { max: 1, onnotice: () => {} }),
    close: async () => {
      await close();
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

/** As the first start of an API does. */
async function makeTables(environment: Readonly<Record<string, string>>): Promise<void> {
  const api = await createApi(readTestConfig(environment), { writeLog: () => {} });
  await api.close();
}

export const backends: readonly Backend[] = [embedded, realPostgres];

/**
 * For tests that are not about the database: the one that starts quicker, where it is installed.
 */
export const anyBackend: Backend = postgresInstalled.met ? realPostgres : embedded;

export const relaySecret = "relay-secret-for-tests-0123456789abcdef";

/** Light hashing and limits nobody reaches by accident; a test that is about them sets its own. */
export const testEnvironment: Record<string, string> = {
  STATIC_API_PORT: "0",
  STATIC_INTERNAL_PORT: "0",
  STATIC_ADMIN_PORT: "0",
  STATIC_RELAY_SECRET: relaySecret,
  STATIC_PASSWORD_ARGON2: "m=64,t=1,p=1",
  STATIC_RATE_SIGN_UP: "100000/60",
  STATIC_RATE_FAILURES: "100000/60",
  STATIC_RATE_ACCOUNT: "100000/60",
  STATIC_RATE_PASSWORDS: "100000/60",
  STATIC_RATE_MAIL: "100000/60",
};

/**
 * The API's configuration from these variables and those of every test. A test that says what a
 * password takes has all as it is.
 */
export function readTestConfig(environment: Readonly<Record<string, string>>): Config {
  const variables: Readonly<Record<string, string>> = { ...testEnvironment, ...environment };
  const config = readConfig((name) => variables[name]);
  if (environment["STATIC_PASSWORD_ARGON2"] !== undefined) return config;
  return {
    ...config,
    hashing: { ...config.hashing, keys: config.hashing.passwords, queueLimit: 2000 },
  };
}

export async function startTestApi(
  environment: Record<string, string>,
  hashing: Partial<Config["hashing"]> = {},
): Promise<TestApi> {
  const logs: string[] = [];
  const clock = { aheadMs: 0 };
  const config = readTestConfig(environment);
  const api = await startApi({ ...config, hashing: { ...config.hashing, ...hashing } }, {
    writeLog: (line) => logs.push(line),
    clock: () => Date.now() + clock.aheadMs,
    tracesUrl: environment[tracesVariable],
  });
  const call = createCall(api.url, { internalUrl: api.internalUrl });
  return {
    url: api.url,
    internalUrl: api.internalUrl,
    adminUrl: api.adminUrl ?? "",
    logs,
    relaySecret,
    clock,
    call,
    signUp: () => signUp(call),
    close: api.close,
  };
}

/** Paths for relays go to the internal address. */
export function createCall(
  url: string,
  { client, internalUrl = url }: { client?: Deno.HttpClient; internalUrl?: string } = {},
): TestApi["call"] {
  return async (method, path, { key, body, raw, headers = {} } = {}) => {
    const response = await fetch((path.startsWith("/internal/") ? internalUrl : url) + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body !== undefined
        ? { body: JSON.stringify(body) }
        : raw !== undefined
        ? { body: raw }
        : {}),
      ...(client === undefined ? {} : { client }),
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.startsWith("application/json") === true &&
      text !== "";
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  };
}

export async function signUp(call: TestApi["call"]): Promise<SignedUp> {
  const email = `user-${crypto.randomUUID()}@example.com`;
  const password = `password ${crypto.randomUUID()}`;
  const { status, json, text } = await call("POST", "/v1/accounts", { body: { email, password } });
  if (status !== 201) throw new Error(`sign-up failed: ${status} ${text}`);
  return { id: json.id, email, password, apiKey: json.api_key, keyId: json.key.id };
}

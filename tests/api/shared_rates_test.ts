/** Rates that stand in the database, as an edge has them. */
import { assert, assertEquals } from "@std/assert";
import { type Api, createApi } from "../../api/mod.ts";
import {
  type Answer,
  backends,
  readTestConfig,
  signUp,
  type TestApi,
} from "../support/api/harness.ts";
import { testWhen } from "../support/mod.ts";

/** Without sockets: every client has one address. */
function callOf({ app }: Api): TestApi["call"] {
  return async (method, path, { key, body } = {}): Promise<Answer> => {
    const request = new Request(`http://api.test${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const response = await app.fetch(request, "192.0.2.1");
    const text = await response.text();
    const { status, headers } = response;
    return { status, headers, text, json: text === "" ? undefined : JSON.parse(text) };
  };
}

for (const { name, requirement, open } of backends) {
  testWhen(
    requirement,
    `rates in the database are one for all, and name nobody: ${name}`,
    async () => {
      const backend = await open();
      await using opened = new AsyncDisposableStack();
      opened.defer(() => backend.close());
      const config = readTestConfig({
        ...backend.environment,
        STATIC_RATE_ACCOUNT: "5/3600",
        STATIC_RATE_PASSWORDS: "2/3600",
      });
      const apis: Api[] = [];
      // The embedded database is one process's.
      for (
        let count = 0;
        count < (backend.environment["DATABASE_URL"] === undefined ? 1 : 2);
        count++
      ) {
        const api = await createApi(config, { writeLog: () => {}, sharesRates: true });
        opened.defer(() => api.close());
        apis.push(api);
      }
      const calls = apis.map(callOf);
      const [call = callOf(apis[0] as Api)] = calls;
      const { apiKey, id, email } = await signUp(call);
      const answers: Answer[] = [];
      for (let count = 0; count < 8; count++) {
        answers.push(
          await (calls[count % calls.length] ?? call)("GET", "/v1/keys", { key: apiKey }),
        );
      }
      assertEquals(answers.map(({ status }) => status), [200, 200, 200, 200, 200, 429, 429, 429]);
      const waits = Number(answers.at(-1)?.headers.get("retry-after"));
      assert(waits > 600 && waits <= 720, `${waits} s until the next one of five an hour`);
      // A wrong password costs each of its budgets, at either.
      const wrong: number[] = [];
      for (let count = 0; count < 4; count++) {
        const body = { email, password: "not the password" };
        wrong.push(
          (await (calls[count % calls.length] ?? call)("POST", "/v1/session", { body })).status,
        );
      }
      assertEquals(wrong.slice(-2), [429, 429]);
      const sql = backend.sql();
      const rows = await sql<{ row: string }[]>`SELECT b::text AS row FROM rate_buckets b`;
      await sql.end();
      assert(rows.length > 3);
      const told = rows.map(({ row }) => row).join("\n");
      for (const secret of [id, email, "192.0.2.1", "user-"]) {
        assert(!told.includes(secret), secret);
      }
    },
  );
}

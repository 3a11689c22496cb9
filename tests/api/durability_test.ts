import { assert, assertEquals } from "@std/assert";
import {
  createRandom,
  eventually,
  postgresInstalled,
  seedFromEnvironment,
  startPostgres,
  testWhen,
} from "../support/mod.ts";
import { type Answer, startTestApi, type TestApi } from "../support/api/harness.ts";

const crashes = Deno.env.get("STATIC_STRESS") === "1" ? 40 : 3;
const writers = 8;

interface Attempt {
  readonly email: string;
  readonly answer: Answer;
}

/** Signs up without pause until told to stop; every answer is kept, also the refusals. */
async function keepSigningUp(api: TestApi, state: { stopped: boolean }, attempts: Attempt[]): Promise<void> {
  while (!state.stopped) {
    const email = `${crypto.randomUUID()}@example.com`;
    const answer = await api.call("POST", "/v1/accounts", { body: { email, password: "1234567 apples" } });
    attempts.push({ email, answer });
  }
}

testWhen(
  postgresInstalled,
  `${crashes} database crashes under load lose no acknowledged account and leave none half-made`,
  async () => {
    const random = createRandom(seedFromEnvironment());
    const server = await startPostgres();
    const dataDir = await Deno.makeTempDir({ prefix: "static-" });
    const api = await startTestApi({ STATIC_DATA_DIR: dataDir, DATABASE_URL: await server.createDatabase() });
    const attempts: Attempt[] = [];
    const state = { stopped: false };
    const writing = Promise.all(Array.from({ length: writers }, () => keepSigningUp(api, state, attempts)));
    try {
      for (let crash = 0; crash < crashes; crash++) {
        const before = attempts.length;
        const enough = before + 5 + random.below(40);
        await eventually(
          { withinMs: 20_000, what: "sign-ups" },
          () => Promise.resolve(attempts.length),
          (n) => n >= enough,
        );
        await server.kill();
        await server.start();
        await eventually(
          { withinMs: 10_000, what: "ready" },
          () => api.call("GET", "/ready"),
          ({ status }) => status === 200,
        );
      }
      state.stopped = true;
      await writing;
      const created = attempts.filter(({ answer }) => answer.status === 201);
      assert(created.length > 0 && attempts.length > created.length, `seed ${random.seed}: no crash hit a sign-up`);
      for (const { answer } of created) {
        assertEquals(
          (await api.call("POST", "/v1/tokens", { key: answer.json.api_key })).status,
          200,
          `seed ${random.seed}`,
        );
      }
      for (const { email, answer } of attempts) {
        if (answer.status === 201) {
          continue;
        }
        assertEquals(answer.status, 503, answer.text);
        const again = await api.call("POST", "/v1/accounts", { body: { email, password: "1234567 apples" } });
        assert(again.status === 201 || again.status === 409, again.text);
        const recovered = await api.call("POST", "/v1/accounts/keys", { body: { email, password: "1234567 apples" } });
        const { json } = await api.call("GET", "/v1/keys", { key: recovered.json.api_key });
        assertEquals(json.keys.length, 2, `seed ${random.seed}: one key from the sign-up, one from the recovery`);
      }
    } finally {
      state.stopped = true;
      await writing;
      await api.close();
      await server.close();
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

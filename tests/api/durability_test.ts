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
import { inCampaign, tried } from "../support/campaign.ts";
import { atLast } from "./contract/contract.ts";

const crashes = inCampaign ? 40 : 1;
const writers = 8;

interface Attempt {
  readonly email: string;
  readonly answer: Answer;
}

/** Signs up without pause until told to stop; every answer is kept, also the refusals. */
async function keepSigningUp(
  api: TestApi,
  state: { stopped: boolean },
  attempts: Attempt[],
): Promise<void> {
  while (!state.stopped) {
    const email = `${crypto.randomUUID()}@example.com`;
    const answer = await api.call("POST", "/v1/accounts", {
      body: { email, password: "1234567 apples" },
    });
    attempts.push({ email, answer });
  }
}

testWhen(
  postgresInstalled,
  `crashes of the database under load (${crashes}) lose no acknowledged account and leave none half-made`,
  async () => {
    const random = createRandom(seedFromEnvironment());
    const server = await startPostgres();
    const dataDir = await Deno.makeTempDir({ prefix: "static-" });
    const api = await startTestApi({
      STATIC_DATA_DIR: dataDir,
      DATABASE_URL: await server.createDatabase(),
    });
    const attempts: Attempt[] = [];
    const state = { stopped: false };
    const writing = Promise.all(
      Array.from({ length: writers }, () => keepSigningUp(api, state, attempts)),
    );
    try {
      for (let crash = 0; crash < crashes; crash++) {
        const before = attempts.length;
        const enough = before + 5 + random.below(40);
        await eventually(
          { what: "sign-ups" },
          () => Promise.resolve(attempts.length),
          (n) => n >= enough,
        );
        await server.kill();
        await eventually(
          { what: "a sign-up that meets the crash" },
          () => Promise.resolve(attempts.slice(before)),
          (since) => since.some(({ answer }) => answer.status !== 201),
        );
        await server.start();
        await eventually(
          { what: "ready" },
          () => api.call("GET", "/ready"),
          ({ status }) => status === 200,
        );
      }
      state.stopped = true;
      await writing;
      tried(`${crashes} database crashes under ${attempts.length} sign-ups`);
      const created = attempts.filter(({ answer }) => answer.status === 201);
      assert(
        created.length > 0 && attempts.length > created.length,
        `seed ${random.seed}: no crash hit a sign-up`,
      );
      for (const { answer } of created) {
        assertEquals(
          (await atLast(() => api.call("POST", "/v1/tokens", { key: answer.json.api_key }))).status,
          200,
          `seed ${random.seed}`,
        );
      }
      for (const { email, answer } of attempts) {
        if (answer.status === 201) {
          continue;
        }
        assertEquals(answer.status, 503, answer.text);
        const body = { email, password: "1234567 apples" };
        const again = await atLast(() => api.call("POST", "/v1/accounts", { body }));
        assert(again.status === 201 || again.status === 409, again.text);
        let recoveries = 0;
        const recovered = await atLast(() => {
          recoveries++;
          return api.call("POST", "/v1/accounts/keys", { body });
        });
        const { json } = await atLast(() =>
          api.call("GET", "/v1/keys", { key: recovered.json.api_key })
        );
        // One from the sign-up, one from the recovery. A recovery that was told `overloaded` may
        // have made one all the same.
        const keys: number = json.keys.length;
        assert(
          keys >= 2 && keys <= 1 + recoveries,
          `seed ${random.seed}: ${keys} keys after ${recoveries} recoveries`,
        );
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

import { assert, assertEquals } from "@std/assert";
import { inCampaign } from "../support/campaign.ts";
import { eventually, postgresInstalled, startPostgres, testWhen } from "../support/mod.ts";
import { assertRefused } from "./contract/contract.ts";
import { anyBackend, startTestApi } from "../support/api/harness.ts";

testWhen(
  postgresInstalled,
  "database down: 503 within 2 s, /health ok, /ready says why, and it recovers by itself",
  async (t) => {
    const server = await startPostgres();
    const dataDir = await Deno.makeTempDir({ prefix: "static-" });
    const api = await startTestApi({
      STATIC_DATA_DIR: dataDir,
      DATABASE_URL: await server.createDatabase(),
    });
    const { apiKey } = await api.signUp();
    const email = `${crypto.randomUUID()}@example.com`;

    const assertDown = async (reason: RegExp): Promise<void> => {
      const requests = [
        () => api.call("POST", "/v1/tokens", { key: apiKey }),
        () => api.call("GET", "/v1/keys", { key: apiKey }),
        () => api.call("POST", "/v1/accounts", { body: { email, password: "1234567 apples" } }),
        () => api.call("GET", "/ready"),
      ];
      const answers = await Promise.all(requests.map(async (request) => {
        const started = performance.now();
        const answer = await request();
        return { answer, ms: performance.now() - started };
      }));
      for (const { answer, ms } of answers) {
        assertRefused(answer, 503, "overloaded");
        if (inCampaign) assert(ms < 2000, `answered after ${ms} ms`);
      }
      const ready = answers.at(-1)?.answer.json;
      assertEquals(ready.details[0].field, "database");
      assert(reason.test(ready.details[0].problem), ready.details[0].problem);
      const { status, json } = await api.call("GET", "/health");
      assertEquals([status, json], [200, { status: "ok" }]);
    };
    /** One after the other, so that later ones wait behind questions that never get an answer. */
    const assertStaggeredDown = async (): Promise<void> => {
      const durations = await Promise.all(Array.from({ length: 12 }, async (_, i) => {
        // wait: arrivals spread over the first second, that is what is tested
        await new Promise((resolve) => setTimeout(resolve, i * 80));
        const started = performance.now();
        assertRefused(await api.call("POST", "/v1/tokens", { key: apiKey }), 503, "overloaded");
        return performance.now() - started;
      }));
      if (inCampaign) {
        assert(
          Math.max(...durations) < 2000,
          `answered after ${durations.map(Math.round).join(", ")} ms`,
        );
      }
    };
    const assertRecovers = async (): Promise<void> => {
      await eventually(
        { what: "ready" },
        () => api.call("GET", "/ready"),
        ({ status }) => status === 200,
      );
      assertEquals((await api.call("POST", "/v1/tokens", { key: apiKey })).status, 200);
    };

    try {
      await t.step("killed and started again", async () => {
        await server.kill();
        await assertDown(/ECONNREFUSED|CONNECTION|CONNECT_TIMEOUT|no answer/);
        await server.start();
        await assertRecovers();
      });
      await t.step("frozen: connections open, nothing answers", async () => {
        await server.freeze();
        await assertDown(/no answer|CONNECT_TIMEOUT/);
        const staggered = assertStaggeredDown();
        const emails = Array.from({ length: 40 }, () => `${crypto.randomUUID()}@example.com`);
        const answers = await Promise.all(
          emails.map((email) =>
            api.call("POST", "/v1/accounts", { body: { email, password: "1234567 apples" } })
          ),
        );
        for (const answer of answers) assertRefused(answer, 503, "overloaded");
        await staggered;
        await server.thaw();
        await assertRecovers();
        // Requests on one of the ten connections may have taken effect; requests that still waited
        // for one must never.
        const ghosts = await Promise.all(
          emails.map((email) =>
            api.call("POST", "/v1/accounts/keys", { body: { email, password: "1234567 apples" } })
          ),
        );
        const done = ghosts.filter(({ status }) => status === 200).length;
        assert(done <= 10, `${done} sign-ups ran after their callers were told that they failed`);
      });
      await t.step(
        "no half-made account: the address has an account with its key, or none",
        async () => {
          const retried = await api.call("POST", "/v1/accounts", {
            body: { email, password: "1234567 apples" },
          });
          assert(retried.status === 201 || retried.status === 409, retried.text);
          const recovered = await api.call("POST", "/v1/accounts/keys", {
            body: { email, password: "1234567 apples" },
          });
          assertEquals(recovered.status, 200);
          const keys = await api.call("GET", "/v1/keys", { key: recovered.json.api_key });
          assertEquals(
            keys.json.keys.map(({ name }: { name: string }) => name),
            ["default", "default"],
          );
        },
      );
    } finally {
      await api.close();
      await server.close();
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

Deno.test("an Argon2 flood is refused with 503 and Retry-After, memory stays bounded, other requests stay quick", async () => {
  const backend = await anyBackend.open();
  const environment = {
    ...backend.environment,
    STATIC_PASSWORD_ARGON2: "m=19456,t=2,p=1",
    STATIC_HASH_WORKERS: "1",
  };
  const api = await startTestApi(environment, { queueLimit: 4 });
  try {
    const { apiKey } = await api.signUp();
    await api.call("POST", "/v1/tokens", { key: apiKey });
    const before = Deno.memoryUsage().rss;
    const state = { flooding: true };
    const flood = Promise.all(
      Array.from(
        { length: 200 },
        (_, i) =>
          api.call("POST", "/v1/accounts", {
            body: { email: `flood-${i}@example.com`, password: "1234567 apples" },
          }),
      ),
    ).finally(() => state.flooding = false);
    const durations: number[] = [];
    while (state.flooding) {
      const started = performance.now();
      assertEquals((await api.call("GET", "/v1/usage", { key: apiKey })).status, 200);
      durations.push(performance.now() - started);
    }
    const answers = await flood;
    const created = answers.filter(({ status }) => status === 201);
    assert(created.length >= 1 && created.length <= 50, `${created.length} created`);
    for (const answer of answers) {
      if (answer.status !== 201) assertRefused(answer, 503, "overloaded");
    }
    const median = durations.sort((a, b) => a - b)[durations.length >> 1] ?? Infinity;
    if (inCampaign) {
      assert(
        median < 100,
        `median of ${durations.length} warm requests during the flood: ${median} ms`,
      );
    }
    const grownMiB = (Deno.memoryUsage().rss - before) / 2 ** 20;
    assert(grownMiB < 200, `memory grew by ${grownMiB} MiB`);
    assertEquals(
      (await api.call("POST", "/v1/accounts/keys", {
        body: { email: created[0]?.json.email, password: "1234567 apples" },
      })).status,
      200,
    );
  } finally {
    await api.close();
    await backend.close();
  }
});

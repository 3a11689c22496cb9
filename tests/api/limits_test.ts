import { assert, assertEquals, assertMatch } from "@std/assert";
import { encodeApiKey } from "../../proto/mod.ts";
import { assertRefused } from "./contract/contract.ts";
import { newAgentId } from "./extended/badges.ts";
import { type Answer, anyBackend, signUp, startTestApi } from "../support/api/harness.ts";
import { codeForm, codeTo, mailTo } from "../support/api/mailbox.ts";

const unknownKey = encodeApiKey({
  environment: "live",
  lookup: "00000000",
  secret: "0".repeat(32),
});

function assertLimited(answer: Answer): void {
  assertRefused(answer, 429, "rate_limited");
  assert(Number(answer.headers.get("retry-after")) >= 1);
  assertMatch(answer.headers.get("ratelimit") ?? "", /^"[a-z-]+";r=0;t=\d+$/);
}

Deno.test("rate limits: per address for sign-up and failures, per account otherwise, addresses only from trusted proxies", async (t) => {
  const backend = await anyBackend.open();
  const api = await startTestApi({
    ...backend.environment,
    STATIC_TRUSTED_PROXIES: "127.0.0.1, 10.0.0.0/8",
    STATIC_RATE_SIGN_UP: "3/3600",
    STATIC_RATE_FAILURES: "5/60",
    STATIC_RATE_ACCOUNT: "10/60",
    STATIC_RATE_PASSWORDS: "2/60",
    STATIC_RATE_MAIL: "5/3600",
  });
  // The second header is a client's own words, which proxies pass on.
  const from = (address: string): { headers: Record<string, string> } => ({
    headers: { "x-forwarded-for": address, forwarded: "for=198.51.100.200" },
  });
  const signUpFrom = (address: string): Promise<Answer> =>
    api.call("POST", "/v1/accounts", {
      body: { email: `${crypto.randomUUID()}@example.com`, password: "1234567 apples" },
      ...from(address),
    });
  try {
    await t.step(
      "sign-ups of one address are limited, those of another are not, and time heals",
      async () => {
        for (let i = 0; i < 3; i++) assertEquals((await signUpFrom("192.0.2.1")).status, 201);
        assertLimited(await signUpFrom("192.0.2.1"));
        assertEquals((await signUpFrom("192.0.2.2")).status, 201);
        api.clock.aheadMs += 1_200_000;
        assertEquals((await signUpFrom("192.0.2.1")).status, 201);
        assertLimited(await signUpFrom("192.0.2.1"));
      },
    );

    await t.step(
      "a client cannot choose its address: what stands left of the nearest untrusted hop is ignored",
      async () => {
        for (let i = 0; i < 3; i++) {
          assertEquals((await signUpFrom(`203.0.113.${i}, 192.0.2.9, 10.1.2.3`)).status, 201);
        }
        assertLimited(await signUpFrom("203.0.113.77, 192.0.2.9, 10.1.2.3"));
      },
    );

    await t.step("an IPv6 client is its /64", async () => {
      for (let i = 1; i <= 3; i++) {
        assertEquals((await signUpFrom(`2001:db8:0:7::${i}`)).status, 201);
      }
      assertLimited(await signUpFrom("2001:db8:0:7:ffff::1"));
      assertEquals((await signUpFrom("2001:db8:0:8::1")).status, 201);
    });

    await t.step(
      "failed authentication is limited per address; a verified key goes on working from there",
      async () => {
        const { apiKey } = await signUp(api.call);
        assertEquals(
          (await api.call("GET", "/v1/usage", { key: apiKey, ...from("192.0.2.20") })).status,
          200,
        );
        const fail = (): Promise<Answer> =>
          api.call("GET", "/v1/usage", { key: unknownKey, ...from("192.0.2.20") });
        const answers = await Promise.all(Array.from({ length: 12 }, fail));
        assertEquals(answers.filter(({ status }) => status === 401).length, 5);
        for (const answer of answers) if (answer.status !== 401) assertLimited(answer);
        assertEquals(
          (await api.call("GET", "/v1/usage", { key: apiKey, ...from("192.0.2.20") })).status,
          200,
        );
        assertEquals(
          (await api.call("GET", "/v1/usage", { key: unknownKey, ...from("192.0.2.21") })).status,
          401,
        );
      },
    );

    await t.step(
      "badges are counted apart from what people change, and have their own limit",
      async () => {
        api.clock.aheadMs += 4_000_000;
        const { apiKey } = await signUp(api.call);
        const badge = (): Promise<Answer> =>
          api.call("POST", "/v1/badges", { key: apiKey, body: { agent_id: newAgentId() } });
        const key = (): Promise<Answer> => api.call("POST", "/v1/keys", { key: apiKey });
        for (let i = 0; i < 10; i++) assertEquals((await badge()).status, 200);
        api.clock.aheadMs += 60_000;
        assertLimited(await badge());
        assertEquals((await key()).status, 200);
        for (let i = 0; i < 8; i++) await key();
        api.clock.aheadMs += 60_000;
        await key();
        assertLimited(await key());
        api.clock.aheadMs += 360_000;
        assertEquals((await badge()).status, 200);
      },
    );

    await t.step(
      "password guesses for one account are limited whoever guesses; the right password costs nothing",
      async () => {
        api.clock.aheadMs += 4_000_000;
        const { email, password } = await signUp(api.call);
        const attempt = (password: string, host: number): Promise<Answer> =>
          api.call("POST", "/v1/accounts/keys", {
            body: { email, password },
            ...from(`198.51.100.${host}`),
          });
        for (let i = 0; i < 4; i++) assertEquals((await attempt(password, 50)).status, 200);
        assertEquals((await attempt("wrong password", 1)).status, 401);
        assertEquals((await attempt("wrong password", 2)).status, 401);
        assertLimited(await attempt("wrong password", 3));
        assertLimited(await attempt(password, 4));
        api.clock.aheadMs += 60_000;
        assertEquals((await attempt(password, 5)).status, 200);
      },
    );

    await t.step(
      "guesses of a code are limited for each client, and keep nobody else from using theirs",
      async () => {
        api.clock.aheadMs += 4_000_000;
        const { email } = await signUp(api.call);
        assertEquals(
          (await api.call("POST", "/v1/accounts/claim", { body: { email } })).status,
          204,
        );
        const confirm = (code: string, address: string): Promise<Answer> => {
          const body = { email, code, password: "1234567 apples" };
          return api.call("POST", "/v1/accounts/claim/confirm", { body, ...from(address) });
        };
        const code = await codeTo(backend, email, 2);
        for (let host = 1; host <= 4; host++) {
          for (let i = 0; i < 5; i++) {
            assertRefused(
              await confirm("0000-0000-0000", `203.0.113.${host}`),
              400,
              "code_invalid",
            );
          }
          assertLimited(await confirm("0000-0000-0000", `203.0.113.${host}`));
        }
        assertEquals((await confirm(code, "203.0.113.99")).status, 201);
      },
    );

    await t.step("a key that strangers have spends nothing of its owner's requests", async () => {
      api.clock.aheadMs += 4_000_000;
      const { apiKey } = await signUp(api.call);
      const channels = [{ pattern: "acme/ops/*", allow: ["send"] }];
      const { json } = await api.call("POST", "/v1/keys", {
        key: apiKey,
        body: { kind: "publishable", channels },
      });
      const visit = async (host: number): Promise<number> =>
        (await api.call("POST", "/v1/tokens", { key: json.key, ...from(`198.51.100.${host}`) }))
          .status;
      const statuses: number[] = [];
      for (let i = 0; i < 12; i++) statuses.push(await visit(1));
      assertEquals(new Set(statuses), new Set([200, 429]));
      // Nor of what other visitors have, until all of them have used it up.
      assertEquals(await visit(2), 200);
      const others: number[] = [];
      for (let host = 3; host <= 20; host++) others.push(await visit(host));
      assert(others.includes(429));
      assertEquals((await api.call("GET", "/v1/usage", { key: apiKey })).status, 200);
    });

    await t.step(
      "a stranger who asks for claims of an address does not keep its owner from a reset",
      async () => {
        api.clock.aheadMs += 4_000_000;
        const { email, apiKey } = await signUp(api.call);
        const verify = { code: await codeTo(backend, email, 1) };
        const path = "/v1/account/verification/confirm";
        assertEquals((await api.call("POST", path, { key: apiKey, body: verify })).status, 200);
        const ask = (what: string, host: number): Promise<Answer> =>
          api.call("POST", `/v1/accounts/${what}`, {
            body: { email },
            ...from(`203.0.113.${host}`),
          });
        let asked = 0;
        while ((await ask("claim", 100 + asked)).status === 204) asked++;
        assert(asked > 0 && asked < 100);
        assertEquals((await ask("reset", 99)).status, 202);
        assert(codeForm.test((await mailTo(backend, email, 2 + asked)).at(-1) ?? ""));
      },
    );

    await t.step(
      "what stays in the audit for ever is limited for each account; reading and tokens go on",
      async () => {
        api.clock.aheadMs += 4_000_000;
        const { email, password, apiKey } = await signUp(api.call);
        const logIn = (): Promise<Answer> =>
          api.call("POST", "/v1/session", { body: { email, password } });
        for (let i = 0; i < 5; i++) {
          assertEquals((await api.call("POST", "/v1/keys", { key: apiKey })).status, 200);
          assertEquals((await logIn()).status, 200);
        }
        assertLimited(await logIn());
        assertLimited(await api.call("POST", "/v1/keys", { key: apiKey }));
        assertEquals((await api.call("GET", "/v1/keys", { key: apiKey })).status, 200);
        assertEquals((await api.call("POST", "/v1/tokens", { key: apiKey })).status, 200);
      },
    );

    await t.step(
      "an account is limited over all its keys and addresses; others are not",
      async () => {
        api.clock.aheadMs += 4_000_000;
        const [mine, other] = [await signUp(api.call), await signUp(api.call)];
        const { json: second } = await api.call("POST", "/v1/keys", { key: mine.apiKey });
        for (let i = 0; i < 9; i++) {
          const key = i % 2 === 0 ? mine.apiKey : second.key;
          assertEquals(
            (await api.call("GET", "/v1/usage", { key, ...from(`198.51.100.${i}`) })).status,
            200,
          );
        }
        assertLimited(await api.call("GET", "/v1/usage", { key: second.key }));
        assertEquals((await api.call("GET", "/v1/usage", { key: other.apiKey })).status, 200);
      },
    );
  } finally {
    await api.close();
    await backend.close();
  }
});

Deno.test("with STATIC_TRUSTED_HEADER=Forwarded an address in X-Forwarded-For is a client's own words", async () => {
  const backend = await anyBackend.open();
  const api = await startTestApi({
    ...backend.environment,
    STATIC_TRUSTED_PROXIES: "127.0.0.1",
    STATIC_TRUSTED_HEADER: "Forwarded",
    STATIC_RATE_FAILURES: "3/60",
  });
  const fail = (address: string, claimed: string): Promise<Answer> =>
    api.call("GET", "/v1/usage", {
      key: unknownKey,
      headers: { forwarded: `for="${address}:50123";proto=https`, "x-forwarded-for": claimed },
    });
  try {
    for (let i = 0; i < 3; i++) {
      assertEquals((await fail("192.0.2.1", `198.51.100.${i}`)).status, 401);
    }
    assertLimited(await fail("192.0.2.1", "198.51.100.77"));
    assertEquals((await fail("192.0.2.2", "192.0.2.1")).status, 401);
  } finally {
    await api.close();
    await backend.close();
  }
});

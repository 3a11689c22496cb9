/** Badges of the service: of whom it says what, who may ask, and what is kept of it. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import {
  accountOf,
  type AgentId,
  type Badge,
  encodeBase64url,
  isAgentId,
  type IssuerDocument,
  mailDomainOf,
  parseBadges,
  parseIssuerDocument,
  verifyBadge,
} from "../../../proto/mod.ts";
import { type Answer, type OpenBackend, type TestApi } from "../../support/api/harness.ts";
import { codeTo } from "../../support/api/mailbox.ts";
import {
  assertFields,
  assertRefused,
  atLast,
  type Guarantees,
  isoTimestamp,
} from "../contract/contract.ts";

const dayMs = 86_400_000;
const daySeconds = 86_400;

export function newAgentId(): AgentId {
  const id = encodeBase64url(crypto.getRandomValues(new Uint8Array(32))).slice(0, 22);
  assert(isAgentId(id));
  return id;
}

function ask(api: TestApi, key: string, agentId: string, body: object = {}): Promise<Answer> {
  return api.call("POST", "/v1/badges", { key, body: { agent_id: agentId, ...body } });
}

export async function issuerOf(api: TestApi): Promise<IssuerDocument> {
  const { text } = await api.call("GET", "/.well-known/static-agents");
  return parseIssuerDocument(text, "static.localhost");
}

/** The badge of an answer, which is right by the document of the moment. */
export async function badgeOf(api: TestApi, { status, json, text }: Answer): Promise<Badge> {
  assertEquals(status, 200, text);
  const [badge, more] = parseBadges(json.badge);
  assert(badge !== undefined && more === undefined);
  assert(verifyBadge(badge));
  const { domain, keys } = await issuerOf(api);
  assertEquals(badge.domain, domain);
  assert(keys.some(({ key }) => encodeBase64url(key) === encodeBase64url(badge.issuerKey)));
  return badge;
}

async function listed(api: TestApi, key: string): Promise<Record<string, unknown>[]> {
  const { status, json, text } = await api.call("GET", "/v1/badges", { key });
  assertEquals(status, 200, text);
  assertFields(json, ["agents", "complete"]);
  assertEquals(json.complete, json.agents.length < 1_000);
  return json.agents;
}

async function issuedEvents(api: TestApi, key: string): Promise<Record<string, unknown>[]> {
  const { json } = await api.call("GET", "/v1/account/events", { key });
  return json.events.filter(({ event }: { event: string }) => event === "badge.issued");
}

/** Time goes on for one check; the API is shared with others. */
async function later<T>(api: TestApi, ms: number, work: () => Promise<T>): Promise<T> {
  api.clock.aheadMs += ms;
  try {
    return await work();
  } finally {
    api.clock.aheadMs -= ms;
  }
}

async function onDatabase(
  backend: OpenBackend,
  work: (sql: ReturnType<OpenBackend["sql"]>) => Promise<unknown>,
): Promise<void> {
  const sql = backend.sql();
  try {
    await work(sql);
  } finally {
    await sql.end();
  }
}

export const badgeGuarantees: Guarantees = {
  "An agent gets a badge of its key's account for 30 days, which the service's document verifies":
    async ({ api }) => {
      const { apiKey, id, keyId } = await api.signUp();
      const agentId = newAgentId();
      const answer = await ask(api, apiKey, agentId);
      const badge = await badgeOf(api, answer);
      const fields = ["badge", "agent_id", "domain", "name", "mail_domain", "issued_at"];
      assertFields(answer.json, [...fields, "expires_at"]);
      assertEquals(
        [badge.agentId, badge.name, accountOf(badge), mailDomainOf(badge)],
        [agentId, "account", id, undefined],
      );
      const issuedSeconds = Math.floor(Date.parse(answer.json.issued_at) / 1000);
      assertEquals(badge.notAfter, Date.parse(answer.json.expires_at) / 1000);
      assertEquals(badge.notAfter - issuedSeconds, 30 * daySeconds);
      assertEquals(issuedSeconds - badge.notBefore, 3_600, "for clocks that are behind");
      assertEquals(await listed(api, apiKey), [{
        agent_id: agentId,
        mail_domain: null,
        issued_at: answer.json.issued_at,
        expires_at: answer.json.expires_at,
        key_id: keyId,
      }]);
      assertMatch(answer.json.issued_at, isoTimestamp);
      const [event, more] = await issuedEvents(api, apiKey);
      const details = { agent_id: agentId, expires_at: answer.json.expires_at };
      assertEquals([event?.actor, event?.details, more], [`key:${keyId}`, details, undefined]);
    },

  "The issuer's document is for readers of any origin, and has no private part": async (
    { api },
  ) => {
    const headers = { origin: "https://elsewhere.example" };
    const { status, headers: got, text, json } = await api.call(
      "GET",
      "/.well-known/static-agents",
      { headers },
    );
    assertEquals([status, got.get("access-control-allow-origin")], [200, "*"]);
    assertEquals(got.get("cache-control"), "public, max-age=3600");
    assertFields(json, ["static_agents", "domain", "keys", "closed"]);
    for (const key of json.keys) assertFields(key, ["kty", "crv", "kid", "use", "x"]);
    assert(text.length < 16 * 1024);
    const jwks: { keys: { x: string }[] } = (await api.call("GET", "/.well-known/jwks.json")).json;
    assert(jwks.keys.every(({ x }) => !text.includes(x)), "token keys sign no badges");
  },

  "Asked again within a day the agent has the same badge, and the audit no second row; then a new one":
    async ({ api }) => {
      const { apiKey } = await api.signUp();
      const agentId = newAgentId();
      const first = await ask(api, apiKey, agentId);
      assertEquals((await ask(api, apiKey, agentId)).json, first.json);
      // A request that came before the first one and is served after it.
      await later(api, -5_000, async () => {
        assertEquals((await ask(api, apiKey, agentId)).json, first.json);
      });
      await later(api, dayMs - 60_000, async () => {
        assertEquals((await ask(api, apiKey, agentId)).json, first.json);
      });
      await later(api, dayMs + 60_000, async () => {
        const { json } = await ask(api, apiKey, agentId);
        assert(json.badge !== first.json.badge && json.expires_at > first.json.expires_at);
        const agents = await listed(api, apiKey);
        assertEquals(agents.map(({ issued_at }) => issued_at), [json.issued_at]);
        assertEquals((await issuedEvents(api, apiKey)).length, 2);
      });
      await later(api, 32 * dayMs, async () => assertEquals(await listed(api, apiKey), []));
    },

  "The domain of the address is named if it is wished and the address is proved, and only then":
    async ({ api, backend }) => {
      const { apiKey, email } = await api.signUp();
      const agentId = newAgentId();
      const mailOf = async (wish: object): Promise<string | undefined> => {
        const answer = await ask(api, apiKey, agentId, wish);
        const mailDomain = mailDomainOf(await badgeOf(api, answer));
        assertEquals(answer.json.mail_domain, mailDomain ?? null);
        return mailDomain;
      };
      assertEquals(await mailOf({ mail_domain: true }), undefined);
      await api.call("POST", "/v1/account/verification", { key: apiKey });
      const code = await codeTo(backend, email, 2);
      const confirmed = await api.call("POST", "/v1/account/verification/confirm", {
        key: apiKey,
        body: { code },
      });
      assertEquals(confirmed.status, 200, confirmed.text);
      assertEquals(await mailOf({}), undefined);
      assertEquals(await mailOf({ mail_domain: true }), "example.com");
      assertEquals(await mailOf({ mail_domain: true }), "example.com");
      assertEquals(await mailOf({}), undefined, "the account has thought better of it");
      assertEquals((await issuedEvents(api, apiKey)).length, 3);
      // An address whose domain no badge can name is no reason to have none.
      for (const [host, named] of [["ÜBER.example", "xn--ber-goa.example"], ["[10.0.0.1]", null]]) {
        await onDatabase(
          backend,
          (sql) => sql`UPDATE accounts SET email = ${`a@${host}`} WHERE email = ${email}`,
        );
        assertEquals(await mailOf({ mail_domain: true }), named ?? undefined);
        await onDatabase(
          backend,
          (sql) => sql`UPDATE accounts SET email = ${email} WHERE email = ${`a@${host}`}`,
        );
      }
    },

  "Every account says what it likes of an agent, for itself; none sees the agents of another":
    async ({ api }) => {
      const [one, other] = [await api.signUp(), await api.signUp()];
      const agentId = newAgentId();
      const badges = await Promise.all(
        [one, other].map(async ({ apiKey }) => await badgeOf(api, await ask(api, apiKey, agentId))),
      );
      assertEquals(badges.map(accountOf).map(String), [one.id, other.id]);
      await ask(api, other.apiKey, newAgentId());
      assertEquals((await listed(api, one.apiKey)).map(({ agent_id }) => agent_id), [agentId]);
    },

  "Keys that others may have, keys without the scope and keys that have ended get no badge": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    const make = async (body: object): Promise<{ id: string; key: string }> =>
      (await api.call("POST", "/v1/keys", { key: apiKey, body })).json;
    const channels = [{ pattern: "acme/ops/*", allow: ["send", "receive"] }];
    const guest = {
      kind: "guest",
      channel_id: "AAAAAAAAAAAAAAAAAAAAAA",
      expires_at: new Date(Date.now() + 3_600_000).toISOString(),
      message_limit: 5,
    };
    for (const body of [{ kind: "publishable", channels }, guest, { scopes: ["tokens"] }]) {
      const { key } = await make(body);
      const answer = await ask(api, key, newAgentId());
      assertRefused(answer, 403, "not_allowed");
      assertStringIncludes(answer.text, "lacks the scope badges");
      assertRefused(await api.call("GET", "/v1/badges", { key }), 403, "not_allowed");
    }
    const refused = await api.call("POST", "/v1/keys", {
      key: apiKey,
      body: { kind: "publishable", channels, scopes: ["badges"] },
    });
    assertRefused(refused, 400, "invalid_request");
    const { id, key } = await make({ scopes: ["badges"] });
    await badgeOf(api, await ask(api, key, newAgentId()));
    assertRefused(await api.call("POST", "/v1/tokens", { key }), 403, "not_allowed");
    await api.call("DELETE", `/v1/keys/${id}`, { key: apiKey });
    assertRefused(await ask(api, key, newAgentId()), 401, "auth_key_invalid");
    assertRefused(
      await api.call("POST", "/v1/badges", { body: { agent_id: newAgentId() } }),
      401,
      "auth_failed",
    );
    const events = await issuedEvents(api, apiKey);
    assertEquals(events.map(({ actor }) => actor), [`key:${id}`], "refusals leave no trace");
    const [agent] = await listed(api, apiKey);
    assertEquals(agent?.key_id, id, "the badge lives on, and says by which key it came");
  },

  "An agent id of another form and fields that are none are refused": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const good = newAgentId();
    for (
      const body of [
        {},
        { agent_id: 7 },
        { agent_id: "" },
        { agent_id: good.slice(1) },
        { agent_id: `${good}A` },
        { agent_id: `${good.slice(1)}.` },
        { agent_id: `${good.slice(1)}\0` },
        { agent_id: good, mail_domain: "acme.com" },
        { agent_id: good, domain: "acme.com" },
        { agent_id: good, name: "ceo" },
      ]
    ) {
      const answer = await api.call("POST", "/v1/badges", { key: apiKey, body });
      assertRefused(answer, 400, "invalid_request");
    }
    assertEquals(await listed(api, apiKey), []);
  },

  "The list has the thousand agents with the latest badges, and no flood keeps an agent from its own":
    async ({ api, backend }) => {
      const { apiKey, id } = await api.signUp();
      const oldest = newAgentId();
      assertEquals((await ask(api, apiKey, oldest)).status, 200);
      await onDatabase(backend, async (sql) => {
        await sql`UPDATE badges SET issued_at = now() - interval '3 days' WHERE account_id = ${id}`;
        await sql`
          INSERT INTO badges (account_id, agent_id, badge, issued_at, expires_at)
          SELECT ${id}, lpad(n::text, 22, '0'), '\\x00', now() - interval '2 days', now() + interval '1 day'
          FROM generate_series(1, 998) n`;
      });
      const [first, second] = [newAgentId(), newAgentId()];
      const agents = async (): Promise<unknown[]> =>
        (await listed(api, apiKey)).map(({ agent_id }) => agent_id);
      await badgeOf(api, await ask(api, apiKey, first));
      assert((await agents()).length === 1_000 && (await agents()).at(-1) === oldest);
      await badgeOf(api, await ask(api, apiKey, second));
      const now = await agents();
      assertEquals([now.length, now.includes(oldest), now.includes(first)], [1_000, false, true]);
      await badgeOf(api, await ask(api, apiKey, oldest));
      assertEquals([(await agents()).length, (await agents())[0]], [1_000, oldest]);
    },

  "A suspended account gets no badges; of a deleted one none is left": async ({ api, backend }) => {
    const { apiKey, id, password } = await api.signUp();
    await ask(api, apiKey, newAgentId());
    const suspend = (at: Date | null): Promise<void> =>
      onDatabase(backend, (sql) => sql`UPDATE accounts SET suspended_at = ${at} WHERE id = ${id}`);
    await suspend(new Date());
    assertRefused(await ask(api, apiKey, newAgentId()), 403, "account_suspended");
    await suspend(null);
    const gone = await api.call("DELETE", "/v1/account", { key: apiKey, body: { password } });
    assertEquals(gone.status, 204, gone.text);
    assertRefused(await ask(api, apiKey, newAgentId()), 401, "auth_key_invalid");
    await onDatabase(backend, async (sql) => {
      const rows = await sql`SELECT 1 FROM badges WHERE account_id = ${id}`;
      assertEquals(rows.length, 0);
    });
  },
};

/** The database decides between requests at the same time. */
export const badgeRaces: Guarantees = {
  "An agent that asks many times at once gets one badge, with one row of the audit": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    const agentId = newAgentId();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => atLast(() => ask(api, apiKey, agentId))),
    );
    assertEquals(new Set(answers.map(({ text }) => text)).size, 1, answers[0]?.text);
    assertEquals((await issuedEvents(api, apiKey)).length, 1);
  },

  "However many ask at once, the list of an account has no more agents than it may": async (
    { api, backend },
  ) => {
    const { apiKey, id } = await api.signUp();
    await onDatabase(
      backend,
      (sql) =>
        sql`
        INSERT INTO badges (account_id, agent_id, badge, issued_at, expires_at)
        SELECT ${id}, lpad(n::text, 22, '0'), '\\x00', now(), now() + interval '1 day'
        FROM generate_series(1, 995) n`,
    );
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => atLast(() => ask(api, apiKey, newAgentId()))),
    );
    assertEquals(answers.filter(({ status }) => status !== 200).map(({ text }) => text), []);
    assertEquals((await listed(api, apiKey)).length, 1_000);
  },
};

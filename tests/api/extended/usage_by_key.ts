/**
 * Leases under keys with limits of their own, and usage by day and key: exact, whatever runs at
 * once.
 */
import { assert, assertEquals } from "@std/assert";
import {
  type Answer,
  relaySecret,
  type SignedUp,
  type TestApi,
} from "../../support/api/harness.ts";
import { assertRefused, type Guarantees } from "../contract/contract.ts";

const bytes = { payload: 100, padding: 20, cover: 3 };
const dayMs = 24 * 3_600_000;

interface Lease {
  readonly id: string;
  readonly fence: number;
  readonly granted: number;
}

function take(api: TestApi, { id }: SignedUp, messages: number, key_id?: string): Promise<Answer> {
  const body = {
    nonce: crypto.randomUUID(),
    relay_id: "relay-1",
    account_id: id,
    messages,
    ...(key_id && { key_id }),
  };
  return api.call("POST", "/internal/v1/leases", { key: relaySecret, body });
}

async function report(api: TestApi, lease: Lease, consumed: number, close = true): Promise<void> {
  const body = {
    relay_id: "relay-1",
    reports: [{ lease_id: lease.id, fence: lease.fence, consumed, bytes, close }],
  };
  const { json } = await api.call("POST", "/internal/v1/leases/reports", {
    key: relaySecret,
    body,
  });
  assertEquals(json.results[0].outcome, "accepted");
}

async function limitedKey(
  api: TestApi,
  { apiKey }: SignedUp,
  message_limit: number,
): Promise<{ id: string; key: string }> {
  return (await api.call("POST", "/v1/keys", { key: apiKey, body: { message_limit } })).json;
}

const today = (api: TestApi): string =>
  new Date(Date.now() + api.clock.aheadMs).toISOString().slice(0, 10);

export const usageByKeyGuarantees: Guarantees = {
  "A lease tells how much is claimed of the limit that is nearer": async ({ api }) => {
    const account = await api.signUp();
    const { id } = await limitedKey(api, account, 50);
    assertEquals((await take(api, account, 10, id)).json.usage, { claimed: 10, limit: 50 });
    assertEquals((await take(api, account, 10)).json.usage, { claimed: 20, limit: 10_000 });
  },

  "Leases under another account's key, or none, are refused": async ({ api }) => {
    const [account, other] = [await api.signUp(), await api.signUp()];
    const { id } = await limitedKey(api, other, 50);
    assertRefused(await take(api, account, 1, id), 404, "not_found");
    assertRefused(await take(api, account, 1, crypto.randomUUID()), 404, "not_found");
    assertRefused(await take(api, account, 1, "x"), 400, "invalid_request");
  },

  "Usage by day and key adds up to the month exactly, also with leases that nobody closed": async (
    { api },
  ) => {
    const account = await api.signUp();
    const { id } = await limitedKey(api, account, 500);
    await report(api, (await take(api, account, 100)).json.lease, 30);
    await report(api, (await take(api, account, 100, id)).json.lease, 12);
    await report(api, (await take(api, account, 100, id)).json.lease, 5, false);
    const day = today(api);
    const read = async (
      from = day,
      to = day,
    ): Promise<{ messages: { used: number }; days: { messages: number }[] }> =>
      (await api.call("GET", `/v1/usage?from=${from}&to=${to}`, { key: account.apiKey })).json;
    const { days, messages: { used } } = await read();
    const expected = [
      { day, key_id: null, messages: 30, bytes },
      { day, key_id: id, messages: 17, bytes: { payload: 200, padding: 40, cover: 6 } },
    ];
    assertEquals(days, expected);
    assertEquals(used, 47);
    api.clock.aheadMs += 600_000;
    try {
      const later = await read();
      assertEquals(later.messages.used, 47 + 95);
      assertEquals(later.days.reduce((sum, each) => sum + each.messages, 0), 47 + 95);
    } finally {
      api.clock.aheadMs -= 600_000;
    }
    const before = new Date(Date.parse(day) - dayMs).toISOString().slice(0, 10);
    assertEquals((await read(before, before)).days, []);
  },

  "Days that are none, or too many, are refused": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const wrong = [
      "from=2026-11-01",
      "to=2026-11-01",
      "from=x&to=y",
      "from=2026-11-02&to=2026-11-01",
    ];
    for (
      const query of [...wrong, "from=2020-01-01&to=2026-11-01", "from=2026-02-30&to=2026-03-01"]
    ) {
      assertRefused(
        await api.call("GET", `/v1/usage?${query}`, { key: apiKey }),
        400,
        "invalid_request",
      );
    }
  },

  "From 80 % of a limit on, every answer to a key says so": async ({ api }) => {
    const account = await api.signUp();
    const { id, key } = await limitedKey(api, account, 10);
    const header = async (apiKey: string): Promise<string | null> =>
      (await api.call("POST", "/v1/tokens", { key: apiKey })).headers.get("static-usage");
    await take(api, account, 7, id);
    assertEquals([await header(key), await header(account.apiKey)], [null, null]);
    await take(api, account, 1, id);
    assertEquals([await header(key), await header(account.apiKey)], ["8/10", null]);
    await take(api, account, 8_000);
    assertEquals(await header(account.apiKey), "8008/10000");
    assert(
      (await api.call("GET", "/v1/keys", { key: account.apiKey })).headers.has("static-usage"),
    );
    // The account's numbers are for those who may read its usage.
    const made = async (body: object): Promise<string> =>
      (await api.call("POST", "/v1/keys", { key: account.apiKey, body })).json.key;
    const channels = [{ pattern: "acme/ops/*", allow: ["send"] }];
    assertEquals(await header(await made({ kind: "publishable", channels })), null);
    assertEquals(await header(await made({ scopes: ["tokens"] })), null);
    assertEquals(await header(await made({ scopes: ["tokens", "usage:read"] })), "8008/10000");
    // Of both, the one that is nearer to its end.
    await take(api, account, 1_000);
    assertEquals(await header(key), "9008/10000");
  },
};

/** The database decides between requests at the same time. */
export const usageByKeyRaces: Guarantees = {
  "Parallel leases of a key stay within its limit, and within the account's": async ({ api }) => {
    const account = await api.signUp();
    const { id } = await limitedKey(api, account, 50);
    const answers = await Promise.all(Array.from({ length: 20 }, () => take(api, account, 7, id)));
    const granted = answers.filter(({ status }) => status === 200).map(({ json }) => json.lease);
    assertEquals(granted.reduce((sum, lease) => sum + lease.granted, 0), 50);
    for (const answer of answers.filter(({ status }) => status !== 200)) {
      assertRefused(answer, 429, "quota_exceeded");
    }
    // Returned messages can be taken again; the account's other messages were never touched.
    for (const lease of granted) await report(api, lease, 1);
    assertEquals((await take(api, account, 100, id)).json.lease.granted, 50 - granted.length);
    assertEquals((await take(api, account, 9_000)).json.lease.granted, 9_000);
    const wide = await limitedKey(api, account, 1_000_000);
    assertEquals(
      (await take(api, account, 9_000, wide.id)).json.lease.granted,
      10_000 - 9_000 - 50,
    );
  },
};

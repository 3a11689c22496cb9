/** Guarantees when many callers do the same at once. */
import { assertEquals } from "@std/assert";
import type { Answer, TestApi } from "../../support/api/harness.ts";
import { inCampaign } from "../../support/campaign.ts";
import { atLast, type Guarantees } from "./contract.ts";
import { takeLease } from "./usage.ts";

function countBy(values: readonly number[]): Record<string, number> {
  return values.reduce<Record<string, number>>(
    (counts, value) => ({ ...counts, [value]: (counts[value] ?? 0) + 1 }),
    {},
  );
}

/**
 * One did it, the others were told so. The one may have been told `overloaded`, when the database
 * was late and did it all the same.
 */
function assertOnce(
  answers: readonly Answer[],
  { done, refused }: { done: number; refused: number },
): void {
  const { [done]: times = 0, [refused]: others } = countBy(answers.map(({ status }) => status));
  assertEquals([times <= 1, others], [true, answers.length - times]);
}

/** With the same nonce, which never takes twice. */
async function takeLeaseAtLast(
  api: TestApi,
  options: Parameters<typeof takeLease>[1],
): Promise<Answer> {
  const nonce = crypto.randomUUID();
  return await atLast(() => takeLease(api, { ...options, nonce }));
}

export const concurrencyGuarantees: Guarantees = {
  "100 parallel revocations of one key give one 204 and 99 × 404": async ({ api }) => {
    const { apiKey } = await api.signUp();
    const { json: { id } } = await api.call("POST", "/v1/keys", { key: apiKey });
    const answers = await Promise.all(
      Array.from(
        { length: 100 },
        () => atLast(() => api.call("DELETE", `/v1/keys/${id}`, { key: apiKey })),
      ),
    );
    assertOnce(answers, { done: 204, refused: 404 });
  },

  "100 parallel sign-ups with one e-mail give one account with one key": async (
    { api, backend },
  ) => {
    const email = `${crypto.randomUUID()}@example.com`;
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        atLast(() =>
          api.call("POST", "/v1/accounts", {
            body: { email: i % 2 === 0 ? email : email.toUpperCase(), password: "1234567 apples" },
          })
        )),
    );
    assertOnce(answers, { done: 201, refused: 409 });
    const sql = backend.sql();
    const [row] = await sql`
      SELECT count(DISTINCT a.id)::int AS accounts, count(k.id)::int AS keys
      FROM accounts a JOIN api_keys k ON k.account_id = a.id WHERE a.email_key = ${email}`;
    await sql.end();
    assertEquals({ ...row }, { accounts: 1, keys: 1 });
  },

  "Parallel lease requests at the limit grant exactly the remainder": async ({ api }) => {
    const requests = inCampaign ? 1000 : 200;
    const { id, apiKey } = await api.signUp();
    const first = await takeLease(api, { account: id, messages: 9000 });
    assertEquals(first.json.lease.granted, 9000);
    const answers = await Promise.all(
      Array.from(
        { length: requests },
        (_, i) => takeLeaseAtLast(api, { account: id, messages: 7, relay: `relay-${i % 10}` }),
      ),
    );
    // 142 full leases, one with what is left, and refusals.
    assertEquals(countBy(answers.map(({ status }) => status)), { 200: 143, 429: requests - 143 });
    const granted = answers.reduce((sum, { json }) => sum + (json.lease?.granted ?? 0), 0);
    assertEquals(granted, 1000);
    assertEquals((await api.call("GET", "/v1/usage", { key: apiKey })).json.messages.limit, 10_000);
  },

  "Grants, reports and returns in parallel never pass the limit and lose nothing": async (
    { api, backend },
  ) => {
    const { id, apiKey } = await api.signUp();
    const reports: Promise<Answer>[] = [];
    await Promise.all(Array.from({ length: 100 }, async (_, i) => {
      const relay = `relay-${i % 4}`;
      const { status, json } = await takeLeaseAtLast(api, { account: id, messages: 300, relay });
      if (status !== 200) return;
      const { id: lease_id, fence, granted } = json.lease;
      const bytes = { payload: 1, padding: 1, cover: 1 };
      const body = (consumed: number, close: boolean): object => ({
        relay_id: relay,
        reports: [{ lease_id, fence, consumed, bytes, close }],
      });
      const send = (consumed: number, close: boolean): Promise<Answer> =>
        atLast(() =>
          api.call("POST", "/internal/v1/leases/reports", {
            key: api.relaySecret,
            body: body(consumed, close),
          })
        );
      reports.push(
        send(Math.floor(granted / 2), false),
        send(granted - 1, true),
        send(granted - 1, true),
      );
    }));
    assertEquals(countBy((await Promise.all(reports)).map(({ status }) => status)), {
      200: reports.length,
    });
    const sql = backend.sql();
    const [row] = await sql`
      SELECT u.claimed::int AS claimed, u.used::int AS used, u.payload_bytes::int AS payload,
             (SELECT sum(CASE WHEN closed_at IS NULL THEN granted ELSE consumed END)::int FROM leases
              WHERE account_id = u.account_id) AS leased,
             (SELECT sum(consumed)::int FROM leases WHERE account_id = u.account_id) AS consumed,
             (SELECT count(*)::int FROM leases WHERE account_id = u.account_id) AS leases
      FROM usage u WHERE account_id = ${id}`;
    await sql.end();
    assertEquals([row?.claimed, row?.used, row?.payload], [
      row?.leased,
      row?.consumed,
      row?.leases,
    ]);
    const { json } = await api.call("GET", "/v1/usage", { key: apiKey });
    assertEquals(json.messages.used, row?.used);
    assertEquals(json.messages.used <= 10_000, true);
  },
};

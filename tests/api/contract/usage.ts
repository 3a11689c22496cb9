/** Usage and leases. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { leaseList, leaseReportResults, leaseResponse } from "../../../proto/api/lease.ts";
import type { Answer, TestApi } from "../../support/api/harness.ts";
import { assertFields, assertRefused, type Guarantees } from "./contract.ts";

type LeaseOptions = { account: string; messages: number; relay?: string; nonce?: string };

export function takeLease(
  api: TestApi,
  { account, messages, relay = "relay-1", nonce }: LeaseOptions,
): Promise<Answer> {
  return api.call("POST", "/internal/v1/leases", {
    key: api.relaySecret,
    body: { nonce: nonce ?? crypto.randomUUID(), relay_id: relay, account_id: account, messages },
  });
}

const noBytes = { payload: 0, padding: 0, cover: 0 };

interface Report {
  readonly lease: { id: string; fence: number };
  readonly consumed: number;
  readonly bytes?: typeof noBytes;
  readonly close?: boolean;
  readonly relay?: string;
}

async function report(
  api: TestApi,
  { lease, consumed, bytes = noBytes, close = false, relay = "relay-1" }: Report,
): Promise<string> {
  const { status, json, text } = await api.call("POST", "/internal/v1/leases/reports", {
    key: api.relaySecret,
    body: {
      relay_id: relay,
      reports: [{ lease_id: lease.id, fence: lease.fence, consumed, bytes, close }],
    },
  });
  assertEquals(status, 200, text);
  return leaseReportResults.parse(json).results[0]?.outcome ?? "";
}

async function used(api: TestApi, key: string): Promise<number> {
  return (await api.call("GET", "/v1/usage", { key })).json.messages.used;
}

const monthMs = 32 * 24 * 3600 * 1000;

export const usageGuarantees: Guarantees = {
  "GET /v1/usage of a new account: free plan, UTC month, nothing used of 10,000": async (
    { api },
  ) => {
    const { apiKey } = await api.signUp();
    const { status, json } = await api.call("GET", "/v1/usage", { key: apiKey });
    assertEquals(status, 200);
    assertFields(json, ["plan", "period", "messages", "bytes"]);
    assertEquals(json.plan, "free");
    assertEquals(json.messages, { used: 0, limit: 10_000, remaining: 10_000 });
    assertEquals(json.bytes, noBytes);
    const [start, end] = [new Date(json.period.start), new Date(json.period.end)];
    assertMatch(json.period.start, /^\d{4}-\d\d-01T00:00:00\.000Z$/);
    assertMatch(json.period.end, /^\d{4}-\d\d-01T00:00:00\.000Z$/);
    assert(start.getTime() <= Date.now() && Date.now() < end.getTime());
  },

  "An unlimited plan shows null for limit and remaining, and grants what is asked": async (
    { api, backend },
  ) => {
    const { id, apiKey } = await api.signUp();
    const sql = backend.sql();
    await sql`UPDATE accounts SET plan = 'enterprise' WHERE id = ${id}`;
    await sql.end();
    const { json } = await api.call("GET", "/v1/usage", { key: apiKey });
    assertEquals([json.plan, json.messages], ["enterprise", {
      used: 0,
      limit: null,
      remaining: null,
    }]);
    assertEquals((await takeLease(api, { account: id, messages: 5000 })).json.lease.granted, 5000);
  },

  "A lease is granted, reported, and closed; what it did not consume returns": async ({ api }) => {
    const { id, apiKey } = await api.signUp();
    const { status, json } = await takeLease(api, { account: id, messages: 9000 });
    assertEquals(status, 200);
    const { lease, plan } = leaseResponse.parse(json);
    assertEquals([lease.account_id, lease.granted, lease.consumed, plan], [id, 9000, 0, "free"]);
    assertEquals(await used(api, apiKey), 0);
    assertEquals((await takeLease(api, { account: id, messages: 9000 })).json.lease.granted, 1000);
    assertRefused(await takeLease(api, { account: id, messages: 1 }), 429, "quota_exceeded");

    const bytes = { payload: 10, padding: 20, cover: 30 };
    assertEquals(await report(api, { lease, consumed: 100, bytes }), "accepted");
    assertEquals(await report(api, { lease, consumed: 100, bytes, close: true }), "accepted");
    const usage = await api.call("GET", "/v1/usage", { key: apiKey });
    assertEquals(usage.json.messages, { used: 100, limit: 10_000, remaining: 9900 });
    assertEquals(usage.json.bytes, bytes);
    assertEquals(
      (await takeLease(api, { account: id, messages: 10_000 })).json.lease.granted,
      8900,
    );
  },

  "The same nonce gets the original lease, also when nothing is left": async ({ api }) => {
    const { id } = await api.signUp();
    const nonce = crypto.randomUUID();
    const first = await takeLease(api, { account: id, messages: 10_000, nonce });
    const again = await takeLease(api, { account: id, messages: 10_000, nonce });
    assertEquals([again.status, again.json.lease], [200, first.json.lease]);
    const other = await takeLease(api, { account: (await api.signUp()).id, messages: 1, nonce });
    assertRefused(other, 400, "invalid_request");
  },

  "Repeated, reordered and impossible reports never count twice": async ({ api }) => {
    const { id, apiKey } = await api.signUp();
    const { json: { lease } } = await takeLease(api, { account: id, messages: 100 });
    for (let i = 0; i < 3; i++) {
      assertEquals(await report(api, { lease, consumed: 40 }), "accepted");
    }
    assertEquals(await report(api, { lease, consumed: 39 }), "refused");
    assertEquals(await report(api, { lease, consumed: 101 }), "refused");
    assertEquals(
      await report(api, { lease: { ...lease, fence: lease.fence + 1 }, consumed: 50 }),
      "unknown",
    );
    assertEquals(await report(api, { lease, consumed: 50, relay: "relay-2" }), "unknown");
    assertEquals(
      await report(api, { lease: { id: crypto.randomUUID(), fence: 1 }, consumed: 0 }),
      "unknown",
    );
    assertEquals(await report(api, { lease, consumed: 50, close: true }), "accepted");
    assertEquals(await report(api, { lease, consumed: 50, close: true }), "accepted");
    assertEquals(await report(api, { lease, consumed: 60, close: true }), "refused");
    assertEquals(await used(api, apiKey), 50);
  },

  "Two reports of one lease in one batch are judged one after the other": async ({ api }) => {
    const { id, apiKey } = await api.signUp();
    const { json: { lease } } = await takeLease(api, { account: id, messages: 10 });
    const entry = (consumed: number, close: boolean): unknown => ({
      lease_id: lease.id,
      fence: lease.fence,
      consumed,
      bytes: noBytes,
      close,
    });
    const { json } = await api.call("POST", "/internal/v1/leases/reports", {
      key: api.relaySecret,
      body: { relay_id: "relay-1", reports: [entry(3, false), entry(5, true), entry(9, false)] },
    });
    assertEquals(json.results.map(({ outcome }: { outcome: string }) => outcome), [
      "accepted",
      "accepted",
      "refused",
    ]);
    assertEquals(await used(api, apiKey), 5);
  },

  "A crashed relay's lease counts as used after expiry, until the relay returns and gives back the rest":
    async (
      { api },
    ) => {
      const { id, apiKey } = await api.signUp();
      const relay = `relay-${crypto.randomUUID()}`;
      const { json: { lease } } = await takeLease(api, { account: id, messages: 10_000, relay });
      assertEquals(await report(api, { lease, consumed: 10, relay }), "accepted");
      assertEquals(await used(api, apiKey), 10);
      api.clock.aheadMs += 301_000;
      assertEquals(await used(api, apiKey), 10_000);
      assertRefused(await takeLease(api, { account: id, messages: 1 }), 429, "quota_exceeded");

      const open = await api.call("GET", `/internal/v1/leases?relay_id=${relay}`, {
        key: api.relaySecret,
      });
      const [found] = leaseList.parse(open.json).leases;
      assertEquals([found?.id, found?.granted, found?.consumed], [lease.id, 10_000, 10]);
      assertEquals(await report(api, { lease, consumed: 25, close: true, relay }), "accepted");
      assertEquals(await used(api, apiKey), 25);
      assertEquals(
        (await takeLease(api, { account: id, messages: 10_000 })).json.lease.granted,
        9975,
      );
      const left = await api.call("GET", `/internal/v1/leases?relay_id=${relay}`, {
        key: api.relaySecret,
      });
      assertEquals(left.json, { leases: [] });
      api.clock.aheadMs -= 301_000;
    },

  "A lease without messages carries byte counts, also for an account at its limit": async (
    { api },
  ) => {
    const { id, apiKey } = await api.signUp();
    await takeLease(api, { account: id, messages: 10_000 });
    const { status, json: { lease } } = await takeLease(api, { account: id, messages: 0 });
    assertEquals([status, lease.granted], [200, 0]);
    const bytes = { payload: 0, padding: 0, cover: 4096 };
    assertEquals(await report(api, { lease, consumed: 0, bytes, close: true }), "accepted");
    assertEquals((await api.call("GET", "/v1/usage", { key: apiKey })).json.bytes, bytes);
  },

  "A new month starts at zero with the whole limit; a late report counts in the month of its lease":
    async (
      { api },
    ) => {
      const { id, apiKey } = await api.signUp();
      const { json: { lease } } = await takeLease(api, { account: id, messages: 10_000 });
      api.clock.aheadMs += monthMs;
      try {
        assertEquals(await report(api, { lease, consumed: 10_000, close: true }), "accepted");
        const { json } = await api.call("GET", "/v1/usage", { key: apiKey });
        assertEquals(json.messages, { used: 0, limit: 10_000, remaining: 10_000 });
        assertEquals((await takeLease(api, { account: id, messages: 7 })).json.lease.granted, 7);
      } finally {
        api.clock.aheadMs -= monthMs;
      }
      assertEquals(await used(api, apiKey), 10_000);
    },

  "Fences grow from lease to lease of an account": async ({ api }) => {
    const { id } = await api.signUp();
    const fences: number[] = [];
    for (let i = 0; i < 5; i++) {
      fences.push((await takeLease(api, { account: id, messages: 1 })).json.lease.fence);
    }
    assertEquals(fences, [...new Set(fences)].sort((a, b) => a - b));
  },

  "A lease for an unknown account is 404, a malformed request 400": async ({ api }) => {
    assertRefused(
      await takeLease(api, { account: crypto.randomUUID(), messages: 1 }),
      404,
      "not_found",
      "Not found",
    );
    assertRefused(await takeLease(api, { account: "x", messages: 1 }), 400, "invalid_request");
    assertRefused(
      await takeLease(api, { account: crypto.randomUUID(), messages: -1 }),
      400,
      "invalid_request",
    );
    assertRefused(
      await api.call("GET", "/internal/v1/leases", { key: api.relaySecret }),
      400,
      "invalid_request",
    );
  },
};

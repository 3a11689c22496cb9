/**
 * Quota leases for relays: internal paths with their own credential. The JSON is
 * `proto/api/lease.ts`.
 */
import { z } from "@hono/zod-openapi";
import {
  type Lease,
  leaseList,
  leaseReportBatch,
  leaseReportResults,
  leaseRequest,
  leaseResponse,
} from "../../../proto/api/lease.ts";
import { parseAccountId, parseKeyId } from "../../../proto/mod.ts";
import type { LeaseRecord } from "../../domain/deps.ts";
import type { RouteDeps } from "../context.ts";
import { notFound, refuse } from "../errors.ts";
import { isoTime } from "../fields.ts";
import type { Router } from "../operation.ts";

const exampleAccount = "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11";
const exampleLease = {
  id: "9d2b1f0e-30c5-4d7e-8a60-5a1c7e2b4f10",
  fence: 17,
  account_id: exampleAccount,
  granted: 500,
  consumed: 0,
  expires_at: "2026-11-15T08:35:00.000Z",
};

export function addLeaseRoutes(router: Router, deps: RouteDeps): void {
  addGrant(router, deps);
  addReports(router, deps);
  addOpenLeases(router, deps);
}

function addGrant(router: Router, { usage }: RouteDeps): void {
  router.add({
    method: "post",
    path: "/internal/v1/leases",
    tag: "Internal",
    summary: "Take a lease of messages",
    description:
      "Grants at most what is left of the month. The same `nonce` gets the original answer.",
    credential: "relay_secret",
    body: {
      schema: leaseRequest,
      required: true,
      example: {
        nonce: "b4f5a3a2-1c55-4f39-9a35-0a9a5f6f5b21",
        relay_id: "relay-1",
        account_id: exampleAccount,
        messages: 500,
      },
    },
    success: {
      status: 200,
      text: "The lease. Stop using it 30 seconds before it expires.",
      schema: leaseResponse,
      example: {
        lease: exampleLease,
        plan: "free",
        period: { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" },
        usage: { claimed: 1700, limit: 10000 },
      },
    },
    refusals: ["not_found", "quota_exceeded"],
    handle: async (c, { body }) => {
      const answer = await usage.lease({
        nonce: body.nonce,
        relayId: body.relay_id,
        accountId: parseAccountId(body.account_id.toLowerCase()),
        messages: body.messages,
        keyId: body.key_id === undefined ? undefined : parseKeyId(body.key_id.toLowerCase()),
      });
      if (answer.outcome === "unknown_account") return notFound(c);
      if (answer.outcome === "nonce_taken") {
        return refuse(
          c,
          "invalid_request",
          "The nonce belongs to another request; draw a new one for each lease",
          {
            details: [{
              field: "nonce",
              problem: "used before for another account or by another relay",
            }],
          },
        );
      }
      if (answer.outcome === "exhausted") {
        return refuse(
          c,
          "quota_exceeded",
          "The account's messages of this month are used or leased",
          {
            headers: { "Retry-After": String(Math.ceil(answer.retryAfterMs / 1000)) },
          },
        );
      }
      return c.json({
        lease: leaseBody(answer.lease),
        plan: answer.lease.plan,
        period: { start: isoTime(answer.period.startMs), end: isoTime(answer.period.endMs) },
        usage: answer.lease.usage,
      });
    },
  });
}

function addReports(router: Router, { usage }: RouteDeps): void {
  router.add({
    method: "post",
    path: "/internal/v1/leases/reports",
    tag: "Internal",
    summary: "Report what leases consumed",
    description: "Counts run from the start of each lease, so a repeated report changes nothing.",
    credential: "relay_secret",
    body: {
      schema: leaseReportBatch,
      required: true,
      example: {
        relay_id: "relay-1",
        reports: [{
          lease_id: exampleLease.id,
          fence: 17,
          consumed: 120,
          bytes: { payload: 122880, padding: 368640, cover: 4096 },
          close: true,
        }],
      },
    },
    success: {
      status: 200,
      text: "One outcome per report, in order.",
      schema: leaseReportResults,
      example: { results: [{ lease_id: exampleLease.id, outcome: "accepted" }] },
    },
    handle: async (c, { body }) => {
      const outcomes = await usage.report(
        body.relay_id,
        body.reports.map(({ lease_id, ...report }) => ({
          leaseId: lease_id.toLowerCase(),
          ...report,
        })),
      );
      return c.json({
        results: body.reports.map(({ lease_id }, index) => ({
          lease_id,
          outcome: outcomes[index] ?? "unknown",
        })),
      });
    },
  });
}

function addOpenLeases(router: Router, { usage }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/internal/v1/leases",
    tag: "Internal",
    summary: "List the leases of a relay that were never closed",
    description:
      "For a relay that restarts: report and close what its own storage knows, close the rest with 0.",
    credential: "relay_secret",
    query: z.object({ relay_id: leaseRequest.shape.relay_id }),
    success: {
      status: 200,
      text: "At most 1000, oldest first.",
      schema: leaseList,
      example: { leases: [exampleLease] },
    },
    refusals: ["invalid_request"],
    handle: async (c) => {
      const relayId = leaseRequest.shape.relay_id.safeParse(c.req.query("relay_id"));
      if (!relayId.success) {
        return refuse(c, "invalid_request", "Say whose leases: ?relay_id=…", {
          details: [{ field: "relay_id", problem: relayId.error.issues[0]?.message ?? "invalid" }],
        });
      }
      return c.json({ leases: (await usage.open(relayId.data)).map(leaseBody) });
    },
  });
}

function leaseBody({ id, fence, accountId, granted, consumed, expiresAtMs }: LeaseRecord): Lease {
  return { id, fence, account_id: accountId, granted, consumed, expires_at: isoTime(expiresAtMs) };
}

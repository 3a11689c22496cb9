/** What the account has used this month. */
import { z } from "@hono/zod-openapi";
import type { RouteDeps } from "./context.ts";
import { isoTime, plan, timestamp } from "./fields.ts";
import type { Router } from "./operation.ts";

const count = z.int().min(0);

const usageBody = z.object({
  plan,
  period: z.object({ start: timestamp, end: timestamp }),
  messages: z.object({ used: count, limit: count.nullable(), remaining: count.nullable() }),
  bytes: z.object({ payload: count, padding: count, cover: count }),
}).openapi("Usage");

export function addUsageRoutes(router: Router, { usage }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/v1/usage",
    tag: "Usage",
    summary: "Read this month's usage against the plan's limit",
    description: "The period is the UTC calendar month. `limit` and `remaining` are null when the plan is unlimited.",
    credential: "api_key",
    success: {
      status: 200,
      text: "Usage as the relays have reported it.",
      schema: usageBody,
      example: {
        plan: "free",
        period: { start: "2026-11-01T00:00:00.000Z", end: "2026-12-01T00:00:00.000Z" },
        messages: { used: 1200, limit: 10000, remaining: 8800 },
        bytes: { payload: 1228800, padding: 3686400, cover: 40960 },
      },
    },
    handle: async (c, { caller }) => {
      const { plan, period, used, limit, bytes } = await usage.read(caller().accountId);
      const remaining = limit === null ? null : Math.max(0, limit - used);
      return c.json({
        plan,
        period: { start: isoTime(period.startMs), end: isoTime(period.endMs) },
        messages: { used, limit, remaining },
        bytes,
      });
    },
  });
}

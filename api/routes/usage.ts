/** Usage of the account: this month, and by day and key. */
import { z } from "@hono/zod-openapi";
import type { UsageDay } from "../domain/deps.ts";
import type { RouteDeps } from "./context.ts";
import { type FieldError, refuse } from "./errors.ts";
import { id, isoTime, plan, timestamp } from "./fields.ts";
import type { Router } from "./operation.ts";

const count = z.int().min(0);
const bytes = z.object({
  payload: count.describe("What agents sent, encrypted."),
  padding: count.describe("Added so that cells have one size."),
  cover: count.describe("Cells without content."),
}).describe("What went over the wire, in bytes.");
const day = z.iso.date().openapi({ example: "2026-11-15", description: "A day, by UTC." });
const dayMs = 24 * 3600 * 1000;
const maxDays = 400;

const usageBody = z.object({
  plan,
  period: z.object({
    start: timestamp.describe("Its first moment."),
    end: timestamp.describe("When the next one begins."),
  }).describe("The month."),
  messages: z.object({
    used: count.describe("Sent this month."),
    limit: count.nullable().describe("How many the plan has; null for no limit."),
    remaining: count.nullable().describe("How many are left; null for no limit."),
  }).describe("Messages of the month."),
  bytes,
  days: z.array(z.object({
    day,
    key_id: id.nullable().describe("The key; null for all plain keys together."),
    messages: count.describe("Sent on that day."),
    bytes,
  })).optional().openapi({
    description:
      "With `from` and `to`: days with usage, by key. `key_id` is null for all plain keys together.",
  }),
}).openapi("Usage");

export function addUsageRoutes(router: Router, { usage }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/v1/usage",
    tag: "Usage",
    summary: "Read this month's usage against the plan's limit",
    description:
      "The period is the UTC calendar month. `limit` and `remaining` are null when the plan is unlimited. " +
      `\`from\` and \`to\` add the days between them, both included, at most ${maxDays}.`,
    credential: "api_key",
    scope: "usage:read",
    query: z.object({
      from: day.optional().describe("The first day that is wanted."),
      to: day.optional().describe("The last one."),
    }),
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
    refusals: ["invalid_request"],
    handle: async (c, { caller }) => {
      const days = readDays(c.req.query("from"), c.req.query("to"));
      if (Array.isArray(days)) {
        return refuse(c, "invalid_request", "The request has invalid fields", { details: days });
      }
      const { accountId } = caller();
      const { plan, period, used, limit, bytes } = await usage.read(accountId);
      return c.json({
        plan,
        period: { start: isoTime(period.startMs), end: isoTime(period.endMs) },
        messages: { used, limit, remaining: limit === null ? null : Math.max(0, limit - used) },
        bytes,
        ...(days !== undefined && { days: (await usage.readDays(accountId, days)).map(dayBody) }),
      });
    },
  });
}

function readDays(
  from: string | undefined,
  to: string | undefined,
): { from: string; to: string } | undefined | FieldError[] {
  if (from === undefined && to === undefined) return undefined;
  const isDay = (text: string | undefined): text is string => day.safeParse(text).success;
  if (!isDay(from)) {
    return [{ field: "from", problem: "must be a day such as 2026-11-15, given with to" }];
  }
  if (!isDay(to)) {
    return [{ field: "to", problem: "must be a day such as 2026-11-15, given with from" }];
  }
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1;
  if (days >= 1 && days <= maxDays) return { from, to };
  return [{
    field: "to",
    problem: `must be on or after from, and at most ${maxDays} days with it`,
  }];
}

function dayBody({ day, keyId, messages, bytes }: UsageDay): object {
  return { day, key_id: keyId, messages, bytes };
}

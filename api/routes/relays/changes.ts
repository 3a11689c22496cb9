/**
 * Changes that relays follow: suspended, resumed and deleted accounts, and changed limits. The JSON
 * is `proto/api/changes.ts`.
 */
import { z } from "@hono/zod-openapi";
import { accountChanges } from "../../../proto/api/changes.ts";
import type { RouteDeps } from "../context.ts";
import { refuse } from "../errors.ts";
import { isoTime } from "../fields.ts";
import type { Router } from "../operation.ts";

const after = z.string().regex(/^\d{1,15}$/, "must be a number").transform(Number);

export function addChangesRoutes(router: Router, { changes, clock }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/internal/v1/changes",
    tag: "Internal",
    summary: "Follow changes of accounts",
    description:
      "Without `after`, at once: who is suspended now. With it, up to 4 s later: what happened since.",
    credential: "relay_secret",
    isLongPoll: true,
    query: z.object({ after: z.string().regex(/^\d{1,15}$/).optional() }),
    success: {
      status: 200,
      text: "In the order in which it happened.",
      schema: accountChanges,
      example: {
        after: 17,
        now: "2026-11-15T08:30:00.000Z",
        changes: [{ account_id: "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11", change: "suspended" }],
      },
    },
    refusals: ["invalid_request"],
    handle: async (c) => {
      const text = c.req.query("after");
      const standing = async (): Promise<Response> =>
        c.json({ ...await changes.standing(), now: isoTime(clock()), changes: [] });
      if (text === undefined) return await standing();
      const given = after.safeParse(text);
      if (!given.success) {
        const details = [{
          field: "after",
          problem: "must be a number that an earlier answer told",
        }];
        return refuse(c, "invalid_request", "The request has invalid fields", { details });
      }
      const page = await changes.read(given.data);
      if (page === "ahead") return await standing();
      const list = page.changes.map(({ accountId, change }) => ({ account_id: accountId, change }));
      return c.json({ after: page.after, now: isoTime(clock()), changes: list });
    },
  });
}

/**
 * The account as its owner sees it besides its state: open sessions of the console, and the events
 * of its audit.
 */
import { z } from "@hono/zod-openapi";
import type { RouteDeps } from "./context.ts";
import { notFound, refuse } from "./errors.ts";
import { createdAt, id, isoTime, parseUuid, timestamp } from "./fields.ts";
import type { Router } from "./operation.ts";

const maxEvents = 100;
const exampleId = "5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11";
const exampleTime = "2026-11-15T08:30:00.000Z";
const sessionId = id.describe("The id of the session.");
const account = { tag: "Account", credential: "api_key", scope: "account" } as const;

export function addOwnHistoryRoutes(router: Router, deps: RouteDeps): void {
  addSessions(router, deps);
  addEvents(router, deps);
}

function addSessions(router: Router, { sessions }: RouteDeps): void {
  router.add<undefined>({
    ...account,
    method: "get",
    path: "/v1/account/sessions",
    summary: "List the open sessions of the console, newest first",
    success: {
      status: 200,
      text: "Open sessions. `current` is the one that asks.",
      schema: z.object({
        sessions: z.array(z.object({
          id: sessionId,
          created_at: createdAt,
          expires_at: timestamp.describe("When it ends by itself."),
          current: z.boolean().describe("Whether it is the one that asks."),
        })).describe("The newest first."),
      }),
      example: {
        sessions: [{
          id: exampleId,
          created_at: exampleTime,
          expires_at: "2026-11-15T09:30:00.000Z",
          current: true,
        }],
      },
    },
    handle: async (c, { caller }) => {
      const open = await sessions.list(caller());
      return c.json({
        sessions: open.map(({ id, createdAtMs, expiresAtMs }) => ({
          id,
          created_at: isoTime(createdAtMs),
          expires_at: isoTime(expiresAtMs),
          current: id === caller().sessionId,
        })),
      });
    },
  });
  router.add<undefined>({
    ...account,
    method: "delete",
    path: "/v1/account/sessions/{id}",
    summary: "End one session of the console",
    parameters: z.object({ id: sessionId }),
    success: { status: 204, text: "The session has ended." },
    refusals: ["not_found"],
    handle: async (c, { caller }) => {
      const sessionId = parseUuid(c.req.param("id"), (text) => z.uuid().parse(text));
      const ended = sessionId !== undefined && await sessions.end(caller(), sessionId);
      return ended ? c.body(null, 204) : notFound(c);
    },
  });
}

function addEvents(router: Router, { store }: RouteDeps): void {
  router.add<undefined>({
    ...account,
    method: "get",
    path: "/v1/account/events",
    summary: "List what happened to the account, newest first",
    description: `At most ${maxEvents}. \`before\` gives those before a moment, for the next page.`,
    query: z.object({ before: timestamp.optional().describe("Events before this moment.") }),
    success: {
      status: 200,
      text:
        "Events. `actor` is how it came: `password`, `key:<id>`, `session:<id>` or an operator.",
      schema: z.object({
        events: z.array(z.object({
          at: timestamp.describe("When it happened."),
          event: z.string().describe("What happened, such as `key.created`."),
          actor: z.string().describe(
            "How it came: `password`, `key:<id>`, `session:<id>` or an operator.",
          ),
          subject: id.nullable().openapi({ description: "The key or session that it is about." }),
          details: z.looseObject({}).nullable().describe(
            "More about it, such as the old and the new plan.",
          ),
        })).describe("The newest first."),
      }),
      example: {
        events: [{
          at: exampleTime,
          event: "key.created",
          actor: "password",
          subject: exampleId,
          details: null,
        }],
      },
    },
    refusals: ["invalid_request"],
    handle: async (c, { caller }) => {
      const before = c.req.query("before");
      if (before !== undefined && !timestamp.safeParse(before).success) {
        const details = [{ field: "before", problem: `must be a time such as ${exampleTime}` }];
        return refuse(c, "invalid_request", "The request has invalid fields", { details });
      }
      const beforeMs = before === undefined ? undefined : Date.parse(before);
      const events = await store.readOwnEvents(caller().accountId, { beforeMs, limit: maxEvents });
      return c.json({
        events: events.map(({ atMs, ...event }) => ({ at: isoTime(atMs), ...event })),
      });
    },
  });
}

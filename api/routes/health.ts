/** `/health`: this process answers. `/ready`: so does its database; if not, why. */
import { z } from "@hono/zod-openapi";
import { Fault } from "../domain/fault.ts";
import type { RouteDeps } from "./context.ts";
import { refuse } from "./errors.ts";
import type { Router } from "./operation.ts";

const status = z.object({ status: z.literal("ok").describe("Nothing is wrong.") });

export function addHealthRoutes(router: Router, { store }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/health",
    tag: "Health",
    summary: "Tell whether this process is up",
    credential: "none",
    success: { status: 200, text: "It is.", schema: status, example: { status: "ok" } },
    handle: (c) => c.json({ status: "ok" }),
  });

  router.add<undefined>({
    method: "get",
    path: "/ready",
    tag: "Health",
    summary: "Tell whether this process can serve requests",
    credential: "none",
    success: {
      status: 200,
      text: "It can: the database answers.",
      schema: status,
      example: { status: "ok" },
    },
    refusals: ["overloaded"],
    handle: async (c) => {
      try {
        await store.ping();
        return c.json({ status: "ok" });
      } catch (error) {
        c.set("fault", error);
        return refuse(c, "overloaded", "Not ready: the database does not answer", {
          details: [{ field: "database", problem: reasonOf(error) }],
          headers: { "Retry-After": "2" },
        });
      }
    },
  });
}

/** The cause's code, such as ECONNREFUSED: says why without naming hosts. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Fault ? error.cause : error;
  if (!(cause instanceof Error)) return "unknown";
  const code: unknown = Reflect.get(cause, "code");
  return typeof code === "string" ? code : cause.message;
}

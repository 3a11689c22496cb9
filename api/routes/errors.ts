/** Every refusal has one shape: `{error, code, request_id}`, plus `details` for field errors. */
import { z } from "@hono/zod-openapi";
import { type ErrorCode, errorCodes } from "../../proto/mod.ts";
import type { RateDecision } from "../domain/rate_limit.ts";
import type { ApiContext } from "./context.ts";

export interface FieldError {
  readonly field: string;
  readonly problem: string;
}

export const errorBody = z.object({
  error: z.string().openapi({ description: "What failed and what to do." }),
  code: z.string().openapi({ description: "Stable; decide on this, not on the text." }),
  request_id: z.string().openapi({
    description: "The same as in the x-request-id header and our logs.",
  }),
  details: z.array(z.object({ field: z.string(), problem: z.string() })).optional(),
}).openapi("Error");

export interface RefusalOptions {
  readonly details?: readonly FieldError[];
  readonly headers?: Readonly<Record<string, string>>;
}

export function refuse(
  c: ApiContext,
  code: ErrorCode,
  text: string,
  options: RefusalOptions = {},
): Response {
  c.set("errorCode", code);
  const { http } = errorCodes[code];
  if (http === 401) c.header("WWW-Authenticate", "Bearer");
  for (const [name, value] of Object.entries(options.headers ?? {})) c.header(name, value);
  const body = { error: text, code, request_id: c.get("requestId"), ...pickDetails(options) };
  return c.newResponse(JSON.stringify(body), {
    // cast: the table holds statuses that carry a body
    status: http as 400,
    headers: { "content-type": "application/json" },
  });
}

export function notFound(c: ApiContext): Response {
  return refuse(c, "not_found", "Not found");
}

export function rateLimited(c: ApiContext, decision: RateDecision): Response {
  const seconds = Math.max(1, Math.ceil(decision.resetMs / 1000));
  showRateLimit(c, decision);
  return refuse(c, "rate_limited", `Too many requests; try again in ${seconds} s`, {
    headers: { "Retry-After": String(seconds) },
  });
}

/** The fields of draft-ietf-httpapi-ratelimit-headers. */
export function showRateLimit(
  c: ApiContext,
  { policy, limit, windowMs, remaining, resetMs }: RateDecision,
): void {
  c.header("RateLimit", `"${policy}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`);
  c.header("RateLimit-Policy", `"${policy}";q=${limit};w=${Math.round(windowMs / 1000)}`);
}

function pickDetails({ details }: RefusalOptions): { details?: readonly FieldError[] } {
  return details === undefined ? {} : { details };
}

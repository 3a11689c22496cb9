/**
 * Cross-origin requests: agents in browsers call this API with a bearer key, never with cookies.
 */
import type { MiddlewareHandler } from "hono";
import type { AppEnv } from "./routes/context.ts";

const exposed =
  "x-request-id, Retry-After, RateLimit, RateLimit-Policy, Static-Usage, Static-Notice";
const methods = "GET, HEAD, POST, PATCH, DELETE";
const requestHeaders = "authorization, content-type, static-device";
const preflightSeconds = "600";

export function cors(isAllowed: (origin: string) => boolean): MiddlewareHandler<AppEnv> {
  return async (c, next) => {
    const origin = c.req.header("origin");
    if (origin === undefined) return await next();
    c.header("Vary", "Origin");
    const allowed = isAllowed(origin);
    if (allowed) {
      c.header("Access-Control-Allow-Origin", origin);
      c.header("Access-Control-Expose-Headers", exposed);
    }
    if (c.req.method !== "OPTIONS" || c.req.header("access-control-request-method") === undefined) {
      return await next();
    }
    c.set("route", "(preflight)");
    if (allowed) {
      c.header("Access-Control-Allow-Methods", methods);
      c.header("Access-Control-Allow-Headers", requestHeaders);
      c.header("Access-Control-Max-Age", preflightSeconds);
    }
    return c.body(null, 204);
  };
}

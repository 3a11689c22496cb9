/**
 * Lets scripts of chosen origins call a handler (the CORS protocol of the Fetch standard);
 * everybody else is untouched.
 */
import type { HeaderPairs } from "../../proto/http2/mod.ts";
import { type Handler, headerValue, type ServerRequest, type ServerResponse } from "./handler.ts";

export interface CorsPolicy {
  readonly allowsOrigin: (origin: string) => boolean;
  readonly methods: readonly string[];
  /** Request headers that a script may set. */
  readonly allowedHeaders: readonly string[];
  /** Response headers that a script may read. */
  readonly exposedHeaders: readonly string[];
  /** How long a browser may remember the answer to its preflight. */
  readonly maxAgeS: number;
}

export function withCors(policy: CorsPolicy, handler: Handler): Handler {
  return (request) => {
    const origin = headerValue(request.headers, "origin");
    if (origin === undefined) return handler(request);
    const allowed = policy.allowsOrigin(origin);
    if (isPreflight(request)) return answerPreflight(policy, allowed ? origin : undefined);
    const extra = allowed ? responseHeaders(policy, origin) : [vary];
    const answer = handler(request);
    return answer instanceof Promise
      ? answer.then((response) => extend(response, extra))
      : extend(answer, extra);
  };
}

/** The answer depends on who asks, and caches must know. */
const vary: readonly [string, string] = ["vary", "origin"];

function isPreflight({ method, headers }: ServerRequest): boolean {
  return method === "OPTIONS" &&
    headerValue(headers, "access-control-request-method") !== undefined;
}

function answerPreflight(policy: CorsPolicy, origin: string | undefined): ServerResponse {
  if (origin === undefined) return { status: 403, headers: [vary] };
  return {
    status: 204,
    headers: [
      vary,
      ["access-control-allow-origin", origin],
      ["access-control-allow-methods", policy.methods.join(", ")],
      ["access-control-allow-headers", policy.allowedHeaders.join(", ")],
      ["access-control-max-age", String(policy.maxAgeS)],
    ],
  };
}

function responseHeaders(
  policy: CorsPolicy,
  origin: string,
): readonly (readonly [string, string])[] {
  return [
    vary,
    ["access-control-allow-origin", origin],
    ["access-control-expose-headers", policy.exposedHeaders.join(", ")],
  ];
}

function extend(response: ServerResponse, extra: HeaderPairs): ServerResponse {
  return { ...response, headers: [...response.headers ?? [], ...extra] };
}

/**
 * The HTTP API as one function from request to response. `createApp` wires routes and what
 * surrounds every request (id, log, metrics, CORS, error answers); it never listens, so tests and
 * edge runtimes use it as it is.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ClientAddress } from "./client_address.ts";
import { cors } from "./cors.ts";
import { Fault } from "./domain/fault.ts";
import {
  describeError,
  describeFailure,
  type Log,
  type LogFields,
  type Span,
  type Traces,
} from "../server/mod.ts";
import type { Metrics } from "./metrics.ts";
import type { ConsoleDeps } from "./routes/console.ts";
import type { ApiContext, AppEnv, RouteDeps } from "./routes/context.ts";
import { notFound, refuse } from "./routes/errors.ts";
import { addPublicRoutes, addRelaysRoutes } from "./routes.ts";
import { addHealthRoutes } from "./routes/health.ts";
import { createRouter, type Router } from "./routes/operation.ts";

export interface AppDeps extends RouteDeps, Pick<ConsoleDeps, "consoleFiles"> {
  readonly log: Log;
  readonly metrics: Metrics;
  /** Monotonic milliseconds, for durations. */
  readonly elapsedMs: () => number;
  readonly newRequestId: () => string;
  readonly clientAddress: ClientAddress;
  readonly isAllowedOrigin: (origin: string) => boolean;
  readonly traces?: Traces | undefined;
}

/**
 * `peer` is the address of the other end, where the platform tells; `received` is called when the
 * body has come whole.
 */
export type Fetch = (
  request: Request,
  peer?: string,
  received?: () => void,
) => Response | Promise<Response>;

export interface App {
  readonly fetch: Fetch;
  /** The paths for relays, which no public port serves. */
  readonly fetchInternal: Fetch;
}

export function createApp(deps: AppDeps): App {
  const inFlight = { count: 0 };
  const help = "Requests that were accepted and not yet answered.";
  deps.metrics.gauge("static_api_requests_in_flight", help, () => inFlight.count);
  const serve = (addRoutes: (router: Router) => void, isInternal: boolean): Fetch => {
    const router = createRouter(deps);
    surround(router.hono, deps, { inFlight, isInternal });
    addRoutes(router);
    addHealthRoutes(router, deps);
    answerStrays(router);
    return (request, peer, received) => router.hono.fetch(request, { peer, received });
  };
  return {
    fetch: serve((router) => addPublicRoutes(router, deps), false),
    fetchInternal: serve((router) => addRelaysRoutes(router, deps), true),
  };
}

/**
 * Around every request: its id, who sent it, one log line, one observation, and headers that every
 * answer carries.
 */
function surround(
  hono: OpenAPIHono<AppEnv>,
  deps: AppDeps,
  { inFlight, isInternal }: { readonly inFlight: { count: number }; readonly isInternal: boolean },
): void {
  hono.use(async (c, next) => {
    const startedMs = deps.elapsedMs();
    // Strangers would choose what stands in the operator's traces.
    const span = deps.traces?.begin(
      "server",
      isInternal ? c.req.header("traceparent") : undefined,
    );
    inFlight.count++;
    const requestId = deps.newRequestId();
    c.set("requestId", requestId);
    c.set("route", "(none)");
    c.set("isLongPoll", false);
    c.set("clientAddress", deps.clientAddress(c.env.peer, (name) => c.req.header(name)));
    c.header("x-request-id", requestId);
    c.header("cache-control", "no-store");
    c.header("x-content-type-options", "nosniff");
    try {
      await next();
    } finally {
      inFlight.count--;
    }
    record(c, deps, deps.elapsedMs() - startedMs);
    if (span !== undefined) endSpan(c, span);
  });
  hono.use(cors(deps.isAllowedOrigin));
}

function record(c: ApiContext, { log, metrics }: AppDeps, durationMs: number): void {
  const { status } = c.res;
  const [route, caller, fault] = [c.get("route"), c.get("caller"), c.get("fault")];
  const isLongPoll = c.get("isLongPoll");
  const labels = { route, method: knownMethod(c.req.method), status };
  metrics.observeRequest(labels, isLongPoll ? undefined : durationMs / 1000);
  if (isLongPoll && status < 400) return;
  log(status >= 500 ? "error" : "info", "request", {
    request_id: c.get("requestId"),
    method: knownMethod(c.req.method),
    route,
    status,
    code: c.get("errorCode"),
    duration_ms: Math.round(durationMs * 100) / 100,
    client: c.get("clientAddress"),
    account_id: caller?.accountId,
    key_id: caller?.keyId,
    session_id: caller?.sessionId,
    ...(fault === undefined ? {} : { error: describeFault(fault) }),
  });
}

function endSpan(c: ApiContext, span: Span): void {
  const [method, route, { status }] = [knownMethod(c.req.method), c.get("route"), c.res];
  span.end(`${method} ${route}`, {
    "http.request.method": method,
    "http.route": route,
    "http.response.status_code": status,
    "error.type": c.get("errorCode"),
  }, status >= 500);
}

/**
 * Where a part was found overloaded or away says nothing, and a stack costs more than the rest of a
 * refusal.
 */
function describeFault(fault: unknown): LogFields {
  return fault instanceof Fault ? describeFailure(fault) : describeError(fault);
}

/** A method is text from outside; as a label it must not make new series. */
function knownMethod(method: string): string {
  return ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].includes(method)
    ? method
    : "(other)";
}

/** Unknown paths, known paths with another method, and whatever a handler threw. */
function answerStrays({ hono, methodsOf }: Router): void {
  hono.notFound((c) => {
    const allowed = methodsOf(c.req.path);
    if (allowed.length === 0) return notFound(c);
    return refuse(c, "method_not_allowed", `This path accepts only ${allowed.join(", ")}`, {
      headers: { Allow: allowed.join(", ") },
    });
  });
  hono.onError((error, c) => {
    c.set("fault", error);
    if (!(error instanceof Fault)) {
      return refuse(
        c,
        "internal",
        "Something failed on our side; try again or report the request id",
      );
    }
    const { retryAfterSeconds } = error;
    return refuse(c, error.code, error.message, {
      headers: retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) },
    });
  });
}

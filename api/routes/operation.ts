/**
 * One operation of the API: its documentation and its validation come from the same description, so
 * they cannot differ. Authentication, rate limits and the body cap happen here, in this order,
 * before a handler runs.
 */
import { OpenAPIHono, z } from "@hono/zod-openapi";
import { type ErrorCode, errorCodes } from "../../proto/mod.ts";
import type { Caller } from "../domain/authentication.ts";
import type { KeyScope } from "../domain/key_permissions.ts";
import { authorizeRelay, identifyCaller, identifySession } from "./authorization.ts";
import { parseBody, receiveBody, tooLargeByHeader } from "./body.ts";
import type { ApiContext, AppEnv, RouteDeps } from "./context.ts";
import { errorBody } from "./errors.ts";
import { deviceHeader } from "./known_places.ts";

/**
 * `session` is the console's cookie alone. Where a key may be sent, a session may too, unless it
 * asks for tokens.
 */
export type RouteCredential = "none" | "api_key" | "session" | "relay_secret";

interface Description {
  readonly method: "get" | "post" | "patch" | "delete";
  /** In OpenAPI's form: `/v1/keys/{id}`. */
  readonly path: string;
  /** Other paths that answer the same and are not documented apart. */
  readonly aliases?: readonly string[];
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  readonly credential: RouteCredential;
  /** It waits until there is something to say: its time says nothing, and there is no end of it. */
  readonly isLongPoll?: boolean;
  /** The scope that a key or a session needs; given with the credential `api_key`. */
  readonly scope?: KeyScope;
  /** Whether it looks at the token of a known place, and gives one with its success. */
  readonly device?: "given" | "shown and given";
  /** A suspended account may too. */
  readonly evenSuspended?: boolean;
  readonly parameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly text: string;
    readonly schema?: z.ZodType;
    readonly example?: unknown;
  };
  /** Refusals beyond those that follow from the credential and the body. */
  readonly refusals?: readonly ErrorCode[];
}

export interface HttpOperation<Body> extends Description {
  readonly body?: {
    readonly schema: z.ZodType<Body>;
    readonly required: boolean;
    readonly example: unknown;
  };
  readonly handle: (
    c: ApiContext,
    input: { readonly body: Body; readonly caller: () => Caller },
  ) => Response | Promise<Response>;
}

export interface Router {
  readonly hono: OpenAPIHono<AppEnv>;
  add<Body>(operation: HttpOperation<Body>): void;
  /** A path of a page, which is no part of the documented API. */
  addPage(path: string, handle: (c: ApiContext) => Response | Promise<Response>): void;
  /** Methods that a path knows, for 405. */
  methodsOf(path: string): readonly string[];
}

export function createRouter(deps: RouteDeps): Router {
  const hono = new OpenAPIHono<AppEnv>();
  const known: { pattern: RegExp; method: string }[] = [];
  const serve = (
    method: string,
    path: string,
    handler: (c: ApiContext) => Response | Promise<Response>,
  ): void => {
    hono.on(method, path.replaceAll(/\{(\w+)\}/g, ":$1"), handler);
    known.push({
      pattern: new RegExp(`^${path.replaceAll(".", "\\.").replaceAll(/\{\w+\}/g, "[^/]+")}$`),
      method,
    });
  };
  return {
    hono,
    add: (operation) => {
      describe(hono, operation);
      const handler = createHandler(operation, deps);
      for (const path of [operation.path, ...operation.aliases ?? []]) {
        serve(operation.method.toUpperCase(), path, handler);
      }
    },
    addPage: (path, handle) =>
      serve("GET", path, (c) => {
        c.set("route", path);
        return handle(c);
      }),
    methodsOf: (path) => {
      const methods = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
      return [
        ...new Set(methods.flatMap((method) => method === "GET" ? ["GET", "HEAD"] : [method])),
      ].sort();
    },
  };
}

function createHandler<Body>(
  operation: HttpOperation<Body>,
  deps: RouteDeps,
): (c: ApiContext) => Promise<Response> {
  const schema = operation.body?.schema;
  const { scope, evenSuspended = false } = operation;
  if ((operation.credential === "api_key") !== (scope !== undefined)) {
    throw new TypeError(`${operation.path} needs a key without a scope, or a scope without a key`);
  }
  return async (c) => {
    c.set("route", operation.path);
    c.set("isLongPoll", operation.isLongPoll === true);
    const tooLarge = tooLargeByHeader(c, deps.maxBodyBytes);
    if (tooLarge !== undefined) return tooLarge;
    // While the caller is identified, so that a client that has sent everything waits for us alone.
    const received = schema === undefined ? c.env.received?.() : receiveBody(c, deps.maxBodyBytes);
    if (operation.credential === "api_key") {
      const refusal = await identifyCaller(c, deps, { scope, evenSuspended });
      if (refusal !== undefined) return refusal;
    } else if (operation.credential === "session") {
      const refusal = await identifySession(c, deps);
      if (refusal !== undefined) return refusal;
    } else if (operation.credential === "relay_secret") {
      const refusal = await authorizeRelay(c, deps);
      if (refusal !== undefined) return refusal;
    }
    const caller = (): Caller => {
      const caller = c.get("caller");
      if (caller === undefined) {
        throw new TypeError(`${operation.path} asks for a caller but needs no credential`);
      }
      return caller;
    };
    const bytes = await received;
    if (schema === undefined || bytes === undefined) {
      return await operation.handle(c, { body: noBody<Body>(), caller });
    }
    const body = parseBody(c, bytes, schema, deps.maxBodyBytes);
    return body.ok ? await operation.handle(c, { body: body.value, caller }) : body.response;
  };
}

/** Operations without a body are declared with `Body = undefined`. */
function noBody<Body>(): Body {
  return undefined as Body; // cast: see above
}

const shown = z.string().optional().openapi({
  description:
    "The token of a known place. Its attempts have a budget that strangers cannot use up.",
});
const given = z.string().optional().openapi({
  description:
    "The token that makes this place a known one, for 90 days or until the password changes. A browser has it as a cookie only.",
});

function describe<Body>(hono: OpenAPIHono<AppEnv>, operation: HttpOperation<Body>): void {
  const { success, body } = operation;
  hono.openAPIRegistry.registerPath({
    method: operation.method,
    path: operation.path,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    security: securityOf(operation),
    request: {
      ...(operation.parameters === undefined ? {} : { params: operation.parameters }),
      ...(operation.query === undefined ? {} : { query: operation.query }),
      ...(operation.device === "shown and given"
        ? { headers: z.object({ [deviceHeader]: shown }) }
        : {}),
      ...(body === undefined ? {} : {
        body: {
          required: body.required,
          content: { "application/json": { schema: body.schema, example: body.example } },
        },
      }),
    },
    responses: {
      [success.status]: {
        description: success.text,
        ...(operation.device === undefined ? {} : { headers: z.object({ [deviceHeader]: given }) }),
        ...(success.schema === undefined ? {} : {
          content: { "application/json": { schema: success.schema, example: success.example } },
        }),
      },
      ...describeRefusals(operation),
    },
  });
}

function takesSession<Body>({ credential, scope }: HttpOperation<Body>): boolean {
  return credential === "session" || (credential === "api_key" && scope !== "tokens");
}

function securityOf<Body>(operation: HttpOperation<Body>): Record<string, string[]>[] {
  const { credential } = operation;
  if (credential === "none") return [];
  return [
    { [credential]: [] },
    ...(credential === "api_key" && takesSession(operation) ? [{ session: [] }] : []),
  ];
}

function describeRefusals<Body>(operation: HttpOperation<Body>): Record<number, object> {
  const codes: ErrorCode[] = [
    ...(operation.body === undefined
      ? []
      : ["invalid_request", "payload_too_large", "unsupported_media_type"] as const),
    ...(operation.credential === "none" ? [] : ["auth_failed"] as const),
    ...(operation.credential === "api_key"
      ? ["auth_key_invalid", "not_allowed", "rate_limited"] as const
      : []),
    ...(operation.credential === "session"
      ? ["auth_failed", "account_suspended", "rate_limited"] as const
      : []),
    ...(takesSession(operation) && operation.method !== "get" ? ["csrf_failed"] as const : []),
    ...(operation.credential === "api_key" && !operation.evenSuspended
      ? ["account_suspended"] as const
      : []),
    ...operation.refusals ?? [],
    ...(operation.credential === "none" && operation.body === undefined
      ? []
      : ["overloaded"] as const),
  ];
  const byStatus = new Map<number, Set<string>>();
  for (const code of codes) {
    const status = errorCodes[code].http;
    byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
  }
  return Object.fromEntries(
    Array.from(byStatus, ([status, codes]) => [status, {
      description: [...codes].map((code) => `\`${code}\``).join(" or "),
      content: { "application/json": { schema: errorBody } },
    }]),
  );
}

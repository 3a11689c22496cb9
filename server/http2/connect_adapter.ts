/**
 * Serves Connect-ES services: one router answers gRPC, gRPC-Web and Connect. This file knows only
 * the universal handler types of `@connectrpc/connect`; what the services do and how bytes travel
 * is none of its business.
 */
import {
  Code,
  ConnectError,
  cors,
  createContextKey,
  createContextValues,
} from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { ErrorCode } from "../../proto/http2/mod.ts";
import type { CorsPolicy } from "./cors.ts";
import type { Handler, ServerRequest, ServerResponse } from "./handler.ts";
import { StreamAborted } from "./stream_aborted.ts";

/** `handlers` of a `ConnectRouter`; whatever they do not serve goes to `otherwise`. */
export function createConnectHandler(
  handlers: readonly UniversalHandler[],
  otherwise: Handler,
): Handler {
  const byPath = new Map(handlers.map((handler) => [handler.requestPath, handler]));
  return (request) => {
    const query = request.path.indexOf("?");
    const handler = byPath.get(query < 0 ? request.path : request.path.slice(0, query));
    if (handler === undefined) return otherwise(request);
    if (!urlAuthority.test(request.authority)) return { status: 400 };
    return handler(toUniversal(request)).then(fromUniversal);
  };
}

/**
 * CORS headers that browsers need for the three protocols; `extra` names the application's own
 * headers.
 */
export function connectCors(
  allowsOrigin: (origin: string) => boolean,
  extra: {
    readonly allowedHeaders?: readonly string[];
    readonly exposedHeaders?: readonly string[];
  } = {},
): CorsPolicy {
  return {
    allowsOrigin,
    methods: cors.allowedMethods,
    allowedHeaders: [...cors.allowedHeaders, ...extra.allowedHeaders ?? []],
    exposedHeaders: [...cors.exposedHeaders, ...extra.exposedHeaders ?? []],
    maxAgeS: 7_200,
  };
}

/** The client's address, for services that limit by it. */
export const remoteAddressKey = createContextKey("", { description: "address of the client" });

/**
 * Tells that the client has proved who it is: limits on strangers no longer count its connection.
 */
export const vouchKey = createContextKey<ServerRequest["vouch"]>(() => {}, {
  description: "vouches for the client",
});

/** Host and port; anything else cannot become the URL that handlers are given. */
const urlAuthority = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

function toUniversal(request: ServerRequest): UniversalServerRequest {
  const header = new Headers();
  for (const { name, value } of request.headers) header.append(name, boundTimeout(name, value));
  const controller = new AbortController();
  request.onAbort((reason) => controller.abort(toConnectError(reason)));
  return {
    httpVersion: request.httpVersion,
    method: request.method,
    url: `${request.scheme}://${request.authority}${request.path}`,
    header,
    body: request.body,
    signal: controller.signal,
    contextValues: createContextValues().set(remoteAddressKey, request.remoteAddress)
      .set(vouchKey, (session) => request.vouch(session)),
  };
}

/** Waits beyond it end at once: timers count milliseconds in 31 bits. */
const longestTimeoutMs = 2 ** 31 - 1;
const [hourMs, minuteMs, secondMs] = [3_600_000, 60_000, 1_000];
const unitMs: Readonly<Record<string, number>> = {
  H: hourMs,
  M: minuteMs,
  S: secondMs,
  m: 1,
  u: 1 / 1_000,
  n: 1 / 1e6,
};

/**
 * A deadline in weeks is one in 24 days, which no call reaches. All else is left for Connect to
 * judge.
 */
export function boundTimeout(name: string, value: string): string {
  if (name === "connect-timeout-ms") {
    return Number(value) > longestTimeoutMs ? String(longestTimeoutMs) : value;
  }
  if (name !== "grpc-timeout") return value;
  const [, amount, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  const ms = Number(amount) * (unitMs[unit] ?? 0);
  return ms > longestTimeoutMs ? `${Math.floor(longestTimeoutMs / hourMs)}H` : value;
}

function fromUniversal({ status, header, body, trailer }: UniversalServerResponse): ServerResponse {
  return {
    status,
    ...(header && { headers: header }),
    ...(body && { body }),
    ...(trailer && { trailers: { [Symbol.iterator]: () => trailersOf(trailer) } }),
  };
}

/** As they are when they are asked for, behind the body. */
function* trailersOf(trailer: Headers): Generator<[name: string, value: string]> {
  for (const [name, value] of trailer) {
    yield [name, name === "grpc-message" ? encodeGrpcMessage(value) : value];
  }
}

/**
 * Connect escapes everything that `encodeURIComponent` does. gRPC escapes "%" and what is not
 * printable ASCII, no more (PROTOCOL-HTTP2, "Status-Message"), and grpc-js shows the rest of the
 * escapes to its users. Spaces at either end are no part of a field's value in HTTP.
 */
export function encodeGrpcMessage(escaped: string): string {
  return decodeURIComponent(escaped).replace(/[^ -~]+|%|^ +| +$/gu, encodeURIComponent);
}

/** As gRPC maps the codes of RST_STREAM (PROTOCOL-HTTP2, "Errors"). */
function toConnectError(reason: Error): ConnectError {
  const code = reason instanceof StreamAborted ? reason.code : ErrorCode.cancel;
  switch (code) {
    case ErrorCode.cancel:
    case ErrorCode.noError:
      return new ConnectError(reason.message, Code.Canceled);
    case ErrorCode.refusedStream:
      return new ConnectError(reason.message, Code.Unavailable);
    case ErrorCode.enhanceYourCalm:
      return new ConnectError(reason.message, Code.ResourceExhausted);
    case ErrorCode.inadequateSecurity:
      return new ConnectError(reason.message, Code.PermissionDenied);
    default:
      return new ConnectError(reason.message, Code.Internal);
  }
}

/**
 * Serves Connect-ES services: one router answers gRPC, gRPC-Web and Connect. This file knows only the universal handler
 * types of `@connectrpc/connect`; what the services do and how bytes travel is none of its business.
 */
import { Code, ConnectError, cors, createContextKey, createContextValues } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerRequest, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { CorsPolicy } from "./cors.ts";
import { ErrorCode, StreamAborted } from "./errors.ts";
import type { Handler, ServerRequest, ServerResponse } from "./handler.ts";

/** `handlers` of a `ConnectRouter`; whatever they do not serve goes to `otherwise`. */
export function createConnectHandler(handlers: readonly UniversalHandler[], otherwise: Handler): Handler {
  const byPath = new Map(handlers.map((handler) => [handler.requestPath, handler]));
  return (request) => {
    const query = request.path.indexOf("?");
    const handler = byPath.get(query < 0 ? request.path : request.path.slice(0, query));
    if (handler === undefined) return otherwise(request);
    if (!urlAuthority.test(request.authority)) return { status: 400 };
    return handler(toUniversal(request)).then(fromUniversal);
  };
}

/** CORS headers that browsers need for the three protocols; `extra` names the application's own headers. */
export function connectCors(
  allowsOrigin: (origin: string) => boolean,
  extra: { readonly allowedHeaders?: readonly string[]; readonly exposedHeaders?: readonly string[] } = {},
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

/** Tells that the client has proved who it is: limits on strangers no longer count its connection. */
export const vouchKey = createContextKey<() => void>(() => {}, { description: "vouches for the client" });

/** Host and port; anything else cannot become the URL that handlers are given. */
const urlAuthority = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

function toUniversal(request: ServerRequest): UniversalServerRequest {
  const header = new Headers();
  for (const { name, value } of request.headers) header.append(name, value);
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
      .set(vouchKey, () => request.vouch()),
  };
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
  for (const [name, value] of trailer) yield [name, name === "grpc-message" ? encodeGrpcMessage(value) : value];
}

/**
 * Connect escapes everything that `encodeURIComponent` does. gRPC escapes "%" and what is not printable ASCII, no more
 * (PROTOCOL-HTTP2, "Status-Message"), and grpc-js shows the rest of the escapes to its users. Spaces at either end are no part
 * of a field's value in HTTP.
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

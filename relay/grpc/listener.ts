/** The TCP port: gRPC, gRPC-Web and Connect through the gRPC service, CORS for browsers, and `GET /health`. */
import { limits } from "../../proto/mod.ts";
import {
  type Budgets,
  connectCors,
  createConnectHandler,
  type Handler,
  headerValue,
  serve,
  type ServerRequest,
  type ServerRequestBody,
  type ServerStats,
  withCors,
} from "../../server/http2/mod.ts";
import type { KeyedCertificate } from "../../server/mod.ts";
import { toConnectError } from "./errors.ts";
import type { GrpcService } from "./service.ts";
import { sessionHeader } from "./typed_sessions.ts";

export interface GrpcListenerOptions {
  readonly service: GrpcService;
  readonly hostname: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly certificate: KeyedCertificate;
  readonly allowsOrigin: (origin: string) => boolean;
  readonly budgets?: Partial<Budgets>;
  readonly onFault: (error: unknown) => void;
}

export interface GrpcListener {
  readonly port: number;
  stats(): ServerStats;
  setCertificate(certificate: KeyedCertificate): void;
  /** `/health` says so, and whoever asks it sends clients elsewhere. */
  drain(): void;
  close(): Promise<void>;
}

/** Streams get this long to end after their sessions were ended. */
const drainTimeoutMs = 2_000;
/** What a request without a session may bring: a handshake and its padding. */
const strangerBodyBytes = limits.handshakeEnvelopeBytes + limits.maxCellBytes;
/** Cells come one by one, each limited by itself. */
const cellPaths = ["/static.relay.v1.Relay/Session", "/static.relay.v1.Relay/CellUp"];
/** Calls whose session is in what they carry, not in their metadata. */
const sessionInside = [...cellPaths, "/static.relay.v1.Relay/CellDown"];

export async function listenGrpc(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { service, hostname, port, certificate, onFault } = options;
  let draining = false;
  const rpc = createConnectHandler(service.router.handlers, plainHandler(() => draining));
  const cors = connectCors(options.allowsOrigin, { allowedHeaders: [sessionHeader] });
  const server = await serve({
    ...certificate,
    hostname,
    port,
    handler: withCors(cors, limitStrangers(service, rpc)),
    isMember: ({ path, headers }, isVouched) => isMember(service, { path, headers }, isVouched),
    budgets: { drainTimeoutMs, ...options.budgets },
    onFault,
  });
  return {
    port: server.port,
    stats: () => server.stats(),
    setCertificate: (pair) => server.setCertificate(pair),
    drain: () => void (draining = true),
    close: () => server.shutdown(),
  };
}

function plainHandler(isDraining: () => boolean): Handler {
  const json = (status: number, value: unknown): ReturnType<Handler> => ({
    status,
    headers: [["content-type", "application/json"], ["cache-control", "no-store"]],
    body: new TextEncoder().encode(JSON.stringify(value)),
  });
  return ({ path, method }) => {
    if (path !== "/health") return { status: 404 };
    if (method !== "GET" && method !== "HEAD") return { status: 405, headers: [["allow", "GET, HEAD"]] };
    return isDraining() ? json(503, { status: "draining" }) : json(200, { status: "ok" });
  };
}

/** Cells bring their session inside, so their connection must have been vouched for; all others name it. */
function isMember(
  service: GrpcService,
  { path, headers }: Pick<ServerRequest, "path" | "headers">,
  isVouched: boolean,
): boolean {
  return isVouched && sessionInside.includes(path) || service.knows(headerValue(headers, sessionHeader));
}

/** Connect reads a whole message before a handler sees who sent it, so strangers are cut off while it reads. */
function limitStrangers(service: GrpcService, handler: Handler): Handler {
  return (request) => {
    if (cellPaths.includes(request.path) || service.knows(headerValue(request.headers, sessionHeader))) {
      return handler(request);
    }
    return handler({ ...unbound(request), body: limitBody(request.body, strangerBodyBytes) });
  };
}

/** The request's own methods must not lose their object when it is copied. */
function unbound(request: ServerRequest): ServerRequest {
  return {
    httpVersion: request.httpVersion,
    method: request.method,
    scheme: request.scheme,
    authority: request.authority,
    path: request.path,
    headers: request.headers,
    body: request.body,
    onAbort: (listener) => request.onAbort(listener),
    remoteAddress: request.remoteAddress,
    vouch: () => request.vouch(),
  };
}

function limitBody(body: ServerRequestBody, maxBytes: number): ServerRequestBody {
  let left = maxBytes;
  const limited: ServerRequestBody = {
    get trailers() {
      return body.trailers;
    },
    next: async () => {
      const next = await body.next();
      left -= next.value?.length ?? 0;
      if (left >= 0) return next;
      const message = `A request without a session has at most ${maxBytes} bytes: authenticate first`;
      throw toConnectError({ code: "payload_too_large", message });
    },
    return: async () => await body.return?.() ?? { done: true, value: undefined },
    [Symbol.asyncIterator]: () => limited,
  };
  return limited;
}

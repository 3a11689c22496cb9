/**
 * The TCP port: gRPC, gRPC-Web and Connect through the gRPC service, CORS for browsers, `GET
 * /health` and `GET /ready`.
 */
import { limits } from "../../proto/mod.ts";
import {
  type Budgets,
  connectCors,
  createConnectHandler,
  type Handler,
  headerValue,
  type RequestStanding,
  serve,
  type ServerRequest,
  type ServerRequestBody,
  type ServerStats,
  withCors,
} from "../../server/http2/mod.ts";
import type { KeyedCertificate } from "../../server/mod.ts";
import { toConnectError } from "./errors.ts";
import { refuseMalformed } from "./malformed.ts";
import type { GrpcService } from "./service.ts";
import { sessionHeader } from "./typed_sessions.ts";

/** Something that a relay needs does not answer. */
export interface Problem {
  /** The thing itself, in a word. */
  readonly what: string;
  /** The text for operators, and for anybody who asks. */
  readonly text: string;
  /** Load balancers should send new sessions elsewhere as long as it lasts. */
  readonly isUnready: boolean;
}

export interface GrpcListenerOptions {
  readonly service: GrpcService;
  readonly hostname: string;
  /** 0 lets the system choose. */
  readonly port: number;
  readonly certificate: KeyedCertificate;
  readonly allowsOrigin: (origin: string) => boolean;
  /**
   * Whether an address is a balancer's, whose sockets say first whose they are; nobody's unless
   * told.
   */
  readonly isBalancer?: (address: string) => boolean;
  /** Why new sessions should go elsewhere, for `/ready`; undefined when they are welcome. */
  readonly notReady: () => string | undefined;
  /** Problems that `/health` shows; none unless told. */
  readonly problems?: () => readonly Problem[];
  readonly budgets?: Partial<Budgets>;
  readonly lagMs?: () => number;
  readonly onSocket?: () => void;
  readonly onFault: (error: unknown) => void;
}

export interface HealthAnswer {
  readonly status: 200 | 503;
  /** As JSON. */
  readonly value: unknown;
}

export interface GrpcListener {
  readonly port: number;
  /** Resolves when the port accepts no more. */
  readonly failed: Promise<Error>;
  stats(): ServerStats;
  /** The answer to `GET` of `/health` or `/ready`; undefined for other paths. */
  health(path: string): HealthAnswer | undefined;
  setCertificate(certificate: KeyedCertificate): void;
  /** `/health` reports it, so that load balancers send clients elsewhere. */
  drain(): void;
  close(): Promise<void>;
}

/** Streams get this long to end after their sessions were ended. */
const drainTimeoutMs = 2_000;
/** Size limit of a request with its padding: an envelope, or without a session a handshake. */
const memberBodyBytes = limits.envelopeBytes + limits.maxCellBytes;
const strangerBodyBytes = limits.handshakeEnvelopeBytes + limits.maxCellBytes;
const strangerBodyMessage =
  `A request without a session has at most ${strangerBodyBytes} bytes: authenticate first`;
const healthPaths = ["/health", "/ready"];
const readMethods = ["GET", "HEAD"];
/** Has no end: the service limits each of its cells. */
const cellStreamPath = "/static.relay.v1.Relay/Session";
const cellUpPath = "/static.relay.v1.Relay/CellUp";
/** A cell with its link and index. */
const cellBodyBytes = limits.maxCellBytes + 128;
/** Calls whose session is in what they carry, not in their metadata. */
const sessionInside = [cellStreamPath, cellUpPath, "/static.relay.v1.Relay/CellDown"];

export async function listenGrpc(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { service, hostname, port, certificate, onFault } = options;
  let draining = false;
  const health = (path: string): HealthAnswer | undefined =>
    healthOf(path, { ...options, isDraining: draining });
  const rpc = createConnectHandler(
    service.router.handlers.map(refuseMalformed),
    plainHandler(health),
  );
  const cors = connectCors(options.allowsOrigin, { allowedHeaders: [sessionHeader] });
  const server = await serve({
    ...certificate,
    hostname,
    port,
    handler: withCors(cors, limitBodies(rpc)),
    standingOf: (request, isVouched) => standingOf(service, request, isVouched),
    ...(options.isBalancer && { isBalancer: options.isBalancer }),
    budgets: { drainTimeoutMs, ...options.budgets },
    ...(options.lagMs && { lagMs: options.lagMs }),
    ...(options.onSocket && { onSocket: options.onSocket }),
    onFault,
  });
  return {
    port: server.port,
    failed: server.failed,
    stats: () => server.stats(),
    health,
    setCertificate: (pair) => server.setCertificate(pair),
    drain: () => void (draining = true),
    close: () => server.shutdown(),
  };
}

/**
 * `/health` stays 200 with a problem: a supervisor that ended the relay for it would help nobody.
 */
function healthOf(
  path: string,
  { isDraining, notReady, problems = () => [] }:
    & Pick<GrpcListenerOptions, "notReady" | "problems">
    & {
      readonly isDraining: boolean;
    },
): HealthAnswer | undefined {
  if (!healthPaths.includes(path)) return undefined;
  if (isDraining) return { status: 503, value: { status: "draining" } };
  if (path === "/ready") {
    const reason = notReady();
    return reason === undefined
      ? { status: 200, value: { status: "ok" } }
      : { status: 503, value: { status: "not_ready", reason } };
  }
  const texts = problems().map(({ text }) => text);
  return {
    status: 200,
    value: texts.length === 0 ? { status: "ok" } : { status: "degraded", problems: texts },
  };
}

function plainHandler(health: GrpcListener["health"]): Handler {
  return ({ path, method }) => {
    const answer = health(path);
    if (answer === undefined) return { status: 404 };
    if (!readMethods.includes(method)) {
      return { status: 405, headers: [["allow", readMethods.join(", ")]] };
    }
    return {
      status: answer.status,
      headers: [["content-type", "application/json"], ["cache-control", "no-store"]],
      body: new TextEncoder().encode(JSON.stringify(answer.value)),
    };
  };
}

/**
 * Cells bring their session inside, so their connection must have been vouched for; all others name
 * it.
 */
function standingOf(
  service: GrpcService,
  { method, path, headers }: Pick<ServerRequest, "method" | "path" | "headers">,
  isVouched: boolean,
): RequestStanding {
  if (healthPaths.includes(path) && readMethods.includes(method)) return "check";
  const isMember = isVouched && sessionInside.includes(path) ||
    service.knows(headerValue(headers, sessionHeader));
  return isMember ? "member" : "stranger";
}

/**
 * Connect reads a whole message before a handler sees who sent it, so its sender is cut off while
 * it reads, with the code that everything has that is too large.
 */
function limitBodies(handler: Handler): Handler {
  return (request) => {
    if (request.path === cellStreamPath) return handler(request);
    return handler({ ...unbound(request), body: limitBody(request.body, limitOf(request)) });
  };
}

interface BodyLimit {
  readonly maxBytes: number;
  readonly message: string;
}

function limitOf({ path, isMember }: ServerRequest): BodyLimit {
  if (path === cellUpPath) {
    return {
      maxBytes: cellBodyBytes,
      message: `A request with a cell has at most ${cellBodyBytes} bytes`,
    };
  }
  return isMember
    ? { maxBytes: memberBodyBytes, message: `A request has at most ${memberBodyBytes} bytes` }
    : { maxBytes: strangerBodyBytes, message: strangerBodyMessage };
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
    isMember: request.isMember,
    vouch: (session) => request.vouch(session),
  };
}

function limitBody(body: ServerRequestBody, limit: BodyLimit): ServerRequestBody {
  let left = limit.maxBytes;
  const limited: ServerRequestBody = {
    get trailers() {
      return body.trailers;
    },
    next: async () => {
      const next = await body.next();
      left -= next.value?.length ?? 0;
      if (left >= 0) return next;
      throw toConnectError({ code: "payload_too_large", message: limit.message });
    },
    return: async () => await body.return?.() ?? { done: true, value: undefined },
    [Symbol.asyncIterator]: () => limited,
  };
  return limited;
}

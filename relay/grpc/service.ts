/**
 * The gRPC service: every typed call as an envelope and back, `Deliver`, and the three calls that
 * carry cells.
 */
import type { DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createConnectRouter,
  type HandlerContext,
  type MethodImpl,
} from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import {
  noticeToDelivery,
  Relay,
  replyToMessage,
  requestFromMessage,
} from "../../proto/wire/grpc.ts";
import {
  type CallName,
  calls,
  limits,
  type ReplyBody,
  type RequestBody,
  WireError,
} from "../../proto/mod.ts";
import { remoteAddressKey, vouchKey } from "../../server/http2/mod.ts";
import type { GrpcCaller } from "./caller.ts";
import { CellLinks } from "./cell_links.ts";
import { CellStreams } from "./cell_streams.ts";
import type { GrpcDeps } from "./deps.ts";
import { toPublicError } from "./errors.ts";
import { noteMessage } from "./malformed.ts";
import { padMessage } from "./padding.ts";
import { addHealth } from "./health/health.ts";
import { sessionHeader, TypedSessions } from "./typed_sessions.ts";

export interface GrpcServiceOptions extends GrpcDeps {
  /** Whether new sessions are welcome, for those who ask by gRPC's own health protocol. */
  readonly isServing: () => boolean;
}

export interface GrpcService {
  readonly router: ConnectRouter;
  stats(): GrpcSessionCounts;
  /** Whether this value of `static-session` names a live session. */
  knows(sessionToken: string | undefined): boolean;
}

export interface GrpcSessionCounts {
  readonly typedSessions: number;
  readonly cellStreams: number;
  readonly cellLinks: number;
}

/** A cell with its field. Other calls have one message, and the listener limits their bodies. */
const cellReadMaxBytes = limits.maxCellBytes + 128;

/** Above every message. */
const neverBytes = 2 ** 32 - 1;

/**
 * Nothing is compressed, because that would undo the padding. Connect must still have a list of
 * encodings, so that a client that compresses is told it (`grpc-accept-encoding`) and sends the
 * call again without.
 */
const identity: Compression = {
  name: "identity",
  compress: (bytes) => Promise.resolve(bytes.slice()),
  decompress: () =>
    Promise.reject(
      new ConnectError("A message is marked as compressed, and its call is not", Code.Internal),
    ),
};

export function createGrpcService(options: GrpcServiceOptions): GrpcService {
  const sessions = new TypedSessions(options);
  const links = new CellLinks(options);
  const streams = new CellStreams(options);
  const router = createConnectRouter({
    acceptCompression: [identity],
    compressMinBytes: neverBytes,
    interceptors: [noteMessage],
  });
  for (const name of Object.keys(calls) as CallName[]) { // cast: keys of the table
    addCall(router, name, { sessions, options });
  }
  router.rpc(Relay.method.deliver, (_request, context) => deliver(context, { sessions, options }));
  router.rpc(
    Relay.method.session,
    (cells, context) => streams.run(cells, peerOf(context), context.signal),
    { readMaxBytes: cellReadMaxBytes },
  );
  router.rpc(Relay.method.cellUp, async (request, context) => {
    await links.up(request, peerOf(context));
    return {};
  });
  router.rpc(
    Relay.method.cellDown,
    ({ link }, context) => links.down(link, peerOf(context), context.signal),
  );
  addHealth(router, options);
  return {
    router,
    stats: () => ({
      typedSessions: sessions.size,
      cellStreams: streams.size,
      cellLinks: links.size,
    }),
    knows: (sessionToken) => sessions.knows(sessionToken),
  };
}

interface GrpcServiceParts {
  readonly sessions: TypedSessions;
  readonly options: GrpcServiceOptions;
}

/** No code per operation: descriptors drive the conversion, and the session the rest. */
function addCall<Name extends CallName>(
  router: ConnectRouter,
  name: Name,
  { sessions, options }: GrpcServiceParts,
): void {
  const method: DescMethodUnary = Relay.method[uncapitalize(name)];
  const { cellBytes } = options.upstream;
  const handler: MethodImpl<DescMethodUnary> = async (message, context) => {
    try {
      // The caller is checked before the content.
      const call = route(sessions, name, context);
      const reply = await call(requestFromMessage(name, message));
      const padded = padMessage(method.output, replyToMessage(name, reply), cellBytes);
      // cast: a message is an initialiser of its own type
      return padded as MessageInitShape<typeof method.output>;
    } catch (error) {
      if (!(error instanceof ConnectError || error instanceof WireError)) options.onFault(error);
      throw toPublicError(error);
    }
  };
  router.rpc(method, handler);
}

async function* deliver(
  context: HandlerContext,
  { sessions, options }: GrpcServiceParts,
): AsyncGenerator<MessageShape<typeof Relay.method.deliver.output>> {
  const session = sessions.find(context.requestHeader.get(sessionHeader));
  peerOf(context).vouch(session.sockets);
  for await (const notice of session.deliver(context.signal)) {
    yield padMessage(
      Relay.method.deliver.output,
      noticeToDelivery(notice),
      options.upstream.cellBytes,
    );
  }
}

type TypedCall<Name extends CallName> = (body: RequestBody<Name>) => Promise<ReplyBody<Name>>;

/**
 * Where a call goes: a session of its own, a new one, or one for this call only. Throws a
 * ConnectError.
 */
function route<Name extends CallName>(
  sessions: TypedSessions,
  name: Name,
  context: HandlerContext,
): TypedCall<Name> {
  const header = context.requestHeader.get(sessionHeader);
  const peer = peerOf(context);
  if (name === "Authenticate") {
    const call: TypedCall<"Authenticate"> = (body) => sessions.authenticate(body, peer);
    return call as TypedCall<Name>; // cast: the name was compared
  }
  if (name === "GetChallenge" && header === null) {
    const call: TypedCall<"GetChallenge"> = (body) => sessions.challenge(body, peer);
    return call as TypedCall<Name>; // cast: the name was compared
  }
  if (name === "Ping" && header === null) {
    return (body) => sessions.once(peer, (session) => session.call(name, body, context.signal));
  }
  const session = sessions.find(header);
  peer.vouch(session.sockets);
  return (body) => session.call(name, body, context.signal);
}

function peerOf(context: HandlerContext): GrpcCaller {
  return {
    remoteAddress: context.values.get(remoteAddressKey),
    vouch: context.values.get(vouchKey),
  };
}

function uncapitalize<Name extends string>(name: Name): Uncapitalize<Name> {
  // cast: what the type says
  return name.charAt(0).toLowerCase() + name.slice(1) as Uncapitalize<Name>;
}

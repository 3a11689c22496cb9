/**
 * Requests whose bytes are no message of their call. Connect calls them `internal`, which would
 * mean that the relay has failed, in words of its own. Here they are the caller's mistake,
 * `invalid_request`, in gRPC, gRPC-Web and Connect alike.
 */
import { Code, ConnectError, createContextKey, type Interceptor } from "@connectrpc/connect";
import type {
  UniversalHandler,
  UniversalServerRequest,
  UniversalServerResponse,
} from "@connectrpc/connect/protocol";
import { toConnectError } from "./errors.ts";

interface WireArrival {
  /** All bytes of the message came. */
  isWhole: boolean;
  /** They were a message, so that its call has begun. */
  isMessage: boolean;
}

type AnyFn = ReturnType<Interceptor>;

const arrivalKey = createContextKey<WireArrival | undefined>(undefined, {
  description: "how a body came",
});

export function malformed(): ConnectError {
  return toConnectError({
    code: "invalid_request",
    message: "The request's bytes are no message of this call",
  });
}

/**
 * Tells `refuseMalformed` that a message was read. Calls with a stream of answers read theirs
 * behind this, and fail here.
 */
export function noteMessage(next: AnyFn): AnyFn {
  return (request) => {
    const arrival = request.contextValues.get(arrivalKey);
    if (arrival !== undefined) arrival.isMessage = true;
    if (!request.stream || request.method.methodKind !== "server_streaming") return next(request);
    return next({ ...request, message: refusing(request.message) });
  };
}

async function* refusing<Message>(messages: AsyncIterable<Message>): AsyncGenerator<Message> {
  try {
    yield* messages;
  } catch (error) {
    throw isAboutBytes(error) ? malformed() : error;
  }
}

/**
 * Errors of the contract have details. Those of Connect have none, and tell of limits, deadlines
 * and resets, too.
 */
function isAboutBytes(error: unknown): boolean {
  if (!(error instanceof ConnectError) || error.details.length > 0) return false;
  return error.code === Code.Internal || error.code === Code.InvalidArgument;
}

/**
 * Connect has no place to say it otherwise: the call is made once more, with a body that fails with
 * the right error, so that each dialect writes that as it writes errors.
 */
export function refuseMalformed(handler: UniversalHandler): UniversalHandler {
  if (handler.method.methodKind !== "unary") return handler;
  const handle = async (request: UniversalServerRequest): Promise<UniversalServerResponse> => {
    const arrival: WireArrival = { isWhole: false, isMessage: false };
    request.contextValues?.set(arrivalKey, arrival);
    const response = await handler({ ...request, body: watched(request, arrival) });
    return arrival.isMessage || !arrival.isWhole
      ? response
      : await handler({ ...request, body: failing() });
  };
  return Object.assign(handle, handler);
}

/**
 * A flag, and the length of what follows, before each message of gRPC and gRPC-Web. Connect's ends
 * with the body.
 */
const prefixBytes = 5;

async function* watched(
  { body, header }: UniversalServerRequest,
  arrival: WireArrival,
): AsyncGenerator<Uint8Array> {
  const prefix = header.get("content-type")?.startsWith("application/grpc") === true
    ? new Uint8Array(prefixBytes)
    : undefined;
  let came = 0;
  // cast: `server/http2` gives no parsed bodies
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    if (prefix !== undefined && came < prefixBytes) {
      prefix.set(chunk.subarray(0, prefixBytes - came), came);
    }
    came += chunk.length;
    // Before it is passed on: Connect reads no further than to the end of a bad message.
    if (prefix !== undefined && came >= prefixBytes) {
      arrival.isWhole = came >= prefixBytes + new DataView(prefix.buffer).getUint32(1);
    }
    yield chunk;
  }
  arrival.isWhole = true;
}

// deno-lint-ignore require-yield
async function* failing(): AsyncGenerator<Uint8Array> {
  await Promise.reject(malformed());
}

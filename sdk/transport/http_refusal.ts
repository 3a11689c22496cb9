/**
 * The relay's reasons over HTTP, when it refuses or ends something: as Connect carries them, as
 * gRPC does, and by status alone.
 */
import { isErrorCode } from "../../proto/mod.ts";
import { codeOfHttp } from "../base/errors.ts";
import { decodeErrorDetail, decodeStatusDetails } from "./frames.ts";
import type { StreamEnd } from "./transport.ts";

const detailType = "static.relay.v1.ErrorDetail";
const maxTextLength = 1024;

/**
 * From the JSON of an error, or of the last message of a stream, which holds one unless the stream
 * ended well.
 */
export function streamEndOf(json: string, otherwise: string): StreamEnd {
  const body = parse(json);
  const { message, details } = parseFields(body.error ?? body);
  for (const detail of Array.isArray(details) ? details : []) {
    const { type, value } = parseFields(detail);
    const end = type === detailType && typeof value === "string"
      ? endOfDetail(() => decodeBase64(value))
      : undefined;
    if (end !== undefined) return end;
  }
  return { message: typeof message === "string" ? message.slice(0, maxTextLength) : otherwise };
}

/** From the `grpc-status-details-bin` of a stream's trailers. */
export function grpcStreamEndOf(status: string, otherwise: string): StreamEnd {
  try {
    for (const { type, value } of decodeStatusDetails(decodeBase64(status))) {
      const end = type === detailType ? endOfDetail(() => value) : undefined;
      if (end !== undefined) return end;
    }
  } catch {
    // A status that cannot be read adds nothing.
  }
  return { message: otherwise };
}

/**
 * Returns the end of a stream after an answer with this status: with a code only if it says that
 * the relay, or somebody before it, is busy. No other refusal of one call is the reason why a
 * stream ends.
 */
export function busyEndOf(
  status: unknown,
  retryAfter: unknown,
  { message, ...known }: StreamEnd,
): StreamEnd {
  const code = codeOfHttp(status);
  if (code === undefined) return { message };
  if (known.code !== undefined) return { message, ...known };
  const retryAfterMs = typeof retryAfter === "string" ? Number(retryAfter) * 1000 : NaN;
  return { code, message, ...(retryAfterMs >= 0 && { retryAfterMs }) };
}

/** Undefined for a detail that cannot be read: it adds nothing. */
function endOfDetail(bytes: () => Uint8Array): StreamEnd | undefined {
  try {
    const { code, message, retryAfterMs } = decodeErrorDetail(bytes());
    return isErrorCode(code) ? { code, message, retryAfterMs } : undefined;
  } catch {
    return undefined;
  }
}

function decodeBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

type JsonFields = Readonly<Record<string, unknown>>;

function parse(json: string): JsonFields {
  try {
    return parseFields(JSON.parse(json));
  } catch {
    return {}; // some proxy's own page
  }
}

function parseFields(value: unknown): JsonFields {
  // cast: any object has such fields
  return typeof value === "object" && value !== null ? value as JsonFields : {};
}

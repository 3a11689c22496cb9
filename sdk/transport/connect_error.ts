/** The relay's errors over the Connect protocol, when it refuses or ends something. */
import { isErrorCode } from "../../proto/mod.ts";
import { decodeErrorDetail } from "./frames.ts";
import type { StreamEnd } from "./transport.ts";

const detailType = "static.relay.v1.ErrorDetail";

/** From the JSON of an error, or of the last message of a stream, which holds one unless the stream ended well. */
export function streamEndOf(json: string, otherwise: string): StreamEnd {
  const body = parse(json);
  const { message, details } = parseFields(body.error ?? body);
  for (const detail of Array.isArray(details) ? details : []) {
    const { type, value } = parseFields(detail);
    if (type !== detailType || typeof value !== "string") continue;
    try {
      const known = decodeErrorDetail(Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0)));
      if (isErrorCode(known.code)) return { code: known.code, message: known.message };
    } catch {
      // A detail that cannot be read adds nothing.
    }
  }
  return { message: typeof message === "string" ? message.slice(0, 1024) : otherwise };
}

type Fields = Readonly<Record<string, unknown>>;

function parse(json: string): Fields {
  try {
    return parseFields(JSON.parse(json));
  } catch {
    return {}; // some proxy's own page
  }
}

function parseFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? value as Fields : {}; // cast: any object has such fields
}

/**
 * Reads a JSON body once, under the size cap and before anything is decoded; then the operation's
 * own schema decides.
 */
import type { z } from "@hono/zod-openapi";
import { shown } from "../../proto/mod.ts";
import { waits } from "../../server/mod.ts";
import type { ApiContext } from "./context.ts";
import { type FieldError, refuse } from "./errors.ts";

export type BodyResult<T> = { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly response: Response;
};

const jsonType = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i;

/** The bytes of a body as far as they came. */
export type ReceivedBody = Uint8Array | "too_large" | "broken_off";

/** Never rejects. */
export async function receiveBody(c: ApiContext, maxBytes: number): Promise<ReceivedBody> {
  const bytes = await readCapped(c.req.raw, maxBytes);
  if (bytes !== "broken_off") c.env.received?.();
  return bytes;
}

export function parseBody<T>(
  c: ApiContext,
  bytes: ReceivedBody,
  schema: z.ZodType<T>,
  maxBytes: number,
): BodyResult<T> {
  if (bytes === "broken_off") {
    return {
      ok: false,
      response: refuse(c, "invalid_request", "The body did not arrive completely; send it again"),
    };
  }
  if (bytes === "too_large") return { ok: false, response: tooLarge(c, maxBytes) };
  if (bytes.length > 0 && !jsonType.test(c.req.header("content-type") ?? "")) {
    return {
      ok: false,
      response: refuse(
        c,
        "unsupported_media_type",
        "The body must be JSON: send Content-Type: application/json",
      ),
    };
  }
  // An absent body is an empty object: every field may be optional.
  const json = bytes.length === 0 ? {} : parseJson(bytes);
  if (json === undefined) {
    return {
      ok: false,
      response: refuse(c, "invalid_request", "The body is not valid JSON in UTF-8"),
    };
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return { ok: true, value: parsed.data };
  const details = parsed.error.issues.map(fieldError);
  return {
    ok: false,
    response: refuse(c, "invalid_request", "The request has invalid fields", { details }),
  };
}

/** A length that is announced is refused before anything is read. */
export function tooLargeByHeader(c: ApiContext, maxBytes: number): Response | undefined {
  return Number(c.req.header("content-length") ?? 0) > maxBytes ? tooLarge(c, maxBytes) : undefined;
}

function tooLarge(c: ApiContext, maxBytes: number): Response {
  return refuse(c, "payload_too_large", `The body is larger than ${maxBytes} bytes`);
}

async function readCapped(request: Request, maxBytes: number): Promise<ReceivedBody> {
  if (request.body === null) return new Uint8Array();
  const reader = request.body.getReader();
  const chunks: Uint8Array[] = [];
  let [length, isLate] = [0, false];
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => {});
  }, waits.request.ms);
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      length += read.value.length;
      if (length > maxBytes) return "too_large";
      chunks.push(read.value);
    }
  } catch {
    // A client that hangs up must not look like a fault of ours in logs and alerts.
    return "broken_off";
  } finally {
    clearTimeout(timer);
  }
  if (isLate) return "broken_off";
  const all = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    all.set(chunk, offset);
    offset += chunk.length;
  }
  return all;
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return value;
  } catch {
    return undefined;
  }
}

/**
 * Says what is wrong with which field; the field's value is never repeated, it may be a password.
 */
function fieldError(issue: z.core.$ZodIssue): FieldError {
  if (issue.code === "unrecognized_keys") {
    return {
      field: issue.keys.map((key) => shown(key, { max: 64 })).join(", "),
      problem: "unknown field",
    };
  }
  return { field: issue.path.join("."), problem: issue.message };
}

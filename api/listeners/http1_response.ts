/** The bytes of an answer of HTTP/1.1. */
import { concatBytes } from "@noble/hashes/utils.js";

/** Only those with words that programs look at; others have none. */
const reasons: Readonly<Record<number, string>> = {
  100: "Continue",
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  429: "Too Many Requests",
  500: "Internal Server Error",
  503: "Service Unavailable",
};

/** Headers of the connection and not of the answer: they are written here. */
const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

type ResponseHeader = readonly [name: string, value: string];

/** An answer without a body. All but 100 end the connection. */
export function encodeHead(status: number, headers: readonly ResponseHeader[] = []): Uint8Array {
  if (status === 100) return encodeLines(status, headers);
  return encodeLines(status, [...headers, ["content-length", "0"], ["connection", "close"], [
    "date",
    dateNow(),
  ]]);
}

/**
 * Smaller bodies leave together with their heads. Larger ones are not copied for it: their clients
 * may take a minute to read them.
 */
const joinedBytes = 16 * 1024;

/** Returns the parts in which it is to be sent. */
export async function encodeResponse(
  response: Response,
  { isHead, isKept }: { readonly isHead: boolean; readonly isKept: boolean },
): Promise<readonly Uint8Array[]> {
  // Its `body` is not asked for: the runtime would make a stream of it, for four times the time.
  const body = new Uint8Array(await response.arrayBuffer());
  const headers: ResponseHeader[] = [];
  response.headers.forEach((value, name) => ownHeaders.has(name) || headers.push([name, value]));
  const hasNoBody = isHead || response.status === 204 || response.status === 304;
  // The answer to HEAD may not have the body whose length it tells.
  const length = isHead
    ? response.headers.get("content-length")
    : hasNoBody
    ? null
    : String(body.length);
  if (length !== null) headers.push(["content-length", length]);
  if (!isKept) headers.push(["connection", "close"]);
  headers.push(["date", dateNow()]);
  const head = encodeLines(response.status, headers);
  if (hasNoBody || body.length === 0) return [head];
  return body.length > joinedBytes ? [head, body] : [concatBytes(head, body)];
}

function encodeLines(status: number, headers: readonly ResponseHeader[]): Uint8Array {
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const text = `HTTP/1.1 ${status} ${reasons[status] ?? ""}\r\n${lines}\r\n`;
  // A byte for each character, as headers are read.
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) bytes[index] = text.charCodeAt(index);
  return bytes;
}

function dateNow(): string {
  return new Date().toUTCString();
}

/**
 * The head of a request of HTTP/1.1, and the lines of a body in chunks. A proxy in front might read
 * some of them differently than this service, so all of these are refused: a second Host or
 * Content-Length, a length beside chunks, folded lines, a lone CR or LF, paths with `..` or `\`,
 * and extensions of chunks, which are legal and nobody sends.
 */
import { Buffer } from "node:buffer";

export interface Http1RequestHead {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The body's length in bytes. */
  readonly body: number | "chunked";
  /** The client sends the body when it is told to. */
  readonly awaitsContinue: boolean;
  /** The client may send another request after the answer. */
  readonly isKept: boolean;
}

export interface MalformedHead {
  /** In words for its sender. */
  readonly fault: string;
}

const maxHeaders = 100;
const token = String.raw`[!#$%&'*+.^_|~0-9A-Za-z\x60-]+`;
/** A target without `#` and `\`. */
const requestLine = /^([A-Z]+) ([\x21\x22\x24-\x5b\x5d-\x7e]+) HTTP\/1\.([01])$/;
const headerLine = new RegExp(String.raw`^(${token}):([\t\x20-\x7e\x80-\xff]*)$`);
/**
 * All but the space around it. One run of spaces belongs to one part of the pattern: shared by two,
 * it takes the square of its length.
 */
const content = /[^ \t](?:.*[^ \t])?/;
/**
 * A name, an address or one in brackets, with a port or without one; nothing that would move into
 * the path.
 */
const authority = /^(?:[A-Za-z0-9._~-]+|\[[0-9A-Fa-f:.]+\])?(?::\d{0,5})?$/;
const absoluteForm = /^https?:\/\/([^/?#]+)([/?].*)?$/i;
/** The standard's address would be that of another path. Clients resolve it before they send it. */
const dotSegment = /^[^?]*\/(?:\.|%2e){1,2}(?:[/?]|$)/i;
const lengthDigits = /^\d{1,15}$/;
const chunkDigits = /^[0-9A-Fa-f]{1,8}$/;

/** Takes the bytes before the empty line, without it. */
export function parseHead(bytes: Uint8Array): Http1RequestHead | MalformedHead {
  const [first = "", ...lines] = latin1Of(bytes).split("\r\n");
  const [, method = "", target = "", minor] = requestLine.exec(first) ?? [];
  if (minor === undefined) return { fault: "The first line is malformed, or not of HTTP/1.1" };
  if (lines.length > maxHeaders) return { fault: `Send ${maxHeaders} headers at most` };
  const headers: [name: string, value: string][] = [];
  for (const line of lines) {
    const [, name, value = ""] = headerLine.exec(line) ?? [];
    if (name === undefined) return { fault: "A header is malformed" };
    headers.push([name.toLowerCase(), trimmed(value)]);
  }
  const valuesOf = (wanted: string): string[] =>
    headers.flatMap(([name, value]) => name === wanted ? [value] : []);
  const isOld = minor === "0";
  const hosts = valuesOf("host");
  if (hosts.length > 1 || (hosts.length === 0 && !isOld)) return { fault: "Send one Host header" };
  const url = urlOf(method, target, hosts[0] ?? "");
  if (url === undefined) return { fault: "The Host header or the path is malformed" };
  const body = bodyOf(valuesOf("content-length"), valuesOf("transfer-encoding"), isOld);
  if (body === undefined) {
    return { fault: "Send one Content-Length, or Transfer-Encoding: chunked" };
  }
  const expectations = valuesOf("expect").map((value) => value.toLowerCase());
  if (expectations.some((value) => value !== "100-continue")) {
    return { fault: "Expect may be 100-continue only" };
  }
  const connection = valuesOf("connection").flatMap((value) =>
    value.toLowerCase().split(",").map(trimmed)
  );
  return {
    method,
    url,
    headers,
    body,
    awaitsContinue: expectations.length > 0 && !isOld,
    isKept: !isOld && !connection.includes("close"),
  };
}

/** The size of a chunk, by its line; 0 is the last one. Undefined when it is malformed. */
export function parseChunkLine(bytes: Uint8Array): number | undefined {
  const line = latin1Of(bytes);
  return chunkDigits.test(line) ? parseInt(line, 16) : undefined;
}

/** The line of a header behind a body. Its value is nobody's. */
export function isTrailer(bytes: Uint8Array): boolean {
  return headerLine.test(latin1Of(bytes));
}

function urlOf(method: string, target: string, host: string): string | undefined {
  const [, named, rest = "/"] = absoluteForm.exec(target) ?? [];
  const at = named ?? host;
  const isWhole = method === "OPTIONS" && target === "*";
  const path = isWhole ? "/*" : named === undefined ? target : rest;
  if (!authority.test(at) || !/^[/?]/.test(path) || dotSegment.test(path)) return undefined;
  return `http://${at === "" ? "localhost" : at}${path}`;
}

function bodyOf(
  lengths: readonly string[],
  encodings: readonly string[],
  isOld: boolean,
): Http1RequestHead["body"] | undefined {
  if (encodings.length === 0) {
    const [length = "0", ...more] = lengths;
    return more.length === 0 && lengthDigits.test(length) ? Number(length) : undefined;
  }
  const isChunked = encodings.length === 1 && encodings[0]?.toLowerCase() === "chunked";
  return isChunked && lengths.length === 0 && !isOld ? "chunked" : undefined;
}

function trimmed(value: string): string {
  return content.exec(value)?.[0] ?? "";
}

/** A character for each byte, as headers are written. */
function latin1Of(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
}

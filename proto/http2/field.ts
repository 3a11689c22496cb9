/**
 * One header field, classified once when it is created. Fields from HPACK's tables are shared
 * objects, so a request made of indexed fields costs neither parsing nor checking: RFC 9113 §8 is
 * decided by looking at `kind`.
 */

export const FieldKind = {
  regular: 0,
  /** A name or value that RFC 9113 §8.2.1 forbids, or a field that HTTP/2 forbids (§8.2.2). */
  malformed: 1,
  method: 2,
  scheme: 3,
  authority: 4,
  path: 5,
  host: 6,
  contentLength: 7,
  cookie: 8,
} as const;

export interface Field {
  readonly name: string;
  readonly value: string;
  readonly kind: number;
  /** As counted by SETTINGS_MAX_HEADER_LIST_SIZE and by HPACK (RFC 7541 §4.1). */
  readonly size: number;
}

/**
 * Response headers or trailers as a handler gives them: pairs, a `Headers` object, or our own
 * fields as pairs.
 */
export type HeaderPairs = Iterable<readonly [name: string, value: string]>;

/**
 * Fields about one HTTP/1.1 hop (RFC 9113 §8.2.2): an error in a request, left out of a response.
 */
export const connectionSpecificNames: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

const special = new Map<string, number>([
  [":method", FieldKind.method],
  [":scheme", FieldKind.scheme],
  [":authority", FieldKind.authority],
  [":path", FieldKind.path],
  ["host", FieldKind.host],
  ["content-length", FieldKind.contentLength],
  ["cookie", FieldKind.cookie],
]);

/** A token (RFC 9110 §5.6.2) without upper-case letters. */
const fieldName = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/;
/**
 * Visible characters and bytes above ASCII; space and tab only inside. Stricter than RFC 9113
 * §8.2.1, as RFC 9110 §5.5.
 */
const fieldValue = /^(?:[!-~\x80-\xff](?:[\t -~\x80-\xff]*[!-~\x80-\xff])?)?$/;

export function createField(name: string, value: string): Field {
  return { name, value, kind: classify(name, value), size: name.length + value.length + 32 };
}

/**
 * Whether a field may be sent: what a handler gives is checked too, or it could split a response.
 */
export function isWellFormed(name: string, value: string): boolean {
  return fieldName.test(name) && fieldValue.test(value);
}

function classify(name: string, value: string): number {
  const kind = special.get(name);
  if (!fieldValue.test(value)) return FieldKind.malformed;
  if (kind !== undefined) return kind;
  // TE is the one connection-specific field that is allowed, and only to say that trailers are
  // welcome (§8.2.2).
  if (name === "te") {
    return value.toLowerCase() === "trailers" ? FieldKind.regular : FieldKind.malformed;
  }
  if (connectionSpecificNames.has(name)) return FieldKind.malformed;
  return fieldName.test(name) ? FieldKind.regular : FieldKind.malformed;
}

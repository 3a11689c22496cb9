/**
 * Decides whether a field list is a request or trailers as RFC 9113 §8 defines them; everything
 * else is malformed.
 */
import { createField, type Field, FieldKind } from "../../proto/http2/mod.ts";

export interface RequestHead {
  readonly method: string;
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  readonly headers: Field[];
  /** Declared by content-length; -1 when not declared. */
  readonly contentLength: number;
}

/** The request, or undefined when it is malformed (§8.1.1). */
export function parseRequestHead(fields: readonly Field[]): RequestHead | undefined {
  let method: string | undefined;
  let scheme: string | undefined;
  let authority: string | undefined;
  let path: string | undefined;
  let host: string | undefined;
  let contentLength = -1;
  let crumbs = 0;
  const headers: Field[] = [];
  for (const field of fields) {
    if (field.kind >= FieldKind.method && field.kind <= FieldKind.path && headers.length > 0) {
      return undefined;
    }
    switch (field.kind) {
      case FieldKind.malformed:
        return undefined;
      case FieldKind.method:
        if (method !== undefined) return undefined;
        method = field.value;
        continue;
      case FieldKind.scheme:
        if (scheme !== undefined) return undefined;
        scheme = field.value;
        continue;
      case FieldKind.authority:
        if (authority !== undefined) return undefined;
        authority = field.value;
        continue;
      case FieldKind.path:
        if (path !== undefined) return undefined;
        path = field.value;
        continue;
      case FieldKind.host:
        if (host !== undefined) return undefined;
        host = field.value;
        break;
      case FieldKind.contentLength: {
        const length = /^\d{1,15}$/.test(field.value) ? Number(field.value) : -1;
        if (length < 0 || (contentLength >= 0 && contentLength !== length)) return undefined;
        contentLength = length;
        break;
      }
      case FieldKind.cookie:
        crumbs++;
        break;
    }
    headers.push(field);
  }
  if (method === undefined || method === "" || !isTarget({ method, scheme, authority, path })) {
    return undefined;
  }
  if (!isAuthority(authority, host)) return undefined;
  return {
    method,
    scheme: scheme ?? "",
    authority: authority ?? host ?? "",
    path: path ?? "",
    headers: crumbs > 1 ? joinCookies(headers) : headers,
    contentLength,
  };
}

/**
 * Trailers carry no pseudo-headers (§8.1); whether they came with the end of the stream is the
 * stream's question.
 */
export function areTrailers(fields: readonly Field[]): boolean {
  return fields.every(({ kind }) =>
    kind !== FieldKind.malformed && (kind < FieldKind.method || kind > FieldKind.path)
  );
}

interface RequestTarget {
  readonly method: string;
  readonly scheme: string | undefined;
  readonly authority: string | undefined;
  readonly path: string | undefined;
}

/** §8.3.1, and §8.5 for CONNECT. */
function isTarget({ method, scheme, authority, path }: RequestTarget): boolean {
  if (method === "CONNECT") {
    return scheme === undefined && path === undefined && authority !== undefined;
  }
  if (scheme === undefined || scheme === "" || path === undefined) return false;
  return path.startsWith("/") || (path === "*" && method === "OPTIONS");
}

/** No user information, and a Host field that agrees (§8.3.1). */
function isAuthority(authority: string | undefined, host: string | undefined): boolean {
  if (authority?.includes("@") || host?.includes("@")) return false;
  return authority === undefined || host === undefined ||
    authority.toLowerCase() === host.toLowerCase();
}

/** A cookie split for better compression is one field again before anybody reads it (§8.2.3). */
function joinCookies(headers: readonly Field[]): Field[] {
  const isCookie = ({ kind }: Field): boolean => kind === FieldKind.cookie;
  const value = headers.filter(isCookie).map((field) => field.value).join("; ");
  return [...headers.filter((field) => !isCookie(field)), createField("cookie", value)];
}

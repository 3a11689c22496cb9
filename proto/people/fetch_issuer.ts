/**
 * The issuer's document of a domain, from its web site. Only for domains that a person or the
 * author of a program named: nobody's message, badge or channel may make a reader ask an address.
 * One HTTPS request to port 443, and no redirect is followed: the answer is that domain's own.
 */
import { type HttpFetch, readBoundedText } from "../api/http_call.ts";
import { isDomain } from "../base/domain.ts";
import { WireError } from "../base/errors.ts";
import { quoted } from "../base/shown_text.ts";
import {
  type IssuerDocument,
  issuerDocumentPath,
  maxIssuerDocumentBytes,
  parseIssuerDocument,
} from "./issuer_document.ts";
import type { Trust } from "./trust.ts";
import { followIssuer, type TrustedIssuer } from "./trusted_issuers.ts";

/** A whole request, from the name's look-up to the last byte. */
export const issuerTimeoutMs = 5_000;
/** Between two looks at a document, without a person. */
export const issuerRefreshMs = 24 * 60 * 60 * 1000;

/** The connection, and the end of waiting after `issuerTimeoutMs`, are the caller's. */
export interface IssuerWeb {
  readonly fetch: HttpFetch;
  readonly deadline: () => AbortSignal;
}

/** Throws `WireError`: `connection_error` without an answer, `invalid_request` for a wrong one. */
export async function fetchIssuerDocument(
  domain: string,
  { fetch: send, deadline }: IssuerWeb,
): Promise<IssuerDocument> {
  if (!isDomain(domain)) {
    throw new WireError("invalid_request", `${quoted(domain, { max: 253 })} is not a domain`);
  }
  const url = `https://${domain}${issuerDocumentPath}`;
  const signal = deadline();
  let [status, text]: [number, string | undefined] = [0, ""];
  try {
    const response = await send(url, {
      method: "GET",
      headers: { accept: "application/json" },
      redirect: "manual",
      credentials: "omit",
      cache: "no-store",
      signal,
    });
    status = response.status;
    if (status === 200) text = await readBoundedText(response, maxIssuerDocumentBytes);
    else await response.body?.cancel();
  } catch (cause) {
    const isLate = signal.aborted && Object(signal.reason).name === "TimeoutError";
    const why = isLate
      ? `no answer within ${issuerTimeoutMs / 1000} seconds`
      : cause instanceof Error
      ? cause.message
      : String(cause);
    throw new WireError("connection_error", `Cannot read ${url}: ${why}`, { cause });
  }
  if (status !== 200) {
    const isRedirect = status === 0 || (status >= 300 && status < 400);
    const why = isRedirect ? ", and a redirect is not followed" : "";
    throw unusable(url, `the answer has HTTP status ${status}${why}`);
  }
  if (text === undefined) throw unusable(url, `it has more than ${maxIssuerDocumentBytes} bytes`);
  return parseIssuerDocument(text, domain);
}

function unusable(url: string, why: string): WireError {
  return new WireError("invalid_request", `Cannot use ${url}: ${why}`);
}

/** The answers of web sites, by domain. */
export type FetchedIssuers = ReadonlyMap<string, IssuerDocument | WireError>;

/** Reads the documents of domains whose keys came from the web and that are due by now. */
export async function fetchDueIssuers(
  { domains }: Pick<Trust, "domains">,
  nowMs: number,
  web: IssuerWeb,
): Promise<FetchedIssuers> {
  // A clock that was set back must not put a look off for years.
  const isDue = ({ source, readMs }: TrustedIssuer): boolean =>
    source === "web" && Math.abs(nowMs - readMs) >= issuerRefreshMs;
  return await fetchIssuers([...domains].flatMap(([each, it]) => isDue(it) ? [each] : []), web);
}

/** One after the other. An answer that cannot be used is no reason to leave the others out. */
export async function fetchIssuers(
  domains: Iterable<string>,
  web: IssuerWeb,
): Promise<FetchedIssuers> {
  const fetched = new Map<string, IssuerDocument | WireError>();
  for (const domain of domains) {
    fetched.set(
      domain,
      await fetchIssuerDocument(domain, web).catch((error) => {
        // Whatever one site does, the others are asked.
        if (error instanceof WireError) return error;
        return new WireError("invalid_request", `Cannot use the document of ${domain}`, {
          cause: error,
        });
      }),
    );
  }
  return fetched;
}

/** Returns the list after these answers: endorsed keys are believed, others wait for a person. */
export function followIssuers(trust: Trust, fetched: FetchedIssuers, nowMs: number): Trust {
  const domains = Array.from(trust.domains, ([domain, issuer]): [string, TrustedIssuer] => {
    const document = fetched.get(domain);
    return document === undefined || document instanceof WireError
      ? [domain, issuer]
      : [domain, followIssuer(issuer, document, nowMs)];
  });
  return { ...trust, domains: new Map(domains) };
}

import { assertEquals, assertRejects } from "@std/assert";
import type { HttpFetch } from "../api/http_call.ts";
import { WireError } from "../base/errors.ts";
import {
  fetchDueIssuers,
  fetchIssuerDocument,
  fetchIssuers,
  followIssuers,
  issuerRefreshMs,
  type IssuerWeb,
} from "./fetch_issuer.ts";
import { formatIssuerDocument, type IssuerDocument } from "./issuer_document.ts";
import { nobodyKnown, type Trust } from "./trust.ts";
import { believeIssuer } from "./trusted_issuers.ts";

const documentOf = (domain: string, byte = 1): IssuerDocument => ({
  domain,
  keys: [{ kid: `k${byte}`, key: new Uint8Array(32).fill(byte) }],
  closed: [],
});

/** A web on which each domain has the answer that the test gives it. */
function webOf(answers: Readonly<Record<string, () => Response>>): IssuerWeb & { asked: string[] } {
  const asked: string[] = [];
  const fetch: HttpFetch = (url, { method, redirect, signal, headers }) => {
    asked.push(`${method} ${url}`);
    assertEquals([redirect, headers], ["manual", { accept: "application/json" }]);
    signal?.throwIfAborted();
    const answer = answers[new URL(url).hostname];
    return answer === undefined ? Promise.reject(new Error("nobody")) : Promise.resolve(answer());
  };
  return { fetch, deadline: () => new AbortController().signal, asked };
}

const good = (domain: string, byte?: number) => (): Response =>
  new Response(formatIssuerDocument(documentOf(domain, byte)));

Deno.test("a document is asked for once, at its domain, and no other answer is taken", async () => {
  const web = webOf({
    "acme.com": good("acme.com"),
    "moved.com": () => new Response(null, { status: 301, headers: { location: "https://b.com" } }),
    "opaque.com": () => Response.error(),
    "gone.com": () => new Response("{}", { status: 404 }),
    "made.com": () => new Response(formatIssuerDocument(documentOf("made.com")), { status: 201 }),
    "long.com": () => new Response("x".repeat(17 * 1024)),
    "other.com": good("acme.com"),
  });
  assertEquals(await fetchIssuerDocument("acme.com", web), documentOf("acme.com"));
  assertEquals(web.asked, ["GET https://acme.com/.well-known/static-agents"]);
  const refused: [domain: string, why: string, code: string][] = [
    ["moved.com", "status 301, and a redirect is not followed", "invalid_request"],
    ["opaque.com", "status 0, and a redirect", "invalid_request"],
    ["gone.com", "status 404", "invalid_request"],
    ["made.com", "status 201", "invalid_request"],
    ["long.com", "16384 bytes", "invalid_request"],
    ["other.com", 'of the domain "acme.com"', "invalid_request"],
    ["silent.com", "Cannot read https://silent.com", "connection_error"],
  ];
  for (const [domain, why, code] of refused) {
    const error = await assertRejects(() => fetchIssuerDocument(domain, web), WireError, why);
    assertEquals(error.code, code);
  }
  const before = web.asked.length;
  for (const none of ["acme.com/x#", "acme.com:444", "user@acme.com", "127.0.0.1", "localhost"]) {
    await assertRejects(() => fetchIssuerDocument(none, web), WireError, "is not a domain");
  }
  assertEquals(web.asked.length, before);
});

Deno.test("documents are read again a day later, those that came from the web alone", async () => {
  const nowMs = 10 * issuerRefreshMs;
  const web = webOf({ "acme.com": good("acme.com", 2), "umbrella.org": good("umbrella.org") });
  const entry = (domain: string, source: "web" | "file", ageMs: number) =>
    [domain, believeIssuer(documentOf(domain), { source, readMs: nowMs - ageMs })] as const;
  const trust: Trust = {
    ...nobodyKnown,
    domains: new Map([
      entry("acme.com", "web", issuerRefreshMs),
      entry("file.com", "file", 9 * issuerRefreshMs),
      entry("fresh.com", "web", issuerRefreshMs - 1),
      entry("later.com", "web", -2 * issuerRefreshMs),
      entry("umbrella.org", "web", issuerRefreshMs),
    ]),
  };
  const fetched = await fetchDueIssuers(trust, nowMs, web);
  assertEquals([...fetched.keys()], ["acme.com", "later.com", "umbrella.org"]);
  assertEquals(fetched.get("later.com") instanceof WireError, true);
  const { domains } = followIssuers(trust, fetched, nowMs);
  assertEquals(
    Array.from(domains, ([domain, { changed, readMs }]) => [domain, changed, readMs === nowMs]),
    [
      ["acme.com", true, true],
      ["file.com", false, false],
      ["fresh.com", false, false],
      ["later.com", false, false],
      ["umbrella.org", false, true],
    ],
  );
});

Deno.test("a request that is ended is an error, and not an answer", async () => {
  const web = { ...webOf({}), deadline: () => AbortSignal.abort(new TypeError("ended")) };
  const [answer] = (await fetchIssuers(["acme.com"], web)).values();
  assertEquals(answer instanceof WireError && answer.code, "connection_error");
});

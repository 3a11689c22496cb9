/**
 * The relay's calls to the HTTP API: the keys that verify tokens, and leases of quota
 * (`proto/api/lease.ts`). Every call has a deadline.
 */
import { type AccountChanges, readAccountChanges } from "../../proto/api/changes.ts";
import { type Lease, listLeases, reportLeases, takeLease } from "../../proto/api/lease.ts";
import { type ApiAccess, type ApiOutcome, type HttpFetch, readTokenKeys } from "../../proto/mod.ts";
import { type Secret, type Traces, waits } from "../../server/mod.ts";
import type { LeaseApi, QuotaReportOutcome, TakeAnswer } from "../quota/lease_api.ts";

export interface ApiClient extends LeaseApi {
  /** The JWK set, as it came. */
  fetchKeySet(): Promise<unknown>;
  /** Waits for something after this number; without one, what stands now. */
  followChanges(after: number | undefined, signal: AbortSignal): Promise<AccountChanges>;
  /**
   * When it last answered what only relays may ask; undefined when it never has. Anybody may ask
   * for its keys.
   */
  answeredMs(): number | undefined;
  /** How far this machine's clock is ahead of the API's; undefined when it has not told its own. */
  aheadMs(): number | undefined;
}

export interface ApiClientOptions {
  readonly url: string;
  /** Where it serves relays. */
  readonly internalUrl: string;
  readonly relaySecret: Secret;
  /** A clock that is never set. */
  readonly nowMs: () => number;
  /** The clock that leases and tokens are judged by. */
  readonly clockMs: () => number;
  readonly traces?: Traces | undefined;
  /** For tests. */
  readonly timeoutMs?: number;
}

/**
 * The API did not answer, or not what it should. The text names the question and the status, never
 * what was sent.
 */
export class ApiFault extends Error {
  override readonly name = "ApiFault";
}

export function createApiClient(
  { url, internalUrl, relaySecret, nowMs, clockMs, traces, timeoutMs = waits.apiAnswer.ms }:
    ApiClientOptions,
): ApiClient {
  const heard: { ms?: number; aheadMs?: number } = {};
  // limit: `signal` is in `init`
  const send: HttpFetch = traces === undefined
    ? fetch
    : (address, init) => sendTraced(traces, address, init);
  const open = (url: string): ApiAccess => ({
    url,
    fetch: send,
    signal: AbortSignal.timeout(timeoutMs),
  });
  const openLeases = (): ApiAccess & { relaySecret: string } => ({
    ...open(internalUrl),
    relaySecret: relaySecret.reveal(),
  });
  const demandLeases = <T>(what: string, answer: ApiOutcome<T>): T => {
    const value = demand(what, internalUrl, answer);
    heard.ms = nowMs();
    return value;
  };

  return {
    answeredMs: () => heard.ms,
    aheadMs: () => heard.aheadMs,
    fetchKeySet: async () => demand("fetch token keys", url, await readTokenKeys(open(url))),
    followChanges: async (after, signal) => {
      // A connection of its own each time: one that was kept may lead to an API that no longer
      // runs, and so may the next.
      using client = Deno.createHttpClient({ http2: false, poolMaxIdlePerHost: 0 });
      // limit: `deadline` is in `init`
      const fresh: HttpFetch = (address, init) => fetch(address, { ...init, client });
      const deadline = AbortSignal.any([signal, AbortSignal.timeout(waits.apiChanges.ms)]);
      const access = { ...openLeases(), fetch: fresh, signal: deadline };
      const read = await readAccountChanges(access, after);
      const changes = demandLeases("follow changes of accounts", read);
      // Less the way of the answer, which is short beside what matters.
      if (changes.now !== undefined) heard.aheadMs = clockMs() - Date.parse(changes.now);
      return changes;
    },
    take: async (request): Promise<TakeAnswer> => {
      const what = "take a lease";
      const answer = await takeLease(openLeases(), request);
      if (answer.outcome !== "refused" || answer.status >= 500) {
        const { lease, usage } = demandLeases(what, answer);
        if (usage === undefined || usage.limit === null) return { outcome: "granted", lease };
        return { outcome: "granted", lease, left: Math.max(0, usage.limit - usage.claimed) };
      }
      if (answer.status === 429 && answer.code === "quota_exceeded") {
        return { outcome: "exhausted", retryAfterMs: answer.retryAfterMs ?? 0 };
      }
      return { outcome: "refused", fault: faultOf(what, internalUrl, answer) };
    },
    report: async (batch): Promise<readonly QuotaReportOutcome[]> => {
      const { results } = demandLeases("report leases", await reportLeases(openLeases(), batch));
      return batch.reports.map((_, index) => results[index]?.outcome ?? "unknown");
    },
    listOpen: async (relayId): Promise<readonly Lease[]> =>
      demandLeases("list leases", await listLeases(openLeases(), relayId)).leases,
  };
}

/** Neither the address of the API is told nor the query, which names the relay. */
async function sendTraced(traces: Traces, address: string, init: RequestInit): Promise<Response> {
  const [span, headers] = [traces.begin("client"), new Headers(init.headers)];
  headers.set("traceparent", span.traceparent);
  let status: number | undefined;
  try {
    // limit: `signal` is in `init`
    const response = await fetch(address, { ...init, headers });
    status = response.status;
    return response;
  } finally {
    const { pathname } = new URL(address);
    const path = tracedPaths.find((path) => pathname.endsWith(path)) ?? "(other)";
    const values = { "url.path": path, "http.response.status_code": status };
    span.end(`${init.method ?? "GET"} ${path}`, values, status === undefined || status >= 500);
  }
}

const tracedPaths = [
  "/internal/v1/leases",
  "/internal/v1/leases/reports",
  "/internal/v1/changes",
  "/.well-known/jwks.json",
];

function demand<T>(what: string, url: string, answer: ApiOutcome<T>): T {
  if (answer.outcome !== "done") throw faultOf(what, url, answer);
  return answer.value;
}

const advice = "Check that it runs, and the address and certificate that this relay has for it";

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

function faultOf(
  what: string,
  url: string,
  answer: Exclude<ApiOutcome<unknown>, { outcome: "done" }>,
): ApiFault {
  switch (answer.outcome) {
    case "unreachable":
      return new ApiFault(
        `Cannot ${what}: cannot reach the API at ${url}: ${reasonOf(answer.cause)}. ${advice}`,
        {
          cause: answer.cause,
        },
      );
    case "unusable":
      return new ApiFault(`Cannot ${what}: the API sent ${answer.problem}`);
    case "refused": {
      const hint = answer.status === 401 ? ". Give API and relay the same STATIC_RELAY_SECRET" : "";
      return new ApiFault(
        `Cannot ${what}: the API returned ${answer.status} ${answer.code ?? ""}${hint}`,
      );
    }
  }
}

/**
 * What the relay asks of the HTTP API: the keys that verify tokens, and leases of quota (`proto/lease.ts`). Every question
 * has a deadline and every answer a size limit, and no redirect is followed, because the relay's credential travels along.
 */
import type { z } from "zod";
import {
  type Lease,
  leaseList,
  type LeaseReportBatch,
  leaseReportResults,
  type LeaseRequest,
  leaseResponse,
} from "../../proto/lease.ts";
import type { LeaseApi, ReportOutcome, TakeAnswer } from "../quota/lease_api.ts";
import type { Secret } from "../../server/mod.ts";

export interface ApiClient extends LeaseApi {
  /** The text of the JWK set. */
  fetchKeySet(): Promise<string>;
}

export interface ApiClientOptions {
  /** Without a path. */
  readonly url: string;
  readonly relaySecret: Secret;
  readonly timeoutMs: number;
}

/** The API did not answer, or not what it should. The text names the question and the status, never what was sent. */
export class ApiFault extends Error {
  override readonly name = "ApiFault";
}

const maxAnswerBytes = 1024 * 1024;
const leasesPath = "/internal/v1/leases";

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

export function createApiClient({ url, relaySecret, timeoutMs }: ApiClientOptions): ApiClient {
  const ask = async (what: string, path: string, request: RequestInit = {}): Promise<Answer> => {
    try {
      const response = await fetch(url + path, {
        ...request,
        redirect: "error",
        signal: AbortSignal.timeout(timeoutMs),
      });
      return { status: response.status, headers: response.headers, text: await readText(response) };
    } catch (error) {
      throw new ApiFault(`Cannot ${what}: the API at ${url} does not answer. Is it running?`, { cause: error });
    }
  };
  const askLeases = (what: string, path: string, body?: LeaseRequest | LeaseReportBatch): Promise<Answer> =>
    ask(what, path, {
      headers: { authorization: `Bearer ${relaySecret.reveal()}`, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });

  return {
    fetchKeySet: async () => {
      const answer = await ask("fetch token keys", "/.well-known/jwks.json");
      if (answer.status !== 200) throw refusal("fetch token keys", answer);
      return answer.text;
    },
    take: async (request): Promise<TakeAnswer> => {
      const answer = await askLeases("take a lease", leasesPath, request);
      if (answer.status === 429 && codeOf(answer) === "quota_exceeded") {
        return { outcome: "exhausted", retryAfterMs: 1000 * Number(answer.headers.get("retry-after") ?? 0) };
      }
      const refused = answer.status >= 400 && answer.status < 500;
      if (refused) return { outcome: "refused", fault: refusal("take a lease", answer) };
      return { outcome: "granted", lease: parseAnswer("take a lease", answer, leaseResponse).lease };
    },
    report: async (batch): Promise<readonly ReportOutcome[]> => {
      const answer = await askLeases("report leases", `${leasesPath}/reports`, batch);
      const { results } = parseAnswer("report leases", answer, leaseReportResults);
      return batch.reports.map((_, index) => results[index]?.outcome ?? "unknown");
    },
    listOpen: async (relayId): Promise<readonly Lease[]> => {
      const answer = await askLeases("list leases", `${leasesPath}?relay_id=${encodeURIComponent(relayId)}`);
      return parseAnswer("list leases", answer, leaseList).leases;
    },
  };
}

function parseAnswer<Type extends z.ZodType>(what: string, answer: Answer, type: Type): z.infer<Type> {
  if (answer.status !== 200) throw refusal(what, answer);
  const parsed = type.safeParse(parseJson(answer.text));
  if (!parsed.success) throw new ApiFault(`Cannot ${what}: the API's answer has another form`, { cause: parsed.error });
  return parsed.data;
}

function refusal(what: string, answer: Answer): ApiFault {
  const hint = answer.status === 401 ? ". Give API and relay the same STATIC_RELAY_SECRET" : "";
  return new ApiFault(`Cannot ${what}: the API answered ${answer.status} ${codeOf(answer) ?? ""}${hint}`);
}

function codeOf({ text }: Answer): string | undefined {
  const body = parseJson(text);
  const code: unknown = typeof body === "object" && body !== null && "code" in body ? body.code : undefined;
  return typeof code === "string" ? code : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > maxAnswerBytes) throw new RangeError(`The answer has more than ${maxAnswerBytes} bytes`);
  }
  return text;
}

/**
 * Calls of the HTTP API with the user's settings. Everything but success becomes a failure that
 * says what to do.
 */
import {
  type ApiAccess,
  type ApiOutcome,
  type ApiRefusal,
  createToken,
  readTokenClaims,
} from "../../proto/mod.ts";
import { Failure } from "../failure.ts";
import type { CommandPlatform } from "../platform/platform.ts";
import type { Settings } from "./settings.ts";

/** Runs one call of `proto/api/http_api.ts`. */
export type AskApi = <T>(call: (api: ApiAccess) => Promise<ApiOutcome<T>>) => Promise<T>;

const timeoutMs = 20_000;

export function openApi(
  platform: CommandPlatform,
  { apiUrl: url, caCerts }: Pick<Settings, "apiUrl" | "caCerts">,
): AskApi {
  return async (call) => {
    const answer = await call(openAccess(platform, { url, caCerts, timeoutMs }));
    switch (answer.outcome) {
      case "done":
        return answer.value;
      case "refused":
        throw refusal(answer, url);
      case "unusable":
        throw new Failure(
          "connection_error",
          `${url} sent ${answer.problem}: it is not a Static API`,
          {
            advice: addressAdvice,
          },
        );
      case "unreachable":
        platform.interrupted.throwIfAborted();
        throw new Failure(
          "connection_error",
          `Cannot reach the API at ${url}: ${describeNoAnswer(answer.cause, timeoutMs)}`,
          {
            advice: isUnknownAuthority(answer.cause)
              ? authorityAdvice
              : "Is it running ({start})? If it is elsewhere: --api-url, or STATIC_API_URL",
            cause: answer.cause,
          },
        );
    }
  };
}

/** A token that was just issued, so that its claims are not verified. */
export interface IssuedToken {
  readonly token: string;
  readonly accountId: string;
  readonly plan: string;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
}

export async function issueToken(ask: AskApi, apiKey: string): Promise<IssuedToken> {
  const token = await ask((api) => createToken(api, apiKey));
  const { accountId, plan, issuedAtMs, expiresAtMs } = readTokenClaims(token);
  if (
    accountId === undefined || plan === undefined || issuedAtMs === undefined ||
    expiresAtMs === undefined
  ) {
    throw new Failure("connection_error", "The API returned a token that cannot be read");
  }
  return { token, accountId, plan, issuedAtMs, expiresAtMs };
}

/** The API, or a relay's port that speaks HTTP, until the deadline or Ctrl-C. */
export function openAccess(
  { openHttp, deadline, interrupted }: CommandPlatform,
  { url, caCerts, timeoutMs }: {
    readonly url: string;
    readonly caCerts: readonly string[];
    readonly timeoutMs: number;
  },
): ApiAccess {
  return {
    url,
    fetch: openHttp(caCerts),
    signal: AbortSignal.any([interrupted, deadline(timeoutMs)]),
  };
}

/** Instead of what the API tells programs to do. */
const texts: Readonly<Record<string, string>> = {
  email_taken: "This e-mail address already has an account",
  account_suspended: "This account is suspended",
};
export const keyAdvice = "Get a new key with: {} login. Check STATIC_API_KEY if it is set";
const addressAdvice = "Check --api-url or STATIC_API_URL";

const advices: Readonly<Record<string, string>> = {
  auth_failed: "If you have no account at this address: {} signup",
  email_taken: "Get a key for it with: {} login",
  auth_key_invalid: keyAdvice,
  account_suspended: "Ask the operator of the service. To see the account: {} account show",
  not_allowed:
    "Set STATIC_API_KEY to a key with this right. To see the rights of keys: {} keys list --json",
  key_limit_reached: "List the keys with: {} keys list; revoke one with: {} keys revoke",
};

function refusal(
  { status, code, requestId, retryAfterMs = 0, ...more }: ApiRefusal,
  url: string,
): Failure {
  const text = texts[code ?? ""] ?? more.text;
  if (code === undefined || text === undefined) {
    return new Failure(
      "connection_error",
      `${url} returned HTTP status ${status}: it is not a Static API, or it is not working`,
      {
        advice: addressAdvice,
      },
    );
  }
  const wait = retryAfterMs > 0 ? `Try again in ${retryAfterMs / 1000} s` : undefined;
  const advice = wait ?? advices[code];
  // Which field broke which rule: `password must have at least 8 characters`.
  const problems = more.details.map(({ field, problem }) => `${field} ${problem}`).join("; ");
  const details = code === "invalid_request" && problems !== "" ? `: ${problems}` : "";
  const id = status >= 500 ? ` (request ${requestId ?? "unknown"})` : "";
  return new Failure(code, `${text}${details}${id}`, {
    advice,
    ...(code === "internal" && { exit: "unavailable" }),
  });
}

/** Where a certificate is shown, something runs. */
export const authorityAdvice =
  "Its certificate is from an unknown authority: give the authority's certificate with --ca-file or STATIC_CA_FILE";

export function isUnknownAuthority(cause: unknown): boolean {
  if (!(cause instanceof Error)) return false;
  const words = `${cause.message} ${String(Reflect.get(cause, "code"))}`;
  return /certificate|UnknownIssuer|unable to (get|verify)|self.signed|CERT|SIGNATURE/i.test(
    words,
  ) ||
    isUnknownAuthority(cause.cause);
}

/** Why nothing came back, without the system's own names for it. */
export function describeNoAnswer(cause: unknown, timeoutMs: number): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === "TimeoutError") return `no answer within ${timeoutMs / 1000} s`;
  switch (Reflect.get(cause, "code")) {
    case "ECONNREFUSED":
      return "nothing listens there";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "there is no such host";
    case "ABORT_ERR":
      return `no answer within ${timeoutMs / 1000} s`;
  }
  return cause.message;
}

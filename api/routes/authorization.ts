/**
 * The two credentials of the HTTP API: an account's API key, and the relay's secret for the
 * internal paths.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { equalBytes } from "../../proto/mod.ts";
import { type Caller, mayUse } from "../domain/authentication.ts";
import { isSameCsrf, isSessionForm } from "../domain/sessions.ts";
import type { KeyScope } from "../domain/key_permissions.ts";
import type { RateDecision } from "../domain/rate_limit.ts";
import { networkOf } from "../../server/limits/mod.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { readCookie } from "./cookies.ts";
import { rateLimited, refuse, showRateLimit } from "./errors.ts";

export const csrfHeader = "x-static-csrf";
const noSession = "The session has ended or never was. Open one with POST /v1/session";

export interface KeyRequirement {
  readonly scope: KeyScope | undefined;
  readonly evenSuspended: boolean;
}

/** Puts the caller into the context, or answers with the refusal. */
export async function identifyCaller(
  c: ApiContext,
  deps: RouteDeps,
  { scope, evenSuspended }: KeyRequirement,
): Promise<Response | undefined> {
  const header = c.req.header("authorization");
  if (
    header === undefined && scope !== "tokens" &&
    readCookie(c, deps, "static_session") !== undefined
  ) {
    return await identifySession(c, deps, evenSuspended);
  }
  const attempts = deps.attempts(c.get("clientAddress"));
  const result = await deps.authenticator.authenticate(header, attempts);
  if (result.outcome === "limited") return rateLimited(c, result.decision);
  if (result.outcome === "refused") return refuse(c, result.code, result.text);
  const { caller } = result;
  const refusal = await admit(c, deps, {
    caller,
    evenSuspended,
    isChange: scope !== "tokens" && scope !== "badges" && !isReading(c),
  });
  if (refusal !== undefined) return refusal;
  if (scope !== undefined && !mayUse(caller, scope)) {
    return refuse(
      c,
      "not_allowed",
      `This key lacks the scope ${scope}. Use one that has it, or a plain key`,
    );
  }
  return undefined;
}

/** The console's cookie, and for changes the header that only its own page can send. */
export async function identifySession(
  c: ApiContext,
  deps: RouteDeps,
  evenSuspended = false,
): Promise<Response | undefined> {
  if (isForeignPage(c)) return foreignPage(c);
  const cookie = readCookie(c, deps, "static_session");
  // A browser that has no session yet guesses nothing, nor does one whose cookie could be none.
  if (cookie === undefined || !isSessionForm(cookie)) return refuse(c, "auth_failed", noSession);
  const found = await deps.sessions.find(cookie);
  if (found === undefined) {
    const decision = await deps.rateLimits.failures.take(c.get("clientAddress"));
    if (!decision.allowed) return rateLimited(c, decision);
    return refuse(c, "auth_failed", noSession);
  }
  // A page may send it with reads too: then it never sees what belongs to the account of another
  // tab.
  const csrf = c.req.header(csrfHeader);
  if ((!isReading(c) || csrf !== undefined) && !isSameCsrf(csrf ?? "", found.csrf)) {
    return refuse(c, "csrf_failed", `Send the session's csrf in the header ${csrfHeader}`);
  }
  const { id: sessionId, accountId, plan, isSuspended, hasLostAddress } = found.session;
  const caller = {
    sessionId,
    accountId,
    plan,
    suspended: isSuspended,
    addressLost: hasLostAddress,
  };
  return await admit(c, deps, { caller, evenSuspended, isChange: !isReading(c) });
}

/**
 * The second wall beside the cookie's SameSite and the header: the browser tells where a request
 * comes from. Programs that are no browser tell nothing.
 */
export function isForeignPage(c: ApiContext): boolean {
  const site = c.req.header("sec-fetch-site");
  if (site !== undefined) return site !== "same-origin" && site !== "none";
  const origin = c.req.header("origin");
  return origin !== undefined && URL.parse(origin)?.host !== new URL(c.req.url).host;
}

export function foreignPage(c: ApiContext): Response {
  return refuse(
    c,
    "csrf_failed",
    "Sessions are for the console's own page. Pages of other origins send an API key",
  );
}

function isReading(c: ApiContext): boolean {
  return ["GET", "HEAD"].includes(c.req.method);
}

async function admit(
  c: ApiContext,
  { rateLimits }: RouteDeps,
  { caller, evenSuspended, isChange }: {
    caller: Caller;
    evenSuspended: boolean;
    isChange: boolean;
  },
): Promise<Response | undefined> {
  c.set("caller", caller);
  const { accountId } = caller;
  const decision = await takeRequest(caller, c.get("clientAddress"), rateLimits);
  if (!decision.allowed) return rateLimited(c, decision);
  showRateLimit(c, decision);
  if (isChange) {
    const change = await rateLimits.changes.take(accountId);
    if (!change.allowed) return rateLimited(c, change);
  }
  if (caller.suspended && !evenSuspended) return suspended(c);
  if (caller.addressLost) c.header("Static-Notice", "address_claimed");
  if (caller.nearLimit !== undefined) c.header("Static-Usage", caller.nearLimit);
  return undefined;
}

/**
 * A visitor does not use up what a publishable key has for all of them. A guest pass is one
 * guest's.
 */
async function takeRequest(
  { accountId, keyId, traits }: Caller,
  address: string,
  { account, sharedKeys, publishableKeys }: RouteDeps["rateLimits"],
): Promise<RateDecision> {
  if (keyId === undefined || traits === undefined || traits.kind === "secret") {
    return await account.take(accountId);
  }
  if (traits.kind === "guest") return await sharedKeys.take(keyId);
  const visitor = `${keyId} ${networkOf(address)}`;
  const ofVisitor = await sharedKeys.take(visitor);
  if (!ofVisitor.allowed) return ofVisitor;
  const ofKey = await publishableKeys.take(keyId);
  if (ofKey.allowed) return ofVisitor;
  await sharedKeys.refund(visitor);
  return ofKey;
}

export function suspended(c: ApiContext): Response {
  return refuse(
    c,
    "account_suspended",
    "This account is suspended. GET /v1/account shows it; ask the operator",
  );
}

export async function authorizeRelay(
  c: ApiContext,
  deps: RouteDeps,
): Promise<Response | undefined> {
  const given = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (given !== undefined && isSecret(given, deps.relaySecret.reveal())) return undefined;
  const decision = await deps.rateLimits.failures.take(c.get("clientAddress"));
  if (!decision.allowed) return rateLimited(c, decision);
  return refuse(
    c,
    "auth_failed",
    "This path is for relays: send STATIC_RELAY_SECRET as the bearer token",
  );
}

/**
 * Digests have one length and look random, so neither length nor content of the secret shows in the
 * time taken.
 */
function isSecret(given: string, secret: string): boolean {
  const encoder = new TextEncoder();
  return equalBytes(sha256(encoder.encode(given)), sha256(encoder.encode(secret)));
}

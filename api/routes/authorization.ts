/** The two credentials of the HTTP API: an account's API key, and the relay's secret for the internal paths. */
import { sha256 } from "@noble/hashes/sha2.js";
import { equalBytes } from "../../proto/mod.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { rateLimited, refuse, showRateLimit } from "./errors.ts";

/** Puts the caller into the context, or answers with the refusal. */
export async function identifyCaller(c: ApiContext, deps: RouteDeps): Promise<Response | undefined> {
  const { account } = deps.rateLimits;
  const attempts = deps.attempts(c.get("clientAddress"));
  const result = await deps.authenticator.authenticate(c.req.header("authorization"), attempts);
  if (result.outcome === "limited") return rateLimited(c, result.decision);
  if (result.outcome === "refused") return refuse(c, result.code, result.text);
  c.set("caller", result.caller);
  const decision = account.take(result.caller.accountId);
  if (!decision.allowed) return rateLimited(c, decision);
  showRateLimit(c, decision);
  return undefined;
}

export function authorizeRelay(c: ApiContext, deps: RouteDeps): Response | undefined {
  const given = /^Bearer +(\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1];
  if (given !== undefined && isSecret(given, deps.relaySecret.reveal())) return undefined;
  const decision = deps.rateLimits.failures.take(c.get("clientAddress"));
  if (!decision.allowed) return rateLimited(c, decision);
  return refuse(c, "auth_failed", "This path is for relays: send STATIC_RELAY_SECRET as the bearer token");
}

/** Digests have one length and look random, so neither length nor content of the secret shows in the time taken. */
function isSecret(given: string, secret: string): boolean {
  const encoder = new TextEncoder();
  return equalBytes(sha256(encoder.encode(given)), sha256(encoder.encode(secret)));
}

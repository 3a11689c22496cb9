/** Attempts with a password or a code: limited by who tries and by what is tried, and given back when they were good. */
import { orRefund, type RateLimiter } from "../domain/rate_limit.ts";
import { networkOf } from "../../server/limits/mod.ts";
import { Secret } from "../../server/mod.ts";
import type { Attempt } from "../domain/account_life.ts";
import type { CodePurpose } from "../domain/account_store.ts";
import { emailKeyOf } from "../domain/accounts.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { rateLimited, refuse } from "./errors.ts";

export type Tried<T> = { readonly limited: Response } | { readonly value: T; readonly refund: () => void };

/**
 * Taken before the work and given back after a success: only failures count, also when they run in parallel. The account's own
 * limit comes second, so that an address that is out of attempts cannot use up the account's as well. A code has 60 random
 * bits and no such limit (no `subject`): with one, anybody could keep somebody from using theirs.
 */
export async function tryPassword<T>(
  c: ApiContext,
  deps: RouteDeps,
  { subject, password }: { readonly subject?: string; readonly password: string },
  work: (attempt: Attempt) => Promise<T>,
): Promise<Tried<T>> {
  const address = c.get("clientAddress");
  const taken: (() => void)[] = [];
  const limits: [RateLimiter, string][] = [[deps.rateLimits.failures, address]];
  if (subject !== undefined) limits.push([deps.rateLimits.passwords, subject]);
  for (const [limiter, whose] of limits) {
    const decision = limiter.take(whose);
    if (!decision.allowed) return { limited: rateLimited(c, decision) };
    taken.push(() => limiter.refund(whose));
  }
  const refund = (): void => taken.forEach((giveBack) => giveBack());
  const attempt = { password: new Secret(password), client: networkOf(address) };
  return { value: await orRefund(work(attempt), refund), refund };
}

export function wrongPassword(c: ApiContext): Response {
  return refuse(c, "auth_failed", "Wrong password");
}

/**
 * Before mail is sent to somebody: not too often by one client, and not too often to one address. Purposes are counted apart:
 * a stranger who asks for claims of an address must not keep its owner from a reset.
 */
export function limitMail(
  c: ApiContext,
  { rateLimits }: RouteDeps,
  { email, purpose }: { readonly email: string; readonly purpose: CodePurpose },
): Response | undefined {
  const byClient = rateLimits.mailClients.take(c.get("clientAddress"));
  if (!byClient.allowed) return rateLimited(c, byClient);
  const byAddress = rateLimits.mail.take(mailSubject(purpose, email));
  return byAddress.allowed ? undefined : rateLimited(c, byAddress);
}

export function mailSubject(purpose: CodePurpose, email: string): string {
  return `${purpose} ${emailKeyOf(email)}`;
}

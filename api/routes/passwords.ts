/** Attempts with a password or a code, and mails that strangers ask for: what limits them. */
import type { AccountId } from "../../proto/mod.ts";
import { Secret } from "../../server/mod.ts";
import type { PasswordAttempt } from "../domain/account_lifecycle.ts";
import type { CodePurpose } from "../domain/account_store.ts";
import type { Caller } from "../domain/authentication.ts";
import { mailboxOf, mailSubject } from "../domain/mail/emails.ts";
import type { Guess } from "../domain/guesses.ts";
import { orRefund } from "../domain/rate_limit.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { rateLimited, refuse } from "./errors.ts";
import { shownDevice } from "./known_places.ts";

export type PasswordOutcome<T> = { readonly limited: Response } | {
  readonly value: T;
  readonly refund: () => Promise<void>;
};

/** The account that a password is tried for. A code is for itself. */
export type PasswordTarget = { readonly email: string } | { readonly id: AccountId } | {
  readonly caller: Caller;
} | "code";

export async function tryPassword<T>(
  c: ApiContext,
  deps: RouteDeps,
  { target, password }: { readonly target: PasswordTarget; readonly password: string },
  work: (attempt: PasswordAttempt) => Promise<T>,
): Promise<PasswordOutcome<T>> {
  const guessing = await deps.beginGuess(await guessOf(c, deps, target));
  if (guessing.outcome === "limited") return { limited: rateLimited(c, guessing.decision) };
  const { party, giveBack } = guessing;
  return {
    value: await orRefund(work({ password: new Secret(password), party }), giveBack),
    refund: giveBack,
  };
}

async function guessOf(c: ApiContext, deps: RouteDeps, target: PasswordTarget): Promise<Guess> {
  const address = c.get("clientAddress");
  if (target === "code") return { address };
  if ("id" in target) return { address, subject: target.id };
  if ("caller" in target) {
    const { accountId } = target.caller;
    return { address, subject: accountId, knownTo: { accountId, by: "caller" } };
  }
  const device = shownDevice(c, deps);
  const accountId = device === undefined
    ? undefined
    : await deps.devices.find(device, target.email);
  return {
    address,
    subject: mailboxOf(target.email),
    ...(accountId !== undefined && { knownTo: { accountId, by: "place" } }),
  };
}

export function wrongPassword(c: ApiContext): Response {
  return refuse(c, "auth_failed", "Wrong password");
}

/**
 * Before mail is sent to somebody: not too often by one client, and not too often to one address.
 * Purposes are counted apart: a stranger who asks for claims of an address must not keep its owner
 * from a new code.
 */
export async function limitMail(
  c: ApiContext,
  { rateLimits }: RouteDeps,
  { email, purpose }: { readonly email: string; readonly purpose: CodePurpose },
): Promise<Response | undefined> {
  const byClient = await rateLimits.mailClients.take(c.get("clientAddress"));
  if (!byClient.allowed) return rateLimited(c, byClient);
  const byAddress = await rateLimits.mail.take(mailSubject(purpose, email));
  return byAddress.allowed ? undefined : rateLimited(c, byAddress);
}

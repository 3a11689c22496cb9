/**
 * Sign-up, and new keys for someone who has only a password. The interface's two paths also answer
 * without `/v1`.
 */
import { z } from "@hono/zod-openapi";
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import { unknownKey } from "../domain/authentication.ts";
import type { Account } from "../domain/deps.ts";
import { mailSubject } from "../domain/mail/emails.ts";
import { Fault } from "../domain/fault.ts";
import type { IssuedKey, KeyRefusal } from "../domain/keys.ts";
import { strangerAt } from "../domain/guesses.ts";
import { orRefund } from "../domain/rate_limit.ts";
import { Secret } from "../../server/mod.ts";
import {
  accountCreated,
  createdBody,
  exampleApiKey,
  exampleCreated,
  exampleKey,
} from "./account_created.ts";
import { suspended } from "./authorization.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { notFound, rateLimited, refuse, showRateLimit } from "./errors.ts";
import {
  accountId,
  email,
  keyId,
  keyName,
  keyPrefix,
  newPassword,
  parseUuid,
  password,
  secretKey,
  shownKeyName,
} from "./fields.ts";
import { giveDevice } from "./known_places.ts";
import type { Router } from "./operation.ts";
import { tryPassword } from "./passwords.ts";

const examplePassword = "correct horse battery staple";

const recoveredKey = z.object({
  id: keyId,
  key_prefix: keyPrefix,
  name: shownKeyName,
  api_key: secretKey,
}).openapi(
  "RecoveredKey",
);

export function addAccountRoutes(router: Router, deps: RouteDeps): void {
  router.add({
    method: "post",
    path: "/v1/accounts",
    aliases: ["/accounts"],
    tag: "Accounts",
    summary: "Create an account",
    description: "The account's first API key is made with it and shown in the answer, once.",
    credential: "none",
    device: "given",
    body: {
      schema: z.strictObject({ email, password: newPassword }),
      required: true,
      example: { email: "agent@example.com", password: examplePassword },
    },
    success: {
      status: 201,
      text: "The account and its first key.",
      schema: accountCreated,
      example: exampleCreated,
    },
    refusals: ["email_taken", "rate_limited"],
    handle: async (c, { body }) => {
      const [{ signUp }, address] = [deps.rateLimits, c.get("clientAddress")];
      const decision = await signUp.take(address);
      if (!decision.allowed) return rateLimited(c, decision);
      showRateLimit(c, decision);
      const result = await orRefund(
        deps.accounts.signUp({
          email: body.email,
          password: new Secret(body.password),
          party: strangerAt(address),
        }),
        () => signUp.refund(address),
      );
      if (result.outcome === "email_taken") {
        return refuse(
          c,
          "email_taken",
          "This e-mail address has an account. Use POST /v1/accounts/keys to get a new key",
        );
      }
      await sendVerification(deps, result.account);
      giveDevice(c, deps, result.device);
      return c.json(createdBody(result), 201);
    },
  });
  addRecoveryRoutes(router, deps);
}

function addRecoveryRoutes(router: Router, deps: RouteDeps): void {
  const success = {
    status: 200,
    text: "A new key. Older keys stay as they are.",
    schema: recoveredKey,
    example: { ...exampleKey, api_key: exampleApiKey },
  } as const;
  const refusals = [
    "auth_failed",
    "account_suspended",
    "key_limit_reached",
    "rate_limited",
  ] as const;

  router.add({
    method: "post",
    path: "/v1/accounts/keys",
    tag: "Accounts",
    summary: "Create a key with e-mail and password",
    credential: "none",
    device: "shown and given",
    body: {
      schema: z.strictObject({ email, password, name: keyName }),
      required: true,
      example: { email: "agent@example.com", password: examplePassword, name: "laptop" },
    },
    success,
    refusals,
    handle: (c, { body }) =>
      recover(c, deps, { by: { email: body.email }, password: body.password, name: body.name }),
  });

  router.add({
    method: "post",
    path: "/v1/accounts/{id}/keys",
    aliases: ["/accounts/{id}/keys"],
    tag: "Accounts",
    summary: "Create a key with account id and password",
    credential: "none",
    device: "given",
    parameters: z.object({ id: accountId }),
    body: {
      schema: z.strictObject({ password, name: keyName }),
      required: true,
      example: { password: examplePassword, name: "laptop" },
    },
    success,
    refusals: [...refusals, "not_found"],
    handle: (c, { body }) => {
      // Text that is no UUID names nothing, as everybody can see; an unknown UUID is answered like
      // a wrong password.
      const accountId = parseUuid(c.req.param("id"), parseAccountId);
      if (accountId === undefined) return notFound(c);
      return recover(c, deps, { by: { id: accountId }, password: body.password, name: body.name });
    },
  });
}

async function recover(
  c: ApiContext,
  deps: RouteDeps,
  input: { by: { id: AccountId } | { email: string }; password: string; name: string },
): Promise<Response> {
  const { by, name } = input;
  const tried = await tryPassword(
    c,
    deps,
    { target: by, password: input.password },
    (attempt) => deps.accounts.recover({ ...attempt, by, name }),
  );
  if ("limited" in tried) return tried.limited;
  const { value: result, refund } = tried;
  if (result.outcome === "wrong_credentials") {
    return refuse(c, "auth_failed", "Unknown account or wrong password");
  }
  refund();
  if (result.outcome === "suspended") return suspended(c);
  giveDevice(c, deps, result.device);
  return result.outcome === "created" ? c.json(recoveredBody(result.key)) : noKeyCreated(c, result);
}

/** An account without its message is an account all the same; its owner can ask for another one. */
async function sendVerification({ life, rateLimits }: RouteDeps, account: Account): Promise<void> {
  if (!(await rateLimits.mail.take(mailSubject("verify", account.email))).allowed) return;
  try {
    await life.sendVerification(account);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}

export function noKeyCreated(c: ApiContext, result: KeyRefusal): Response {
  if (result.outcome === "revoked") return refuse(c, "auth_key_invalid", unknownKey);
  if (result.outcome === "beyond") {
    return refuse(
      c,
      "not_allowed",
      "This key may not make a key that can do more than itself. Use a plain key",
    );
  }
  return refuse(
    c,
    "key_limit_reached",
    `The account has ${result.limit} active keys, the most there can be. Revoke one first`,
  );
}

function recoveredBody({ id, keyPrefix, name, key }: IssuedKey): Record<string, string> {
  return { id, key_prefix: keyPrefix, name, api_key: key.reveal() };
}

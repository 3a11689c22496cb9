/** Sign-up, and new keys for someone who has only a password. The interface's two paths also answer without `/v1`. */
import { z } from "@hono/zod-openapi";
import { type AccountId, parseAccountId } from "../../proto/mod.ts";
import { emailKeyOf } from "../domain/accounts.ts";
import { unknownKey } from "../domain/authentication.ts";
import type { IssuedKey, KeyCreation } from "../domain/keys.ts";
import { networkOf, orRefund } from "../domain/rate_limit.ts";
import { Secret } from "../../server/mod.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { notFound, rateLimited, refuse, showRateLimit } from "./errors.ts";
import {
  email,
  id,
  isoTime,
  keyName,
  keyPrefix,
  newPassword,
  parseUuid,
  password,
  plan,
  secretKey,
  timestamp,
} from "./fields.ts";
import type { Router } from "./operation.ts";

const exampleKey = { id: "5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11", key_prefix: "sk_live_AAAAAAAA", name: "default" };
const exampleApiKey = "sk_live_AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0s2ROk";
const examplePassword = "correct horse battery staple";

const keySummary = z.object({ id, key_prefix: keyPrefix, name: z.string() });
const accountCreated = z.object({
  id,
  email,
  plan,
  created_at: timestamp,
  message: z.string(),
  api_key: secretKey,
  key: keySummary,
}).openapi("AccountCreated");
const recoveredKey = z.object({ id, key_prefix: keyPrefix, name: z.string(), api_key: secretKey }).openapi(
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
    body: {
      schema: z.strictObject({ email, password: newPassword }),
      required: true,
      example: { email: "agent@example.com", password: examplePassword },
    },
    success: {
      status: 201,
      text: "The account and its first key.",
      schema: accountCreated,
      example: {
        id: "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11",
        email: "agent@example.com",
        plan: "free",
        created_at: "2026-11-15T08:30:00.000Z",
        message: "Account created. Store the API key now; it is not shown again.",
        api_key: exampleApiKey,
        key: exampleKey,
      },
    },
    refusals: ["email_taken", "rate_limited"],
    handle: async (c, { body }) => {
      const [{ signUp }, address] = [deps.rateLimits, c.get("clientAddress")];
      const decision = signUp.take(address);
      if (!decision.allowed) return rateLimited(c, decision);
      showRateLimit(c, decision);
      const result = await orRefund(
        deps.accounts.signUp({ email: body.email, password: new Secret(body.password), client: networkOf(address) }),
        () => signUp.refund(address),
      );
      if (result.outcome === "email_taken") {
        return refuse(
          c,
          "email_taken",
          "This e-mail address has an account. Use POST /v1/accounts/keys to get a new key",
        );
      }
      const { account, key } = result;
      return c.json({
        id: account.id,
        email: account.email,
        plan: account.plan,
        created_at: isoTime(account.createdAtMs),
        message: "Account created. Store the API key now; it is not shown again.",
        api_key: key.key.reveal(),
        key: { id: key.id, key_prefix: key.keyPrefix, name: key.name },
      }, 201);
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
  const refusals = ["auth_failed", "key_limit_reached", "rate_limited"] as const;

  router.add({
    method: "post",
    path: "/v1/accounts/keys",
    tag: "Accounts",
    summary: "Create a key with e-mail and password",
    credential: "none",
    body: {
      schema: z.strictObject({ email, password, name: keyName }),
      required: true,
      example: { email: "agent@example.com", password: examplePassword, name: "laptop" },
    },
    success,
    refusals,
    handle: (c, { body }) => recover(c, deps, { by: { email: body.email }, password: body.password, name: body.name }),
  });

  router.add({
    method: "post",
    path: "/v1/accounts/{id}/keys",
    aliases: ["/accounts/{id}/keys"],
    tag: "Accounts",
    summary: "Create a key with account id and password",
    credential: "none",
    parameters: z.object({ id }),
    body: {
      schema: z.strictObject({ password, name: keyName }),
      required: true,
      example: { password: examplePassword, name: "laptop" },
    },
    success,
    refusals: [...refusals, "not_found"],
    handle: (c, { body }) => {
      // Text that is no UUID names nothing, as everybody can see; an unknown UUID is answered like a wrong password.
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
  const { failures, passwords } = deps.rateLimits;
  const address = c.get("clientAddress");
  const subject = "id" in input.by ? input.by.id : emailKeyOf(input.by.email);
  // Taken before the work and given back after a success: only failures count, also when they run in parallel. The account's
  // own limit comes second, so that an address that is out of attempts cannot use up the account's as well.
  const byAddress = failures.take(address);
  if (!byAddress.allowed) return rateLimited(c, byAddress);
  const byAccount = passwords.take(subject);
  if (!byAccount.allowed) return rateLimited(c, byAccount);
  const refund = (): void => {
    failures.refund(address);
    passwords.refund(subject);
  };
  const attempt = { ...input, password: new Secret(input.password), client: networkOf(address) };
  const result = await orRefund(deps.accounts.recover(attempt), refund);
  if (result.outcome === "wrong_credentials") return refuse(c, "auth_failed", "Unknown account or wrong password");
  refund();
  return result.outcome === "created" ? c.json(recoveredBody(result.key)) : noKeyCreated(c, result);
}

export function noKeyCreated(c: ApiContext, result: Exclude<KeyCreation, { outcome: "created" }>): Response {
  if (result.outcome === "revoked") return refuse(c, "auth_key_invalid", unknownKey);
  return refuse(
    c,
    "key_limit_reached",
    `The account has ${result.limit} active keys, the most there can be. Revoke one first`,
  );
}

function recoveredBody({ id, keyPrefix, name, key }: IssuedKey): Record<string, string> {
  return { id, key_prefix: keyPrefix, name, api_key: key.reveal() };
}

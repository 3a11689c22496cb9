/** Response to the owner of a new account: the account and its first key, shown once. */
import { z } from "@hono/zod-openapi";
import type { Account } from "../domain/deps.ts";
import type { IssuedKey } from "../domain/keys.ts";
import {
  accountId,
  createdAt,
  email,
  isoTime,
  keyId,
  keyPrefix,
  plan,
  secretKey,
  shownKeyName,
} from "./fields.ts";

export const exampleKey = {
  id: "5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11",
  key_prefix: "sk_live_AAAAAAAA",
  name: "default",
};
export const exampleApiKey = "sk_live_AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0s2ROk";
const message = "Account created. Store the API key now; it is not shown again.";

export const accountCreated = z.object({
  id: accountId,
  email,
  plan,
  created_at: createdAt,
  message: z.string().describe("What to do now, for people."),
  api_key: secretKey,
  key: z.object({ id: keyId, key_prefix: keyPrefix, name: shownKeyName }).describe(
    "The same key, as lists show it.",
  ),
}).openapi("AccountCreated");

export const exampleCreated = {
  id: "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11",
  email: "agent@example.com",
  plan: "free",
  created_at: "2026-11-15T08:30:00.000Z",
  message,
  api_key: exampleApiKey,
  key: exampleKey,
};

export function createdBody(
  { account, key }: { account: Account; key: IssuedKey },
): z.infer<typeof accountCreated> {
  return {
    id: account.id,
    email: account.email,
    plan: account.plan,
    created_at: isoTime(account.createdAtMs),
    message,
    api_key: key.key.reveal(),
    key: { id: key.id, key_prefix: key.keyPrefix, name: key.name },
  };
}

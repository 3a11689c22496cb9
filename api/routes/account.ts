/** The caller's own account: read, address, password, end. */
import { z } from "@hono/zod-openapi";
import type { AccountState } from "../domain/account_store.ts";
import { Secret } from "../../server/mod.ts";
import type { ApiContext, RouteDeps } from "./context.ts";
import { notFound, refuse } from "./errors.ts";
import {
  accountId,
  createdAt,
  email,
  isoTime,
  mailCode,
  newPassword,
  password,
  plan,
  revokeKeys,
} from "./fields.ts";
import { giveDevice } from "./known_places.ts";
import type { Router } from "./operation.ts";
import { limitMail, tryPassword, wrongPassword } from "./passwords.ts";

const version = z.int().min(1);
const ended = z.int().min(0).describe("How many sessions of the console have ended.");
const accountBody = z.object({
  id: accountId,
  email: email.nullable().describe(
    "The address of the account; null when somebody else has proved to own it.",
  ),
  email_verified: z.boolean().describe("Whether a code that was mailed to the address came back."),
  pending_email: email.nullable().describe("An address that was asked for and is not proved yet."),
  plan,
  created_at: createdAt,
  suspended: z.boolean().describe("Whether an operator has stopped the account."),
  notices: z.array(z.enum(["address_claimed"])).describe(
    "What its owner should know. `address_claimed`: give it an address.",
  ),
  version: version.describe("Grows with each change of the account."),
}).openapi("Account");

const example = {
  id: "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11",
  email: "agent@example.com",
  email_verified: true,
  pending_email: null,
  plan: "free",
  created_at: "2026-11-15T08:30:00.000Z",
  suspended: false,
  notices: [],
  version: 2,
};
const examplePassword = "correct horse battery staple";
export const exampleCode = "7K3M-9Q2T-XW4B";

const success = { status: 200, text: "The account.", schema: accountBody, example } as const;
export const endingsBody = z.object({
  sessions_ended: ended,
  keys_revoked: z.int().min(0).describe("How many keys were revoked."),
});
const account = { tag: "Account", credential: "api_key", scope: "account" } as const;

export function addOwnAccountRoutes(router: Router, deps: RouteDeps): void {
  router.add<undefined>({
    ...account,
    method: "get",
    path: "/v1/account",
    summary: "Read the account",
    evenSuspended: true,
    success,
    refusals: ["not_found"],
    handle: (c, { caller }) => show(c, deps, caller().accountId),
  });
  addAddressChange(router, deps);
  addVerification(router, deps);
  addPasswordRoute(router, deps);
  addEndRoutes(router, deps);
}

function addAddressChange(router: Router, deps: RouteDeps): void {
  const { life } = deps;
  router.add({
    ...account,
    method: "patch",
    path: "/v1/account",
    summary: "Ask for another address",
    description:
      "A code is sent to the new address. It is the account's when POST /v1/account/verification/confirm has " +
      "brought the code back. With `version`, only if nothing was changed since that was read.",
    body: {
      schema: z.strictObject({
        email,
        password,
        version: version.optional().describe(
          "Refused with `conflict` if the account has another one.",
        ),
      }),
      required: true,
      example: { email: "agent@example.com", password: examplePassword },
    },
    success,
    refusals: ["auth_failed", "email_taken", "conflict", "not_found"],
    handle: async (c, { body, caller }) => {
      const limited = await limitMail(c, deps, { email: body.email, purpose: "change" });
      if (limited !== undefined) return limited;
      const { accountId } = caller();
      const about = { target: { caller: caller() }, password: body.password };
      const tried = await tryPassword(
        c,
        deps,
        about,
        (attempt) =>
          life.changeAddress(caller(), { ...attempt, email: body.email, version: body.version }),
      );
      if ("limited" in tried) return tried.limited;
      const { value: { outcome }, refund } = tried;
      if (outcome === "wrong_password") return wrongPassword(c);
      refund();
      if (outcome === "email_taken") {
        return refuse(c, "email_taken", "Another account has verified this address");
      }
      if (outcome === "conflict") return changedMeanwhile(c);
      return await show(c, deps, accountId);
    },
  });
}

function addVerification(router: Router, deps: RouteDeps): void {
  const { life } = deps;
  router.add<undefined>({
    ...account,
    method: "post",
    path: "/v1/account/verification",
    summary: "Send a code to the account's address",
    success: { status: 204, text: "The message waits to be sent." },
    refusals: ["conflict"],
    handle: async (c, { caller }) => {
      const { accountId } = caller();
      const state = await life.read(accountId);
      if (state?.email === null || state?.email === undefined) {
        return refuse(
          c,
          "conflict",
          "The account has no address. Give it one with PATCH /v1/account",
        );
      }
      if (state.isVerified) return refuse(c, "conflict", "The address is verified already");
      const limited = await limitMail(c, deps, { email: state.email, purpose: "verify" });
      if (limited !== undefined) return limited;
      await life.sendVerification({ id: accountId, email: state.email });
      return c.body(null, 204);
    },
  });
  router.add({
    ...account,
    method: "post",
    path: "/v1/account/verification/confirm",
    summary: "Prove an address with the code that was sent there",
    description:
      "The account's own address, or the one that it is to have. With another address all sessions end, " +
      "with `revoke_keys` all keys do too, the one that asks included, and the address before is written to.",
    body: {
      schema: z.strictObject({ code: mailCode, revoke_keys: revokeKeys }),
      required: true,
      example: { code: exampleCode },
    },
    success,
    refusals: ["code_invalid", "email_taken", "not_found"],
    handle: async (c, { body, caller }) => {
      const { accountId } = caller();
      const proof = { code: body.code, revokeKeys: body.revoke_keys };
      const about = { target: "code", password: body.code } as const;
      const tried = await tryPassword(c, deps, about, () => life.confirmAddress(caller(), proof));
      if ("limited" in tried) return tried.limited;
      if (tried.value === "code_invalid") return codeInvalid(c);
      tried.refund();
      if (tried.value === "email_taken") {
        return refuse(c, "email_taken", "Another account has verified this address");
      }
      return await show(c, deps, accountId);
    },
  });
}

function addPasswordRoute(router: Router, deps: RouteDeps): void {
  router.add({
    ...account,
    method: "post",
    path: "/v1/account/password",
    summary: "Change the password",
    device: "given",
    description:
      "All sessions end. With `revoke_keys` all keys do too, the one that asks included; " +
      "POST /v1/accounts/keys gives a new one.",
    body: {
      schema: z.strictObject({ password, new_password: newPassword, revoke_keys: revokeKeys }),
      required: true,
      example: { password: examplePassword, new_password: examplePassword },
    },
    success: {
      status: 200,
      text: "The keys and sessions that ended with it.",
      schema: endingsBody,
      example: { sessions_ended: 1, keys_revoked: 0 },
    },
    refusals: ["auth_failed", "conflict"],
    handle: async (c, { body, caller }) => {
      const change = { newPassword: new Secret(body.new_password), revokeKeys: body.revoke_keys };
      const about = { target: { caller: caller() }, password: body.password };
      const tried = await tryPassword(
        c,
        deps,
        about,
        (attempt) => deps.life.changePassword(caller(), { ...attempt, ...change }),
      );
      if ("limited" in tried) return tried.limited;
      const { value: result, refund } = tried;
      if (result.outcome === "wrong_password") return wrongPassword(c);
      refund();
      if (result.outcome === "conflict") return changedMeanwhile(c);
      giveDevice(c, deps, result.device);
      return c.json({ sessions_ended: result.sessionsEnded, keys_revoked: result.keysRevoked });
    },
  });
}

function addEndRoutes(router: Router, deps: RouteDeps): void {
  router.add<undefined>({
    ...account,
    method: "delete",
    path: "/v1/account/sessions",
    summary: "End all sessions of the console",
    success: {
      status: 200,
      text: "How many there were.",
      schema: z.object({ sessions_ended: ended }),
      example: { sessions_ended: 2 },
    },
    handle: async (c, { caller }) =>
      c.json({ sessions_ended: await deps.sessions.endAll(caller()) }),
  });
  router.add({
    ...account,
    method: "delete",
    path: "/v1/account",
    summary: "Delete the account",
    description:
      "Keys and sessions end at once, relays close its channels. What accounting needs is kept: the id, the " +
      "plan, the times and the usage. Nothing brings the account back.",
    body: {
      schema: z.strictObject({ password }),
      required: true,
      example: { password: examplePassword },
    },
    success: { status: 204, text: "Deleted." },
    refusals: ["auth_failed", "conflict"],
    handle: async (c, { body, caller }) => {
      const about = { target: { caller: caller() }, password: body.password };
      const tried = await tryPassword(
        c,
        deps,
        about,
        (attempt) => deps.life.remove(caller(), attempt),
      );
      if ("limited" in tried) return tried.limited;
      if (tried.value === "wrong_password") return wrongPassword(c);
      tried.refund();
      return tried.value === "conflict" ? changedMeanwhile(c) : c.body(null, 204);
    },
  });
}

async function show(
  c: ApiContext,
  { life }: RouteDeps,
  accountId: AccountState["id"],
): Promise<Response> {
  const state = await life.read(accountId);
  if (state === undefined) return notFound(c);
  return c.json({
    id: state.id,
    email: state.email,
    email_verified: state.isVerified,
    pending_email: state.pendingEmail,
    plan: state.plan,
    created_at: isoTime(state.createdAtMs),
    suspended: state.isSuspended,
    notices: state.hasLostAddress ? ["address_claimed"] : [],
    version: state.version,
  });
}

export function codeInvalid(c: ApiContext): Response {
  return refuse(
    c,
    "code_invalid",
    "The code is wrong, was used or is older than 60 minutes. Ask for a new one",
  );
}

function changedMeanwhile(c: ApiContext): Response {
  return refuse(c, "conflict", "The account was changed at the same time. Read it again");
}

/**
 * For somebody with a mailbox and no key: a new password for a verified account, or an address that
 * nobody has verified.
 */
import { z } from "@hono/zod-openapi";
import { accountCreated, createdBody, exampleCreated } from "./account_created.ts";
import { codeInvalid, endingsBody, exampleCode } from "./account.ts";
import type { RouteDeps } from "./context.ts";
import { refuse } from "./errors.ts";
import { accountId, email, mailCode, newPassword, revokeKeys } from "./fields.ts";
import { giveDevice } from "./known_places.ts";
import type { Router } from "./operation.ts";
import { limitMail, tryPassword } from "./passwords.ts";

const exampleEmail = "agent@example.com";
const examplePassword = "correct horse battery staple";
const open = { tag: "Accounts", credential: "none", method: "post" } as const;

export function addAddressClaimRoutes(router: Router, deps: RouteDeps): void {
  const asking = {
    ...open,
    body: { schema: z.strictObject({ email }), required: true, example: { email: exampleEmail } },
  } as const;
  const text = "Whatever is to be said is said by mail.";
  router.add({
    ...asking,
    path: "/v1/accounts/reset",
    summary: "Send a code that resets the password of a verified account",
    description:
      "At most three mails go to an address in an hour. Codes of earlier ones stay good for 60 minutes.",
    success: { status: 202, text },
    handle: async (c, { body }) => {
      await deps.resets.ask({ email: body.email, address: c.get("clientAddress") });
      return c.body(null, 202);
    },
  });
  router.add({
    ...asking,
    path: "/v1/accounts/claim",
    summary: "Send a code that proves an address which no account has verified",
    success: { status: 204, text },
    refusals: ["rate_limited"],
    handle: async (c, { body }) => {
      const limited = await limitMail(c, deps, { email: body.email, purpose: "claim" });
      if (limited !== undefined) return limited;
      await deps.life.askClaim(body.email);
      return c.body(null, 204);
    },
  });
  addReset(router, deps);
  addClaim(router, deps);
}

function addReset(router: Router, deps: RouteDeps): void {
  router.add({
    ...open,
    path: "/v1/accounts/reset/confirm",
    summary: "Choose a new password with the code that was sent",
    device: "given",
    description:
      "All sessions end; with `revoke_keys` all keys too. POST /v1/accounts/keys gives a new one.",
    body: {
      schema: z.strictObject({
        email,
        code: mailCode,
        new_password: newPassword,
        revoke_keys: revokeKeys,
      }),
      required: true,
      example: { email: exampleEmail, code: exampleCode, new_password: examplePassword },
    },
    success: {
      status: 200,
      text: "The account, and what ended with its password.",
      schema: endingsBody.extend({ id: accountId }),
      example: { id: "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11", sessions_ended: 1, keys_revoked: 0 },
    },
    refusals: ["code_invalid", "rate_limited"],
    handle: async (c, { body }) => {
      const { code, new_password: chosen, revoke_keys: revokeKeys } = body;
      const about = { target: "code", password: chosen } as const;
      const tried = await tryPassword(
        c,
        deps,
        about,
        ({ password, party }) =>
          deps.life.reset({ email: body.email, code, newPassword: password, revokeKeys, party }),
      );
      if ("limited" in tried) return tried.limited;
      const { value: result, refund } = tried;
      if (result === "code_invalid") return codeInvalid(c);
      refund();
      giveDevice(c, deps, result.device);
      return c.json({
        id: result.id,
        sessions_ended: result.sessionsEnded,
        keys_revoked: result.keysRevoked,
      });
    },
  });
}

function addClaim(router: Router, deps: RouteDeps): void {
  router.add({
    ...open,
    path: "/v1/accounts/claim/confirm",
    summary: "Create an account with the address that the code proves",
    device: "given",
    description:
      "An account that carried the address without having verified it keeps everything else.",
    body: {
      schema: z.strictObject({ email, code: mailCode, password: newPassword }),
      required: true,
      example: { email: exampleEmail, code: exampleCode, password: examplePassword },
    },
    success: {
      status: 201,
      text: "The account and its first key.",
      schema: accountCreated,
      example: exampleCreated,
    },
    refusals: ["code_invalid", "email_taken", "rate_limited"],
    handle: async (c, { body }) => {
      const about = { target: "code", password: body.password } as const;
      const proof = { email: body.email, code: body.code };
      const tried = await tryPassword(
        c,
        deps,
        about,
        (attempt) => deps.life.claim({ ...proof, ...attempt }),
      );
      if ("limited" in tried) return tried.limited;
      const { value: result, refund } = tried;
      if (result.outcome === "code_invalid") return codeInvalid(c);
      refund();
      if (result.outcome === "email_taken") {
        return refuse(c, "email_taken", "An account has verified this address");
      }
      giveDevice(c, deps, result.device);
      return c.json(createdBody(result), 201);
    },
  });
}

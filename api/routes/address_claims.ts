/** For somebody with a mailbox and no key: a new password for a verified account, or an address that nobody has verified. */
import { z } from "@hono/zod-openapi";
import { networkOf } from "../../server/limits/mod.ts";
import { Secret } from "../../server/mod.ts";
import { accountCreated, createdBody, exampleCreated } from "./account_created.ts";
import { codeInvalid, endingsBody, exampleCode } from "./account.ts";
import type { RouteDeps } from "./context.ts";
import { refuse } from "./errors.ts";
import { email, id, mailCode, newPassword } from "./fields.ts";
import type { Router } from "./operation.ts";
import { limitMail, tryPassword } from "./passwords.ts";

const exampleEmail = "agent@example.com";
const examplePassword = "correct horse battery staple";
const open = { tag: "Accounts", credential: "none", method: "post" } as const;

export function addAddressClaimRoutes(router: Router, deps: RouteDeps): void {
  const asking = {
    ...open,
    body: { schema: z.strictObject({ email }), required: true, example: { email: exampleEmail } },
    success: { status: 204, text: "Whatever is to be said is said by mail." },
    refusals: ["rate_limited"],
  } as const;
  router.add({
    ...asking,
    path: "/v1/accounts/reset",
    summary: "Send a code that resets the password of a verified account",
    handle: async (c, { body }) => {
      const limited = limitMail(c, deps, { email: body.email, purpose: "reset" });
      if (limited !== undefined) return limited;
      await deps.life.askReset(body.email);
      return c.body(null, 204);
    },
  });
  router.add({
    ...asking,
    path: "/v1/accounts/claim",
    summary: "Send a code that proves an address which no account has verified",
    handle: async (c, { body }) => {
      const limited = limitMail(c, deps, { email: body.email, purpose: "claim" });
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
    description: "All sessions end; with `revoke_keys` all keys too. POST /v1/accounts/keys gives a new one.",
    body: {
      schema: z.strictObject({
        email,
        code: mailCode,
        new_password: newPassword,
        revoke_keys: z.boolean().default(false),
      }),
      required: true,
      example: { email: exampleEmail, code: exampleCode, new_password: examplePassword },
    },
    success: {
      status: 200,
      text: "The account, and what ended with its password.",
      schema: endingsBody.extend({ id }),
      example: { id: "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11", sessions_ended: 1, keys_revoked: 0 },
    },
    refusals: ["code_invalid", "rate_limited"],
    handle: async (c, { body }) => {
      const { code, new_password: chosen, revoke_keys: revokeKeys } = body;
      const about = { password: chosen };
      const tried = await tryPassword(
        c,
        deps,
        about,
        ({ password, client }) =>
          deps.life.reset({ email: body.email, code, newPassword: password, revokeKeys, client }),
      );
      if ("limited" in tried) return tried.limited;
      const { value: result, refund } = tried;
      if (result === "code_invalid") return codeInvalid(c);
      refund();
      return c.json({ id: result.id, sessions_ended: result.sessionsEnded, keys_revoked: result.keysRevoked });
    },
  });
}

function addClaim(router: Router, deps: RouteDeps): void {
  router.add({
    ...open,
    path: "/v1/accounts/claim/confirm",
    summary: "Create an account with the address that the code proves",
    description: "An account that carried the address without having verified it keeps everything else.",
    body: {
      schema: z.strictObject({ email, code: mailCode, password: newPassword }),
      required: true,
      example: { email: exampleEmail, code: exampleCode, password: examplePassword },
    },
    success: { status: 201, text: "The account and its first key.", schema: accountCreated, example: exampleCreated },
    refusals: ["code_invalid", "email_taken", "rate_limited"],
    handle: async (c, { body }) => {
      const { life } = deps;
      const address = c.get("clientAddress");
      const about = { password: body.password };
      const proof = { email: body.email, code: body.code, password: new Secret(body.password) };
      const tried = await tryPassword(c, deps, about, () => life.claim({ ...proof, client: networkOf(address) }));
      if ("limited" in tried) return tried.limited;
      const { value: result, refund } = tried;
      if (result.outcome === "code_invalid") return codeInvalid(c);
      refund();
      if (result.outcome === "email_taken") return refuse(c, "email_taken", "An account has verified this address");
      return c.json(createdBody(result), 201);
    },
  });
}

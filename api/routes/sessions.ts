/**
 * Sessions of the console: a cookie that no script reads, and a header that only the console's own
 * page can send.
 */
import { z } from "@hono/zod-openapi";
import { sessionLifetimeMs } from "../domain/sessions.ts";
import { foreignPage, isForeignPage, suspended } from "./authorization.ts";
import type { RouteDeps } from "./context.ts";
import { giveCookie, nameOverTls, readCookie, takeCookieBack } from "./cookies.ts";
import { rateLimited, refuse } from "./errors.ts";
import { accountId, email, isoTime, password, timestamp, token } from "./fields.ts";
import { channelPowers } from "./key_fields.ts";
import { giveDevice } from "./known_places.ts";
import type { Router } from "./operation.ts";
import { tryPassword } from "./passwords.ts";

const path = "/v1/session";
const wrongLogin = "Unknown account or wrong password";
const sessionBody = z.object({
  account_id: accountId,
  csrf: z.string().openapi({
    description: "To be sent as `x-static-csrf` with every request that is not a GET.",
  }),
  expires_at: timestamp.describe("When the session ends by itself."),
}).openapi("Session");
const example = {
  account_id: "0b9f0a4e-7c1d-4c55-9d0e-1f6f2a9d3c11",
  csrf: "u2cJxR0p0p3GqAbXfM4o9Zy3o2m0r9Xq0mC1b6f8e5A",
  expires_at: "2026-11-15T09:30:00.000Z",
};
const success = { status: 200, text: "The session.", schema: sessionBody, example } as const;

export function addSessionRoutes(router: Router, deps: RouteDeps): void {
  addLogIn(router, deps);
  router.add<undefined>({
    method: "get",
    path,
    tag: "Sessions",
    summary: "Read the session, for a page that was loaded again",
    credential: "session",
    success,
    handle: async (c) => {
      const found = await deps.sessions.find(readCookie(c, deps, "static_session") ?? "");
      if (found === undefined) return refuse(c, "auth_failed", "The session has ended");
      const { session: { accountId, expiresAtMs }, csrf } = found;
      return c.json({ account_id: accountId, csrf, expires_at: isoTime(expiresAtMs) });
    },
  });
  router.add<undefined>({
    method: "delete",
    path,
    tag: "Sessions",
    summary: "Log out",
    credential: "session",
    success: { status: 204, text: "The session has ended." },
    handle: async (c, { caller }) => {
      await deps.sessions.end(caller());
      takeCookieBack(c, deps, "static_session");
      return c.body(null, 204);
    },
  });
  addToken(router, deps);
}

function addLogIn(router: Router, deps: RouteDeps): void {
  router.add({
    method: "post",
    path,
    tag: "Sessions",
    summary: "Log in to the console",
    description:
      `Sets the cookie \`${
        nameOverTls("static_session")
      }\` (without TLS \`static_session\`) for one hour, and ` +
      `\`${
        nameOverTls("static_device")
      }\`, which makes this browser a known place, for 90 days. Both are HttpOnly, ` +
      "SameSite=Strict.",
    credential: "none",
    device: "shown and given",
    body: {
      schema: z.strictObject({ email, password }),
      required: true,
      example: { email: "agent@example.com", password: "correct horse battery staple" },
    },
    success,
    refusals: ["auth_failed", "account_suspended", "csrf_failed", "rate_limited"],
    handle: async (c, { body }) => {
      // Else another page could log a victim in to the attacker's account.
      if (isForeignPage(c)) return foreignPage(c);
      const about = { target: { email: body.email }, password: body.password };
      const tried = await tryPassword(
        c,
        deps,
        about,
        (attempt) => deps.life.logIn({ email: body.email }, attempt),
      );
      if ("limited" in tried) return tried.limited;
      const { value: login, refund } = tried;
      if (login === undefined) return refuse(c, "auth_failed", wrongLogin);
      await refund();
      if (login.isSuspended) return suspended(c);
      const change = await deps.rateLimits.changes.take(login.id);
      if (!change.allowed) return rateLimited(c, change);
      const opened = await deps.sessions.open(login);
      if (opened === undefined) return refuse(c, "auth_failed", wrongLogin);
      const { secret, csrf, expiresAtMs } = opened;
      giveCookie(c, deps, { name: "static_session", value: secret, lifetimeMs: sessionLifetimeMs });
      giveDevice(c, deps, deps.devices.issue(login));
      return c.json({ account_id: login.id, csrf, expires_at: isoTime(expiresAtMs) });
    },
  });
}

function addToken(router: Router, { tokens }: RouteDeps): void {
  router.add({
    method: "post",
    path: `${path}/token`,
    tag: "Sessions",
    summary: "Get a token for an agent in the page",
    description: "A token for one hour that may do what `channels` say and nothing else.",
    credential: "session",
    body: {
      schema: z.strictObject({ channels: channelPowers }),
      required: true,
      example: { channels: [{ pattern: "acme/ops/*", allow: ["send", "receive"] }] },
    },
    success: {
      status: 200,
      text: "The token.",
      schema: z.object({ token }),
      example: {
        token:
          "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCIsImtpZCI6Ii4uLiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl",
      },
    },
    handle: (c, { body, caller }) =>
      c.json({ token: tokens.issue(caller(), { key: null, scopes: body.channels }) }),
  });
}

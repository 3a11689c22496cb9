/** Badges that say of an agent which account it belongs to, and the keys that verify them. */
import { z } from "@hono/zod-openapi";
import { isAgentId } from "../../proto/mod.ts";
import { unknownKey } from "../domain/authentication.ts";
import { badgeName, maxBadgedAgents } from "../domain/badges.ts";
import type { RouteDeps } from "./context.ts";
import { notFound, rateLimited, refuse } from "./errors.ts";
import { isoTime, keyId, timestamp } from "./fields.ts";
import type { Router } from "./operation.ts";

/** As long as readers may go without asking again. */
const documentMaxAgeSeconds = 3_600;

const agentId = z.string().refine(isAgentId, "must be an agent's id").openapi({
  example: "AAAAAAAAAAAAAAAAAAAAAA",
  description: "The id of the agent.",
});
const mailDomain = z.string().nullable().openapi({
  example: null,
  description: "Domain of the account's verified address, if the badge names it.",
});
const issuedAt = timestamp.describe("When it was issued.");
const expiresAt = timestamp.describe("When it ends.");
const badge = { tag: "Badges", credential: "api_key", scope: "badges" } as const;

const issued = z.object({
  badge: z.string().describe("The badge, as `badge` of the SDK takes it."),
  agent_id: agentId,
  domain: z.string().describe("Who issued it."),
  name: z.string().describe("What the agent is there: `account` for every badge of the service."),
  mail_domain: mailDomain,
  issued_at: issuedAt,
  expires_at: expiresAt,
}).openapi("Badge");

const example = {
  agent_id: "AAAAAAAAAAAAAAAAAAAAAA",
  mail_domain: null,
  issued_at: "2026-11-15T08:30:00.000Z",
  expires_at: "2026-12-15T08:30:00.000Z",
};

export function addBadgeRoutes(router: Router, deps: RouteDeps): void {
  addIssuing(router, deps);
  addList(router, deps);
  addDocument(router, deps);
}

function addIssuing(router: Router, { badges, rateLimits }: RouteDeps): void {
  router.add({
    ...badge,
    method: "post",
    path: "/v1/badges",
    summary: "Issue a badge: this agent belongs to this account",
    description:
      "For 30 days. The SDK asks for it by itself. An agent that asks again within a day gets the same badge. " +
      "Its agent joins the list of the account's agents.",
    body: {
      schema: z.strictObject({
        agent_id: agentId,
        mail_domain: z.boolean().default(false).describe(
          "Whether the badge names the domain of the account's address, if that is verified.",
        ),
      }),
      required: true,
      example: { agent_id: example.agent_id },
    },
    success: {
      status: 200,
      text: "The badge. It is not a secret, and of use to this agent only.",
      schema: issued,
      example: { ...example, badge: "badge_AQ…", domain: "api.static.example", name: badgeName },
    },
    refusals: ["not_found"],
    handle: async (c, { body, caller }) => {
      const decision = await rateLimits.badges.take(caller().accountId);
      if (!decision.allowed) return rateLimited(c, decision);
      const wish = { agentId: body.agent_id, withMailDomain: body.mail_domain };
      const result = await badges.issue(caller(), wish);
      switch (result) {
        case "no_issuer":
          return refuse(c, "not_found", "This service issues no badges");
        case "revoked":
          return refuse(c, "auth_key_invalid", unknownKey);
      }
      return c.json({
        badge: result.text,
        agent_id: result.agentId,
        domain: result.domain,
        name: badgeName,
        mail_domain: result.mailDomain,
        issued_at: isoTime(result.issuedAtMs),
        expires_at: isoTime(result.expiresAtMs),
      });
    },
  });
}

function addList(router: Router, { badges }: RouteDeps): void {
  router.add<undefined>({
    ...badge,
    method: "get",
    path: "/v1/badges",
    summary: "List the account's agents that have a badge, the latest first",
    success: {
      status: 200,
      text: "Agents whose badge has not expired. An agent that is not yours got it by your key.",
      schema: z.object({
        agents: z.array(z.object({
          agent_id: agentId,
          mail_domain: mailDomain,
          issued_at: issuedAt,
          expires_at: expiresAt,
          key_id: keyId.nullable().openapi({
            description: "The key that asked for it; null for a session of the console.",
          }),
        })).describe("The latest first."),
        complete: z.boolean().describe(
          `Whether these are all. The latest ${maxBadgedAgents.toLocaleString("en")} are listed.`,
        ),
      }),
      example: { agents: [{ ...example, key_id: null }], complete: true },
    },
    handle: async (c, { caller }) => {
      const agents = await badges.list(caller().accountId);
      return c.json({
        agents: agents.map((each) => ({
          agent_id: each.agentId,
          mail_domain: each.mailDomain,
          issued_at: isoTime(each.issuedAtMs),
          expires_at: isoTime(each.expiresAtMs),
          key_id: each.keyId,
        })),
        complete: agents.length < maxBadgedAgents,
      });
    },
  });
}

function addDocument(router: Router, { badges }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/.well-known/static-agents",
    tag: "Badges",
    summary: "Public keys that verify badges",
    credential: "none",
    success: {
      status: 200,
      text: "The issuer's document. A key is published two days before it signs.",
      schema: z.looseObject({
        static_agents: z.literal(1).describe("The form of the document."),
        domain: z.string().describe("The issuer."),
        keys: z.array(z.looseObject({
          kid: z.string().describe("The name of the key."),
          x: z.string().describe("The public key, in base64url."),
        })).describe("Ed25519 keys as a JWK set has them."),
      }),
      example: {
        static_agents: 1,
        domain: "api.static.example",
        keys: [{
          kty: "OKP",
          crv: "Ed25519",
          kid: "2026-11-15-4f1c",
          use: "sig",
          x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        }],
        closed: [],
      },
    },
    refusals: ["not_found"],
    handle: (c) => {
      const document = badges.document();
      if (document === undefined) return notFound(c);
      // The document's readers in browsers are on pages of any origin, and it is the same for all.
      return c.body(document, 200, {
        "content-type": "application/json",
        "cache-control": `public, max-age=${documentMaxAgeSeconds}`,
        "access-control-allow-origin": "*",
      });
    },
  });
}

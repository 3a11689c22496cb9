/** An account's API keys: create, list, revoke. */
import { z } from "@hono/zod-openapi";
import { parseKeyId } from "../../proto/mod.ts";
import { noKeyCreated } from "./accounts.ts";
import type { RouteDeps } from "./context.ts";
import { notFound } from "./errors.ts";
import { id, isoTime, keyName, keyPrefix, parseUuid, secretKey, timestamp } from "./fields.ts";
import type { Router } from "./operation.ts";

const created = z.object({ id, key_prefix: keyPrefix, name: z.string(), key: secretKey }).openapi("KeyCreated");
const listed = z.object({
  id,
  key_prefix: keyPrefix,
  name: z.string(),
  last_used_at: timestamp.nullable(),
  created_at: timestamp,
}).openapi("Key");

const exampleId = "5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11";

export function addKeyRoutes(router: Router, deps: RouteDeps): void {
  addCreation(router, deps);
  addList(router, deps);
  addRevocation(router, deps);
}

function addCreation(router: Router, { keys }: RouteDeps): void {
  router.add({
    method: "post",
    path: "/v1/keys",
    tag: "Keys",
    summary: "Create an API key",
    credential: "api_key",
    body: { schema: z.strictObject({ name: keyName }), required: false, example: { name: "ci" } },
    success: {
      status: 200,
      text: "The new key; `key` is shown only here.",
      schema: created,
      example: {
        id: exampleId,
        key_prefix: "sk_live_AAAAAAAA",
        name: "ci",
        key: "sk_live_AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0s2ROk",
      },
    },
    refusals: ["key_limit_reached"],
    handle: async (c, { body, caller }) => {
      const result = await keys.create(caller(), body.name);
      if (result.outcome !== "created") return noKeyCreated(c, result);
      const { key } = result;
      return c.json({ id: key.id, key_prefix: key.keyPrefix, name: key.name, key: key.key.reveal() });
    },
  });
}

function addList(router: Router, { keys }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/v1/keys",
    tag: "Keys",
    summary: "List the account's active keys, newest first",
    credential: "api_key",
    success: {
      status: 200,
      text: "Active keys. `last_used_at` follows the first use within two seconds, later ones within a minute.",
      schema: z.object({ keys: z.array(listed) }),
      example: {
        keys: [{
          id: exampleId,
          key_prefix: "sk_live_AAAAAAAA",
          name: "default",
          last_used_at: null,
          created_at: "2026-11-15T08:30:00.000Z",
        }],
      },
    },
    handle: async (c, { caller }) => {
      const records = await keys.list(caller().accountId);
      return c.json({
        keys: records.map((key) => ({
          id: key.id,
          key_prefix: key.keyPrefix,
          name: key.name,
          last_used_at: key.lastUsedAtMs === null ? null : isoTime(key.lastUsedAtMs),
          created_at: isoTime(key.createdAtMs),
        })),
      });
    },
  });
}

function addRevocation(router: Router, { keys }: RouteDeps): void {
  router.add<undefined>({
    method: "delete",
    path: "/v1/keys/{id}",
    tag: "Keys",
    summary: "Revoke a key",
    description:
      "It stops working at once, everywhere. Tokens that were issued through it stay valid until they expire.",
    credential: "api_key",
    parameters: z.object({ id }),
    success: { status: 204, text: "Revoked." },
    refusals: ["not_found"],
    handle: async (c, { caller }) => {
      const keyId = parseUuid(c.req.param("id"), parseKeyId);
      const revoked = keyId !== undefined && await keys.revoke(caller().accountId, keyId);
      return revoked ? c.body(null, 204) : notFound(c);
    },
  });
}

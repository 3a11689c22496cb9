/** An account's API keys: create, list, rotate, revoke. */
import { z } from "@hono/zod-openapi";
import { parseKeyId } from "../../proto/mod.ts";
import type { IssuedKey } from "../domain/keys.ts";
import { noKeyCreated } from "./accounts.ts";
import type { RouteDeps } from "./context.ts";
import { notFound, refuse } from "./errors.ts";
import {
  createdAt,
  isoTime,
  keyId,
  keyName,
  keyPrefix,
  parseUuid,
  secretKey,
  shownKeyName,
  timestamp,
} from "./fields.ts";
import { newTraits, readTraits, traitFields, traitsBody } from "./key_fields.ts";
import type { Router } from "./operation.ts";

const createdFields = {
  id: keyId,
  key_prefix: keyPrefix,
  name: shownKeyName,
  key: secretKey,
  ...traitFields,
};
const created = z.object(createdFields).openapi("KeyCreated");
const rotated = z.object({
  ...createdFields,
  replaces: z.object({ id: keyId, expires_at: timestamp.describe("Until when the old key works.") })
    .describe("The old key."),
}).openapi("KeyRotated");
const listed = z.object({
  id: keyId,
  key_prefix: keyPrefix,
  name: shownKeyName,
  last_used_at: timestamp.nullable().describe("When it was used last; null for never."),
  created_at: createdAt,
  ...traitFields,
}).openapi("Key");

const exampleId = "5f0c3c1e-8d6b-4e0e-9f0a-2f6f7c1f9a11";
const exampleKey = {
  id: exampleId,
  key_prefix: "sk_live_AAAAAAAA",
  name: "ci",
  key: "sk_live_AAAAAAAAbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb0s2ROk",
};
const daySeconds = 24 * 3600;
const maxOverlapSeconds = 30 * daySeconds;

export function addKeyRoutes(router: Router, deps: RouteDeps): void {
  addCreation(router, deps);
  addList(router, deps);
  addRotation(router, deps);
  addRevocation(router, deps);
}

function addCreation(router: Router, { keys, clock }: RouteDeps): void {
  router.add({
    method: "post",
    path: "/v1/keys",
    tag: "Keys",
    summary: "Create an API key",
    description:
      "Without further fields it is a plain key, which may do everything. No key makes one that may do more " +
      "than itself.",
    credential: "api_key",
    scope: "keys:write",
    body: {
      schema: z.strictObject({ name: keyName, ...newTraits }),
      required: false,
      example: { name: "ci" },
    },
    success: {
      status: 200,
      text: "The new key; `key` is shown only here.",
      schema: created,
      example: exampleKey,
    },
    refusals: ["key_limit_reached"],
    handle: async (c, { body: { name, ...given }, caller }) => {
      const traits = readTraits(given, clock());
      if (!("kind" in traits)) {
        return refuse(c, "invalid_request", "The request has invalid fields", { details: traits });
      }
      const result = await keys.create(caller(), { name, traits });
      if (result.outcome !== "created") return noKeyCreated(c, result);
      return c.json(createdBody(result.key));
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
    scope: "keys:read",
    success: {
      status: 200,
      text:
        "Active keys. `last_used_at` follows the first use within two seconds, later ones within a minute.",
      schema: z.object({ keys: z.array(listed).describe("Those that work, newest first.") }),
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
          ...traitsBody(key.traits),
        })),
      });
    },
  });
}

function addRotation(router: Router, { keys }: RouteDeps): void {
  router.add({
    method: "post",
    path: "/v1/keys/{id}/rotate",
    tag: "Keys",
    summary: "Replace a key by a new one with the same name, kind, scopes, limit and expiry",
    description:
      "The old key goes on working for `overlap_seconds`. A key is rotated once: its successor is the next.",
    credential: "api_key",
    scope: "keys:write",
    parameters: z.object({ id: keyId }),
    body: {
      schema: z.strictObject({
        overlap_seconds: z.int().min(0).max(maxOverlapSeconds).default(daySeconds)
          .describe("How long the old key works beside the new one."),
      }),
      required: false,
      example: { overlap_seconds: 3600 },
    },
    success: {
      status: 200,
      text: "The new key, and until when the old one works.",
      schema: rotated,
      example: {
        ...exampleKey,
        replaces: { id: exampleId, expires_at: "2026-11-15T09:30:00.000Z" },
      },
    },
    refusals: ["not_found", "conflict", "key_limit_reached"],
    handle: async (c, { body, caller }) => {
      const keyId = parseUuid(c.req.param("id"), parseKeyId);
      if (keyId === undefined) return notFound(c);
      const result = await keys.rotate(caller(), keyId, body.overlap_seconds * 1000);
      if (result.outcome === "not_found") return notFound(c);
      if (result.outcome === "conflict") {
        return refuse(c, "conflict", "This key was rotated before. Rotate its successor");
      }
      if (result.outcome !== "rotated") return noKeyCreated(c, result);
      const { key, oldExpiresAtMs } = result;
      return c.json({
        ...createdBody(key),
        replaces: { id: keyId, expires_at: isoTime(oldExpiresAtMs) },
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
    scope: "keys:write",
    parameters: z.object({ id: keyId }),
    success: { status: 204, text: "Revoked." },
    refusals: ["not_found"],
    handle: async (c, { caller }) => {
      const keyId = parseUuid(c.req.param("id"), parseKeyId);
      const revoked = keyId !== undefined && await keys.revoke(caller(), keyId);
      return revoked ? c.body(null, 204) : notFound(c);
    },
  });
}

function createdBody({ id, keyPrefix, name, key, traits }: IssuedKey): z.infer<typeof created> {
  return { id, key_prefix: keyPrefix, name, key: key.reveal(), ...traitsBody(traits) };
}

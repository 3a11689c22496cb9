/** An API key exchanged for a short-lived token, and the public keys that verify such tokens. */
import { z } from "@hono/zod-openapi";
import { jwksMaxAgeSeconds } from "../domain/key_ring.ts";
import { grantOf } from "../domain/key_permissions.ts";
import type { RouteDeps } from "./context.ts";
import { token } from "./fields.ts";
import type { Router } from "./operation.ts";

const publicKey = z.object({
  kty: z.literal("OKP").describe("The kind of key (RFC 8037)."),
  crv: z.literal("Ed25519").describe("The curve."),
  kid: z.string().describe("The name of the key, as in the head of a token."),
  x: z.string().describe("The public key, in base64url."),
  alg: z.literal("EdDSA").describe("The algorithm."),
  use: z.literal("sig").describe("It signs."),
});

export function addTokenRoutes(router: Router, { tokens }: RouteDeps): void {
  router.add<undefined>({
    method: "post",
    path: "/v1/tokens",
    tag: "Tokens",
    summary: "Exchange the API key for a token",
    description:
      "A JWT for the relay, valid for one hour: EdDSA, claims `sub`, `plan`, `iss`, `iat`, `exp`. Tokens of " +
      "keys with scopes or a limit, publishable keys and guest passes add the claim `static`.",
    credential: "api_key",
    scope: "tokens",
    success: {
      status: 200,
      text: "The token.",
      schema: z.object({ token }).openapi("Token"),
      example: {
        token:
          "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCIsImtpZCI6Ii4uLiJ9.eyJzdWIiOiIuLi4ifQ.c2lnbmF0dXJl",
      },
    },
    handle: (c, { caller }) => {
      const { traits } = caller();
      return c.json({ token: tokens.issue(caller(), traits && grantOf(traits)) });
    },
  });

  router.add<undefined>({
    method: "get",
    path: "/.well-known/jwks.json",
    tag: "Tokens",
    summary: "Public keys that verify tokens",
    credential: "none",
    success: {
      status: 200,
      text: "A JWK set. A key is published before it signs and until its last token has expired.",
      schema: z.object({
        keys: z.array(publicKey).describe(
          "Keys of which one has signed each token that is good now.",
        ),
      }),
      example: {
        keys: [{
          kty: "OKP",
          crv: "Ed25519",
          kid: "2026-11-15-4f1c",
          x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
          alg: "EdDSA",
          use: "sig",
        }],
      },
    },
    handle: (c) =>
      c.json(tokens.publicKeys(), 200, { "cache-control": `public, max-age=${jwksMaxAgeSeconds}` }),
  });
}

/** `/.well-known/static`: everything that a client needs besides the API's address. */
import { z } from "@hono/zod-openapi";
import { limits } from "../../proto/mod.ts";
import { tokenLifetimeSeconds } from "../domain/key_ring.ts";
import type { RouteDeps } from "./context.ts";
import type { Router } from "./operation.ts";

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const count = z.int().min(0);
const discoveryBody = z.object({
  version: z.string().describe("The version of this service."),
  environment: z.enum(["live", "test"]).describe(
    "Which keys it takes: `sk_live_…` or `sk_test_…`.",
  ),
  relay: z.object({
    urls: z.array(z.string()).describe("Its addresses, the preferred one first."),
    transports: z.array(z.string()).describe("Ways to talk with it."),
  }).describe("The relay that agents connect to."),
  ca: z.object({
    pem: z.string().describe("Its certificate."),
    sha256: sha256.describe("The SHA-256 of that certificate, in hexadecimal."),
  }).nullable().openapi({
    description: "Of a private installation: what signed the relay's certificate.",
  }),
  certificate_hashes: z.array(sha256).openapi({
    description: "SHA-256 of the relay's own certificate, for browsers.",
  }),
  limits: z.object({
    payload_bytes: count.describe("The longest message."),
    members_per_channel: count.describe("Agents in one channel."),
    keys_per_account: count.describe("Active keys."),
    token_lifetime_seconds: count.describe("How long a token is good."),
  }).describe("What this installation allows at most."),
  mail: z.object({
    by: z.enum(["smtp", "file"]).describe("By which way codes leave; `file` is for one machine."),
    folder: z.string().optional().describe("Where files with codes are."),
  }).describe("How codes are mailed."),
}).openapi("Discovery");

const example = {
  version: "1.0.0",
  environment: "live",
  relay: {
    urls: ["quic://relay.example:4433", "grpc://relay.example:5000"],
    transports: ["quic", "webtransport", "grpc", "grpc-web", "connect"],
  },
  ca: null,
  certificate_hashes: [],
  limits: {
    payload_bytes: 1048576,
    members_per_channel: 1000,
    keys_per_account: 100,
    token_lifetime_seconds: 3600,
  },
  mail: { by: "smtp" },
};

export function addDiscoveryRoutes(router: Router, { discovery }: RouteDeps): void {
  router.add<undefined>({
    method: "get",
    path: "/.well-known/static",
    tag: "Discovery",
    summary: "Find the relay, and what to trust",
    credential: "none",
    success: { status: 200, text: "The service.", schema: discoveryBody, example },
    handle: async (c) => {
      const { version, environment, relayUrls, mail, maxActiveKeys } = discovery;
      const { ca, certificateHashes } = await discovery.certificates();
      return c.json({
        version,
        environment,
        relay: { urls: [...relayUrls], transports: transportsOf(relayUrls) },
        ca,
        certificate_hashes: [...certificateHashes],
        limits: {
          payload_bytes: limits.payloadBytes,
          members_per_channel: limits.membersPerChannel,
          keys_per_account: maxActiveKeys,
          token_lifetime_seconds: tokenLifetimeSeconds,
        },
        mail,
      });
    },
  });
}

function transportsOf(urls: readonly string[]): string[] {
  const quic = urls.some((url) => url.startsWith("quic:"));
  const tcp = urls.some((url) => !url.startsWith("quic:"));
  return [
    ...(quic ? ["quic", "webtransport"] : []),
    ...(tcp ? ["grpc", "grpc-web", "connect"] : []),
  ];
}

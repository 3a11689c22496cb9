/** An issuer of badges with a key that is always the same. */
import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type AgentId,
  type Badge,
  badgeStatement,
  encodeBadges,
  type UnsignedBadge,
} from "../../../proto/mod.ts";

/** Seconds at which the badges of tests begin. */
export const badgeSeconds = 1_800_000_000;

export class Issuer {
  readonly domain: string;
  readonly key: Uint8Array;
  readonly #seed: Uint8Array;

  constructor(domain = "acme.com", seed = 7) {
    this.domain = domain;
    this.#seed = new Uint8Array(32).fill(seed);
    this.key = ed25519.getPublicKey(this.#seed);
  }

  /** A badge of 30 days. */
  badge(agentId: AgentId, fields: Partial<UnsignedBadge> = {}): Badge {
    const { notBefore = badgeSeconds } = fields;
    const unsigned: UnsignedBadge = {
      domain: this.domain,
      issuerKey: this.key,
      name: "deploy-bot",
      agentId,
      notBefore,
      notAfter: notBefore + 30 * 24 * 60 * 60,
      attributes: [],
      ...fields,
    };
    return { ...unsigned, signature: ed25519.sign(badgeStatement(unsigned), this.#seed) };
  }

  /** As a leaf shows it. */
  shown(agentId: AgentId, fields?: Partial<UnsignedBadge>): Uint8Array {
    return encodeBadges([this.badge(agentId, fields)]);
  }
}

/**
 * How this agent's reader recognises other agents: by the user's own names, and by badges. A badge
 * is read and verified once for as long as its leaf is in memory, and only if the reader believes
 * its issuer. A verdict holds for a second, so that a message costs a look into a table.
 */
import {
  type AgentId,
  attest,
  type Attestation,
  type Badge,
  type BadgeReader,
  badgeStatement,
  badgesToVerify,
  notAttested,
  type ReaderAccount,
  type Recognition,
  type Trust,
} from "../../../proto/mod.ts";
import type { SignedBytes } from "../../../wasm/mod.ts";
import { readBadges } from "../../mls/badges.ts";
import type { Signatures } from "../../mls/crypto/signatures.ts";

export interface RecogniserParts {
  readonly trust: Trust;
  /** It may become known later. */
  readonly ownAccount: () => ReaderAccount | undefined;
  /** By the reader's own clock. */
  readonly nowMs: () => number;
  readonly signatures: Pick<Signatures, "verifyHandshakes">;
}

/** An agent with the badges of a leaf, as the leaf has them. */
export interface ShownAgent {
  readonly agentId: AgentId;
  readonly badges?: Uint8Array;
}

/** A verdict about the badges of a leaf, with all that it depends on. */
interface Judged extends Pick<BadgeReader, "own"> {
  readonly agentId: AgentId;
  readonly domains: Trust["domains"];
  readonly mailDomains: Trust["mailDomains"];
  readonly atMs: number;
  readonly attestation: Attestation;
}

/** That a badge is over is seen so much later, at most. */
const judgedAgainMs = 1000;
/** More together take as long for each, and one that is wrong spoils them all. */
const verifiedTogether = 32;

export class Recogniser {
  readonly #parts: RecogniserParts;
  readonly #judged = new WeakMap<Uint8Array, Judged>();
  readonly #holds = new WeakMap<Badge, boolean>();

  constructor(parts: RecogniserParts) {
    this.#parts = parts;
  }

  /** The list of the user, as it is now. */
  get trust(): Trust {
    return this.#parts.trust;
  }

  of(agent: ShownAgent): Recognition {
    return this.#recognise(agent, this.#reader);
  }

  /** The same for many, whose badges are verified together. */
  all(agents: readonly ShownAgent[]): Recognition[] {
    const reader = this.#reader;
    const unknown = agents.flatMap((agent) => badgesToVerify(badged(agent), reader)).filter(
      (badge) => !this.#holds.has(badge),
    );
    for (let at = 0; at < unknown.length; at += verifiedTogether) {
      const some = unknown.slice(at, at + verifiedTogether);
      // If one of them is wrong, each is verified when it is asked for.
      if (some.length > 1 && this.#parts.signatures.verifyHandshakes(some.map(signedBadge))) {
        for (const badge of some) this.#holds.set(badge, true);
      }
    }
    return agents.map((agent) => this.#recognise(agent, reader));
  }

  #recognise(agent: ShownAgent, reader: BadgeReader): Recognition {
    const knownAs = this.#parts.trust.names.get(agent.agentId);
    return { knownAs, ...this.#judge(agent, reader) };
  }

  #judge(agent: ShownAgent, reader: BadgeReader): Attestation {
    const { agentId, badges } = agent;
    if (badges === undefined) return notAttested;
    const { trust: { domains, mailDomains }, own, nowMs } = reader;
    const known = this.#judged.get(badges);
    if (
      known?.agentId === agentId && known.domains === domains && known.own === own &&
      known.mailDomains === mailDomains && Math.abs(nowMs - known.atMs) < judgedAgainMs
    ) {
      return known.attestation;
    }
    const attestation = attest(badged(agent), reader);
    this.#judged.set(badges, { agentId, domains, mailDomains, own, atMs: nowMs, attestation });
    return attestation;
  }

  get #reader(): BadgeReader {
    const { trust: { domains, mailDomains }, ownAccount, nowMs } = this.#parts;
    const holds = (badge: Badge): boolean => this.#verify(badge);
    return { trust: { domains, mailDomains }, own: ownAccount(), nowMs: nowMs(), holds };
  }

  #verify(badge: Badge): boolean {
    const holds = this.#holds.get(badge) ??
      this.#parts.signatures.verifyHandshakes([signedBadge(badge)]);
    this.#holds.set(badge, holds);
    return holds;
  }
}

function badged({ agentId, badges }: ShownAgent): Parameters<typeof attest>[0] {
  return { agentId, badges: readBadges(badges) };
}

function signedBadge(badge: Badge): SignedBytes {
  const { issuerKey, signature } = badge;
  return { publicKey: issuerKey, message: badgeStatement(badge), signature };
}

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
  badgesToVerify,
  notAttested,
  type ReaderAccount,
  type Recognition,
  type Trust,
} from "../../../proto/mod.ts";
import { atOnce, type InterruptibleWork } from "../../base/interruptible_work.ts";
import { isSigned, verifyBadges } from "../../mls/crypto/badge_signatures.ts";
import { readBadges } from "../../mls/badges.ts";
import type { Signatures } from "../../mls/crypto/signatures.ts";

export interface RecogniserParts {
  readonly trust: Trust;
  /** The account may become known later. */
  readonly ownAccount: () => ReaderAccount | undefined;
  /** Returns the time by the reader's own clock. */
  readonly nowMs: () => number;
  readonly signatures: Pick<Signatures, "verifyHandshakes">;
}

/** An agent with the badges of a leaf, as the leaf has them. */
export interface ShownAgent {
  readonly agentId: AgentId;
  readonly badges?: Uint8Array;
}

/** A verdict about the badges of a leaf, with all that it depends on. */
interface BadgeVerdict extends Pick<BadgeReader, "own"> {
  readonly agentId: AgentId;
  readonly domains: Trust["domains"];
  readonly mailDomains: Trust["mailDomains"];
  readonly atMs: number;
  readonly attestation: Attestation;
}

/** The longest time until it is seen that a badge has ended. */
const judgedAgainMs = 1000;
/** Decoding so many takes no longer than verifying a batch. */
const readTogether = 64;

export class Recogniser {
  readonly #parts: RecogniserParts;
  readonly #judged = new WeakMap<Uint8Array, BadgeVerdict>();

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
    atOnce(this.prepare(agents));
    const reader = this.#reader;
    return agents.map((agent) => this.#recognise(agent, reader));
  }

  /** The longest work of `all`: the signatures of badges that nobody has asked about yet. */
  *prepare(agents: Iterable<ShownAgent>): InterruptibleWork<void> {
    const { trust, ownAccount, signatures } = this.#parts;
    const own = ownAccount();
    if (own === undefined && trust.domains.size === 0) return;
    const believed: Badge[] = [];
    let read = 0;
    for (const agent of agents) {
      believed.push(...badgesToVerify(badged(agent), { trust, own }));
      if (++read % readTogether === 0) yield;
    }
    yield* verifyBadges(believed, signatures);
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
    const holds = (badge: Badge): boolean => isSigned(badge, this.#parts.signatures);
    return { trust: { domains, mailDomains }, own: ownAccount(), nowMs: nowMs(), holds };
  }
}

function badged({ agentId, badges }: ShownAgent): Parameters<typeof attest>[0] {
  return { agentId, badges: readBadges(badges) };
}

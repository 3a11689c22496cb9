/**
 * The verdict of a reader about an agent, from the badges of its leaf. The reader believes the
 * issuers of its own list and its own service, nobody else: a badge of another domain says
 * nothing, whatever a channel's owners think of it. Here alone a clock judges badges, and it is the
 * reader's.
 */
import { equalBytes } from "../base/equal_bytes.ts";
import type { AccountId, AgentId } from "../base/ids.ts";
import { limits } from "../base/limits.ts";
import { accountOf, type Badge, badgeAttributeTypes, mailDomainOf } from "./badge.ts";
import type { Trust } from "./trust.ts";

/** An issuer's word about an agent, by a badge that this reader believes. */
export interface Attested {
  /** The domain that vouches for the agent; with `mailbox` that of a verified e-mail address. */
  readonly domain: string;
  /** The name that the issuer gave it. */
  readonly name: string;
  /** When the badge ends. */
  readonly untilMs: number;
  /** By the domain itself, or by this agent's service for a mailbox at the domain. */
  readonly how: "domain" | "mailbox";
}

/** A reader's verdict about an agent, by the badges that the agent shows. */
export interface Attestation {
  /**
   * The word of an issuer that the user of this program believes (`static trust add`), by a badge
   * that is in time; undefined for others.
   */
  readonly attested: Attested | undefined;
  /** The word that the issuer gave when its badge is over, and nothing newer counts. */
  readonly badgeExpired: Attested | undefined;
  /** The agent belongs to the account of this agent, by a badge of their service. */
  readonly sameAccount: boolean;
}

/** The account of the reader's own agent, and its service as an issuer. */
export interface ReaderAccount {
  readonly account: AccountId;
  readonly issuer: { readonly domain: string; readonly keys: readonly Uint8Array[] };
}

export interface BadgeReader {
  readonly trust: Pick<Trust, "domains" | "mailDomains">;
  readonly own: ReaderAccount | undefined;
  /** By the reader's clock. */
  readonly nowMs: number;
  /** Whether the signature of a badge is right. Asked only for issuers that the reader believes. */
  readonly holds: (badge: Badge) => boolean;
}

/** An agent, with the badges of its leaf. */
export interface BadgedAgent {
  readonly agentId: AgentId;
  readonly badges: readonly Badge[];
}

/** An agent as its reader recognises it: by a name of its own, or by the word of an issuer. */
export interface Recognition extends Attestation {
  /**
   * The name that the user of this program gave the agent (`static trust name`); undefined for
   * others.
   */
  readonly knownAs: string | undefined;
}

export const notAttested: Attestation = {
  attested: undefined,
  badgeExpired: undefined,
  sameAccount: false,
};

/** Badges of this agent whose issuer the reader believes, verified or not. */
export function badgesToVerify(
  { agentId, badges }: BadgedAgent,
  reader: Pick<BadgeReader, "trust" | "own">,
): readonly Badge[] {
  return badges.filter((badge) =>
    badge.agentId === agentId && (isOfDomain(badge, reader) || isOfService(badge, reader))
  );
}

export function attest(agent: BadgedAgent, reader: BadgeReader): Attestation {
  if (agent.badges.length === 0) return notAttested;
  const { nowMs, holds } = reader;
  const believed = badgesToVerify(agent, reader).filter((badge) =>
    nowMs >= badge.notBefore * 1000 - limits.clockSkewMs && holds(badge)
  );
  const isOver = ({ notAfter }: Badge): boolean => nowMs > notAfter * 1000;
  const inTime = believed.filter((badge) => !isOver(badge));
  const attested = wordOf(inTime, reader);
  return {
    attested,
    badgeExpired: attested === undefined ? wordOf(believed.filter(isOver), reader) : undefined,
    sameAccount: inTime.some((badge) =>
      isOfService(badge, reader) && accountOf(badge) === reader.own?.account
    ),
  };
}

/** The domain's own word comes before that of the service about a mailbox. */
function wordOf(
  badges: readonly Badge[],
  reader: Pick<BadgeReader, "trust" | "own">,
): Attested | undefined {
  const own = latest(badges.filter((badge) => isOfDomain(badge, reader)));
  if (own !== undefined) {
    const { domain, name, notAfter } = own;
    return { domain, name, untilMs: notAfter * 1000, how: "domain" };
  }
  const isListed = (badge: Badge): boolean =>
    isOfService(badge, reader) && reader.trust.mailDomains.has(mailDomainOf(badge) ?? "");
  const mailbox = latest(badges.filter(isListed));
  const domain = mailbox && mailDomainOf(mailbox);
  if (mailbox === undefined || domain === undefined) return undefined;
  return { domain, name: mailbox.name, untilMs: mailbox.notAfter * 1000, how: "mailbox" };
}

function latest(badges: readonly Badge[]): Badge | undefined {
  return badges.toSorted((a, b) => b.notAfter - a.notAfter)[0];
}

/**
 * A service gives a badge with an account to everybody who has one, so such a badge is never the
 * word of its domain, also for a reader that has put the service's domain on its list.
 */
function isOfDomain(
  { domain, issuerKey, attributes }: Badge,
  { trust }: Pick<BadgeReader, "trust">,
): boolean {
  if (attributes.some(({ type }) => type === badgeAttributeTypes.account)) return false;
  const keys = trust.domains.get(domain)?.keys ?? [];
  return keys.some(({ key }) => equalBytes(key, issuerKey));
}

function isOfService({ domain, issuerKey }: Badge, { own }: Pick<BadgeReader, "own">): boolean {
  return own?.issuer.domain === domain &&
    own.issuer.keys.some((key) => equalBytes(key, issuerKey));
}

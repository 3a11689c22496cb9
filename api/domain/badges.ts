/**
 * Badges that the service issues as every issuer does: "this agent belongs to account X", and at
 * the account's wish the domain of its verified address. Nobody has to prove that the agent is its
 * own: a badge helps only the agent that it names.
 *
 * An agent that asks again within a day gets the same badge, so that a program that starts over and
 * over neither signs nor adds to the audit each time.
 */
import {
  type AccountId,
  type AgentId,
  badgeAttributes,
  badgeKeyStatement,
  badgeStatement,
  decodeBadge,
  type DocumentKey,
  encodeBadge,
  equalBytes,
  formatBadge,
  formatIssuerDocument,
  isDomain,
  type KeyId,
} from "../../proto/mod.ts";
import { actorOf, type Caller } from "./authentication.ts";
import type { AuditStamp, Clock, KeyMaker } from "./deps.ts";
import {
  badgeLifetimeSeconds,
  badgeUse,
  type KeyRing,
  type KeyRings,
  publishedKeys,
  type SigningKey,
  signingKey,
} from "./key_ring.ts";
import { hostOfEmail } from "./mail/emails.ts";
import type { SigningFunction } from "./tokens.ts";

/** Every badge has this name: its attribute says which account. */
export const badgeName = "account";
/**
 * The most agents in an account's list. The agent whose badge is the oldest makes room for another.
 */
export const maxBadgedAgents = 1_000;
const dayMs = 86_400_000;
/** The clocks of those who read it may be behind. */
const clockMarginSeconds = 3_600;
/** A longer one does not fit into a badge, which has at most 128 bytes of attributes. */
const maxMailDomain = 100;

/** The latest badge of an agent. */
export interface AgentBadge {
  readonly agentId: AgentId;
  readonly bytes: Uint8Array;
  readonly mailDomain: string | null;
  readonly issuedAtMs: number;
  readonly expiresAtMs: number;
  /** The key that asked for it; null for a session. */
  readonly keyId: KeyId | null;
}

export interface BadgeOrder extends AuditStamp {
  readonly accountId: AccountId;
  readonly by: KeyMaker;
  readonly agentId: AgentId;
  readonly maxAgents: number;
  /** Returns `held` where that one does. */
  readonly make: (
    account: { readonly verifiedEmail: string | undefined },
    held: AgentBadge | undefined,
  ) => AgentBadge;
}

export interface BadgeStore {
  /** With its row of the audit, unless the agent has it already. */
  issueBadge(order: BadgeOrder): Promise<AgentBadge | "revoked">;
  /** Returns agents whose badge has not expired, the latest first. */
  listBadges(accountId: AccountId, atMs: number): Promise<readonly AgentBadge[]>;
}

export interface IssuedBadge extends AgentBadge {
  readonly text: string;
  readonly domain: string;
}

export interface Badges {
  issue(
    caller: Caller,
    wish: { readonly agentId: AgentId; readonly withMailDomain: boolean },
  ): Promise<IssuedBadge | "no_issuer" | "revoked">;
  list(accountId: AccountId): Promise<readonly AgentBadge[]>;
  /** The issuer's document; undefined where the service is no issuer. */
  document(): string | undefined;
}

export interface BadgesDeps {
  readonly store: BadgeStore;
  /** Asked at every use, so that a rotated key file takes effect without a restart. */
  readonly rings: () => KeyRings;
  readonly createSign: (key: SigningKey) => SigningFunction;
  /** Undefined where the service does not know its name. */
  readonly domain: string | undefined;
  readonly clock: Clock;
}

/** An issuer has a name and keys. */
interface ServiceIssuer {
  readonly domain: string;
  readonly ring: KeyRing;
}

export function createBadges({ store, rings, createSign, domain, clock }: BadgesDeps): Badges {
  const issuer = (): ServiceIssuer | undefined => {
    const { badge_keys: keys } = rings();
    return domain === undefined || keys === undefined ? undefined : { domain, ring: { keys } };
  };
  return {
    issue: async (caller, { agentId, withMailDomain }) => {
      const present = issuer();
      if (present === undefined) return "no_issuer";
      const atMs = clock();
      const key = signingKey(present.ring, atMs);
      const issued = await store.issueBadge({
        atMs,
        actor: actorOf(caller),
        accountId: caller.accountId,
        by: { keyId: caller.keyId, sessionId: caller.sessionId },
        agentId,
        maxAgents: maxBadgedAgents,
        make: ({ verifiedEmail }, held) => {
          const mailDomain = withMailDomain ? domainOf(verifiedEmail) : undefined;
          const wanted = { domain: present.domain, key, mailDomain, atMs };
          if (held !== undefined && isStillGood(held, wanted)) return held;
          return {
            agentId,
            bytes: sign(createSign(key), { ...wanted, agentId, account: caller.accountId }),
            mailDomain: mailDomain ?? null,
            issuedAtMs: atMs,
            expiresAtMs: notAfterOf(atMs) * 1000,
            keyId: caller.keyId ?? null,
          };
        },
      });
      if (typeof issued === "string") return issued;
      const text = formatBadge(decodeBadge(issued.bytes));
      return { ...issued, text, domain: present.domain };
    },
    list: (accountId) => store.listBadges(accountId, clock()),
    document: () => {
      const present = issuer();
      if (present === undefined) return undefined;
      const nowMs = clock();
      const keys = publishedKeys(present.ring, badgeUse, nowMs);
      const signing = keys.indexOf(signingKey(present.ring, nowMs));
      const older = keys.slice(signing + 1).map(({ kid }) => kid);
      // Keys that are no longer published signed before the oldest that is.
      const endorsers = keys.flatMap(({ endorsed_by }) => endorsed_by ?? []);
      const gone = endorsers.filter((kid) => keys.every((key) => key.kid !== kid));
      return formatIssuerDocument({
        domain: present.domain,
        keys: keys.map(documentKeyOf),
        closed: [...older, ...new Set(gone)],
      });
    },
  };
}

interface BadgeRequest {
  readonly domain: string;
  readonly key: SigningKey;
  readonly mailDomain: string | undefined;
  readonly atMs: number;
}

/**
 * A badge of a request that came later and was served earlier counts too: `atMs` is of the moment
 * in which a request came. One that nobody believes yet was made before the clock was set back.
 */
function isStillGood(held: AgentBadge, { domain, key, mailDomain, atMs }: BadgeRequest): boolean {
  const badge = decodeBadge(held.bytes);
  return held.issuedAtMs > atMs - dayMs && badge.notBefore * 1000 <= atMs &&
    held.mailDomain === (mailDomain ?? null) && badge.domain === domain &&
    equalBytes(badge.issuerKey, publicKeyOf(key));
}

function sign(
  sign: SigningFunction,
  { domain, key, mailDomain, atMs, agentId, account }: BadgeRequest & {
    readonly agentId: AgentId;
    readonly account: AccountId;
  },
): Uint8Array {
  const unsigned = {
    domain,
    issuerKey: publicKeyOf(key),
    name: badgeName,
    agentId,
    notBefore: Math.floor(atMs / 1000) - clockMarginSeconds,
    notAfter: notAfterOf(atMs),
    attributes: badgeAttributes({ account, mailDomain }),
  };
  return encodeBadge({ ...unsigned, signature: sign(badgeStatement(unsigned)) });
}

function notAfterOf(atMs: number): number {
  return Math.floor(atMs / 1000) + badgeLifetimeSeconds;
}

/** Returns the domain of a proved address, if a badge can name it. */
function domainOf(email: string | undefined): string | undefined {
  const host = email === undefined ? undefined : hostOfEmail(email);
  return host !== undefined && host.length <= maxMailDomain && isDomain(host) ? host : undefined;
}

function documentKeyOf(key: SigningKey): DocumentKey {
  const { kid, endorsed_by: by, endorsement } = key;
  if (by === undefined || endorsement === undefined) return { kid, key: publicKeyOf(key) };
  const signature = Uint8Array.fromBase64(endorsement, { alphabet: "base64url" });
  return { kid, key: publicKeyOf(key), endorsement: { by, signature } };
}

/** The older key says that the issuer goes on with `successor`. */
export function endorse(
  createSign: BadgesDeps["createSign"],
  { domain, by, successor }: {
    readonly domain: string;
    readonly by: SigningKey;
    readonly successor: SigningKey;
  },
): Pick<SigningKey, "endorsed_by" | "endorsement"> {
  const signature = createSign(by)(badgeKeyStatement({ domain, key: publicKeyOf(successor) }));
  return {
    endorsed_by: by.kid,
    endorsement: signature.toBase64({ alphabet: "base64url", omitPadding: true }),
  };
}

function publicKeyOf({ x }: SigningKey): Uint8Array {
  return Uint8Array.fromBase64(x, { alphabet: "base64url" });
}

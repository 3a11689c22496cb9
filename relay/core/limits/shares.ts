/**
 * The parts of what an account has that its agents use. Tokens of plain keys and of the console
 * name no key, and have the whole. A key that a token names may use half of it: it may be in the
 * hands of a guest, or of one program among many. Visitors are the agents with tokens of the
 * account's publishable keys, which anybody has. They have half as much beside it, and one visitor
 * an eighth of that: so they take nothing from the account's own agents, and none takes everything
 * from the others.
 */
import type { AccountId, KeyId, TokenGrant } from "../../../proto/mod.ts";

export const keyPart = 0.5;
export const visitorsPart = 0.5;
export const visitorPart = visitorsPart / 8;

/** The part of something that the party of this name may use. */
export interface Share {
  readonly name: string;
  readonly part: number;
}

/** An agent, as far as it matters for its shares. */
export interface SharingAgent {
  readonly account: AccountId;
  /** Rights of its token; undefined for everything. */
  readonly grant?: TokenGrant | undefined;
  /** The network that it comes from, if its token is of a publishable key: many use that. */
  readonly visitor?: string | undefined;
}

/** The shares of an agent: its use is taken of each of them. */
export function sharesOf(agent: SharingAgent): readonly Share[] {
  const key = keyOf(agent);
  if (agent.visitor !== undefined) {
    return [{ name: partyOf(agent), part: visitorsPart }, {
      name: askerOf(agent),
      part: visitorPart,
    }];
  }
  return [
    { name: agent.account, part: 1 },
    ...(key === undefined ? [] : [{ name: key, part: keyPart }]),
  ];
}

/** The account, or all visitors of it. */
export function partyOf({ account, visitor }: Pick<SharingAgent, "account" | "visitor">): string {
  return visitor === undefined ? account : `${account} visitors`;
}

/** The account, or one visitor of it. */
export function askerOf({ account, visitor }: Pick<SharingAgent, "account" | "visitor">): string {
  return visitor === undefined ? account : `${account} ${visitor}`;
}

/** Undefined when its token names none. */
export function keyOf({ grant }: Pick<SharingAgent, "grant">): KeyId | undefined {
  return grant?.key ?? undefined;
}

/** One at least. */
export function partOf(whole: number, part: number): number {
  return Math.max(1, Math.floor(part * whole));
}

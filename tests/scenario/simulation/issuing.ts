/**
 * The issuer of a schedule: its keys, and the badges that it gave to players. Its times are the
 * relay's; what a player's own clock says of them is the player's matter.
 */
import { type AgentId, encodeBase64url, formatBadge } from "../../../proto/mod.ts";
import type { ChannelIssuer } from "../../../sdk/mod.ts";
import { Issuer } from "../../../sdk/mls/testing/issuer.ts";

const daySeconds = 24 * 60 * 60;

/** How long a badge lasts, in seconds before and after the moment at which it is given. */
export const lives = {
  long: [daySeconds, 300 * daySeconds],
  short: [daySeconds, 40],
  over: [10 * daySeconds, -daySeconds],
  later: [-daySeconds, 30 * daySeconds],
} as const;

export type Life = keyof typeof lives;

export class Issuing {
  readonly #nowMs: () => number;
  /** The oldest first. */
  readonly #keys: Issuer[] = [];
  readonly #closed = new Set<Issuer>();
  readonly #badges = new Map<string, readonly string[]>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
    this.next();
  }

  next(): void {
    this.#keys.push(new Issuer("acme.com", 7 + this.#keys.length + this.#gone));
  }

  #gone = 0;

  get keys(): number {
    return this.#keys.length;
  }

  /** Nobody comes in by it any more. Never the newest. */
  closeOldest(): boolean {
    const key = this.#keys.slice(0, -1).find((each) => !this.#closed.has(each));
    if (key !== undefined) this.#closed.add(key);
    return key !== undefined;
  }

  /** Returns whether there was one to take out. */
  takeOutClosed(): boolean {
    const at = this.#keys.findIndex((each) => this.#closed.has(each));
    if (at < 0) return false;
    this.#keys.splice(at, 1);
    this.#gone++;
    return true;
  }

  /** As owners list them. */
  get listed(): ChannelIssuer[] {
    return this.#keys.map((key) => ({
      domain: key.domain,
      key: encodeBase64url(key.key),
      ...(this.#closed.has(key) && { closed: true }),
    }));
  }

  /** From now on the player shows a badge by the newest key, and perhaps that by the one before. */
  give(label: string, agentId: AgentId, { life, both }: {
    readonly life: Life;
    readonly both: boolean;
  }): void {
    this.#give(label, agentId, life, this.#keys.slice(both ? -2 : -1));
  }

  /**
   * It lasts, by the newest key and by the newest of these: an issuer goes on giving badges by a
   * key that channels know, until they know another one.
   */
  giveKnown(label: string, agentId: AgentId, isKnown: (key: Uint8Array) => boolean): void {
    const [newest] = this.#keys.slice(-1);
    const known = this.#keys.findLast(({ key }) => isKnown(key)) ?? this.#keys.at(-2);
    const keys = [known, newest].flatMap((each) => each === undefined ? [] : [each]);
    this.#give(label, agentId, "long", [...new Set(keys)]);
  }

  #give(label: string, agentId: AgentId, life: Life, keys: readonly Issuer[]): void {
    const [before, after] = lives[life];
    const nowSeconds = Math.floor(this.#nowMs() / 1000);
    const texts = keys.map((key) =>
      formatBadge(key.badge(agentId, {
        notBefore: nowSeconds - before,
        notAfter: nowSeconds + after,
      }))
    );
    this.#badges.set(label, texts);
  }

  /** The badges of a player; one that lasts, when it has none yet. */
  of(label: string, agentId: AgentId): readonly string[] {
    if (!this.#badges.has(label)) this.give(label, agentId, { life: "long", both: false });
    return this.#badges.get(label) ?? [];
  }
}

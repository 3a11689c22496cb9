/**
 * What people should know of a channel that requires badges, and what no rule of admission decides:
 * members whose badge is over, by this agent's clock, and issuers that the user knows by other
 * keys. Owners are told of all members, others of this agent alone.
 */
import { type AgentId, equalBytes } from "../../../proto/mod.ts";
import { badgeEndMs, requiredBy } from "../../mls/badge_rules.ts";
import type { Member } from "../../mls/members.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Membership } from "../group/membership.ts";
import type { HealthLog, IssueKind } from "../health.ts";

export interface BadgeWatchParts {
  readonly membership: Pick<Membership, "group">;
  readonly health: Pick<HealthLog, "report">;
}

type Deps = Pick<ChannelDeps, "agentId"> & {
  readonly runtime: Pick<ChannelDeps["runtime"], "nowMs" | "after">;
  readonly recogniser: Pick<ChannelDeps["recogniser"], "trust">;
};

/** Members and domains that a text names. */
const maxNamed = 8;
/** Timers of runtimes end at 24 days, and clocks are set. */
const longestMs = 24 * 60 * 60 * 1000;

export class BadgeWatch {
  readonly #parts: BadgeWatchParts;
  readonly #deps: Deps;
  /** Those that were named last: nothing is reported twice. */
  readonly #told = new Map<IssueKind, string>();
  #cancelTimer = (): void => {};
  #isOver = false;

  constructor(parts: BadgeWatchParts, deps: Deps) {
    this.#parts = parts;
    this.#deps = deps;
  }

  /** Call it when members, issuers or the user's list may be others; it comes back by itself. */
  look(): void {
    this.#cancelTimer();
    const { group } = this.#parts.membership;
    const issuers = requiredBy(group.binding);
    if (this.#isOver || issuers === undefined) return;
    const { runtime, recogniser: { trust } } = this.#deps;
    const nowMs = runtime.nowMs();
    const ends = this.#judged(group.members()).flatMap(({ agentId, badges }) => {
      const endMs = badgeEndMs(badges, issuers);
      return endMs === undefined ? [] : [{ agentId, endMs }];
    });
    const over = ends.filter(({ endMs }) => endMs < nowMs).map(({ agentId }) => agentId);
    this.#tell("badge_expired", over, (named) => overInWords(named, this.#deps.agentId));
    const differing = issuers.flatMap(({ domain, key, closed }) => {
      const known = closed ? undefined : trust.domains.get(domain)?.keys;
      return known?.every((each) => !equalBytes(each.key, key)) === true ? [domain] : [];
    });
    this.#tell("issuer_differs", [...new Set(differing)], differingInWords);
    const next = Math.min(...ends.map(({ endMs }) => endMs).filter((endMs) => endMs >= nowMs));
    const afterMs = Math.min(longestMs, next - nowMs + 1);
    this.#cancelTimer = runtime.after(afterMs, () => this.look());
  }

  end(): void {
    this.#isOver = true;
    this.#cancelTimer();
  }

  #judged(members: readonly Member[]): readonly Member[] {
    const { agentId } = this.#deps;
    const own = members.filter((member) => member.agentId === agentId);
    return own.some(({ owner }) => owner) ? members : own;
  }

  #tell(kind: IssueKind, found: readonly string[], words: (found: readonly string[]) => string) {
    const told = this.#told.get(kind) ?? "";
    this.#told.set(kind, found.join());
    if (found.length > 0 && found.join() !== told) {
      this.#parts.health.report(kind, words(found), { about: "all of them" });
    }
  }
}

function overInWords(members: readonly string[], self: AgentId): string {
  const isOwn = members.includes(self);
  const others = members.filter((member) => member !== self);
  return [
    ...(isOwn ? ["The badge with which this agent is in the channel is over: renew it"] : []),
    ...(others.length === 0 ? [] : [
      `By this agent's clock the badges of members are over: ${
        listed(others)
      }. They stay members ` +
      "until an owner removes them; ask them to renew their badges",
    ]),
  ].join(". ");
}

function differingInWords(domains: readonly string[]): string {
  return `The channel lets agents in by keys that the user's trust list does not have for ` +
    `${
      listed(domains)
    }. Refresh the list; if this stays so, ask that domain which keys are its own. ` +
    "Members are shown by the list alone";
}

function listed(found: readonly string[]): string {
  return found.slice(0, maxNamed).join(", ") + (found.length > maxNamed ? ", …" : "");
}

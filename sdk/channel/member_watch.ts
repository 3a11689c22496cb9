/**
 * The members of a channel as people should know them; no rule of admission asks. It reports names
 * that look alike, and of a channel that requires badges members whose badge is over, by this
 * agent's clock, and issuers that the user knows by other keys. Owners are told of all members,
 * others of this agent alone. Programs hear when members are recognised otherwise: by a new badge,
 * or because one is over.
 */
import { type AgentId, type Attested, equalBytes, type Recognition } from "../../proto/mod.ts";
import { createCarryOut, type InterruptibleWork } from "../base/interruptible_work.ts";
import { badgeEndMs, requiredBy } from "../mls/badge_rules.ts";
import type { Member } from "../mls/members.ts";
import type { ChannelDeps } from "./deps.ts";
import { LookAlikes } from "./group/look_alikes.ts";
import type { Membership } from "./group/membership.ts";
import type { HealthLog, IssueKind } from "./health.ts";

export interface MemberWatchParts {
  readonly membership: Pick<Membership, "group" | "absentMembers">;
  readonly health: Pick<HealthLog, "report" | "tell">;
}

type Deps = Pick<ChannelDeps, "agentId"> & {
  readonly runtime: Pick<ChannelDeps["runtime"], "nowMs" | "after" | "rest">;
  readonly recogniser: Pick<ChannelDeps["recogniser"], "trust" | "prepare" | "all">;
};

type WatchedMember = Pick<Member, "agentId" | "owner" | "badges">;

interface BadgeEnd {
  readonly agentId: AgentId;
  readonly endMs: number;
}

/** Members and domains that a text names. */
const maxNamed = 8;
/** Timers of runtimes end at 24 days, and clocks are set. */
const longestMs = 24 * 60 * 60 * 1000;

export class MemberWatch {
  readonly lookAlikes: LookAlikes;
  readonly #parts: MemberWatchParts;
  readonly #deps: Deps;
  /** The agents that were named last, by the kind of issue: nothing is reported twice. */
  readonly #told = new Map<IssueKind, string>();
  /** Members as they were recognised when it looked last. */
  #seen = new Map<AgentId, string>();
  #cancelTimer = (): void => {};
  #nextMs = -Infinity;
  #looks = 0;
  #isOver = false;

  constructor(parts: MemberWatchParts, deps: Deps) {
    this.#parts = parts;
    this.lookAlikes = new LookAlikes(parts);
    this.#deps = deps;
  }

  /**
   * Call it when members, issuers or the user's list may be others; it comes back by itself when a
   * badge ends. In a large channel badges are verified in parts: then it resolves behind them.
   */
  look(): void | Promise<void> {
    if (this.#isOver) return;
    this.lookAlikes.look();
    const number = ++this.#looks;
    this.#cancelTimer();
    const { membership: { group, absentMembers } } = this.#parts;
    const members = [...group.members(), ...absentMembers];
    return createCarryOut(this.#deps.runtime)(this.#prepared(members, () => {
      if (number === this.#looks && !this.#isOver) this.#compare(members);
    }));
  }

  /** The same, unless nothing has ended since. */
  lookAgain(): void {
    if (this.#deps.runtime.nowMs() >= this.#nextMs) void this.look();
  }

  end(): void {
    this.#isOver = true;
    this.#cancelTimer();
  }

  *#prepared(members: readonly WatchedMember[], then: () => void): InterruptibleWork<void> {
    yield* this.#deps.recogniser.prepare(members);
    then();
  }

  #compare(members: readonly WatchedMember[]): void {
    const { runtime, recogniser } = this.#deps;
    const nowMs = runtime.nowMs();
    const ends = this.#required(members, nowMs);
    const recognised = recogniser.all(members);
    const seen = new Map(
      members.map(({ agentId }, i) => [agentId, JSON.stringify(recognised[i])]),
    );
    const before = this.#seen;
    this.#seen = seen;
    const isOther = ([agentId, text]: readonly [AgentId, string]): boolean =>
      (before.get(agentId) ?? text) !== text;
    if ([...seen].some(isOther)) this.#parts.health.tell({ type: "names_changed" });
    const next = [...ends, ...recognised.flatMap(endsOf)].filter((endMs) => endMs >= nowMs);
    // A verdict about a badge holds for a second.
    const afterMs = Math.min(longestMs, Math.min(...next) - nowMs + 1_001);
    this.#nextMs = nowMs + afterMs;
    if (next.length > 0) this.#cancelTimer = runtime.after(afterMs, () => void this.look());
  }

  /** Returns when the badges end with which members are in the channel, if it requires any. */
  #required(members: readonly WatchedMember[], nowMs: number): readonly number[] {
    const issuers = requiredBy(this.#parts.membership.group.binding);
    if (issuers === undefined) return [];
    const { recogniser: { trust }, agentId: self } = this.#deps;
    const ends = this.#judged(members).flatMap(({ agentId, badges }): BadgeEnd[] => {
      const endMs = badgeEndMs(badges, issuers);
      return endMs === undefined ? [] : [{ agentId, endMs }];
    });
    const over = ends.filter(({ endMs }) => endMs < nowMs).map(({ agentId }) => agentId);
    this.#tell("badge_expired", over, (named) => overInWords(named, self));
    const differing = issuers.flatMap(({ domain, key, closed }) => {
      const known = closed ? undefined : trust.domains.get(domain)?.keys;
      return known?.every((each) => !equalBytes(each.key, key)) === true ? [domain] : [];
    });
    this.#tell("issuer_differs", [...new Set(differing)], differingInWords);
    return ends.map(({ endMs }) => endMs);
  }

  #judged(members: readonly WatchedMember[]): readonly WatchedMember[] {
    const { agentId } = this.#deps;
    const own = members.filter((member) => member.agentId === agentId);
    return own.some(({ owner }) => owner) ? members : own;
  }

  #tell(
    kind: IssueKind,
    found: readonly string[],
    words: (found: readonly string[]) => string,
  ): void {
    const told = this.#told.get(kind) ?? "";
    this.#told.set(kind, found.join());
    if (found.length > 0 && found.join() !== told) {
      this.#parts.health.report(kind, words(found), { about: "all of them" });
    }
  }
}

function endsOf({ attested }: Recognition): readonly Attested["untilMs"][] {
  return attested === undefined ? [] : [attested.untilMs];
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

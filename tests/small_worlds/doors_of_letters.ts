/**
 * The doors of a channel that requires badges: owners open and close issuers, members renew, heal,
 * lose step and come back, are absent in a founding, and a member with a modified program lets in
 * whom it wants. Clocks differ. Judged by the real rules, on groups of letters.
 */
import { isLetIn, requiredIssuers } from "../../sdk/mls/testing/badges.ts";
import {
  type BadgedGroup,
  chosenBy,
  earlyMs,
  extensionsOf,
  groupAfter,
  hasPlace,
  idOf,
  judgeCommit,
  judgeMembers,
  lateMs,
  leafOf,
  type LetterCommit,
  type LetterIssuers,
  shutFor,
} from "./badges_of_letters.ts";
import type { Kind, Move, World } from "./explore.ts";

/** How often each may still happen. */
export interface DoorBudgets {
  set: number;
  renew: number;
  heal: number;
  add: number;
  lose: number;
  /** A commit of a member with a modified program. */
  hostile: number;
  /** The relay withholds somebody's KeyPackage from a founding. */
  withhold: number;
  /** Time passes, and the first badge of P is over. */
  expire: number;
}

export interface DoorState {
  readonly left: DoorBudgets;
  group: BadgedGroup;
  /** The badges that each agent has to show. */
  shows: Readonly<Record<string, string>>;
  /** Those of the leaf that each agent has on its disk. */
  own: Readonly<Record<string, string>>;
  /** Members that lost step, and ask to come back. */
  out: readonly string[];
  /** Of a call of the owner that is not carried out yet: who goes was named then. */
  asked: { readonly to: LetterIssuers; readonly named: readonly string[] } | undefined;
  /** The group after a commit that honest members refuse; they are stopped before it. */
  bad: BadgedGroup | undefined;
  isLate: boolean;
  fault: string | undefined;
}

/** The rules of this world: each may be replaced by a false one. */
export interface DoorRules {
  /** Whether a member refuses a commit. Its clock and its removal must not count. */
  readonly refuses: (group: BadgedGroup, commit: LetterCommit, by: DoorMember) => boolean;
  readonly chooses: typeof chosenBy;
  readonly isShut: typeof shutFor;
  /** Whether a founding leaves a KeyPackage out. */
  readonly isLeftOut: (name: string, badges: string, group: BadgedGroup) => boolean;
  /** Whether a member refuses the group of a founding. */
  readonly refusesFounding: (group: BadgedGroup, base: BadgedGroup, by: DoorMember) => boolean;
  /** Whether a stopped member takes the Welcome of one that owns nothing. */
  readonly takes: (group: BadgedGroup, base: BadgedGroup) => boolean;
  /** Members that go when the owner's commit is made, beside the named. */
  readonly alsoGo: (without: readonly string[]) => readonly string[];
}

export interface DoorMember {
  readonly name: string;
  readonly nowMs: number;
  readonly isRemoved: boolean;
}

export const honestRules: DoorRules = {
  refuses: (group, commit) => judgeCommit(group, commit) !== undefined,
  chooses: chosenBy,
  isShut: shutFor,
  isLeftOut: (name, badges, group) => !hasPlace(name, badges, group),
  refusesFounding: (group) => judgeMembers(group) !== undefined,
  takes: (group, base) => judgeMembers(group) === undefined && isWithoutShutDoor(group, base),
  alsoGo: () => [],
};

/** Each leaf is let in, seen from the base. */
function isWithoutShutDoor(group: BadgedGroup, base: BadgedGroup): boolean {
  const issuers = requiredIssuers(extensionsOf(group));
  return issuers === undefined || Object.entries(group.leaves).every(([name, badges]) => {
    const old = base.leaves[name];
    return isLetIn({
      agentId: idOf(name),
      node: leafOf(name, badges),
      before: old === undefined ? undefined : leafOf(name, old),
      isAbsent: base.absent.includes(name),
    }, issuers);
  });
}

export interface DoorSetting {
  readonly left: Partial<DoorBudgets>;
  readonly members?: readonly string[];
  readonly issuers?: LetterIssuers;
  /** Members with a clock that is ahead by months. */
  readonly ahead?: readonly string[];
  readonly rules?: Partial<DoorRules>;
}

const hostile = "h";
const options: readonly LetterIssuers[] = [
  undefined,
  { P: "open" },
  { P: "closed", Q: "open" },
  { Q: "open" },
];
const noBudgets: DoorBudgets = {
  set: 0,
  renew: 0,
  heal: 0,
  add: 0,
  lose: 0,
  hostile: 0,
  withhold: 0,
  expire: 0,
};
/** Badges of an agent that the hostile member lets in. */
const doors = ["", "P1", "Q1/o", "Q1", "P1 Q1/o"];

export function doorsOfLetters(
  { left, members = ["o", "m", hostile], issuers, ahead = [], rules: changed }: DoorSetting,
): World<DoorState> {
  const rules = { ...honestRules, ...changed };
  const badges = Object.fromEntries(members.map((name) => [name, "P1"]));
  const start: DoorState = {
    left: { ...noBudgets, ...left },
    group: { issuers, leaves: badges, absent: [] },
    shows: { ...badges, x: "P1" },
    own: badges,
    out: [],
    asked: undefined,
    bad: undefined,
    isLate: false,
    fault: undefined,
  };
  return {
    start,
    moves: (state) => new Doors(state, rules, ahead).moves(),
    view: ({ left: _, ...rest }) => rest,
    left: (state) => Object.values(state.left),
    broken: ({ fault }) => fault,
    isGood: ({ out, bad, asked, group }) =>
      out.length === 0 && bad === undefined && asked === undefined && group.absent.length === 0,
  };
}

class Doors {
  readonly #state: DoorState;
  readonly #rules: DoorRules;
  readonly #ahead: readonly string[];
  readonly #moves: Move<DoorState>[] = [];

  constructor(state: DoorState, rules: DoorRules, ahead: readonly string[]) {
    this.#state = state;
    this.#rules = rules;
    this.#ahead = ahead;
  }

  moves(): readonly Move<DoorState>[] {
    this.#program();
    if (this.#state.bad === undefined) {
      this.#members();
      this.#hostile();
    } else this.#stopped();
    return this.#moves;
  }

  #move(name: string, kind: Kind, act: (doors: Doors) => void, budget?: keyof DoorBudgets): void {
    if (budget !== undefined && this.#state.left[budget] === 0) return;
    this.#moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      act: (after) => {
        if (budget !== undefined) after.left[budget]--;
        act(new Doors(after, this.#rules, this.#ahead));
      },
    });
  }

  /** Honest ones that are in step. */
  get #here(): readonly string[] {
    const { group, out } = this.#state;
    return Object.keys(group.leaves).filter((name) => name !== hostile && !out.includes(name));
  }

  /** Calls of programs, and time. */
  #program(): void {
    const { group, shows, asked, isLate, out } = this.#state;
    if (asked === undefined) {
      for (const to of options) {
        if (JSON.stringify(to) === JSON.stringify(group.issuers)) continue;
        this.#move(`o asks for ${said(to)}`, "program", (at) => at.#ask(to), "set");
      }
    }
    for (const [name, has] of Object.entries(shows)) {
      if (name === hostile) continue;
      const isHelpless = group.issuers !== undefined && [...out, ...group.absent].includes(name) &&
        !hasPlace(name, has, group);
      const budget = isHelpless ? undefined : "renew";
      this.#move(`${name} has a badge of Q`, "program", (at) => at.#show(name, "Q1"), budget);
      this.#move(`${name} has another badge of P`, "program", (at) => at.#show(name, "P2"), budget);
    }
    if (!isLate) {
      this.#move("the first badges of P are over", "time", (at) => at.#expire(), "expire");
    }
  }

  #members(): void {
    const { group, asked, out } = this.#state;
    if (asked !== undefined) this.#move("o sets the issuers", "answer", (at) => at.#set());
    for (const name of this.#here) {
      this.#move(`${name} heals`, "time", (at) => at.#heal(name), "heal");
      if (!("x" in group.leaves)) {
        this.#move(`${name} lets x in`, "program", (at) => at.#add(name), "add");
      }
      if (name !== "o") {
        const lose = (at: Doors): void => at.#lose(name, at.#state.shows[name] ?? "");
        this.#move(`${name} loses step`, "fault", lose, "lose");
        const restore = (at: Doors): void => at.#lose(name, "P1");
        this.#move(`${name} is restored from a backup`, "fault", restore, "lose");
      }
      for (const asker of [...out, ...group.absent]) {
        const back = (at: Doors): void => at.#letBack(name, asker);
        this.#move(`${name} lets ${asker} back`, "time", back);
      }
    }
  }

  #hostile(): void {
    const { group } = this.#state;
    if (!(hostile in group.leaves)) return;
    const tries: LetterCommit[] = [{ by: hostile, path: "" }, { by: hostile, path: "Q1/o" }];
    for (const badges of doors) {
      if (!("x" in group.leaves)) {
        tries.push({ by: hostile, add: { x: badges } });
        tries.push({ by: hostile, add: { x: badges }, remove: ["m"] });
      }
      if ("m" in group.leaves) tries.push({ by: hostile, add: { m: badges }, remove: ["m"] });
    }
    const issuers = { to: { Q: "open" } } as const;
    tries.push({ by: "o", path: "Q1", issuers }, { by: "o", path: "P1", issuers });
    for (const each of tries) {
      const act = (at: Doors): void => at.#attempt(each, [], false);
      this.#move(`a modified program commits ${JSON.stringify(each)}`, "fault", act, "hostile");
    }
  }

  #stopped(): void {
    const { group } = this.#state;
    for (const name of this.#here) {
      if (name !== "o") this.#move(`h answers ${name}`, "time", (at) => at.#answered());
    }
    this.#move("o begins the channel anew", "answer", (at) => at.#found(undefined));
    for (const name of Object.keys(group.leaves)) {
      if (name === "o" || name === hostile) continue;
      const act = (at: Doors): void => at.#found(name);
      this.#move(`o begins it anew, without a KeyPackage of ${name}`, "fault", act, "withhold");
    }
  }

  #clockOf(name: string): number {
    return this.#state.isLate || this.#ahead.includes(name) ? lateMs : earlyMs;
  }

  #show(name: string, badges: string): void {
    this.#state.shows = { ...this.#state.shows, [name]: badges };
  }

  #expire(): void {
    this.#state.isLate = true;
  }

  /** Restored, it has the badges of before in its leaf and to show. */
  #lose(name: string, shows: string): void {
    const { own } = this.#state;
    if (shows !== this.#state.shows[name]) this.#state.own = { ...own, [name]: shows };
    this.#show(name, shows);
    this.#state.out = [...this.#state.out, name].sort();
  }

  /** Beside what it showed: it is told its leaf, or has one of before. */
  #chosen(name: string, group: BadgedGroup): string {
    const before = this.#state.group.leaves[name] ?? this.#state.own[name];
    return this.#rules.chooses(name, this.#state.shows[name] ?? "", before, group);
  }

  #without(to: LetterIssuers): readonly string[] {
    const { group } = this.#state;
    const after = { ...group, issuers: to };
    return Object.entries(group.leaves).flatMap(([name, badges]) =>
      name === "o" || hasPlace(name, badges, after) ? [] : [name]
    );
  }

  #ask(to: LetterIssuers): void {
    this.#state.asked = { to, named: this.#without(to) };
  }

  #set(): void {
    const { group, asked } = this.#state;
    this.#state.asked = undefined;
    if (asked === undefined) return;
    const { to } = asked;
    const others = this.#without(to).filter((name) => !asked.named.includes(name));
    const also = this.#rules.alsoGo(others);
    const after = { ...group, issuers: to };
    const path = this.#chosen("o", after);
    // It is told who has no badge, or that it has none itself.
    const own = { name: "o", badges: path, isReturning: true };
    const isShut = this.#rules.isShut(own, after, this.#clockOf("o"));
    if (also.length < others.length || !hasPlace("o", path, after) || isShut) return;
    const remove = [...asked.named, ...also].filter((name) => name in group.leaves);
    this.#attempt({ by: "o", path, remove, issuers: { to } }, asked.named);
  }

  #heal(name: string): void {
    this.#attempt({ by: name, path: this.#chosen(name, this.#state.group) }, []);
  }

  #add(by: string): void {
    const { group, shows } = this.#state;
    const badges = shows["x"] ?? "";
    const asking = { name: "x", badges, isReturning: false };
    if (this.#rules.isShut(asking, group, this.#clockOf(by))) return;
    this.#attempt({ by, add: { x: badges } }, []);
  }

  #letBack(by: string, name: string): void {
    const { group } = this.#state;
    const isAbsent = group.absent.includes(name);
    const badges = this.#chosen(name, group);
    const asking = { name, badges, isReturning: true };
    if (this.#rules.isShut(asking, group, this.#clockOf(by))) {
      if (hasPlace(name, badges, group)) {
        this.#state.fault = `${name} is refused, and could come back by "${badges}"`;
      }
      return;
    }
    const remove = isAbsent ? [] : [name];
    const commit = { by, add: { [name]: badges }, remove, rejoins: [name] };
    this.#attempt(commit, [name]);
    this.#state.out = this.#state.out.filter((each) => each !== name);
  }

  /** All that are in step judge it. `named`: those that it may remove. */
  #attempt(
    commit: LetterCommit,
    named: readonly string[],
    isHonest = commit.by !== hostile,
  ): void {
    const { group } = this.#state;
    const verdicts = this.#here.filter((name) => name !== commit.by).map((name) =>
      this.#rules.refuses(group, commit, {
        name,
        nowMs: this.#clockOf(name),
        isRemoved: commit.remove?.includes(name) === true && !(name in (commit.add ?? {})),
      })
    );
    // Where no honest member is left to judge, nothing is promised.
    if (!isHonest && verdicts.length === 0) return;
    if (new Set(verdicts).size > 1) this.#fault("members judge one commit differently", commit);
    else if (verdicts.includes(true)) {
      if (isHonest) this.#fault("an honest member is blamed", commit);
      // A channel that its only owner stopped is another story.
      if (commit.by === hostile) this.#state.bad = groupAfter(group, commit);
    } else this.#follow(commit, named, isHonest);
  }

  #follow(commit: LetterCommit, named: readonly string[], isHonest: boolean): void {
    const { group } = this.#state;
    const after = groupAfter(group, commit);
    if (judgeMembers(after) !== undefined) this.#fault("a leaf has no place", commit);
    const issuers = requiredIssuers(extensionsOf(after));
    const fresh = Object.entries(commit.add ?? {}).filter(([name]) =>
      !commit.rejoins?.includes(name) && !group.absent.includes(name)
    );
    const isShut = issuers !== undefined &&
      fresh.some(([name, badges]) =>
        !isLetIn({ agentId: idOf(name), node: leafOf(name, badges) }, issuers)
      );
    if (isShut) this.#fault("somebody came in by a closed issuer", commit);
    if (isHonest && commit.remove?.some((name) => !named.includes(name))) {
      this.#fault("somebody is removed whom the call did not name", commit);
    }
    this.#state.group = after;
    this.#state.own = { ...this.#state.own, ...after.leaves };
    this.#state.out = this.#state.out.filter((name) => name in after.leaves);
  }

  #fault(what: string, commit?: LetterCommit): void {
    this.#state.fault = commit === undefined ? what : `${what}: ${JSON.stringify(commit)}`;
  }

  #answered(): void {
    const { bad, group } = this.#state;
    const isTaken = bad !== undefined && this.#rules.takes(bad, group);
    if (isTaken && !isWithoutShutDoor(bad, group)) {
      this.#fault("a stopped member follows after all");
    }
  }

  #found(withheld: string | undefined): void {
    const { group, out } = this.#state;
    const members = Object.entries(group.leaves).filter(([name]) => name !== hostile);
    const claimed = members.map(([name]) => [name, this.#chosen(name, group)] as const);
    const joining = claimed.filter(([name, badges]) =>
      name !== withheld && !out.includes(name) && !this.#rules.isLeftOut(name, badges, group)
    );
    const leaves = Object.fromEntries(joining);
    const absent = [...group.absent, ...members.map(([name]) => name)].filter((name) =>
      !(name in leaves)
    ).sort();
    const founded = { issuers: group.issuers, leaves, absent };
    const verdicts = this.#here.filter((name) => name in leaves).map((name) =>
      this.#rules.refusesFounding(founded, group, {
        name,
        nowMs: this.#clockOf(name),
        isRemoved: false,
      })
    );
    if (!("o" in leaves) || verdicts.includes(true)) this.#fault("a founding is not followed");
    this.#state.group = founded;
    this.#state.own = { ...this.#state.own, ...leaves };
    this.#state.bad = undefined;
    this.#state.out = [];
  }
}

function said(issuers: LetterIssuers): string {
  return issuers === undefined ? "no badges" : JSON.stringify(issuers);
}

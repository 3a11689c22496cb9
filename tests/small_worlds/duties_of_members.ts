/**
 * Members that do their duties beside each other: some leave, some ask to come back, and a request
 * may be such that no commit can grant it. The duties are the real machine; the relay, plans and
 * commits are letters. All may act at any time, as if turns were no help: what one has done the
 * others must not do again, and nobody may commit, or tell a leaf, for ever.
 */
import type { AgentId, JoinRequestId } from "../../proto/mod.ts";
import {
  type DutyEffect,
  type DutyEvent,
  type DutyFacts,
  type DutyState,
  newDuties,
  openRequests,
  type RejoinAsker,
  stepDuties,
  timersOf,
} from "../../sdk/channel/testing/duties.ts";
import type { Kind, Move, World } from "./explore.ts";

/** How often each may still happen. */
export interface DutyBudgets {
  /** The relay does not say who is online, or a leaf is not told. */
  lost: number;
  /** A commit fails for a reason that passes. */
  fails: number;
  /** A member loses its place, and comes back to it. */
  rest: number;
  /** An asker that was told its leaf asks again. */
  again: number;
}

export interface DutySetting {
  /** The members that act. */
  readonly keepers: readonly string[];
  readonly leave?: readonly string[];
  /** `outdated`: about a leaf that they have no more. `hopeless`: no commit can grant it. */
  readonly ask?: Readonly<Record<string, "present" | "outdated" | "hopeless">>;
  readonly left?: Partial<DutyBudgets>;
  /** No commit is ever taken: nobody gets anywhere, and all must pause. */
  readonly isRefusing?: boolean;
  readonly step?: typeof stepDuties;
}

type Entry = { readonly is: "leave"; readonly name: string } | {
  readonly is: "commit";
  readonly gone: readonly string[];
  readonly back: readonly string[];
};

interface Call {
  readonly number: number;
  readonly op: "list" | "tell" | "change";
  /** A request, or those of a commit. */
  readonly of: string;
}

interface Member {
  readonly duties: DutyState;
  /** Entries that it has read. */
  read: number;
  words: readonly string[];
  calls: readonly Call[];
}

export interface DutiesState {
  readonly left: DutyBudgets;
  readonly members: Readonly<Record<string, Member>>;
  log: readonly Entry[];
  fault: string | undefined;
}

const none: DutyBudgets = { lost: 0, fails: 0, rest: 0, again: 0 };

/**
 * A request is named by its agent, and by its leaf: `erin 0`, of the leaf with which it was there
 * at first.
 */
function asking(word: string): RejoinAsker {
  const [name = ""] = word.split(" ");
  // cast: nobody reads more than their names
  const [agentId, requestId] = [name as AgentId, word as JoinRequestId];
  return { agentId, requestId, expiresAtMs: 1, epoch: 0, isNamed: false };
}

export function dutiesOfMembers(setting: DutySetting): World<DutiesState> {
  const { keepers, leave = [], ask = {}, left = {} } = setting;
  const words = Object.entries(ask).map(([name, kind]) => `${name} ${kind === "outdated" ? 1 : 0}`);
  const member = (): Member => ({ duties: newDuties(), read: 0, words, calls: [] });
  return {
    start: {
      left: { ...none, ...left },
      members: Object.fromEntries(keepers.map((name) => [name, member()])),
      log: leave.map((name) => ({ is: "leave", name })),
      fault: undefined,
    },
    moves: (state) => keepers.flatMap((name) => new Keeper(setting, state, name).moves()),
    view,
    left: ({ left }) => Object.values(left),
    broken: ({ fault }) => fault,
    isGood: (state) => setting.isRefusing === true || isDone(setting, state),
  };
}

/** Numbers of calls grow for ever; whether one is waited for is all that counts. */
function view({ members, left: _, ...rest }: DutiesState): unknown {
  const viewed = Object.values(members).map(({ duties, calls, ...member }) => {
    const { numbers: _, work, ...others } = duties;
    const number = numberOf(duties);
    const shown = { ...work, call: 0, change: 0, timer: 0 };
    return {
      ...member,
      ...others,
      work: shown,
      calls: calls.map((call) => [call.op, call.of, call.number === number]),
    };
  });
  return { ...rest, members: viewed };
}

function numberOf({ work }: DutyState): number | undefined {
  return "call" in work ? work.call : "change" in work ? work.change : undefined;
}

/** All have read everything, nobody that left is in the group, and all who could be let in were. */
function isDone(
  { leave = [], ask = {}, left: budgets }: DutySetting,
  { members, log, left }: DutiesState,
): boolean {
  const has = (kind: "gone" | "back", name: string): boolean =>
    log.some((entry) => entry.is === "commit" && entry[kind].includes(name));
  // Until it asks again, nobody can let it in.
  const isSilent = left.again === (budgets?.again ?? 0);
  const isLetIn = Object.entries(ask).every(([name, kind]) =>
    kind === "hopeless" || has("back", name) || (kind === "outdated" && isSilent) ||
    leave.includes(name)
  );
  const areIdle = Object.values(members).every(({ duties, read, words, calls }) =>
    duties.work.at === "idle" && read === log.length && words.length + calls.length === 0
  );
  return areIdle && isLetIn && leave.every((name) => has("gone", name));
}

class Keeper {
  readonly #setting: DutySetting;
  readonly #state: DutiesState;
  readonly #name: string;

  constructor(setting: DutySetting, state: DutiesState, name: string) {
    this.#setting = setting;
    this.#state = state;
    this.#name = name;
  }

  get #member(): Member {
    const member = this.#state.members[this.#name];
    if (member === undefined) throw new TypeError("a member of the setting");
    return member;
  }

  moves(): Move<DutiesState>[] {
    const { read, words, calls, duties } = this.#member;
    const { work } = duties;
    const moves: Move<DutiesState>[] = [];
    const add = (
      what: string,
      kind: Kind,
      act: (keeper: Keeper) => void,
      budget?: keyof DutyBudgets,
    ): void => {
      if (budget !== undefined && this.#state.left[budget] === 0) return;
      moves.push({
        name: `${this.#name}: ${what}`,
        kind,
        isBudgeted: budget !== undefined,
        act: (state) => {
          if (budget !== undefined) state.left[budget]--;
          act(new Keeper(this.#setting, state, this.#name));
        },
      });
    };
    if (read < this.#state.log.length) add("reads on", "notice", (keeper) => keeper.#read());
    if (words.length > 0) add("hears of a request", "notice", (keeper) => keeper.#hear());
    for (const timer of timersOf(duties)) {
      add("time", "time", (keeper) => keeper.#push({ type: "time", timer }));
    }
    if (work.at === "resting") {
      add("starts", "program", (keeper) => keeper.#push({ type: "start" }));
    } else add("rests", "fault", (keeper) => keeper.#push({ type: "rest" }), "rest");
    for (const [at, call] of calls.entries()) {
      // A commit of an epoch that is over is made anew when the group has moved.
      const waits = call.op === "change" && read < this.#state.log.length;
      if (!waits) add(`the answer to ${call.op}`, "answer", (keeper) => keeper.#answered(at));
      if (call.op === "change") {
        add("the commit fails", "fault", (keeper) => keeper.#failed(at), "fails");
      } else add(`${call.op} is lost`, "fault", (keeper) => keeper.#failed(at), "lost");
      if (call.op === "tell") {
        add("the asker hears and asks again", "answer", (keeper) => keeper.#heard(at), "again");
      }
    }
    return moves;
  }

  #push(event: DutyEvent): void {
    const { step = stepDuties } = this.#setting;
    const { effects } = step(this.#member.duties, event, this.#facts);
    for (const effect of effects) this.#perform(effect);
  }

  #perform(effect: DutyEffect): void {
    const member = this.#member;
    const begin = (number: number, op: Call["op"], of = ""): void => {
      member.calls = [...member.calls, { number, op, of }];
    };
    if (effect.type === "list") begin(effect.call, "list");
    if (effect.type === "tell") begin(effect.call, "tell", effect.requestId);
    if (effect.type !== "change") return;
    begin(effect.change, "change", effect.of);
    const { gone, back } = this.#workOf("all");
    if (effect.of === "all" && gone.length + back.length === 0) {
      this.#state.fault = "needless: a commit is asked for that has nothing to do";
    }
  }

  get #facts(): DutyFacts {
    const { read } = this.#member;
    const seen = this.#state.log.slice(0, read);
    const isGone = (name: string): boolean =>
      seen.some((entry) => entry.is === "commit" && entry.gone.includes(name));
    const isBack = (name: string): boolean =>
      seen.some((entry) => entry.is === "commit" && entry.back.includes(name));
    const leavers = seen.flatMap((entry) =>
      entry.is === "leave" && !isGone(entry.name) ? [asking(entry.name).agentId] : []
    );
    return {
      nowMs: 0,
      relayNowMs: 0,
      self: asking(this.#name).agentId,
      isGenuine: () => true,
      lacks: () => undefined,
      judge: (request) => {
        const [name = "", leaf] = request.split(" ");
        return isGone(name) ? "gone" : leaf === "0" && !isBack(name) ? "present" : "other";
      },
      leavers,
      isWithoutLeavers: false,
      wantsOwnLeaf: false,
      hasAbsentLeavers: false,
      members: () =>
        this.#setting.keepers.map((name, leafIndex) => ({
          agentId: asking(name).agentId,
          leafIndex,
        })),
      joinedAfter: () => false,
      jitter: (ms) => ms,
    };
  }

  #read(): void {
    const member = this.#member;
    const entry = this.#state.log[member.read++];
    if (entry?.is === "leave") this.#push({ type: "left", agentId: asking(entry.name).agentId });
    if (entry?.is === "commit") this.#moved(entry);
  }

  #moved({ gone, back }: Extract<Entry, { is: "commit" }>): void {
    const agents = (names: readonly string[]): AgentId[] =>
      names.map((name) => asking(name).agentId);
    this.#push({ type: "moved", added: agents(back), removed: agents([...gone, ...back]) });
  }

  #hear(): void {
    const member = this.#member;
    const [word = "", ...words] = member.words;
    member.words = words;
    this.#push({ type: "asked", request: asking(word) });
  }

  #take(at: number): Call {
    const member = this.#member;
    const call = member.calls[at];
    if (call === undefined) throw new TypeError("a call that was made");
    member.calls = member.calls.filter((_, index) => index !== at);
    return call;
  }

  #answered(at: number): void {
    const { number, op, of } = this.#take(at);
    if (op === "tell") return this.#push({ type: "told", call: number, failed: undefined });
    if (op === "change") return this.#commit(number, of);
    const online = new Set(this.#setting.keepers.map((name) => asking(name).agentId));
    this.#push({ type: "listed", call: number, online });
  }

  #failed(at: number): void {
    const { number, op } = this.#take(at);
    const text = "not now";
    if (op === "list") this.#push({ type: "listed", call: number, online: undefined });
    else if (op === "tell") this.#push({ type: "told", call: number, failed: text });
    else this.#push({ type: "changed", change: number, why: { isAboutContent: false, text } });
  }

  /** Everybody hears of what it asks for now. */
  #heard(at: number): void {
    const { number, of } = this.#take(at);
    const [name] = of.split(" ");
    for (const member of Object.values(this.#state.members)) {
      member.words = [...member.words, `${name} 0`];
    }
    this.#push({ type: "told", call: number, failed: undefined });
  }

  /** The rest of it, in this epoch: as `planOf` finds it. */
  #workOf(of: string): { readonly gone: string[]; readonly back: string[] } {
    const facts = this.#facts;
    const open = openRequests(this.#member.duties, facts).filter(({ leaf }) => leaf === "present");
    const wanted = open.filter(({ requestId }) => of === "all" || requestId === of);
    return { gone: facts.leavers.map(String), back: wanted.map(({ agentId }) => String(agentId)) };
  }

  #commit(change: number, of: string): void {
    const { ask = {}, isRefusing = false } = this.#setting;
    const state = this.#state;
    const { gone, back } = this.#workOf(of);
    const done = (): void => this.#push({ type: "changed", change, why: undefined });
    if (gone.length + back.length === 0) return done();
    const isAboutContent = back.some((name) => ask[name] === "hopeless");
    if (isRefusing || isAboutContent) {
      return this.#push({
        type: "changed",
        change,
        why: { isAboutContent, text: "the relay says so" },
      });
    }
    const entry = { is: "commit", gone, back } as const;
    state.log = [...state.log, entry];
    this.#member.read++;
    this.#moved(entry);
    done();
  }
}

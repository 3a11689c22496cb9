/**
 * Two members whose commits cross, with the real machine of their own commits. Answers are lost,
 * requests are taken late, the relay is busy, connections break, processes are killed. The relay is
 * honest, and does not deliver a commit to its author.
 */
import { timersOf } from "../../sdk/channel/testing/commits.ts";
import type { Move, World } from "./explore.ts";
import { groupOf } from "./group_of_letters.ts";
import {
  Acting,
  allRules,
  type Call,
  isAsOnDisk,
  isOfLog,
  type Member,
  type MembersState,
  newMember,
  type Plan,
  type Reply,
  restart,
  type Rules,
} from "./member_of_letters.ts";
import { copyFor, copyOf, once, Renaming, textOf } from "./plain_state.ts";
import { append, callRelay, newRelay, type Relay, type Request } from "./relay_of_letters.ts";

/** How often each may still happen. */
export interface Budgets {
  /** The program changes the channel; `adds`: it adds somebody. */
  changes: number;
  adds: number;
  /** One that was added leaves. */
  leaves: number;
  /** An answer is lost, or the request before it. */
  lost: number;
  broken: number;
  kill: number;
  busy: number;
  /** The relay fails at a commit, which it may have taken. */
  fails: number;
  /** The relay takes a request whose sender waits for no answer any more. */
  late: number;
}

const nothing: Budgets = {
  changes: 0,
  adds: 0,
  leaves: 0,
  lost: 0,
  broken: 0,
  kill: 0,
  busy: 0,
  fails: 0,
  late: 0,
};

export interface CrossingState extends MembersState {
  statements: MembersState["statements"];
  readonly left: Budgets;
  /** On their way, and nobody waits for an answer. */
  late: readonly Extract<Request, { op: "SendCommit" }>[];
}

const names = ["a", "b"] as const;
const noStatements: CrossingState["statements"] = Object.freeze([]);
/** Of an epoch: no world has so many plans, and each is tried three times. */
const maxUsed = 12;

export function crossingCommits(
  left: Partial<Budgets>,
  rules: Partial<Rules> = {},
): World<CrossingState> {
  const relay = newRelay("a");
  append(relay, { kind: "commit", sender: "a", epoch: 0, hash: "start", added: ["b"] });
  relay.owners = Object.freeze([...names]);
  const members = names.map((name) => {
    const member = newMember(name, groupOf({ epoch: 1, led: "start", leaf: name }));
    member.link = "reading";
    member.read = 1;
    return member;
  });
  const start: CrossingState = {
    relay,
    statements: noStatements,
    members,
    calls: [],
    sealed: {},
    fault: undefined,
    operations: 0,
    left: { ...nothing, ...left },
    late: [],
  };
  const all = { ...allRules, ...rules };
  return {
    start,
    view,
    left: ({ left }) => Object.values(left),
    renamings: [exchanged],
    moves: (state) => new Moves(state, all).all(),
    broken: (state) => state.fault ?? brokenPromise(state, all),
    isGood: ({ members, relay, statements }) =>
      members.every((member) => isCalm(member, relay) && member.heard === statements.length),
  };
}

/**
 * In the epoch of the log, nothing waits to be read, and everything that its program asked for has
 * returned.
 */
function isCalm({ isOutside, link, commits, group, pending }: Member, relay: Relay): boolean {
  return !isOutside && pending === undefined && link === "reading" && group.epoch === relay.epoch &&
    commits.commit.at === "none" &&
    commits.plans.length === 0;
}

function view({ relay, members, operations: _, left: __, ...rest }: CrossingState): unknown {
  const [a, b] = members.map(viewOfMember);
  return {
    ...rest,
    log: relay.entries.map(({ hash }) => hash).join(" "),
    asking: relay.asking.length,
    a,
    b,
  };
}

const viewOfMember = once((member: Member) => ({ ...member }));

/**
 * Both members are owners, and differ in nothing but their names, which hashes and keys begin with
 * or hold as a word.
 */
const exchanged = new Renaming((text) =>
  text.replace(/\b[ab](?=\d|\b)/g, (name) => name === "a" ? "b" : "a")
);

function brokenPromise({ members, relay, calls }: CrossingState, rules: Rules): string | undefined {
  if (members.every(({ isOutside }) => isOutside)) {
    return "L1: nobody is inside who could let the others in";
  }
  for (const member of members) {
    if (!member.isOutside && !isOfLog(relay, member.group)) {
      return "S5: a member is in an epoch that the log does not have";
    }
    if (member.used > maxUsed) return "L3: one commit follows the other in one epoch";
    if (rules.diskBeforeDeed && !isAsOnDisk(member)) {
      return "S7: a process that starts is not as one that has forgotten";
    }
    if (!endsByTime(member, { relay, calls }, rules)) {
      return "L2: a change waits for nothing that time ends";
    }
  }
  return undefined;
}

/** With a network that is dead from now on, each change ends by time alone. */
function endsByTime(
  member: Member,
  { relay, calls }: Pick<CrossingState, "relay" | "calls">,
  rules: Rules,
): boolean {
  if (member.commits.plans.length === 0) return true;
  const copy = copyOf(member);
  const world = {
    relay,
    statements: noStatements,
    members: [copy],
    calls: [],
    sealed: {},
    fault: undefined,
    operations: 0,
  };
  new Acting(world, copy, rules).broken(calls.filter(({ by }) => by === member.name));
  return copy.commits.plans.every(({ timer }) => timer !== undefined);
}

function breakLink(state: CrossingState, member: Member, rules: Rules): void {
  const calls = state.calls.filter(({ by }) => by === member.name);
  state.calls = state.calls.filter(({ by }) => by !== member.name);
  new Acting(state, member, rules).broken(calls);
  passAway(state, calls);
}

/** Requests that the relay has not taken may come to it yet. */
function passAway(state: CrossingState, calls: readonly Call[]): void {
  for (const { request, reply } of calls) {
    if (request.op !== "SendCommit" || reply !== undefined || state.left.late === 0) continue;
    if (!state.late.some(({ hash }) => hash === request.hash)) {
      state.late = [...state.late, request];
    }
  }
}

function take(relay: Relay, { by, request }: Call): Reply {
  if (request.op === "Subscribe") return Object.freeze({ head: relay.entries.length });
  // cast: answers of these two operations
  return Object.freeze(callRelay(relay, by, request)) as Reply;
}

class Moves {
  readonly #state: CrossingState;
  readonly #rules: Rules;
  readonly #moves: Move<CrossingState>[] = [];

  constructor(state: CrossingState, rules: Rules) {
    this.#state = state;
    this.#rules = rules;
  }

  all(): readonly Move<CrossingState>[] {
    const { members, calls, late, relay, statements } = this.#state;
    members.forEach((member, at) => {
      this.#program(member, at);
      this.#time(member, at);
      this.#connection(member, at);
      this.#reads(member, at);
      this.#letsIn(member, at);
    });
    calls.forEach((call, at) => this.#answers(call, at));
    for (const { hash } of relay.entries) {
      if (!hash.includes("+") || statements.some(({ addedBy }) => addedBy === hash)) continue;
      this.#add(`the one that ${hash} added leaves`, "program", (state) => {
        const statement = Object.freeze({ behind: state.relay.entries.length, addedBy: hash });
        state.statements = Object.freeze([...state.statements, statement]);
      }, { budget: "leaves" });
    }
    late.forEach(({ hash }, at) => {
      this.#add(`the relay takes ${hash} late`, "fault", (state) => {
        const [request] = state.late.slice(at, at + 1);
        state.late = state.late.filter((_, index) => index !== at);
        if (request !== undefined) callRelay(state.relay, hash.charAt(0), request);
      }, { budget: "late" });
      this.#besideAnother(hash, at);
    });
    return this.#moves;
  }

  /**
   * Of two copies that the relay works at, it takes the first one, and the second one finds the log
   * in a later epoch.
   */
  #besideAnother(hash: string, at: number): void {
    const { calls, late, relay } = this.#state;
    const copy = calls.findIndex(({ request, reply }) =>
      request.op === "SendCommit" && request.hash === hash && reply === undefined
    );
    const [request] = late.slice(at, at + 1);
    if (copy < 0 || request === undefined || relay.epoch !== request.epoch) return;
    this.#add(`the relay takes ${hash} late, and refuses the copy behind it`, "fault", (state) => {
      state.late = state.late.filter((_, index) => index !== at);
      callRelay(state.relay, hash.charAt(0), request);
      const call = state.calls[copy];
      if (call !== undefined) call.reply = { refused: "epoch_conflict", epoch: state.relay.epoch };
    }, { budget: "late" });
  }

  #add(
    name: string,
    kind: Move<CrossingState>["kind"],
    act: Move<CrossingState>["act"],
    { budget, at }: { readonly budget?: keyof Budgets | undefined; readonly at?: number } = {},
  ): void {
    if (budget !== undefined && this.#state.left[budget] === 0) return;
    this.#moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      copy: (state) => at === undefined ? copyOf(state) : copyFor(state, at),
      act: (state) => {
        if (budget !== undefined) state.left[budget]--;
        act(state);
        shorten(state);
        prune(state);
      },
    });
  }

  #acts(
    { name }: Member,
    at: number,
    what: string,
    kind: Move<CrossingState>["kind"],
    act: (acting: Acting, member: Member, state: CrossingState) => void,
    budget?: keyof Budgets,
  ): void {
    this.#add(`${name} ${what}`, kind, (state) => {
      const member = state.members[at];
      if (member !== undefined) act(new Acting(state, member, this.#rules), member, state);
    }, { budget, at });
  }

  #program(member: Member, at: number): void {
    const change = (plan: Plan) => (acting: Acting, _: Member, state: CrossingState): void =>
      acting.push({ type: "change", operation: ++state.operations, plan });
    this.#acts(member, at, "changes the channel", "program", change("rotate"), "changes");
    this.#acts(member, at, "adds somebody", "program", change("add"), "adds");
    if (member.commits.commit.at === "preparing") {
      this.#acts(member, at, "has prepared a commit", "answer", (acting) => acting.prepared());
    }
    if (member.unwritten) {
      this.#acts(member, at, "writes late", "answer", (_, each) => {
        const { commit } = each.commits;
        each.unwritten = false;
        const candidate = "candidate" in commit ? commit.candidate : undefined;
        each.disk = Object.freeze({ ...each.disk, candidate, used: each.used });
      });
    }
  }

  #time(member: Member, at: number): void {
    const { commits: { plans, commit, again }, link } = member;
    const held = timersOf(member.commits);
    const wake = (what: string, timer: number | undefined): void => {
      if (timer === undefined || !held.includes(timer)) return;
      this.#acts(member, at, what, "time", (acting) => acting.push({ type: "time", timer }));
    };
    for (const { timer } of plans) wake("has waited 30 s for a permit", timer);
    if (commit.at === "resting") wake(`has waited (${commit.until})`, commit.timer);
    wake("looks at its open commit", again);
    if (link === "pausing" && !member.isOutside) {
      this.#acts(member, at, "settles again", "time", (acting) => acting.connect());
    }
  }

  #connection(member: Member, at: number): void {
    if (member.link === "offline") {
      this.#acts(member, at, "connects", "time", (acting) => acting.connect());
    } else {
      this.#acts(member, at, "loses its connection", "fault", (_, each, state) => {
        breakLink(state, each, this.#rules);
      }, "broken");
    }
    this.#acts(member, at, "is killed, and starts", "fault", (_, each, state) => {
      const calls = state.calls.filter(({ by }) => by === each.name);
      state.calls = state.calls.filter(({ by }) => by !== each.name);
      passAway(state, calls);
      Object.assign(each, restart(each.name, each.disk, each.life + 1));
    }, "kill");
  }

  #reads(member: Member, at: number): void {
    const { relay, members, statements } = this.#state;
    if (member.link !== "reading" || member.isOutside || member.pending !== undefined) return;
    const next = relay.entries.findIndex(({ sender }, index) =>
      index >= member.read && sender !== member.name
    );
    const entry = relay.entries[next];
    const statement = statements[member.heard];
    if (statement !== undefined && (entry === undefined || statement.behind <= next)) {
      return this.#acts(
        member,
        at,
        `reads that the one of ${statement.addedBy} leaves`,
        "notice",
        (acting) => {
          acting.readStatement(statement);
        },
      );
    }
    if (entry !== undefined) {
      return this.#acts(
        member,
        at,
        `reads ${entry.hash}`,
        "notice",
        (acting) => acting.readEntry(next + 1, entry),
      );
    }
    const [other] = members.filter(({ name }) => name !== member.name);
    const { commit } = member.commits;
    // Nothing else would come of it while our answer is on its way.
    const isLater = member.group.epoch < relay.epoch && commit.at !== "sent" &&
      commit.at !== "asking";
    if (!isLater || other === undefined || !isCalm(other, relay)) return;
    this.#acts(
      member,
      at,
      "reads a message of a later epoch",
      "notice",
      (acting) => acting.readLaterMessage(),
    );
  }

  /** One that is in the epoch of the log, and has nothing else to do. */
  #letsIn(member: Member, at: number): void {
    const { relay, members } = this.#state;
    const [other] = members.filter(({ name }) => name !== member.name);
    if (!member.isOutside || member.link === "offline" || other === undefined) return;
    if (!isCalm(other, relay)) return;
    this.#add(`${member.name} is let in by ${other.name}`, "answer", (state) => {
      const { name } = member;
      const { epoch } = state.relay;
      const hash = `${other.name}${epoch}~`;
      callRelay(state.relay, other.name, {
        op: "SendCommit",
        epoch,
        hash,
        added: [name],
        removed: [name],
      });
      const entering = state.members[at];
      const letting = state.members.find((each) => each.name === other.name);
      if (entering === undefined || letting === undefined) return;
      new Acting(state, letting, this.#rules).letsIn(hash);
      new Acting(state, entering, this.#rules).letIn(
        groupOf({ epoch: epoch + 1, led: hash, leaf: `${name} at ${epoch + 1}` }),
      );
    });
  }

  #answers(call: Call, at: number): void {
    const { by, request, reply } = call;
    const what = request.op === "SendCommit"
      ? `${by}'s commit ${request.hash}`
      : `${by}'s ${request.op}`;
    const memberAt = names.findIndex((name) => name === by);
    const answered = (state: CrossingState, said: Reply): void => {
      const [mine] = state.calls.splice(at, 1);
      const member = state.members[memberAt];
      if (mine !== undefined && member !== undefined) {
        new Acting(state, member, this.#rules).answer(mine, said);
      }
    };
    if (reply === undefined) {
      this.#add(`the relay takes ${what}`, "answer", (state) => {
        const mine = state.calls[at];
        if (mine !== undefined) mine.reply = take(state.relay, mine);
      }, { at: memberAt });
    } else {
      this.#add(
        `the answer to ${what}: ${textOf(reply)}`,
        "answer",
        (state) => answered(state, reply),
        {
          at: memberAt,
        },
      );
    }
    this.#add(`lost: ${what}`, "fault", (state) => {
      const mine = state.calls[at];
      if (mine !== undefined) passAway(state, [mine]);
      answered(state, { refused: "transport_error" });
    }, { budget: "lost", at: memberAt });
    if (request.op === "SendCommit") {
      this.#add(`the relay fails at ${what}`, "fault", (state) => {
        const mine = state.calls[at];
        if (mine !== undefined) passAway(state, [mine]);
        answered(state, { refused: "internal" });
      }, { budget: "fails", at: memberAt });
    }
    if (reply === undefined && request.op === "SendCommit") {
      this.#add(
        `the relay is busy: ${what}`,
        "fault",
        (state) => answered(state, { refused: "overloaded" }),
        {
          budget: "busy",
          at: memberAt,
        },
      );
    }
  }
}

/** A plan that has lost twice is as one that has lost 38 times: its next loss is the last. */
function shorten({ members }: CrossingState): void {
  for (const { commits: { plans } } of members) {
    for (const plan of plans) if (plan.attempts === 2) plan.attempts = 39;
  }
}

/** Keys of epochs in which nobody is any more; answers that nobody waits for. */
function prune(state: CrossingState): void {
  const { members } = state;
  const oldest = Math.min(...members.flatMap(({ group, disk }) => [group.epoch, disk.group.epoch]));
  for (const key of Object.keys(state.sealed)) {
    if (Number(key.split(" ")[1]) < oldest) delete state.sealed[key];
  }
  const gone = state.calls.filter((call) => !isAwaited(call, members));
  if (gone.length === 0) return;
  state.calls = state.calls.filter((call) => !gone.includes(call));
  passAway(state, gone);
}

function isAwaited({ by, of, call }: Call, members: readonly Member[]): boolean {
  const member = members.find(({ name }) => name === by);
  if (member === undefined) return false;
  const { commits: { commit, question }, link } = member;
  if (of === "link") return link === "subscribe" || link === "ended";
  return call === question || ("call" in commit && commit.call === call);
}

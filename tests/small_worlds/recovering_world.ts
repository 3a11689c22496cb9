/**
 * A world of members that stop, begin generations and come back: what may happen to each of them
 * next. Connections are judged in one event, jobs are done at once.
 */
import { generationOf } from "../../proto/mod.ts";
import { backOf, stepRecovery, timersOf } from "../../sdk/channel/testing/recovery.ts";
import type { Move, World } from "./explore.ts";
import type { RecoveringState, RecoveryBudgets } from "./recovering_state.ts";
import { copyFor, copyOf } from "./plain_state.ts";
import { type HostWorld, RecoveringHost, type RecoveryGuards } from "./recovering_host.ts";
import {
  agent,
  isInStep,
  type LetterCall,
  permitOf,
  type RecoveringMember,
  startMember,
} from "./recovering_member.ts";
import { alone, renamingsOf, viewOf } from "./recovering_view.ts";
import {
  callRelay,
  connect,
  disconnect,
  type Note,
  type Refused,
  type Relay,
  type Reply,
} from "./relay_of_letters.ts";

const none: RecoveryBudgets = {
  recover: 0,
  broken: 0,
  kill: 0,
  late: 0,
  busy: 0,
  welcome: 0,
  leaf: 0,
  begin: 0,
  setBack: 0,
  commit: 0,
};

export interface RecoverySetting {
  readonly relay: Relay;
  readonly members: readonly RecoveringMember[];
  readonly groups: HostWorld["groups"];
  readonly left: Partial<RecoveryBudgets>;
  readonly present?: readonly string[];
  readonly step?: RecoveryGuards["step"];
  /** Members that differ in nothing but their names. */
  readonly alike?: readonly string[];
  /** The relay may go on from there, while that is of the same generation. */
  readonly backup?: Relay;
  /** Whom programs name when they call `recover()`. */
  readonly lists?: readonly (readonly string[])[];
  /** Whom a call leaves out that names nobody; and whether it is refused. */
  readonly line?: readonly string[];
  readonly needsChoice?: boolean;
  /** More that may happen. */
  readonly also?: (state: RecoveringState) => readonly Move<RecoveringState>[];
}

export function recoveringWorld(setting: RecoverySetting): World<RecoveringState> {
  const {
    relay,
    members,
    groups,
    left,
    present = members.map(({ name }) => name),
    step = stepRecovery,
    also,
    alike,
    backup,
    lists = [],
    line = [],
    needsChoice = false,
  } = setting;
  const isForGood = left.setBack === undefined;
  const start: RecoveringState = {
    relay,
    members: [...members],
    groups,
    foundings: {},
    requests: {},
    present,
    guards: Object.freeze({ step, isForGood, line: Object.freeze(line), needsChoice }),
    fault: undefined,
    operations: 0,
    clock: 0,
    left: { ...none, ...left },
    late: [],
    connections: 0,
  };
  return {
    start,
    view: viewOf(isForGood),
    left: ({ left }) => Object.values(left),
    ...(isForGood && { alone }),
    ...(alike !== undefined && { renamings: renamingsOf(alike) }),
    moves: (state) => [
      ...state.members.flatMap((member, at) => new MemberMoves(state, member, at, lists).all()),
      ...lateMoves(state),
      ...(backup === undefined ? [] : setBackMoves(state, backup)),
      ...(also === undefined ? [] : also(state)),
    ],
    broken: (state) => state.fault,
    isGood,
  };
}

/**
 * Everybody works in one group; or an owner is stopped in the generation that the log is in, and
 * may call `recover()`.
 */
export function isGood({ members, relay }: RecoveringState): boolean {
  const here = members.filter(({ ended }) => ended === undefined);
  if (here.some(({ operations }) => operations.length > 0)) return false;
  const isOffered = here.some(({ name, link, disk: { group }, recovery: { place } }) =>
    link === "permit" && place.at === "stopped" && group.owners.includes(name) &&
    generationOf(group.epoch) === generationOf(relay.epoch)
  );
  const [first] = here;
  return isOffered ||
    here.every((member) => isInStep(member) && member.disk.group.led === first?.disk.group.led);
}

type Add = (
  name: string,
  kind: Move<RecoveringState>["kind"],
  act: Acting,
  budget?: keyof RecoveryBudgets,
) => void;
type Acting = (host: RecoveringHost, member: RecoveringMember, state: RecoveringState) => void;

class MemberMoves {
  readonly #state: RecoveringState;
  readonly #member: RecoveringMember;
  readonly #moves: Move<RecoveringState>[] = [];
  readonly #add: Add;
  readonly #lists: readonly (readonly string[])[];

  constructor(
    state: RecoveringState,
    member: RecoveringMember,
    at: number,
    lists: readonly (readonly string[])[],
  ) {
    this.#state = state;
    this.#lists = lists;
    this.#member = member;
    this.#add = (name, kind, act, budget) => {
      if (budget !== undefined && state.left[budget] === 0) return;
      this.#moves.push({
        name: `${member.name}: ${name}`,
        kind,
        isBudgeted: budget !== undefined,
        copy: (before) => copyFor(before, at),
        act: (after) => {
          const its = after.members[at];
          if (its === undefined) return;
          if (budget !== undefined) after.left[budget]--;
          act(new RecoveringHost(after, its), its, after);
        },
      });
    };
  }

  all(): readonly Move<RecoveringState>[] {
    if (this.#member.ended !== undefined) return [];
    this.#connecting();
    this.#answering();
    this.#delivering();
    this.#passingTime();
    this.#helping();
    this.#program();
    this.#killing();
    return this.#moves;
  }

  #connecting(): void {
    const { link, calls } = this.#member;
    if (link === "offline") {
      return this.#add("a connection is made", "answer", (host, { name }, state) => {
        connect(state.relay, name, ++state.connections);
        host.connected(state.connections);
        host.judge();
        forgetRepeats(state);
      });
    }
    if (link === "connected") {
      const { place } = this.#member.recovery;
      // The link waits a while between two requests that make it ask again.
      const kind = place.at === "outside" ? "time" : "answer";
      this.#add("the connection is judged", kind, (host, _, state) => {
        host.judge();
        forgetRepeats(state);
      });
    }
    this.#add("the connection breaks", "fault", (host, { name }, { relay }) => {
      disconnect(relay, name);
      host.disconnected();
    }, "broken");
    calls.forEach(({ request: { op } }, at) => {
      if (op !== "FoundGeneration" && op !== "RequestRejoin") return;
      this.#add(
        `the relay acts on ${op}, and the connection breaks`,
        "fault",
        (host, member, state) => {
          take(state, member, at);
          disconnect(state.relay, member.name);
          host.disconnected();
        },
        "broken",
      );
    });
    this.#late(calls);
  }

  /** The relay takes it later, or never. */
  #late(calls: readonly LetterCall[]): void {
    calls.forEach(({ request, reply }, at) => {
      if (request.op !== "FoundGeneration" || reply !== undefined) return;
      this.#add(
        "FoundGeneration is on its way when the connection breaks",
        "fault",
        (host, member, state) => {
          const [call] = member.calls.slice(at);
          if (call !== undefined) state.late.push({ name: member.name, request: call.request });
          disconnect(state.relay, member.name);
          host.disconnected();
        },
        "late",
      );
    });
  }

  #answering(): void {
    const { calls, connection } = this.#member;
    if (connection === 0) return;
    calls.forEach(({ request: { op }, isClaim }, at) => {
      this.#add(
        `the answer to ${isClaim === true ? "ClaimForFounding" : op}`,
        "answer",
        (host, member, state) => {
          const reply = take(state, member, at);
          const [call] = member.calls.splice(at, 1);
          if (call !== undefined) host.answer(call, reply);
        },
      );
      this.#add(`the relay is busy: ${op}`, "fault", (host, member) => {
        const [call] = member.calls.splice(at, 1);
        if (call !== undefined) host.answer(call, { refused: "overloaded" });
      }, "busy");
    });
  }

  #delivering(): void {
    const { name, link } = this.#member;
    const [note] = this.#state.relay.sessions[name]?.pipe ?? [];
    // The next judgement drops what is there, and has it delivered again.
    if (note === undefined || (link === "connected" && note.type === "entry")) return;
    this.#add(`delivered: ${noteName(note)}`, "notice", (host, member, { relay }) => {
      relay.sessions[member.name]?.pipe.shift();
      host.deliver(note);
    });
  }

  #passingTime(): void {
    const { recovery, arrivals } = this.#member;
    const { place, founding } = recovery;
    const held = timersOf(recovery);
    const step = backOf(place)?.step;
    const isTimed = step !== undefined && "timer" in step &&
      !(step.at === "asked" && this.#isAnswered());
    if (isTimed && step.timer !== undefined && held.includes(step.timer)) {
      const { timer } = step;
      this.#add(`time passes, ${step.at}`, "time", (host) => host.push({ type: "time", timer }));
    }
    if (founding.at === "following" && held.includes(founding.timer)) {
      this.#add(
        "recover() has waited for the generation",
        "time",
        (host) => host.push({ type: "time", timer: founding.timer }),
      );
    }
    for (const operation of arrivals) {
      this.#add("recover() has waited for an entry", "time", (host) => host.arrivalLate(operation));
    }
  }

  /** Somebody has let it in, or is about to: it would ask in vain. */
  #isAnswered(): boolean {
    const { relay } = this.#state;
    const { name } = this.#member;
    return relay.asking.some(({ agent }) => agent === name) ||
      relay.sessions[name]?.pipe.some(({ type }) => type === "welcome" || type === "leaf") === true;
  }

  /** A member in step, at the head of the log, answers those that ask. */
  #helping(): void {
    const { relay } = this.#state;
    const { name, disk: { group }, recovery: { place } } = this.#member;
    if (
      place.at !== "in_step" || permitOf(this.#member) === undefined || group.epoch !== relay.epoch
    ) return;
    for (const { agent } of relay.asking) {
      if (agent === name || group.leaves[agent] === undefined) continue;
      this.#add(`it answers ${agent}`, "program", (host) => host.letIn(agent));
    }
    this.#add("it commits", "program", (host) => host.commit(), "commit");
  }

  #program(): void {
    const { name, disk: { group }, recovery: { place } } = this.#member;
    if (place.at !== "stopped" || !group.owners.includes(name)) return;
    this.#add("recover()", "program", (host, member, state) => {
      const operation = ++state.operations;
      member.operations.push(operation);
      host.push({ type: "recover", operation, choice: {} });
    }, "recover");
    for (const without of this.#lists.filter((list) => !list.includes(name))) {
      this.#add(
        `recover() without ${without.join(" and ") || "anybody else"}`,
        "program",
        (host, member, state) => {
          const operation = ++state.operations;
          member.operations.push(operation);
          member.named = Object.freeze({ ...member.named, [operation]: without });
          host.push({ type: "recover", operation, choice: { without: without.map(agent) } });
        },
        "recover",
      );
    }
  }

  #killing(): void {
    this.#add("kill -9", "fault", (_, member, state) => restart(state, member), "kill");
    this.#member.calls.forEach(({ request: { op } }, at) => {
      if (op !== "FoundGeneration") return;
      this.#add(`the relay acts on ${op}; kill -9`, "fault", (_, member, state) => {
        take(state, member, at);
        restart(state, member);
      }, "kill");
    });
  }
}

function lateMoves(state: RecoveringState): readonly Move<RecoveringState>[] {
  return state.late.map(({ name, request }, at) => ({
    name: `the relay takes the late founding of ${name}`,
    kind: "fault",
    act: (after) => {
      after.late.splice(at, 1);
      callRelay(after.relay, name, request);
    },
  }));
}

function setBackMoves(
  { relay, left }: RecoveringState,
  backup: Relay,
): readonly Move<RecoveringState>[] {
  const isOlder = backup.entries.length < relay.entries.length;
  if (left.setBack === 0 || !isOlder || generationOf(relay.epoch) !== generationOf(backup.epoch)) {
    return [];
  }
  const act = (after: RecoveringState): void => {
    after.left.setBack--;
    for (const member of after.members) {
      disconnect(after.relay, member.name);
      if (member.connection > 0) new RecoveringHost(after, member).disconnected();
    }
    Object.assign(after.relay, copyOf(backup), { log: `${after.relay.log}'` });
  };
  return [{ name: "the log is set back", kind: "fault", isBudgeted: true, act }];
}

/** The relay acts on a call, once. */
function take(
  state: RecoveringState,
  { name, calls }: RecoveringMember,
  at: number,
): Reply | Refused {
  const { relay } = state;
  const call = calls[at];
  if (call === undefined) return { refused: "transport_error" };
  if (call.reply !== undefined) return call.reply;
  const reply = call.isClaim === true ? { consumed: 0 } : callRelay(relay, name, call.request);
  calls[at] = { ...call, reply };
  forgetRepeats(state);
  return reply;
}

/**
 * A request that is heard a second time changes nothing, nor one into the generation in which its
 * hearer is: askers are not counted here.
 */
function forgetRepeats({ relay: { sessions }, members, guards }: RecoveringState): void {
  for (const [name, session] of Object.entries(sessions)) {
    const heard = new Set<string>();
    const hearer = members.find((member) => member.name === name);
    const present = generationOf(hearer?.disk.group.epoch ?? 0);
    session.pipe = session.pipe.filter((note) => {
      if (note.type !== "rejoin") return true;
      if (guards.isForGood && note.generation <= present) return false;
      const request = `${note.agent} into ${note.generation}`;
      const isNew = !heard.has(request);
      heard.add(request);
      return isNew;
    });
  }
}

function restart(state: RecoveringState, { name, disk }: RecoveringMember): void {
  disconnect(state.relay, name);
  state.relay.asking = Object.freeze(state.relay.asking.filter(({ agent }) => agent !== name));
  const at = state.members.findIndex((member) => member.name === name);
  state.members[at] = startMember(name, copyOf(disk));
}

function noteName(note: Note): string {
  switch (note.type) {
    case "entry": {
      const { kind, sequence, hash, epoch } = note.entry;
      return `entry ${sequence}, ${kind} "${hash}" in generation ${generationOf(epoch)}`;
    }
    case "welcome":
      return `a Welcome by entry ${note.joined}`;
    case "leaf":
      return `its leaf is "${note.leaf}"`;
    case "rejoin":
      return `${note.agent} asks to rejoin`;
    case "end":
      return `the end: ${note.reason}`;
    case "start":
      return "the beginning";
  }
}

/**
 * A small world: one agent whose connection is the real machine, an honest relay of letters,
 * another member that lets it in again, and budgets for everything that may go wrong. Every order
 * of what may happen is tried.
 */
import {
  type Agent,
  type Disk,
  forget,
  isPlaceNew,
  permit,
  placeOf,
  restore,
} from "./agent_of_letters.ts";
import type { Move, World } from "./explore.ts";
import { allGuards, type Guards, Host, type HostState, type Step } from "./host_of_letters.ts";
import { seal } from "./group_of_letters.ts";
import { copyOf, isSame, textOf } from "./plain_state.ts";
import { liesAbout, liesOf } from "./lies.ts";
import {
  append,
  callRelay,
  connect,
  disconnect,
  leafIn,
  type Note,
  type Refused,
  type Relay,
  type Reply,
} from "./relay_of_letters.ts";
import { generationOf } from "../../proto/mod.ts";
import { isAsking, timersOf } from "../../sdk/channel/testing/connection.ts";

/** How often each may still happen. */
export interface Budgets {
  /** The relay refuses a call. */
  busy: number;
  /** A connection breaks. */
  broken: number;
  /** The beginning of a subscription takes too long. */
  late: number;
  /** The program calls `recover()`, sends, changes the channel. */
  recover: number;
  send: number;
  change: number;
  /** The process is killed. */
  kill: number;
  /** An older copy of the directory is put back. */
  copy: number;
  /** The other member sends, commits, or asks to rejoin. */
  message: number;
  commit: number;
  ask: number;
  /** The log is read again from where the reader is. */
  fetch: number;
  /** The relay lies, or sends a large entry though the window is full. */
  lie: number;
  large: number;
  /** The relay's log is the one of a backup again. */
  setBack: number;
}

const none: Budgets = {
  busy: 0,
  broken: 0,
  late: 0,
  recover: 0,
  send: 0,
  change: 0,
  kill: 0,
  copy: 0,
  message: 0,
  commit: 0,
  ask: 0,
  fetch: 0,
  lie: 0,
  large: 0,
  setBack: 0,
};

export interface SmallState extends HostState {
  readonly left: Budgets;
  connections: number;
  /** A copy of the directory that somebody has made. */
  copy: Disk | undefined;
  /**
   * The relay has left an entry out: the end of the connection shows it, unless something else does
   * before.
   */
  isWithheld: boolean;
}

/** The other member. */
export const other = "bob";

export interface Setting {
  readonly relay: Relay;
  readonly name: string;
  readonly disk: Disk;
  readonly sealed?: Record<string, string>;
  readonly left: Partial<Budgets>;
  readonly guards?: Partial<Guards>;
  readonly step?: Step;
  /** Of the relay, to which its log may be set back. */
  readonly backup?: Relay;
  /**
   * The disk is slow, and a broken connection ends calls before the channel hears of it, or after:
   * ten times as many states.
   */
  readonly isThorough?: boolean;
  readonly isGood?: (state: SmallState) => boolean;
}

export function smallWorld(setting: Setting): World<SmallState> {
  const { relay, name, disk, sealed = {}, left, guards, step, backup, isGood, isThorough = false } =
    setting;
  const start: SmallState = {
    relay,
    agent: restore(name, disk),
    sealed,
    left: { ...none, ...left },
    fault: undefined,
    compared: undefined,
    lastRead: undefined,
    isHonest: true,
    isOrderLost: false,
    operations: 0,
    messages: 0,
    connections: 0,
    copy: undefined,
    isWithheld: false,
  };
  const host = (state: SmallState): Host =>
    new Host(state, { ...allGuards, ...guards }, { step, isDiskFast: !isThorough });
  return {
    start,
    view,
    left: ({ left }) => Object.values(left),
    moves: (state) => new Moves(state, host, { isThorough, backup }).all(),
    broken: (state) => state.fault ?? forgotten(state, state.isHonest && backup === undefined),
    // By a lie the channel may be over for this process: the program is told, and no keys are
    // erased.
    isGood: isGood ??
      ((state) => isInStep(state) || (!state.isHonest && state.agent.ended !== undefined)),
  };
}

/** The agent works, and everything that the program asked for has returned. */
export function isInStep({ agent, relay }: SmallState): boolean {
  const { link } = agent.link;
  const { group } = agent.disk;
  const isOfLog = group.epoch === relay.epoch && group.leaf === leafIn(relay, agent.name);
  return isOfLog && link.at === "reading" && link.stream.begun && placeOf(agent).at === "in_step" &&
    agent.isSending &&
    agent.operations.length === 0;
}

/** A process that starts knows as much as its disk: of the link, the log's id is all that lasts. */
function forgotten({ agent }: SmallState, isOneLog: boolean): string | undefined {
  // The id of another log, which the relay has just named, is not on disk before the connection is
  // judged.
  const named = isOneLog ? {} : { log: undefined };
  const isRestored = isSame({ ...restore(agent.name, agent.disk).link, ...named }, {
    ...forget(agent).link,
    ...named,
  });
  return isRestored
    ? undefined
    : "S7: a process that starts is not as one that has forgotten what is in memory alone";
}

/**
 * Of a waiter, whether something has come since it began to wait. Of connections, which are the
 * same.
 */
function view(state: SmallState): unknown {
  const { agent, relay, left: _, connections: __, operations: ___, ...rest } = state;
  const { link } = agent;
  const { arrival } = link;
  const waiting = arrival.waiting.map(({ seen, waits: _, ...waiter }) => ({
    ...waiter,
    isSeen: seen === arrival.events,
  }));
  const viewed = {
    ...link,
    asked: link.asked === agent.disk.own,
    arrival: { isOver: arrival.isOver, waiting },
  };
  return { ...rest, relay, agent: { ...agent, link: viewed, ...operationsOf(agent) } };
}

/**
 * Calls of the program and what they wait for, in an order that does not depend on which came
 * first: nothing looks at it. A call whose loss changes nothing else may stand anywhere too.
 */
function operationsOf({ operations, calls, link: { arrival }, tasks }: Agent): Partial<Agent> {
  const isOfProgram = ({ asker: { by } }: Agent["calls"][number]): boolean =>
    by === "recover" || by === "message";
  const ofProgram = calls.filter(isOfProgram);
  if (operations.length === 0 && ofProgram.length < 2) return {};
  const ranks = new Map<number, number>();
  const rank = (operation: number): void =>
    void ranks.set(operation, ranks.get(operation) ?? ranks.size);
  const sortedCalls = ofProgram.map((call) => ({ call, text: textOf(call) })).sort(
    by(({ text }) => text),
  );
  const rankOf = ({ operation }: Agent["operations"][number]): number =>
    ranks.get(operation) ?? operations.length;
  for (const { call: { asker } } of sortedCalls) if (asker.by === "recover") rank(asker.operation);
  for (const { operation } of arrival.waiting) rank(operation);
  for (const task of tasks) if (task.kind === "found") rank(task.operation);
  return {
    calls: [...calls.filter((call) => !isOfProgram(call)), ...sortedCalls.map(({ call }) => call)],
    operations: operations.map((each) => ({ each, text: textOf(each) })).sort(
      by(({ text }) => text),
    )
      .sort((one, two) => rankOf(one.each) - rankOf(two.each)).map(({ each }) => each),
  };
}

function by<T>(key: (item: T) => string): (one: T, two: T) => number {
  return (one, two) => key(one) < key(two) ? -1 : key(one) > key(two) ? 1 : 0;
}

type Acting = (state: SmallState) => Host;

class Moves {
  readonly #state: SmallState;
  readonly #host: Acting;
  readonly #isThorough: boolean;
  readonly #backup: Relay | undefined;
  readonly #moves: Move<SmallState>[] = [];

  constructor(
    state: SmallState,
    host: Acting,
    { isThorough, backup }: { readonly isThorough: boolean; readonly backup: Relay | undefined },
  ) {
    this.#state = state;
    this.#isThorough = isThorough;
    this.#backup = backup;
    this.#host = host;
  }

  all(): readonly Move<SmallState>[] {
    if (this.#state.agent.ended !== undefined) return [];
    this.#connecting();
    this.#answering();
    this.#delivering();
    this.#passingTime();
    this.#program();
    this.#others();
    this.#killing();
    this.#settingBack();
    return this.#moves;
  }

  #add(
    name: string,
    kind: Move<SmallState>["kind"],
    act: Move<SmallState>["act"],
    budget?: keyof Budgets,
  ): void {
    if (budget === undefined) return void this.#moves.push({ name, kind, act });
    if (this.#state.left[budget] === 0) return;
    this.#moves.push({
      name,
      kind,
      isBudgeted: true,
      act: (state) => {
        state.left[budget]--;
        act(state);
      },
    });
  }

  #connecting(): void {
    const { agent, relay } = this.#state;
    if (agent.connection === 0) {
      return this.#add("a connection is made", "time", (state) => {
        connect(state.relay, state.agent.name, ++state.connections);
        this.#host(state).connection(state.connections);
      });
    }
    this.#add("the connection breaks", "fault", (state) => this.#break(state, "first"), "broken");
    if (this.#state.isWithheld && relay.sessions[agent.name]?.pipe.length === 0) {
      this.#add(
        "the connection ends, as each does at last",
        "time",
        (state) => this.#break(state, "first"),
      );
    }
    if (agent.calls.length === 0) return;
    if (this.#isThorough) {
      this.#add(
        "the connection breaks, calls end before it",
        "fault",
        (state) => this.#break(state, "last"),
        "broken",
      );
    }
    agent.calls.forEach(({ request: { op } }, at) => {
      if (
        op !== "SendCommit" && op !== "SendMessage" && op !== "FoundGeneration" &&
        op !== "RequestRejoin"
      ) return;
      this.#add(`the relay acts on ${op}, and the connection breaks`, "fault", (state) => {
        take(state, at);
        this.#break(state, "first");
      }, "broken");
    });
  }

  /**
   * Calls that were on their way end with the connection, before the channel hears of it or after.
   */
  #break(state: SmallState, told: "first" | "last"): void {
    const { agent, relay } = state;
    const host = this.#host(state);
    const calls = agent.calls.splice(0);
    disconnect(relay, agent.name);
    state.isWithheld = false;
    const lost = (): void =>
      calls.forEach((call) => host.answer(call, { refused: "transport_error" }));
    if (told === "last") lost();
    host.connection(0);
    if (told === "first") lost();
  }

  #answering(): void {
    const { agent } = this.#state;
    if (agent.connection === 0) return;
    agent.calls.forEach(({ request, reply }, at) => {
      const { op } = request;
      // A session's subscriptions are made in their order.
      const isSecond = agent.calls.slice(0, at).some((call) =>
        call.request.op === "Subscribe" && call.reply === undefined
      );
      if (op === "Subscribe" && reply === undefined && isSecond) return;
      const name = "epoch" in request ? `${op} of epoch ${epochName(request.epoch)}` : op;
      // Entries may be here before the answer to their Subscribe.
      if (op === "Subscribe" && reply === undefined) {
        this.#add(`the relay takes ${name}`, "answer", (state) => void take(state, at));
      }
      this.#add(`the answer to ${name}`, "answer", (state) => {
        const answered = take(state, at);
        // A member that answers at once: the answer itself may still take its time.
        if (op === "RequestRejoin" && !this.#isThorough) letIn(state.relay, state.agent.name);
        const [call] = state.agent.calls.splice(at, 1);
        if (call !== undefined) this.#host(state).answer(call, answered);
      });
      if (reply !== undefined) return;
      this.#add(`the relay is busy: ${name}`, "fault", (state) => {
        const [call] = state.agent.calls.splice(at, 1);
        if (call !== undefined) this.#host(state).answer(call, { refused: "overloaded" });
      }, "busy");
      if (this.#state.left.lie === 0) return;
      for (const { lie, reply } of liesAbout(request, this.#honestReply(at))) {
        this.#add(`the relay lies about ${name}: ${lie}`, "fault", (state) => {
          state.isHonest = false;
          take(state, at);
          const [call] = state.agent.calls.splice(at, 1);
          if (call !== undefined) this.#host(state).answer(call, reply);
        }, "lie");
      }
    });
  }

  #honestReply(at: number): Reply | Refused {
    const state = copyOf(this.#state);
    return take(state, at);
  }

  #delivering(): void {
    const { agent, relay } = this.#state;
    const [note] = relay.sessions[agent.name]?.pipe ?? [];
    if (note === undefined) return;
    this.#add(`delivered: ${noteName(note)}`, "notice", (state) => {
      state.relay.sessions[state.agent.name]?.pipe.shift();
      deliver(this.#host(state), note);
    });
    if (note.type === "entry") {
      this.#add(`delivered beyond the window: ${noteName(note)}`, "fault", (state) => {
        state.relay.sessions[state.agent.name]?.pipe.shift();
        deliver(this.#host(state), note, largeBytes);
      }, "large");
    }
    if (this.#state.left.lie === 0) return;
    for (
      const { lie, notes, isOrderLost = false, isWithheld = false } of liesOf(
        relay.sessions[agent.name]?.pipe ?? [],
      )
    ) {
      this.#add(`the relay lies: ${lie}`, "fault", (state) => {
        state.isHonest = false;
        state.isOrderLost ||= isOrderLost;
        state.isWithheld ||= isWithheld;
        const session = state.relay.sessions[state.agent.name];
        if (session !== undefined) session.pipe = [...notes];
      }, "lie");
    }
  }

  /**
   * Connections break, and everybody is told of what the log has now: the relay knows that it is
   * another one, or does not.
   */
  #settingBack(): void {
    const backup = this.#backup;
    if (backup === undefined) return;
    for (const log of [backup.log, "another log"]) {
      this.#add(
        `the log is set back, ${log === backup.log ? "and keeps its id" : "and has another id"}`,
        "fault",
        (state) => {
          if (state.agent.connection > 0) this.#break(state, "first");
          Object.assign(state.relay, copyOf(backup), { log });
        },
        "setBack",
      );
    }
    // It keeps its commits, as everybody does.
    const { relay } = this.#state;
    const lost = `commit of ${other} in ${relay.epoch}`;
    if (relay.members[other] === undefined || backup.epoch > relay.epoch || !this.#wasMade(lost)) {
      return;
    }
    this.#add(`${other} puts its commit back`, "program", ({ relay }) => {
      callRelay(relay, other, { op: "SendCommit", epoch: relay.epoch, hash: lost });
    });
  }

  #wasMade(hash: string): boolean {
    return Object.values(this.#state.agent.disk.kept ?? {}).some((commit) => commit.hash === hash);
  }

  #passingTime(): void {
    const { agent, relay } = this.#state;
    const { link, window, calm, arrival } = agent.link;
    const held = timersOf(agent.link);
    const wake = (name: string, timer: number | undefined, budget?: "late"): void => {
      if (timer === undefined || !held.includes(timer)) return;
      this.#add(name, "time", (state) => {
        const host = this.#host(state);
        host.push({ type: "time", timer });
        host.run();
      }, budget);
    };
    if (link.at === "pausing") wake("the pause is over", link.timer);
    if (link.at === "fetching_later") wake("the pause before the fetch is over", link.timer);
    if (link.at === "reading" || link.at === "listening") {
      // Of one that a relay has left out, time is the end.
      const isComing = relay.sessions[agent.name]?.pipe.some((note) =>
        note.type === "start" && note.tag === link.stream.tag
      );
      wake("the beginning is late", link.timer, isComing === true ? "late" : undefined);
    }
    wake("time to acknowledge", window.timer);
    wake("asked back: time has passed", calm);
    arrival.waiting.forEach(({ timer }, at) => {
      wake("recover() has waited for an entry", timer);
      // How often it has waited decides nothing before the last time, and nothing else changes with
      // it: any time may be the last.
      if (!isAsking(agent.link)) return;
      this.#add("recover() has waited for an entry for the last time", "time", (state) => {
        const waiter = state.agent.link.arrival.waiting[at];
        if (waiter !== undefined) waiter.waits = Infinity;
        const host = this.#host(state);
        host.push({ type: "time", timer });
        host.run();
      });
    });
    if (isPlaceNew(agent)) {
      this.#add("the place is written", "time", (state) => {
        const host = this.#host(state);
        host.writePlace();
        host.run();
      });
    }
    const at = agent.rejoin?.at;
    if (
      (at === "waiting" && agent.connection > 0 && !this.#isAnswered()) || at === "pausing" ||
      at === "proof_later"
    ) {
      this.#add(
        "the agent asks to rejoin again",
        "time",
        (state) => this.#host(state).rejoinAgain(),
      );
    }
    if (agent.disk.candidate !== undefined && !agent.isUnderWay && permit(agent) !== undefined) {
      this.#add("an open commit is sent again", "time", (state) => this.#host(state).commitAgain());
    }
    for (const { operation, at } of agent.operations) {
      if (at !== "following") continue;
      this.#add(
        "recover() has waited for the generation",
        "time",
        (state) => this.#host(state).followingLate(operation),
      );
    }
  }

  /** Somebody has let the agent in, or is about to: it would ask in vain. */
  #isAnswered(): boolean {
    const { agent: { name, tasks, link }, relay } = this.#state;
    const isAnswer = ({ type }: Note): boolean => type === "welcome" || type === "leaf";
    return relay.asking.some(({ agent }) => agent === name) ||
      relay.sessions[name]?.pipe.some(isAnswer) === true ||
      link.arrived.some(({ content }) => isAnswer(content)) ||
      tasks.some((task) => task.kind === "read" && isAnswer(task.note));
  }

  #program(): void {
    const { agent } = this.#state;
    if (agent.unread.length > 0) {
      this.#add("the program reads", "program", (state) => this.#host(state).programReads());
    }
    // A call while another one is under way is that one.
    if (agent.disk.stop !== undefined && !agent.operations.some(({ what }) => what === "recover")) {
      this.#add("recover()", "program", (state) => this.#host(state).recover(), "recover");
    }
    this.#add("the log is fetched again", "program", (state) => {
      const host = this.#host(state);
      host.push({ type: "fetch", afterMs: 0 });
      host.run();
    }, "fetch");
    if (agent.isSending) {
      this.#add("send()", "program", (state) => this.#host(state).send(), "send");
    }
    if (placeOf(agent).at === "in_step") {
      this.#add("add()", "program", (state) => this.#host(state).change(), "change");
    }
  }

  #others(): void {
    const { relay, agent: { name } } = this.#state;
    if (relay.members[other] === undefined) return;
    if (relay.asking.some(({ agent }) => agent === name)) {
      this.#add(`${other} answers the agent`, "program", ({ relay }) => letIn(relay, name));
    }
    this.#add(`${other} sends`, "program", ({ relay }) => {
      const hash = `of ${other}, ${relay.entries.length + 1}`;
      append(relay, {
        kind: "message",
        sender: other,
        epoch: relay.epoch,
        hash,
        counter: 1,
        keyNumber: 1,
      });
    }, "message");
    this.#add(`${other} commits`, "program", (state) => {
      const { relay } = state;
      const { epoch } = relay;
      // In the place of one that the log has lost: nobody can know why another one stands there.
      if (this.#backup !== undefined) state.isHonest = false;
      callRelay(relay, other, { op: "SendCommit", epoch, hash: `commit of ${other} in ${epoch}` });
    }, "commit");
    this.#add(`${other} asks to rejoin`, "program", ({ relay }) => {
      relay.sessions[name]?.pipe.push({
        type: "rejoin",
        agent: other,
        generation: generationOf(relay.epoch),
      });
    }, "ask");
  }

  #killing(): void {
    const { agent, copy } = this.#state;
    this.#add("kill -9", "fault", (state) => restart(state, state.agent.disk), "kill");
    agent.calls.forEach(({ request: { op } }, at) => {
      if (
        agent.connection === 0 ||
        (op !== "SendCommit" && op !== "SendMessage" && op !== "FoundGeneration")
      ) return;
      this.#add(`the relay acts on ${op}; kill -9`, "fault", (state) => {
        take(state, at);
        restart(state, state.agent.disk);
      }, "kill");
    });
    if (copy === undefined) {
      this.#add(
        "the directory is copied",
        "fault",
        (state) => void (state.copy = copyOf(state.agent.disk)),
        "copy",
      );
    } else {
      this.#add("the copy is put back", "fault", (state) => {
        restart(state, copy);
        state.copy = undefined;
      });
    }
  }
}

/** The relay acts on a call, once. */
function take(state: SmallState, at: number): ReturnType<typeof callRelay> {
  const call = state.agent.calls[at];
  if (call === undefined) return { refused: "transport_error" };
  const { asker, request } = call;
  const isNew = call.reply === undefined;
  const reply = call.reply ??= callRelay(state.relay, state.agent.name, request);
  // A content that never came to the relay is known to nobody.
  if (isNew && asker.by === "message" && request.op === "SendMessage" && !("refused" in reply)) {
    state.fault ??= seal(state.sealed, asker.group, request.keyNumber, request.id);
  }
  return reply;
}

/**
 * The other member lets an agent in that signed about its present leaf; else it tells it the leaf.
 */
function letIn(relay: Relay, name: string): void {
  const request = relay.asking.find(({ agent }) => agent === name);
  if (request === undefined || relay.members[other] === undefined) return;
  const leaf = leafIn(relay, name);
  if (request.leaf === leaf) {
    const { epoch } = relay;
    const hash = `commit of ${other} in ${epoch} for ${name}`;
    callRelay(relay, other, { op: "SendCommit", epoch, hash, added: [name], removed: [name] });
  } else {
    relay.asking = Object.freeze([]);
    relay.sessions[name]?.pipe.push({ type: "leaf", leaf });
  }
}

function restart(state: SmallState, disk: Disk): void {
  disconnect(state.relay, state.agent.name);
  state.relay.asking = Object.freeze(
    state.relay.asking.filter(({ agent }) => agent !== state.agent.name),
  );
  state.agent = restore(state.agent.name, copyOf(disk));
  state.compared = state.lastRead = undefined;
}

/** Two of them are more than a window. */
const largeBytes = 3 * 1024 * 1024;

function deliver(host: Host, note: Note, bytes = 1): void {
  if (note.type === "welcome") return host.welcomed(note);
  if (note.type === "start") host.push({ type: "started", tag: note.tag });
  else {
    const kind = note.type === "entry" ? "entry" : "word";
    host.push({ type: "delivered", notice: { kind, content: note, bytes } });
  }
  host.run();
}

function noteName(note: Note): string {
  switch (note.type) {
    case "entry":
      return `entry ${note.entry.sequence}, a ${note.entry.kind}`;
    case "start":
      return `the beginning, after entry ${note.after}`;
    case "welcome":
      return `a Welcome into epoch ${epochName(note.epoch)}`;
    case "leaf":
      return "the agent's leaf";
    case "rejoin":
      return `${note.agent} asks to rejoin`;
    case "end":
      return `the end: ${note.reason}`;
  }
}

/** With its generation. */
function epochName(epoch: number): string {
  const generation = generationOf(epoch);
  return generation === 0
    ? String(epoch)
    : `${epoch - generation * 2 ** 32} of generation ${generation}`;
}

export type { Agent };

/**
 * Members that read one log, with the real machine of its order. The relay may show them different
 * logs; answers are late or lost, processes are killed and start, members join. Nobody is blamed in
 * a log that is one, and the next word of a member that saw something else is noticed. The world
 * remembers itself what everybody has seen.
 */
import {
  type AgentId,
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  type LogWord,
} from "../../proto/mod.ts";
import {
  newOrder,
  type OrderEvent,
  type OrderRecord,
  orderRecord,
  type OrderState,
  restoreOrder,
  stepOrder,
  wordOf,
} from "../../sdk/channel/testing/order.ts";
import { sha256 } from "../../wasm/mod.ts";
import type { Kind, Move, World } from "./explore.ts";

/** How often each may still happen. */
export interface SeenBudgets {
  send: number;
  commit: number;
  /** A member more, by a commit. */
  join: number;
  /** The place of a program is written, with what is known there. */
  write: number;
  /** A process ends and another one starts; `kill`: without its last write. */
  close: number;
  kill: number;
  /** An answer is lost: the same bytes go again, or nobody wants them sent any more. */
  lost: number;
  giveUp: number;
  /** The relay gives up a message that somebody has not read. */
  gap: number;
  /**
   * The relay keeps a message from somebody, shows two in the other order, or tells a sender
   * another place.
   */
  hide: number;
  swap: number;
  misplace: number;
}

/** In the log, or in somebody's view of it. */
interface Entry {
  readonly number: number;
  /** Of a commit the one that it begins. */
  readonly epoch: number;
  readonly sender: AgentId;
  /** Undefined for a commit. */
  readonly message: Message | undefined;
  /** It gave way to a gap. */
  readonly isGone: boolean;
}

interface Message {
  readonly id: string;
  readonly word: LogWord;
  /**
   * As the sender saw it when it said so: ids of its epoch up to the place, and of the last epoch
   * before it that has messages.
   */
  readonly seen: string | undefined;
  readonly before: string | undefined;
}

interface Request {
  readonly counter: number;
  readonly epoch: number;
  /** Undefined for a commit; `adds`: it brings in one more. */
  readonly message: Message | undefined;
  readonly adds: boolean;
  /** Nobody waits for the answer, but the relay may take it. */
  readonly isForgotten: boolean;
}

interface Answer extends Request {
  /** Undefined for a refusal. */
  readonly number: number | undefined;
}

interface Heard {
  readonly sender: AgentId;
  readonly epoch: number;
  readonly message: Message;
}

interface Member {
  readonly name: AgentId;
  readonly joinedEpoch: number;
  machine: OrderState;
  epoch: number;
  /** Entries of the log that were delivered up to here. */
  read: number;
  /** The one before that. */
  readBefore: number;
  view: readonly Entry[];
  requests: readonly Request[];
  answers: readonly Answer[];
  counter: number;
  disk: { readonly record: OrderRecord | undefined; readonly position: number };
  /** Words that it has opened, and that are to be noticed. */
  heard: readonly Heard[];
  blamed: readonly AgentId[];
  /** Other numbers under which the relay delivers entries to it. */
  renumbered: Readonly<Record<string, number>>;
  /** Nothing has made it unsure so far. */
  isWhole: boolean;
}

export interface SeenState {
  readonly left: SeenBudgets;
  log: readonly Entry[];
  members: readonly Member[];
  isLying: boolean;
  fault: string | undefined;
}

export interface OrderMachine {
  readonly step: typeof stepOrder;
  readonly restore: typeof restoreOrder;
}

const channelId = binaryIdFromBytes<ChannelId>(new Uint8Array(16).fill(11));
const names = [1, 2, 3, 4].map((byte) =>
  agentIdOf(new Uint8Array(32).fill(byte), Uint8Array.of(byte))
);
const none: readonly never[] = Object.freeze([]);
const nothing: SeenBudgets = {
  send: 0,
  commit: 0,
  join: 0,
  write: 0,
  close: 0,
  kill: 0,
  lost: 0,
  giveUp: 0,
  gap: 0,
  hide: 0,
  swap: 0,
  misplace: 0,
};
const real: OrderMachine = { step: stepOrder, restore: restoreOrder };
const digests = new Map<string, Uint8Array>();

function digestOf(id: string): Uint8Array {
  const known = digests.get(id) ?? sha256(new TextEncoder().encode(id));
  digests.set(id, known);
  return known;
}

export function seenLogs(
  left: Partial<SeenBudgets>,
  size = 2,
  machine: OrderMachine = real,
): World<SeenState> {
  const first: Entry = {
    number: 1,
    epoch: 1,
    sender: nameAt(0),
    message: undefined,
    isGone: false,
  };
  const members = Array.from({ length: size }, (_, at) => newMember(nameAt(at), first));
  const start = {
    left: { ...nothing, ...left },
    log: [first],
    members,
    isLying: false,
    fault: undefined,
  };
  return {
    start,
    view: ({ left: _, ...state }) => state,
    left: (state) => Object.values(state.left),
    moves: (state) => movesOf(state, machine),
    broken: (state) => state.fault,
    isGood: isCalm,
  };
}

/** Everything is answered and read. */
function isCalm({ members, log }: SeenState): boolean {
  return members.every((member) =>
    member.requests.length + member.answers.length === 0 && nextOf(member, log) === undefined
  );
}

function nameAt(at: number): AgentId {
  const name = names[at];
  if (name === undefined) throw new Error("the world has four members at most");
  return name;
}

function newMember(name: AgentId, { number, epoch }: Entry): Member {
  return {
    name,
    joinedEpoch: epoch,
    machine: newOrder(channelId, number, epoch),
    epoch,
    read: number,
    readBefore: number,
    view: none,
    requests: none,
    answers: none,
    counter: 0,
    disk: Object.freeze({ record: undefined, position: number }),
    heard: none,
    blamed: none,
    renumbered: {},
    isWhole: true,
  };
}

/**
 * Everybody says one more word, and everybody hears it. Returns whether two have seen different
 * logs, and whether somebody noticed.
 */
export function lastWords(
  state: SeenState,
): { readonly isTorn: boolean; readonly isNoticed: boolean } {
  const isTorn = state.members.some((one) => state.members.some((other) => areTorn(one, other)));
  for (const at of state.members.keys()) {
    const acting = new Acting(state, at, real);
    acting.send();
    acting.takes();
    acting.answers();
  }
  for (const [at, member] of state.members.entries()) {
    while (nextOf(member, state.log) !== undefined) new Acting(state, at, real).delivers();
  }
  return { isTorn, isNoticed: state.members.some(({ blamed }) => blamed.length > 0) };
}

/** Both are sure, and have seen something else in this epoch, or in the one before it. */
function areTorn(one: Member, other: Member): boolean {
  const { epoch } = one;
  const both = [one, other];
  const isSure = both.every(({ machine }) =>
    latestEpoch(machine) === epoch && epoch > machine.unsureThrough
  );
  const isKnown = both.every(({ machine }) =>
    machine.points.find((point) => point.epoch === epoch)?.before
  );
  const [first, second] = both.map(({ view }) => idsOf(view, epoch));
  return isSure &&
    (first !== second || (isKnown && idsBefore(one.view, epoch) !== idsBefore(other.view, epoch)));
}

/** Ids of an epoch's messages up to a place, as somebody saw them. */
function idsOf(view: readonly Entry[], epoch: number, place = Infinity): string {
  const seen = view.filter((entry) => entry.epoch === epoch && entry.number <= place);
  return [...seen].sort((a, b) => a.number - b.number).map(({ message }) => message?.id).join(" ");
}

/** Of the last epoch before one that has messages. */
function idsBefore(view: readonly Entry[], epoch: number): string {
  for (let each = epoch - 1; each > 0; each--) {
    const ids = idsOf(view, each);
    if (ids !== "") return `${each}: ${ids}`;
  }
  return "";
}

/**
 * The entry that is delivered next. One of an epoch that waits for the answer about a commit waits
 * with it.
 */
function nextOf({ name, read, epoch }: Member, log: readonly Entry[]): Entry | undefined {
  const next = log.find(({ number, sender }) => number > read && sender !== name);
  if (next === undefined) return undefined;
  const needed = next.message === undefined ? next.epoch - 1 : next.epoch;
  return needed > epoch ? undefined : next;
}

function latestEpoch({ points }: OrderState): number {
  return points.at(-1)?.epoch ?? 0;
}

class Acting {
  readonly #world: SeenState;
  readonly #machine: OrderMachine;
  readonly #at: number;

  constructor(world: SeenState, at: number, machine: OrderMachine) {
    this.#world = world;
    this.#at = at;
    this.#machine = machine;
  }

  get #member(): Member {
    const member = this.#world.members[this.#at];
    if (member === undefined) throw new Error("there is no such member");
    return member;
  }

  #push(event: OrderEvent): void {
    const member = this.#member;
    for (const { kind, sender, from, to } of this.#machine.step(member.machine, event)) {
      if (from > to) this.#world.fault ??= "O3: entries that end before they begin";
      if (!this.#world.isLying) this.#world.fault ??= `O1: ${kind} in a log that is one`;
      member.blamed = [...member.blamed.filter((each) => each !== sender), sender];
    }
    this.#check();
  }

  /** Words of members that saw something else are noticed when as much is known here. */
  #check(): void {
    const member = this.#member;
    const { machine, view, blamed } = member;
    const isWaiting = ({ sender, epoch, message }: Heard): boolean =>
      epoch > latestEpoch(machine) || machine.words.some((each) => each.sender === sender) ||
      (epoch === latestEpoch(machine) && (message.word.seen?.place ?? 0) > machine.through);
    for (const heard of member.heard) {
      if (isWaiting(heard)) continue;
      const { sender, epoch, message: { seen, before, word } } = heard;
      const place = word.seen?.place ?? 0;
      const isSure = epoch > machine.unsureThrough && place >= (machine.points[0]?.sequence ?? 0);
      const other = seen !== undefined && isSure && idsOf(view, epoch, place) !== seen;
      const known = machine.points.find((point) => point.epoch === epoch)?.before;
      const otherBefore = before !== undefined && known !== undefined &&
        idsBefore(view, epoch) !== before;
      if ((other || otherBefore) && !blamed.includes(sender)) {
        this.#world.fault ??= `O2: another ${other ? "order" : "epoch before"} is not noticed`;
      }
    }
    member.heard = member.heard.filter(isWaiting);
  }

  // The program

  send(): void {
    const member = this.#member;
    const { machine, epoch, view } = member;
    if (!machine.isOpen) {
      this.#push({ type: "opening" });
      member.disk = Object.freeze({
        ...member.disk,
        record: orderRecord(machine, member.disk.position),
      });
    }
    const counter = ++member.counter;
    const word = wordOf(machine, epoch);
    this.#checkSays(word);
    const message: Message = {
      id: `${this.#at}.${counter}`,
      word,
      seen: word.seen && idsOf(view, epoch, word.seen.place),
      before: word.before && idsBefore(view, epoch),
    };
    member.requests = [...member.requests, {
      counter,
      epoch,
      message,
      adds: false,
      isForgotten: false,
    }];
    this.#departs(counter, epoch, message);
  }

  #departs(counter: number, epoch: number, { id }: Message): void {
    this.#push({ type: "departs", counter, epoch, digest: digestOf(id) });
  }

  /** A member that knows everything says so. */
  #checkSays({ seen, before }: LogWord): void {
    const { isWhole, epoch, read, joinedEpoch, view, requests, answers } = this.#member;
    const begun = this.#world.log.find((entry) =>
      entry.message === undefined && entry.epoch === epoch
    );
    if (
      this.#world.isLying || !isWhole || begun === undefined || requests.length + answers.length > 0
    ) return;
    const isRead = this.#world.log.every(({ number, sender }) =>
      number > begun.number || number <= read || sender === this.#member.name
    );
    if (!isRead) return;
    if (seen === undefined) this.#world.fault ??= "O4: a member that is sure says nothing";
    const isAllSeen = joinedEpoch === 1 && idsBefore(view, epoch) !== "";
    if (isAllSeen && before === undefined) {
      this.#world.fault ??= "O4: a member that is sure says nothing of before";
    }
  }

  commit(adds: boolean): void {
    const member = this.#member;
    const request = {
      counter: 0,
      epoch: member.epoch + 1,
      message: undefined,
      adds,
      isForgotten: false,
    };
    member.requests = [...member.requests, request];
  }

  write(position: number): void {
    const { machine, disk: { record } } = this.#member;
    this.#member.disk = Object.freeze({
      record: machine.isOpen ? record : orderRecord(machine, position),
      position,
    });
  }

  close(): void {
    this.#push({ type: "closing" });
    const { machine, read } = this.#member;
    this.#member.disk = Object.freeze({ record: orderRecord(machine, read), position: read });
    this.#start();
  }

  kill(): void {
    this.#member.isWhole = false;
    this.#start();
  }

  #start(): void {
    const member = this.#member;
    const { disk: { record, position }, name, epoch, joinedEpoch } = member;
    const isOpen = record?.isOpen === true;
    if (isOpen) member.isWhole = false;
    member.machine = this.#machine.restore({ channelId, record, position, joinedEpoch, epoch });
    member.read = member.readBefore = position;
    member.view = member.view.filter(({ number, sender }) => number <= position || sender === name);
    member.requests = [
      ...member.requests,
      ...member.answers.map(({ number: _, ...request }) => request),
    ]
      .map((request) => ({ ...request, isForgotten: true }));
    member.answers = none;
    member.heard = none;
  }

  // The relay

  takes(): void {
    const member = this.#member;
    const [request, ...others] = member.requests;
    if (request === undefined) return;
    member.requests = others;
    const { epoch, message, adds } = request;
    const world = this.#world;
    const known = world.log.find((each) =>
      message === undefined
        ? each.message === undefined && each.epoch === epoch && each.sender === member.name
        : each.message?.id === message.id
    );
    const last = world.log.findLast((each) => each.message === undefined)?.epoch ?? 0;
    const isTaken = epoch === (message === undefined ? last + 1 : last);
    const entry: Entry = {
      number: world.log.length + 1,
      epoch,
      sender: member.name,
      message,
      isGone: false,
    };
    if (known === undefined && isTaken) {
      world.log = [...world.log, entry];
      if (adds) world.members = [...world.members, newMember(nameAt(world.members.length), entry)];
    }
    const number = known?.number ?? (isTaken ? entry.number : undefined);
    if (request.isForgotten && message !== undefined) return;
    member.answers = [...member.answers, { ...request, number }];
  }

  answers(told?: number): void {
    const member = this.#member;
    const [answer, ...others] = member.answers;
    if (answer === undefined) return;
    member.answers = others;
    const { counter, epoch, message, number } = answer;
    if (number === undefined) {
      if (message !== undefined) this.#push({ type: "dropped", counter, epoch, mayStand: false });
      return;
    }
    const sequence = told ?? number;
    if (message === undefined) {
      member.epoch = Math.max(member.epoch, epoch);
      return this.#push({ type: "moved", sequence, epoch });
    }
    member.view = [...member.view, {
      number: sequence,
      epoch,
      sender: member.name,
      message,
      isGone: false,
    }];
    this.#push({ type: "stands", counter, epoch, sequence });
  }

  /** The first answer does not come: the same bytes go again. */
  loses(): void {
    const member = this.#member;
    const [answer, ...others] = member.answers;
    if (answer === undefined) return;
    const { number: _, ...request } = answer;
    member.answers = others;
    member.requests = [request, ...member.requests];
    if (request.message !== undefined) {
      this.#departs(request.counter, request.epoch, request.message);
    }
  }

  givesUp(): void {
    const member = this.#member;
    const [request, ...others] = member.requests;
    if (request === undefined) return;
    member.requests = [{ ...request, isForgotten: true }, ...others];
    member.isWhole = false;
    this.#push({ type: "dropped", counter: request.counter, epoch: request.epoch, mayStand: true });
  }

  delivers(): void {
    const next = nextOf(this.#member, this.#world.log);
    if (next !== undefined) this.#reads(next, this.#member.renumbered[next.number] ?? next.number);
  }

  #reads({ epoch, sender, message, isGone, number: at }: Entry, number: number): void {
    const member = this.#member;
    member.readBefore = member.read;
    member.read = Math.max(member.read, at);
    if (message === undefined) member.epoch = Math.max(member.epoch, epoch);
    if (isGone) {
      member.isWhole = false;
      return this.#push({ type: "passed", sequence: number, epoch, isGap: true });
    }
    if (message === undefined) return this.#push({ type: "passed", sequence: number, epoch });
    this.#push({ type: "opened", sender, sequence: number, epoch, word: message.word });
    member.view = [...member.view, { number, epoch, sender, message, isGone }];
    member.heard = [...member.heard, { sender, epoch, message }];
    this.#push({ type: "passed", sequence: number, epoch, digest: digestOf(message.id) });
  }

  /** For everybody who has not read it. */
  drops({ number: dropped }: Entry): void {
    const world = this.#world;
    world.log = world.log.map((entry) =>
      entry.number === dropped ? { ...entry, isGone: true } : entry
    );
  }

  // Lies

  hides(): void {
    const next = nextOf(this.#member, this.#world.log);
    if (next === undefined) return;
    this.#world.isLying = true;
    this.#member.read = next.number;
  }

  /** The next two of one epoch, each at the other's place. */
  swaps([first, second]: readonly [Entry, Entry]): void {
    this.#world.isLying = true;
    this.#reads(second, first.number);
    this.#member.read = first.number;
    this.#reads(first, second.number);
    this.#member.read = second.number;
  }

  /** A message of somebody else stands where ours does, and ours there. */
  misplaces({ number }: Entry): void {
    const member = this.#member;
    const ours = member.answers[0]?.number;
    if (ours === undefined) return;
    this.#world.isLying = true;
    member.renumbered = { ...member.renumbered, [number]: ours };
    this.answers(number);
  }
}

/** The next two that a member reads, if they are messages of one epoch. */
function nextTwo(member: Member, log: readonly Entry[]): readonly [Entry, Entry] | undefined {
  const first = nextOf(member, log);
  const second = first && nextOf({ ...member, read: first.number }, log);
  if (first?.message === undefined || second?.message === undefined) return undefined;
  return first.epoch === second.epoch && !first.isGone && !second.isGone
    ? [first, second]
    : undefined;
}

function movesOf(state: SeenState, machine: OrderMachine): readonly Move<SeenState>[] {
  const moves: Move<SeenState>[] = [];
  const { left, log } = state;
  for (const [at, member] of state.members.entries()) {
    const add = (
      what: string,
      kind: Kind,
      act: (acting: Acting) => void,
      budget?: keyof SeenBudgets,
    ): void => {
      if (budget !== undefined && left[budget] === 0) return;
      moves.push({
        name: `${at}: ${what}`,
        kind,
        isBudgeted: budget !== undefined,
        act: (world) => {
          if (budget !== undefined) world.left[budget]--;
          act(new Acting(world, at, machine));
        },
      });
    };
    const { requests: [request], answers: [answer], disk, read, readBefore } = member;
    const commits = [...member.requests, ...member.answers].some(({ message }) =>
      message === undefined
    );
    add("sends", "program", (acting) => acting.send(), "send");
    if (!commits) add("commits", "program", (acting) => acting.commit(false), "commit");
    if (!commits && state.members.length < names.length) {
      add("adds somebody", "program", (acting) => acting.commit(true), "join");
    }
    if (disk.position < read) add("writes", "program", (acting) => acting.write(read), "write");
    if (disk.position < readBefore) {
      add("writes late", "program", (acting) => acting.write(readBefore), "write");
    }
    add("is closed, and starts", "program", (acting) => acting.close(), "close");
    add("is killed, and starts", "fault", (acting) => acting.kill(), "kill");
    if (request !== undefined) {
      add("the relay has its request", "answer", (acting) => acting.takes());
      if (request.message !== undefined && !request.isForgotten) {
        add("gives up", "fault", (acting) => acting.givesUp(), "giveUp");
      }
    }
    if (answer !== undefined) {
      add("is answered", "answer", (acting) => acting.answers());
      add("an answer is lost", "fault", (acting) => acting.loses(), "lost");
      const ours = answer.number ?? 0;
      const behind = log.find(({ number, sender }) => number > ours && sender !== member.name);
      const other = ours > read && behind?.message !== undefined && behind.epoch === answer.epoch
        ? behind
        : undefined;
      if (
        answer.message !== undefined && other !== undefined &&
        Object.keys(member.renumbered).length === 0
      ) {
        add("is told another place", "fault", (acting) => acting.misplaces(other), "misplace");
      }
    }
    const next = nextOf(member, log);
    if (next === undefined) continue;
    add("reads", "notice", (acting) => acting.delivers());
    if (next.message === undefined || next.isGone) continue;
    add("is not shown a message", "fault", (acting) => acting.hides(), "hide");
    const two = nextTwo(member, log);
    if (two !== undefined) {
      add("is shown two the other way", "fault", (acting) => acting.swaps(two), "swap");
    }
    add("the relay gives its next message up", "fault", (acting) => acting.drops(next), "gap");
  }
  return moves;
}

/**
 * The member of the small world of reading: the real machine and the real counters of senders,
 * beside a disk, an inbox and a log of letters.
 */
import { type AgentId, foundingEpoch, generationOf, parseAgentId } from "../../proto/mod.ts";
import { calmPermit } from "../../sdk/channel/testing/calm_agent.ts";
import {
  isAfterEnd,
  landmarksOf,
  type LogEntry,
  oldestEpochOf,
  positionOf,
  type ReadingEffect,
  type ReadingEvent,
  type ReadingFacts,
  type ReadingFinding,
  type ReadingRecords,
  type ReadingState,
  restoreReading,
  Senders,
  stepReading,
} from "../../sdk/channel/testing/reading.ts";

export interface ReadingBudgets {
  /** Bob sends, or carol does. */
  message: number;
  carol: number;
  /** Bob commits, removes carol, begins a generation. */
  commit: number;
  removal: number;
  founding: number;
  /** We commit; the answer is lost. */
  own: number;
  lost: number;
  lie: number;
  busy: number;
  broken: number;
  kill: number;
}

export type ReadingStepOf = typeof stepReading;

export interface ReadingSetting {
  /** Messages for which there is room. */
  readonly room?: number;
  /** The relay changes each commit, for ever. */
  readonly isLiar?: boolean;
  readonly step?: ReadingStepOf;
  /** Keys of epochs before this one are deleted with a write. */
  readonly oldestEpoch?: typeof oldestEpochOf;
  /** A commit, its landmarks and the keys of its epoch are one write. */
  readonly isOneWrite?: boolean;
}

/** An entry as its author made it. */
export interface Written {
  readonly kind: "message" | "commit" | "founding";
  readonly sequence: number;
  /** In which it was made. */
  readonly epoch: number;
  readonly sender: AgentId;
  /** The group in which it was made, and that to which it leads. */
  readonly group: string;
  readonly next: string;
  readonly counter: number;
  readonly removed: readonly AgentId[];
}

/** A lie is in how an entry is shown. */
export interface Shown extends Written {
  readonly lie?: "changed" | "unsigned" | "epoch" | "forged" | "rival";
}

interface Arrived {
  readonly sender: AgentId;
  readonly counter: number;
  readonly epoch: number;
}

export interface Disk {
  readonly records: ReadingRecords;
  /** The groups of which it has keys, the present one last. */
  readonly groups: readonly Group[];
  /** Messages that the program is done with, by their places. */
  readonly done: readonly number[];
  readonly senders: ReadonlyMap<AgentId, SenderRecord>;
  readonly open: Own | undefined;
}

export interface Group {
  readonly epoch: number;
  readonly name: string;
}

type SenderRecord = NonNullable<ReturnType<Senders["record"]>>;

/** A commit of ours, of which we have not heard. */
export interface Own {
  readonly epoch: number;
  readonly next: string;
}

/** `isAnew`: with a new connection, which asks what became of our commits. */
export interface Fetch {
  readonly afterMs: number;
  readonly isAnew: boolean;
}

export interface Agent {
  reading: ReadingState;
  disk: Disk;
  /** The disk with which this life began. */
  readonly born: Disk;
  groups: readonly Group[];
  /** Which the machine reads. */
  entry: Shown | undefined;
  /** Its work that is not over. */
  work: ReadingEffect | undefined;
  inbox: readonly Shown[];
  /** In this life. */
  arrived: readonly Arrived[];
  done: readonly number[];
  /** Keys that it has used in this life. */
  used: readonly number[];
  open: Own | undefined;
  /** A fetch waits, for a time or for the relay. */
  fetch: Fetch | undefined;
  isRefilling: boolean;
  isDirty: boolean;
  ended: ReadingFinding["is"] | undefined;
}

export interface ReadingWorldState {
  log: readonly Written[];
  agent: Agent;
  /** On their way. */
  pipe: readonly Shown[];
  nowMs: number;
  /** Entries that the relay left out, or put at another place. */
  hidden: readonly number[];
  /** How many the relay has told. */
  lies: number;
  /** Messages of which the reader was told that they cannot be read. */
  told: readonly number[];
  fault: string | undefined;
  readonly left: ReadingBudgets;
}

export const [us, bob, carol] = [
  parseAgentId("u".repeat(22)),
  parseAgentId("b".repeat(22)),
  parseAgentId("c".repeat(22)),
];
export const start: Group = Object.freeze({ epoch: 1, name: "g" });
const nobody: readonly AgentId[] = Object.freeze([]);

export function restored(disk: Disk, nowMs: number): Agent {
  return {
    reading: restoreReading(disk.records, nowMs),
    disk,
    born: disk,
    groups: disk.groups,
    entry: undefined,
    work: undefined,
    inbox: [],
    arrived: [],
    done: disk.done,
    used: disk.done,
    open: disk.open,
    fetch: { afterMs: 0, isAnew: true },
    isRefilling: false,
    isDirty: false,
    ended: undefined,
  };
}

export function presentOf({ groups }: Agent): Group {
  return groups.at(-1) ?? start;
}

export function endOf({ log }: ReadingWorldState): Group {
  const last = log.findLast(({ kind }) => kind !== "message");
  return last === undefined ? start : { epoch: nextEpochOf(last), name: last.next };
}

function nextEpochOf({ kind, epoch }: Written): number {
  return kind === "founding" ? foundingEpoch(generationOf(epoch) + 1) + 1 : epoch + 1;
}

/**
 * The counters of senders as they are now: made again of what has arrived, because a state is plain
 * data.
 */
export function sendersOf({ born, arrived }: Agent): Senders {
  const senders = new Senders(born.senders);
  for (const { sender, ...counted } of arrived) senders.take(sender, counted);
  return senders;
}

/** A rival is a commit that a member made, and that the log does not hold. */
export function shownAs(entry: Written, lie: Shown["lie"]): Shown {
  if (lie === undefined) return entry;
  return Object.freeze({ ...entry, lie, ...(lie === "rival" && { next: `${entry.next}r` }) });
}

export type Answer = "honest" | "busy" | "hidden" | "another";

export function lose(state: ReadingWorldState): void {
  state.pipe = [];
  state.agent.fetch = { afterMs: 0, isAnew: true };
}

export function append(
  state: ReadingWorldState,
  kind: Written["kind"],
  sender: AgentId,
  { counter = 0, removed = nobody }: {
    readonly counter?: number;
    readonly removed?: readonly AgentId[];
  } = {},
): Written {
  const { epoch, name } = endOf(state);
  const sequence = state.log.length + 1;
  const next = kind === "message" ? name : `${name}.${sequence}`;
  const written: Written = Object.freeze({
    kind,
    sequence,
    epoch,
    sender,
    group: name,
    next,
    counter,
    removed,
  });
  state.log = [...state.log, written];
  if (state.agent.fetch === undefined && sender !== us) state.pipe = [...state.pipe, written];
  return written;
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const noBytes = new Uint8Array(0);

function noticeOf({ kind, sequence, epoch, sender, next, lie }: Shown): LogEntry {
  const operation =
    { message: "DeliverMessage", commit: "DeliverCommit", founding: "DeliverFounding" }[kind];
  const bytes = {
    message: { ciphertext: noBytes },
    commit: { commit: bytesOf(next) },
    founding: { founding: { generation: generationOf(epoch) + 1 } },
  }[kind];
  const place = kind === "founding" ? foundingEpoch(generationOf(epoch) + 1) : epoch;
  const body = Object.freeze({
    sequence,
    epoch: lie === "epoch" ? place + 1 : place,
    sender,
    ...bytes,
  });
  // cast: nobody looks at the rest of it
  return Object.freeze({ kind: "notice", operation, body }) as unknown as LogEntry;
}

/** Steps of the agent, and their effects. */
export class Acting {
  readonly #state: ReadingWorldState;
  readonly #agent: Agent;
  readonly #setting: ReadingSetting;

  constructor(state: ReadingWorldState, setting: ReadingSetting) {
    this.#state = state;
    this.#agent = state.agent;
    this.#setting = setting;
  }

  read(entry: Shown): void {
    this.#agent.entry = entry;
    this.#step({ type: "entry", entry: noticeOf(entry), permit: calmPermit() });
  }

  /** Behind what is being read. The connection asks for our open commit first. */
  subscribe(): void {
    const agent = this.#agent;
    const { log } = this.#state;
    const isAnew = agent.fetch?.isAnew === true;
    if (isAnew) this.settleOwn();
    agent.fetch = undefined;
    const received = agent.reading.place.received ?? 0;
    this.#state.pipe = log.filter(({ sequence, sender }) => sequence > received && sender !== us);
    // The connection compares the commit that began our epoch, and the log's epoch when nothing is
    // left to read.
    const isBehind = this.#state.pipe.length === 0 &&
      presentOf(agent).epoch !== endOf(this.#state).epoch;
    if (isAnew && (this.#isForked() || isBehind)) agent.ended = "out_of_step";
  }

  #isForked(): boolean {
    const { epoch, name } = presentOf(this.#agent);
    const began = this.#state.log.find((each) =>
      each.kind !== "message" && nextEpochOf(each) === epoch
    );
    return began !== undefined && began.next !== name;
  }

  doneWith(): void {
    const agent = this.#agent;
    const [item] = agent.inbox;
    if (item === undefined) return;
    agent.inbox = agent.inbox.slice(1);
    agent.done = [...agent.done, item.sequence].sort((a, b) => a - b);
    agent.isDirty = true;
    if (agent.inbox.length === 0 && agent.reading.passedOver !== undefined) {
      agent.isRefilling = true;
    }
    this.#refill();
    this.#writeAtOnce();
  }

  /** The log goes on with what was passed over, behind what is being read. */
  #refill(): void {
    const agent = this.#agent;
    if (!agent.isRefilling || agent.work !== undefined) return;
    agent.isRefilling = false;
    this.#step({ type: "room" });
  }

  /**
   * Position, landmarks, senders, and what the program is done with: in one write. Keys that are of
   * no use go behind it.
   */
  write(): void {
    const agent = this.#agent;
    const { oldestEpoch = oldestEpochOf } = this.#setting;
    const facts = this.#facts();
    agent.isDirty = false;
    const senders = new Senders(agent.born.senders);
    const records = new Map(agent.born.senders);
    for (
      const arrival of agent.arrived.map(({ sender, ...counted }) => senders.take(sender, counted))
    ) {
      if (this.#isDone(arrival)) senders.done(arrival);
      const record = senders.record(arrival.sender);
      if (record !== undefined) records.set(arrival.sender, record);
    }
    const before = oldestEpoch(agent.reading, facts);
    agent.groups = agent.groups.filter(({ epoch }, at) =>
      epoch >= before || at === agent.groups.length - 1
    );
    agent.disk = Object.freeze({
      records: {
        position: positionOf(agent.reading, facts),
        landmarks: landmarksOf(agent.reading),
        joinedEpoch: 1,
      },
      groups: agent.groups,
      done: agent.done,
      senders: records,
      open: agent.open,
    });
  }

  #isDone(arrival: Arrived): boolean {
    const isIt = ({ kind, sender, counter }: Written): boolean =>
      kind === "message" && sender === arrival.sender && counter === arrival.counter;
    return this.#agent.done.includes(this.#state.log.find(isIt)?.sequence ?? 0);
  }

  /** Without kills nobody can tell when it is written. */
  #writeAtOnce(): void {
    if (this.#agent.isDirty && this.#state.left.kill === 0 && this.#agent.work === undefined) {
      this.write();
    }
  }

  enterOwn({ epoch, next }: Own, sequence: number): void {
    this.#agent.open = undefined;
    this.#enter({ epoch: epoch + 1, name: next }, {
      isOwn: true,
      sequence,
      epoch,
      hash: bytesOf(next),
      silent: nobody,
    });
  }

  settleOwn(): boolean {
    const { open } = this.#agent;
    const held = open &&
      this.#state.log.find(({ sender, next }) => sender === us && next === open.next);
    if (open === undefined) return false;
    this.#agent.open = undefined;
    if (held === undefined || presentOf(this.#agent).epoch !== open.epoch) return false;
    this.enterOwn(open, held.sequence);
    return true;
  }

  /** The group moves: its keys and the landmarks are one write. The position is written later. */
  #enter(
    group: Group,
    by: Omit<Extract<ReadingEvent, { type: "moved" }>["by"], "founded">,
  ): void {
    const agent = this.#agent;
    const { step = stepReading, isOneWrite = true } = this.#setting;
    agent.groups = [...agent.groups, Object.freeze(group)];
    const { isLandmark } = step(
      agent.reading,
      { type: "moved", by: { ...by, founded: undefined } },
      this.#facts(),
    );
    const { records } = agent.disk;
    const landmarks = isLandmark && isOneWrite ? landmarksOf(agent.reading) : records.landmarks;
    agent.disk = Object.freeze({
      ...agent.disk,
      groups: agent.groups,
      records: { ...records, landmarks },
      open: undefined,
    });
  }

  /** The end of its work. */
  end(answer: Answer): void {
    const { work } = this.#agent;
    if (work === undefined || !("job" in work)) return;
    const event = this.#endOf(work, answer);
    this.#agent.work = undefined;
    this.#step(event);
    this.#refill();
    this.#writeAtOnce();
  }

  #endOf(work: Extract<ReadingEffect, { readonly job: number }>, answer: Answer): ReadingEvent {
    const { job } = work;
    const entry = this.#agent.entry;
    switch (work.type) {
      case "open":
        return {
          type: "opened",
          job,
          as: { kind: this.#opened(entry), reason: "the tag is wrong" },
        };
      case "follow":
        return { type: "followed", job, as: this.#followed(entry) };
      case "find":
        return this.#found(job, work.epoch, answer);
      case "explain":
        if (answer === "busy") return { type: "explained", job, as: "unknown" };
        return { type: "explained", job, as: this.settleOwn() ? "settled" : "not_ours" };
      case "enter":
        if (entry !== undefined) this.#begin(entry);
        return { type: "done", job };
      default:
        return { type: "done", job };
    }
  }

  #opened(entry: Shown | undefined): string {
    if (entry === undefined || entry.lie !== undefined) return "undecryptable";
    const group = this.#agent.groups.find(({ epoch }) => epoch === entry.epoch);
    if (group === undefined) return "stale";
    if (group.name !== entry.group) return "undecryptable";
    if (this.#agent.used.includes(entry.sequence)) return "duplicate";
    this.#agent.used = [...this.#agent.used, entry.sequence].sort((a, b) => a - b);
    return "message";
  }

  #followed(entry: Shown | undefined): Extract<ReadingEvent, { type: "followed" }>["as"] {
    const present = presentOf(this.#agent);
    if (entry === undefined || entry.lie === "changed" || entry.lie === "epoch") {
      return { kind: "misattributed" };
    }
    if (entry.lie === "unsigned") return { kind: "unsigned" };
    if (entry.sender === us) return { kind: "own" };
    if (entry.epoch !== present.epoch) return { kind: "misattributed" };
    if (entry.group !== present.name) return { kind: "forked" };
    const { epoch, sequence, next, removed } = entry;
    this.#enter({ epoch: epoch + 1, name: next }, {
      isOwn: false,
      sequence,
      epoch,
      hash: bytesOf(next),
      silent: removed,
    });
    return { kind: "commit", epoch: epoch + 1 };
  }

  #begin(entry: Shown): void {
    const { epoch: before } = presentOf(this.#agent);
    const epoch = nextEpochOf(entry);
    const { sequence, next } = entry;
    this.#enter({ epoch, name: next }, {
      isOwn: false,
      sequence,
      epoch: before,
      hash: undefined,
      silent: nobody,
    });
    this.#step({ type: "founded", sequence, epoch: epoch - 1 });
    this.#agent.isDirty = true;
    this.write();
  }

  #found(job: number, epoch: number, answer: Answer): ReadingEvent {
    if (answer === "busy") return { type: "unheard", job };
    const logEpoch = endOf(this.#state).epoch;
    const held = this.#state.log.find((each) => each.kind === "commit" && each.epoch === epoch);
    if (answer === "hidden" || (answer === "honest" && held === undefined)) {
      return {
        type: "found",
        job,
        found: { epoch: answer === "hidden" ? Math.min(epoch, logEpoch) : logEpoch },
      };
    }
    const commitHash = bytesOf(answer === "another" ? "nothing" : held?.next ?? "");
    return {
      type: "found",
      job,
      found: { epoch: logEpoch, commit: { sequence: 0, commitHash, sender: bob, timeMs: 0 } },
    };
  }

  #step(event: ReadingEvent): void {
    const { step = stepReading } = this.#setting;
    for (const effect of step(this.#agent.reading, event, this.#facts()).effects) {
      this.#perform(effect);
    }
  }

  #perform(effect: ReadingEffect): void {
    const agent = this.#agent;
    if ("job" in effect) {
      agent.work = Object.freeze({ ...effect });
      return;
    }
    switch (effect.type) {
      case "take":
        return this.#take(agent.entry);
      case "passed":
        agent.isDirty = true;
        return this.#writeAtOnce();
      case "unreadable":
      case "report":
        return this.#tell(agent.entry?.sequence ?? 0);
      case "finding":
        return this.#find(effect.finding);
    }
  }

  #tell(sequence: number): void {
    const { told } = this.#state;
    if (!told.includes(sequence)) this.#state.told = [...told, sequence].sort((a, b) => a - b);
  }

  /** The message is for the inbox, if its counter did not come before. */
  #take(entry: Shown | undefined): void {
    const agent = this.#agent;
    if (entry === undefined) return;
    const { sender, counter, epoch, sequence } = entry;
    if (isAfterEnd(agent.reading.endings, sender, { counter, epoch })) return this.#tell(sequence);
    if (sendersOf(agent).judge(sender, { counter, epoch }) === "duplicate") return;
    agent.arrived = [...agent.arrived, { sender, counter, epoch }];
    if (agent.done.includes(sequence) || agent.inbox.some((each) => each.sequence === sequence)) {
      this.#state.fault = "S6: a message is shown twice";
    }
    agent.inbox = [...agent.inbox, entry];
  }

  #find(finding: ReadingFinding): void {
    const agent = this.#agent;
    if (finding.is === "fetch") {
      agent.fetch ??= { afterMs: finding.afterMs, isAnew: false };
      this.#state.pipe = [];
    } else if (
      finding.is === "out_of_step" || finding.is === "stopped" || finding.is === "removed"
    ) {
      agent.ended = finding.is;
    }
  }

  #facts(): ReadingFacts {
    const agent = this.#agent;
    const present = presentOf(agent);
    const oldest = agent.inbox[0];
    const { room = 8 } = this.#setting;
    return {
      agentId: us,
      nowMs: this.#state.nowMs,
      epoch: present.epoch,
      began: agent.groups.at(-2)?.epoch === present.epoch - 1 ? bytesOf(present.name) : undefined,
      stop: undefined,
      foreign: undefined,
      durable: agent.disk.records.position?.sequence ?? 0,
      oldest: oldest && { sequence: oldest.sequence, epoch: oldest.epoch },
      isFull: agent.inbox.length >= room,
      isRead: true,
      unread: agent.inbox.length,
      headerOf: () => ({ epoch: agent.entry?.epoch ?? 0, authenticatedData: noBytes }),
      // cast: nobody looks at the rest of it
      aadOf: () => ({ counter: agent.entry?.counter ?? 0, count: 1 } as never),
      judge: (sender, counted) => sendersOf(agent).judge(sender, counted),
      highest: (sender, epoch) => sendersOf(agent).highest(sender, epoch),
      adds: () => false,
      hasLeaf: () => true,
      judgeFounding: () =>
        agent.entry?.lie === "forged" ? { kind: "forged", reason: "a lie" } : { kind: "ahead" },
      isEntered: () => agent.entry?.lie !== "forged",
      hashOf: (commit) => commit,
    };
  }
}

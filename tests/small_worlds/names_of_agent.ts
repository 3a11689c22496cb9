/**
 * The names of one agent are the real machine; its channels' machines, its disk and the relay's
 * directory are letters. Two programs of one process call it, members let the agent in and remove
 * it, answers are lost or late, one word of the relay may be false, writes of an erasure fail, or
 * the disk refuses one and goes on, and the process is killed between any two steps.
 */
import {
  copyNames,
  forgetNames,
  type NameCall,
  type NameCallOutcome,
  type NameJob,
  type NameJobResult,
  type NameRequest as MachineRequest,
  type NamesEffect,
  type NamesEvent,
  type NamesFacts,
  type NamesState,
  type NamesStep,
  type NamesWrite,
  restoreNames,
  stepNames,
} from "../../sdk/channel/testing/names.ts";
import type { ChannelId, ChannelName } from "../../proto/mod.ts";
import {
  addAgent,
  addChannel,
  callDirectory,
  closeChannel,
  type Directory,
  isMember,
  newDirectory,
  removeAgent,
  type Reply,
  type Request,
} from "./directory_of_letters.ts";
import type { Move, World } from "./explore.ts";
import { hashBy, isSame, Renaming } from "./plain_state.ts";

/** How often each may still happen. */
export interface NameBudgets {
  /** Of the programs. */
  calls: number;
  kill: number;
  /** An answer, before or after the relay has acted. */
  lost: number;
  /** The relay says of a channel that it does not exist. */
  lie: number;
  /**
   * A job fails: a write of an erasure, reading the records, making a group, the end of a machine.
   */
  fail: number;
  /** The disk refuses the write of a step, and goes on. */
  unwritten: number;
  /** A commit removes the agent. */
  removed: number;
  /** A machine cannot go on. */
  stuck: number;
  /** A member lets the agent in. */
  let: number;
  /** Another owner closes a channel. */
  closed: number;
  /** The client is closed. */
  finish: number;
  /** The relay acts on a request whose sender waits for no answer any more. */
  late: number;
}

export type Called = "create" | "join" | "open" | "leave" | "close" | "invite";

/** Each can be taken away, as it was missing once; then the world finds it. */
export interface NameGuards {
  /** Writes that a machine has collected are dropped when it is ended. */
  readonly dropsCollected: boolean;
  /** Reading, or erasing, what a machine has worked on waits for its last write. */
  readonly waitsForRest: boolean;
  /** The write of a membership withdraws the note of an erasure of its channel. */
  readonly withdrawsNote: boolean;
  /** An answer to a leave is taken by any machine of its channel, by the id. */
  readonly takesOthersAnswers: boolean;
}

const allGuards: NameGuards = {
  dropsCollected: true,
  waitsForRest: true,
  withdrawsNote: true,
  takesOthersAnswers: false,
};

export type NamesStepper = typeof stepNames;

export interface NamesSetting {
  readonly begins: "free" | "open" | "keyless";
  readonly left: Partial<NameBudgets>;
  readonly kinds?: readonly Called[];
  /** Another account has a channel of the first name. */
  readonly hasOther?: boolean;
  /** The agent's pass is for none of its channels: the relay does not know them. */
  readonly isHidden?: boolean;
  /** Of each program. */
  readonly names?: readonly [string, string];
  readonly guards?: Partial<NameGuards>;
  readonly step?: NamesStepper;
}

interface Kept {
  name: string;
  seat: number;
  hasKeys: boolean;
  isNoted: boolean;
  isStuck: boolean;
}

interface Machine {
  readonly membership: number;
  readonly channelId: string;
  seat: number;
  isStuck: boolean;
  /** Operations that leave it, and the call by which they do. */
  leaving: number[];
  saying: number | undefined;
  isDirty: boolean;
  isEnding: boolean;
  /** It has said so, and has its last write to make. */
  isOver: boolean;
}

interface Call {
  readonly call: number;
  /** Undefined for one of the names. */
  readonly machine: number | undefined;
  readonly request: Request;
  reply?: Reply;
}

interface Underway {
  readonly job: number;
  readonly work: NameJob;
  /** Of the record that it began with. */
  readonly seat: number | undefined;
  /** The one that was here when it began. */
  readonly welcome: Directory["welcome"];
}

interface Program {
  readonly name: string;
  operation: number;
  what: Called | undefined;
  /** Of `invite`: it asks, and names the leaf of its check. */
  mayAsk: boolean;
  before: number | undefined;
  handle: number | undefined;
}

export interface NamesWorld {
  state: NamesState;
  readonly disk: {
    readonly channels: Record<string, Kept>;
    readonly nonces: Record<string, string>;
  };
  readonly directory: Directory;
  machines: Machine[];
  calls: Call[];
  /** On their way, and nobody waits for an answer. */
  late: readonly Request[];
  jobs: Underway[];
  /** Made by jobs, and not written yet. */
  made: {
    readonly job: number;
    readonly channelId: string;
    readonly seat: number | undefined;
    readonly isCreated: boolean;
  }[];
  readonly programs: Program[];
  readonly isHidden: boolean;
  /** Of notes on disk: nothing of it is written any more. */
  notedSeats: number[];
  /** Channels that were answered to a creation when they were closed, or left, already. */
  dead: string[];
  readonly left: NameBudgets;
  /** The next write will be refused. */
  isRefusing: boolean;
  numbers: number;
  fault: string | undefined;
}

const none: NameBudgets = {
  calls: 0,
  kill: 0,
  lost: 0,
  lie: 0,
  fail: 0,
  unwritten: 0,
  removed: 0,
  stuck: 0,
  let: 0,
  closed: 0,
  finish: 0,
  late: 0,
};
const usual: readonly Called[] = ["create", "join", "open", "leave", "close"];
const first = "a";

export function namesOfAgent(setting: NamesSetting): World<NamesWorld> {
  const { kinds = usual, guards, step = stepNames } = setting;
  const host = (world: NamesWorld): Host => new Host(world, { ...allGuards, ...guards }, step);
  return {
    start: startOf(setting, host),
    view,
    left: ({ left }) => Object.values(left),
    moves: (world) => new Moves(world, host, kinds).all(),
    broken,
    isGood,
  };
}

function startOf(
  { begins, left, hasOther, isHidden = false, names = [first, first] }: NamesSetting,
  host: Acting,
): NamesWorld {
  const directory = newDirectory();
  const channels: Record<string, Kept> = {};
  if (begins !== "free") {
    const id = addChannel(directory, first, true);
    const seat = addAgent(directory, id);
    channels[id] = {
      name: first,
      seat,
      hasKeys: begins === "open",
      isNoted: false,
      isStuck: false,
    };
  }
  if (hasOther === true) addChannel(directory, first, false);
  const world: NamesWorld = {
    state: restoreNames({ channels: [], nonces: {} }),
    disk: { channels, nonces: {} },
    directory,
    machines: [],
    calls: [],
    late: [],
    jobs: [],
    made: [],
    programs: names.map(programOf),
    isHidden,
    notedSeats: [],
    dead: [],
    left: { ...none, ...left },
    isRefusing: false,
    numbers: 0,
    fault: undefined,
  };
  world.state = restored(world);
  if (begins !== "open") return world;
  // Opened already, and both programs have it.
  const opening = host(world);
  opening.call(0, { type: "open", orCreates: false });
  const [job] = world.jobs;
  if (job !== undefined) opening.finish(job);
  const [{ handle } = { handle: undefined }] = world.programs;
  for (const program of world.programs) if (program.name === first) program.handle = handle;
  return world;
}

function programOf(name: string): Program {
  return {
    name,
    operation: 0,
    what: undefined,
    mayAsk: false,
    before: undefined,
    handle: undefined,
  };
}

function restored({ disk }: NamesWorld): NamesState {
  const channels = Object.entries(disk.channels).map(([id, { name, hasKeys, isNoted }]) => ({
    channelId: id as unknown as ChannelId, // cast: a letter
    name: name as unknown as ChannelName, // cast: the same
    hasKeys,
    isNoted,
  }));
  return restoreNames({ channels, nonces: disk.nonces });
}

/** Numbers by which only things are named, and those of the relay. */
const groups: ReadonlyMap<string, number> = new Map([
  ..."call job membership leaf before former made operation waiting also leaving saying overwritten handle machine"
    .split(" ")
    .map((key) => [key, 1] as const),
  ["seat", 2],
  ["notedSeats", 2],
]);
/** States that differ in nothing but such numbers are the same. */
const reading = new Renaming(undefined, {
  isSorted: false,
  groups,
  counters: new Set(["numbers", "seats"]),
});

function view({ left: _, ...world }: NamesWorld): unknown {
  const { state, programs, notedSeats, disk, machines } = world;
  const handles = programs.map(({ handle }) => handle);
  const overwritten = state.overwritten.filter((each) => handles.includes(each));
  // A seat that nobody has any more is noted for nothing.
  const held = [...Object.values(disk.channels), ...machines].map(({ seat }) => seat);
  const noted = notedSeats.filter((seat) => held.includes(seat));
  return hashBy({ ...world, state: { ...state, overwritten }, notedSeats: noted }, reading);
}

function broken(world: NamesWorld): string | undefined {
  const { state, disk, machines, fault } = world;
  if (fault !== undefined) return fault;
  const ids = new Set<string>();
  for (const { slot } of Object.values(state.names).flatMap((each) => each ?? [])) {
    if (!("channelId" in slot)) continue;
    if (ids.has(slot.channelId)) return "S4: one channel is under two names";
    ids.add(slot.channelId);
    const kept = disk.channels[slot.channelId];
    if (slot.at !== "open") continue;
    const machine = machines.find(({ membership }) => membership === slot.membership);
    if (machine === undefined) return "L2: a slot is open, and no machine works";
    if (kept?.hasKeys !== true || kept.seat !== machine.seat) {
      return "S4: an open membership is not on disk";
    }
    if (kept.isNoted) return "S4: an open membership has a note to erase it";
  }
  return isSame(lawOf(restored(world)), lawOf(forgetNames(state)))
    ? undefined
    : "S7: a process that starts is not as one that has forgotten what is in memory alone";
}

function lawOf(state: NamesState): readonly [number, number] {
  const leftovers = [...state.leftovers].sort((a, b) => a.channelId < b.channelId ? -1 : 1);
  return hashBy({ ...state, leftovers }, reading);
}

function isGood({ state, programs, jobs, machines, directory }: NamesWorld): boolean {
  if (state.stage === "finishing") return false;
  if (
    programs.some(({ what }) => what !== undefined) || jobs.length > 0 || state.closing.length > 0
  ) return false;
  if (
    Object.values(state.names).some((each) =>
      each?.turn !== undefined || (each?.waiting.length ?? 0) > 0
    )
  ) {
    return false;
  }
  return machines.every(({ channelId, seat, isStuck }) =>
    isStuck || isMember(directory, channelId, seat)
  );
}

type Acting = (world: NamesWorld) => Host;

/** Carries out what the machine says, and acts as the machines of the channels. */
class Host {
  readonly #world: NamesWorld;
  readonly #guards: NameGuards;
  readonly #step: NamesStepper;

  constructor(world: NamesWorld, guards: NameGuards, step: NamesStepper) {
    this.#world = world;
    this.#guards = guards;
    this.#step = step;
  }

  #fail(why: string): void {
    this.#world.fault ??= why;
  }

  /** None that the machine gives. */
  #number(): number {
    return 1_000_000 + ++this.#world.numbers;
  }

  #event(event: NamesEvent): void {
    const { machines, state } = this.#world;
    const unwritten: number[] = [];
    const facts: NamesFacts = {
      isStuck: (each) => machines.some(({ membership, isStuck }) => membership === each && isStuck),
      isHidden: () => this.#world.isHidden,
      nonce: freshNonce(this.#world),
      isUnwritten: (operation) => unwritten.includes(operation),
    };
    const isOver = state.stage === "finished";
    const before = copyNames(state);
    const step = this.#step(state, event, facts);
    if (step.write.length === 0 || !this.#world.isRefusing) return this.#carryOut(step, isOver);
    this.#world.isRefusing = false;
    unwritten.push(...step.write.map(({ operation }) => operation));
    this.#world.state = before;
    const without = this.#step(before, event, facts);
    if (without.write.some(({ operation }) => unwritten.includes(operation))) {
      this.#fail("L2: a step writes again what the disk has refused");
    }
    this.#carryOut(without, isOver);
  }

  #carryOut({ write, effects }: NamesStep, isOver: boolean): void {
    const isWork = write.length > 0 ||
      effects.some(({ type }) => type !== "settle" && type !== "finished");
    if (isOver && isWork) this.#fail("L2: work begins when the client has finished");
    for (const change of write) this.#write(change);
    for (const effect of effects) this.#perform(effect);
  }

  #write(change: NamesWrite): void {
    const { disk, machines, directory } = this.#world;
    switch (change.type) {
      case "nonce":
        if (change.nonce === undefined) delete disk.nonces[change.name];
        else disk.nonces[change.name] = change.nonce;
        return;
      case "no_record":
        delete disk.channels[change.channelId];
        return;
      case "membership": {
        const { name, channelId, isCreated, keyless } = change;
        const made = this.#world.made.find(({ job }) => job === change.made);
        this.#world.made = this.#world.made.filter((each) => each !== made);
        if (keyless !== undefined) delete disk.channels[keyless];
        const former = Object.entries(disk.channels).filter(([id, kept]) =>
          kept.name === name && !kept.isNoted && id !== channelId
        );
        if (former.length > 0) this.#fail("S4: a name has two channels on disk");
        const { isNoted = false, seat: before } = disk.channels[channelId] ?? {};
        if (before !== undefined && isMember(directory, channelId, before)) {
          this.#fail("S4: a membership in use is written over");
        }
        if (machines.some((machine) => machine.channelId === channelId)) {
          this.#fail("S4: a machine that works is written over");
        }
        if (isCreated) delete disk.nonces[name];
        if (made?.isCreated === true && this.#world.dead.includes(channelId)) {
          this.#fail("S4: a creation leads into a channel that was over");
        }
        const seat = made?.seat ?? 0;
        disk.channels[channelId] = {
          name,
          seat,
          hasKeys: true,
          isNoted: isNoted && !this.#guards.withdrawsNote,
          isStuck: false,
        };
        if (directory.welcome?.id === channelId && directory.welcome.seat === seat) {
          directory.welcome = undefined;
        }
      }
    }
  }

  #perform(effect: NamesEffect): void {
    const world = this.#world;
    switch (effect.type) {
      case "call":
        world.calls.push({
          call: effect.call,
          machine: undefined,
          request: this.#requestOf(effect.request),
        });
        return;
      case "job":
        return this.#begin(effect.job, effect.work);
      case "begin":
        return this.#work(effect.membership, effect.channelId);
      case "depart":
        return this.#depart(effect.membership, effect.operation);
      case "settle":
        return this.#settle(effect.operation, effect.result);
      case "finished":
    }
  }

  #requestOf(request: MachineRequest): Request {
    const { disk } = this.#world;
    return request.of === "LeaveChannel"
      ? {
        of: request.of,
        channelId: request.channelId,
        seat: disk.channels[request.channelId]?.seat ?? 0,
      }
      : request;
  }

  #begin(job: number, work: NameJob): void {
    const { disk, jobs, machines, directory } = this.#world;
    const seat = "channelId" in work ? disk.channels[work.channelId]?.seat : undefined;
    jobs.push({
      job,
      work,
      seat,
      welcome: work.of === "open_welcome" ? directory.welcome : undefined,
    });
    const isEnd = work.of === "retire" || (work.of === "erase" && work.step === "end");
    if (!isEnd) return;
    const machine = machines.find(({ membership }) => membership === work.membership);
    if (machine === undefined) return;
    if (this.#isReplaced(machine) && this.#isInUse(machine)) {
      this.#fail("S4: a membership in use is given up");
    }
    machine.isEnding = true;
    if (this.#guards.dropsCollected) machine.isDirty = false;
  }

  #isReplaced({ membership }: Machine): boolean {
    return Object.values(this.#world.state.names).some((each) =>
      each !== undefined && "membership" in each.slot && each.slot.membership === membership &&
      (each.turn?.at === "retiring" || (each.slot.at === "erasing" && each.slot.why === "replaced"))
    );
  }

  #isInUse({ channelId, seat, isStuck }: Machine): boolean {
    return !isStuck && isMember(this.#world.directory, channelId, seat);
  }

  #work(membership: number, channelId: string): void {
    const { disk, machines, state } = this.#world;
    if (state.stage !== "working") {
      return this.#fail("L2: a machine begins while the client is closed");
    }
    const { seat = 0, isStuck = false } = disk.channels[channelId] ?? {};
    machines.push({
      membership,
      channelId,
      seat,
      isStuck,
      leaving: [],
      saying: undefined,
      isDirty: false,
      isEnding: false,
      isOver: false,
    });
  }

  #depart(membership: number, operation: number): void {
    const { machines, calls } = this.#world;
    const machine = machines.find((each) => each.membership === membership);
    if (machine === undefined) {
      return this.#fail("L2: a leave is given to a machine that is not there");
    }
    machine.leaving.push(operation);
    if (machine.saying !== undefined) return;
    const { channelId, seat } = machine;
    machine.saying = this.#number();
    calls.push({
      call: machine.saying,
      machine: membership,
      request: { of: "LeaveChannel", channelId, seat },
    });
  }

  #settle(operation: number, result: NameCallOutcome): void {
    const program = this.#world.programs.find((each) =>
      each.what !== undefined && each.operation === operation
    );
    if (program === undefined) return this.#fail("L2: a call is settled twice");
    if (result.type === "may_ask") {
      [program.mayAsk, program.before] = [true, result.before];
      return;
    }
    this.#end(program);
    if (result.type === "opened") program.handle = result.membership;
  }

  #end(program: Program): void {
    program.what = undefined;
    program.mayAsk = false;
    program.operation = 0;
    program.before = undefined;
  }

  giveUp(at: number): void {
    const program = this.#world.programs[at];
    if (program !== undefined) this.#end(program);
  }

  /** Of a program. */
  call(at: number, by: WithoutOperation<NameCall> | { readonly type: "close_channel" }): void {
    const program = this.#world.programs[at];
    if (program === undefined) return;
    const operation = program.operation = this.#number();
    const name = program.name as unknown as ChannelName; // cast: a letter
    program.what = by.type === "close_channel"
      ? "close"
      : by.type === "check" || by.type === "invited"
      ? "invite"
      : by.type;
    program.mayAsk = false;
    if (by.type === "close_channel") return this.#event({ type: "close", name, operation });
    // cast: with its number it is one
    this.#event({ type: "called", name, by: { ...by, operation } as NameCall });
  }

  answer(call: Call, reply: Reply): void {
    const { calls, machines } = this.#world;
    this.#world.calls = calls.filter((each) => each !== call);
    if (call.machine === undefined) {
      if ("refused" in reply) {
        return this.#event({ type: "refused", call: call.call, code: reply.refused });
      }
      // cast: ids are letters
      return this.#event({ type: "answered", call: call.call, answer: reply as never });
    }
    const { takesOthersAnswers } = this.#guards;
    const machine = machines.find(({ saying, membership, channelId }) =>
      takesOthersAnswers
        ? "channelId" in call.request && call.request.channelId === channelId
        : saying === call.call && membership === call.machine
    );
    if (machine === undefined || machine.isEnding) return;
    machine.saying = undefined;
    const isHidden = this.#world.isHidden;
    if (!("refused" in reply) || (reply.refused === "not_found" && !isHidden)) {
      return this.gone(machine);
    }
    if (reply.refused === "state_conflict") this.stop(machine);
    const { leaving } = machine;
    machine.leaving = [];
    for (const operation of leaving) this.#settle(operation, { type: "failed", number: call.call });
  }

  /** Its machine ends: there is nothing more for it to do. */
  gone(machine: Machine): void {
    this.#remove(machine);
    this.#event({ type: "gone", membership: machine.membership, leaving: machine.leaving });
  }

  over(machine: Machine): void {
    this.#remove(machine);
    this.#event({ type: "over", membership: machine.membership, leaving: machine.leaving });
  }

  /** A last write that nobody has dropped is still to come. */
  #remove(machine: Machine): void {
    const world = this.#world;
    world.machines = world.machines.filter((each) => each !== machine);
    if (!machine.isDirty) return;
    world.machines.push({ ...machine, leaving: [], isOver: !machine.isEnding, isEnding: true });
  }

  stop(machine: Machine): void {
    machine.isStuck = true;
    const kept = this.#world.disk.channels[machine.channelId];
    if (kept !== undefined) kept.isStuck = true;
  }

  rejoin(machine: Machine): void {
    const { directory, disk } = this.#world;
    const { welcome } = directory;
    if (welcome === undefined) return;
    directory.welcome = undefined;
    machine.seat = welcome.seat;
    machine.isStuck = false;
    const { name = first } = disk.channels[machine.channelId] ?? {};
    disk.channels[machine.channelId] = {
      name,
      seat: machine.seat,
      hasKeys: true,
      isNoted: false,
      isStuck: false,
    };
    this.#event({ type: "rejoined", membership: machine.membership });
  }

  mayFinish({ work }: Underway): boolean {
    const isWork = work.of === "load" || work.of === "recall" ||
      (work.of === "erase" && work.step === "note");
    if (!isWork || !this.#guards.waitsForRest) return true;
    return !this.#world.machines.some(({ isOver, channelId }) =>
      isOver && channelId === work.channelId
    );
  }

  /** Of a machine. */
  touch(machine: Machine): void {
    const { channelId, seat, isOver } = machine;
    const { disk, notedSeats, machines } = this.#world;
    if (isOver) this.#world.machines = machines.filter((each) => each !== machine);
    if (notedSeats.includes(seat)) return this.#fail("S4: written after the note of its erasure");
    if (disk.channels[channelId]?.seat !== seat) {
      this.#fail("S4: written into the place of another membership, or into nothing");
    }
  }

  /** A job ends as it should. */
  finish({ job, work, seat, welcome }: Underway): void {
    const world = this.#world;
    const { disk, directory } = world;
    const end = (result: NameJobResult): void => this.#event({ type: "done", job, result });
    switch (work.of) {
      case "make":
        world.made.push({
          job,
          channelId: work.channelId,
          seat: directory.channels[work.channelId]?.seat,
          isCreated: true,
        });
        return this.#done(job, () => end({ of: "make" }));
      case "open_welcome": {
        if (welcome === undefined || work.from > 0) return this.fail({ job, work, seat, welcome });
        world.made.push({ job, channelId: welcome.id, seat: welcome.seat, isCreated: false });
        const channelId = welcome.id as unknown as ChannelId; // cast: a letter
        return this.#done(job, () => end({ of: "open_welcome", channelId, key: undefined, at: 0 }));
      }
      case "load":
        return this.#done(
          job,
          () => end({ of: "load", hasKeys: disk.channels[work.channelId]?.hasKeys === true }),
        );
      case "recall":
        return this.#done(job, () => end({ of: "recall", way: "leave" }));
      case "retire":
        return this.#done(job, () => {
          this.#rest(work.membership);
          end({ of: "retire" });
        });
      case "erase":
        return this.#done(job, () => {
          this.#erase(work, seat);
          end({ of: "erase" });
        });
    }
  }

  /** The last job that made something which nobody writes any more is not kept. */
  #done(job: number, act: () => void): void {
    const world = this.#world;
    world.jobs = world.jobs.filter((each) => each.job !== job);
    act();
    const held = Object.values(world.state.names).flatMap((each) => each?.turn ?? []);
    world.made = world.made.filter((each) =>
      held.some((turn) =>
        ("made" in turn && turn.made === each.job) || ("job" in turn && turn.job === each.job)
      )
    );
  }

  /** A machine that could not end as it should has ended. */
  fail({ job, work }: Underway): void {
    this.#done(job, () => {
      if (work.of === "retire" || (work.of === "erase" && work.step === "end")) {
        this.#rest(work.membership);
      }
      this.#event({ type: "failed", job });
    });
  }

  /** Its last words come first. */
  #rest(membership: number | undefined): void {
    const machine = this.#world.machines.find((each) => each.membership === membership);
    if (machine !== undefined) this.over(machine);
  }

  #erase(work: Extract<NameJob, { of: "erase" }>, seat: number | undefined): void {
    const { disk, notedSeats, directory, state } = this.#world;
    if (work.step === "end") return this.#rest(work.membership);
    const kept = disk.channels[work.channelId];
    if (kept !== undefined && kept.seat !== seat) {
      this.#fail("S4: an erasure takes another membership");
    }
    if (work.step === "rest") delete disk.channels[work.channelId];
    if (kept === undefined) return;
    if (work.step === "keys") kept.hasKeys = false;
    if (work.step !== "note") return;
    kept.isNoted = true;
    notedSeats.push(kept.seat);
    const erasing = Object.values(state.names).flatMap((each) =>
      each?.slot.at === "erasing" ? [each.slot] : []
    );
    const why = erasing.find(({ membership }) => membership === work.membership)?.why;
    if (why === "replaced" || !isMember(directory, work.channelId, kept.seat)) return;
    this.#fail(
      why === "closed"
        ? "S4: closeChannel takes another channel"
        : "S3: erased, and the relay counts the agent in",
    );
  }

  /** The client is closed: its machines end. */
  close(): void {
    this.#event({ type: "finish" });
    for (const machine of [...this.#world.machines]) if (!machine.isEnding) this.over(machine);
  }

  /** kill -9, and a start. */
  restart(): void {
    const world = this.#world;
    world.calls.forEach((call) => passAway(world, call));
    world.machines = [];
    world.calls = [];
    world.jobs = [];
    world.made = [];
    world.programs.forEach((program) => {
      this.#end(program);
      program.handle = undefined;
    });
    world.state = restored(world);
    this.#event({ type: "start" });
  }
}

/** The first that was never used. */
function freshNonce({ directory, disk }: NamesWorld): string {
  const used = new Set([...Object.keys(directory.nonces), ...Object.values(disk.nonces)]);
  for (let at = 1;; at++) if (!used.has(`n${at}`)) return `n${at}`;
}

type WithoutOperation<C> = C extends NameCall ? Omit<C, "operation"> : never;

class Moves {
  readonly #world: NamesWorld;
  readonly #host: Acting;
  readonly #kinds: readonly Called[];
  readonly #moves: Move<NamesWorld>[] = [];

  constructor(world: NamesWorld, host: Acting, kinds: readonly Called[]) {
    this.#world = world;
    this.#host = host;
    this.#kinds = kinds;
  }

  all(): readonly Move<NamesWorld>[] {
    this.#programs();
    this.#relay();
    this.#jobs();
    this.#disk();
    this.#machines();
    this.#others();
    this.#add("kill -9, start", "fault", (_, host) => host.restart(), "kill");
    if (this.#world.state.stage === "working") {
      this.#add("the client is closed", "program", (_, host) => host.close(), "finish");
    }
    return this.#moves;
  }

  #add(
    name: string,
    kind: Move<NamesWorld>["kind"],
    act: (world: NamesWorld, host: Host) => void,
    budget?: keyof NameBudgets,
  ): void {
    if (budget !== undefined && this.#world.left[budget] === 0) return;
    this.#moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      act: (world) => {
        if (budget !== undefined) world.left[budget]--;
        act(world, this.#host(world));
      },
    });
  }

  #programs(): void {
    this.#world.programs.forEach((program, at) => {
      const who = "PQ"[at];
      const { handle, mayAsk, before } = program;
      if (program.what === undefined) {
        for (const kind of this.#kinds) {
          if (kind === "leave" && handle === undefined) continue;
          this.#add(
            `${who}: ${kind}`,
            "program",
            (_, host) => host.call(at, callOf(kind, handle)),
            "calls",
          );
        }
      } else if (mayAsk && this.#world.directory.welcome !== undefined) {
        this.#add(
          `${who}: enters by the invite`,
          "program",
          (_, host) => host.call(at, { type: "invited", before }),
        );
      }
      if (mayAsk) {
        this.#add(`${who}: nobody answers the invite`, "time", (_, host) => host.giveUp(at));
      }
    });
  }

  #relay(): void {
    this.#world.calls.forEach(({ request: { of }, reply, machine }, at) => {
      const by = machine === undefined ? "" : " of a machine";
      const end = (world: NamesWorld, host: Host, answer?: Reply): void => {
        const call = world.calls[at];
        const told = answer ?? call?.reply;
        if (call !== undefined && told !== undefined) host.answer(call, told);
      };
      if (reply === undefined) {
        this.#add(`the relay takes ${of}${by}`, "answer", (world) => take(world, at));
      } else {this.#add(`the answer to ${of}${by}: ${wordOf(reply)}`, "answer", (world, host) =>
          end(world, host));}
      this.#add(
        `lost: ${of}${by}${reply === undefined ? "" : ", taken"}`,
        "fault",
        (world, host) => {
          passAway(world, world.calls[at]);
          end(world, host, { refused: "transport_error" });
        },
        "lost",
      );
      if (of !== "ListMembers" || reply !== undefined) return;
      this.#add(
        `a false not_found to ${of}`,
        "fault",
        (world, host) => end(world, host, { refused: "not_found" }),
        "lie",
      );
    });
    this.#world.late.forEach(({ of }, at) => {
      this.#add(`the relay takes ${of} late`, "fault", (world) => {
        const [request] = world.late.slice(at, at + 1);
        world.late = world.late.filter((_, index) => index !== at);
        if (request !== undefined) replyTo(world, request);
      }, "late");
    });
  }

  #disk(): void {
    if (this.#world.isRefusing) return;
    this.#add("the disk will refuse a write, and go on", "fault", (world) => {
      world.isRefusing = true;
    }, "unwritten");
  }

  #jobs(): void {
    const host = this.#host(this.#world);
    this.#world.jobs.forEach((underway, at) => {
      if (!host.mayFinish(underway)) return;
      const { work } = underway;
      const name = work.of === "erase" ? `erasing ${work.channelId}: ${work.step}` : work.of;
      this.#add(name, "time", (world, host) => {
        const job = world.jobs[at];
        if (job !== undefined) host.finish(job);
      });
      this.#add(`${name} fails`, "fault", (world, host) => {
        const job = world.jobs[at];
        if (job !== undefined) host.fail(job);
      }, "fail");
    });
  }

  #machines(): void {
    const { directory } = this.#world;
    this.#world.machines.forEach((machine, at) => {
      const { channelId, seat, isStuck, isDirty, isEnding, isOver, leaving } = machine;
      const act =
        (what: (host: Host, machine: Machine) => void) => (world: NamesWorld, host: Host): void => {
          const each = world.machines[at];
          if (each !== undefined) what(host, each);
        };
      // While it says that it leaves, its leaf does not change.
      const mayRejoin = isStuck && !isOver && leaving.length === 0 &&
        directory.welcome?.id === channelId;
      if (mayRejoin) {
        this.#add(
          `the machine of ${channelId} rejoins`,
          "notice",
          act((host, each) => host.rejoin(each)),
        );
      }
      if (isDirty) {
        this.#add(
          `the machine of ${channelId} writes what it has collected`,
          "time",
          act((host, each) => {
            each.isDirty = false;
            host.touch(each);
          }),
        );
      }
      if (isEnding) return;
      if (!isDirty) {
        this.#add(
          `the machine of ${channelId} collects`,
          "time",
          act((_, each) => void (each.isDirty = true)),
        );
      }
      if (isMember(directory, channelId, seat)) {
        this.#add(`a commit removes the agent from ${channelId}`, "notice", (world, host) => {
          removeAgent(world.directory, channelId);
          act((_, each) => host.gone(each))(world, host);
        }, "removed");
        this.#add(
          `the link of ${channelId}: a false not_found`,
          "fault",
          act((host, each) => host.over(each)),
          "lie",
        );
        if (this.#world.isHidden) {
          this.#add(
            `the link of ${channelId}: hidden`,
            "notice",
            act((host, each) => host.over(each)),
          );
        }
      } else if (!isMember(directory, channelId)) {
        this.#add(
          `the link of ${channelId}: not_found`,
          "notice",
          act((host, each) => host.over(each)),
        );
      } else if (!isStuck) {
        this.#add(
          `the machine of ${channelId} sees another leaf`,
          "notice",
          act((host, each) => host.stop(each)),
        );
      }
      if (!isStuck) {
        this.#add(
          `the machine of ${channelId} is stopped`,
          "notice",
          act((host, each) => host.stop(each)),
          "stuck",
        );
      }
    });
  }

  #others(): void {
    const { directory, machines } = this.#world;
    for (const [id, { isClosed }] of Object.entries(directory.channels)) {
      if (isClosed) continue;
      this.#add(
        `another owner closes ${id}`,
        "program",
        (world) => closeChannel(world.directory, id),
        "closed",
      );
      // A member that works has nothing to be let in for.
      const isHere = machines.some(({ channelId, isStuck, seat }) =>
        channelId === id && !isStuck && isMember(directory, id, seat)
      );
      if (isHere) continue;
      this.#add(`a member of ${id} lets the agent in`, "program", (world) => {
        world.directory.welcome = { id, seat: addAgent(world.directory, id) };
      }, "let");
    }
  }
}

function callOf(
  kind: Called,
  handle: number | undefined,
): WithoutOperation<NameCall> | { readonly type: "close_channel" } {
  switch (kind) {
    case "create":
    case "join":
      return { type: kind };
    case "open":
      return { type: "open", orCreates: false };
    case "leave":
      return { type: "leave", membership: handle ?? 0 };
    case "close":
      return { type: "close_channel" };
    case "invite":
      return { type: "check" };
  }
}

/** A request that the relay has not taken may come to it yet. */
function passAway(world: NamesWorld, call: Call | undefined): void {
  if (call === undefined || call.reply !== undefined || world.left.late === 0) return;
  const { request } = call;
  if (request.of !== "ListMembers" && request.of !== "ListChannels") {
    world.late = [...world.late, request];
  }
}

function replyTo({ directory, isHidden }: NamesWorld, request: Request): Reply {
  if (!isHidden) return callDirectory(directory, request);
  return { refused: "channelId" in request ? "not_found" : "not_allowed" };
}

/** The relay acts on a call, once. */
function take(world: NamesWorld, at: number): void {
  const call = world.calls[at];
  if (call === undefined) return;
  const { directory } = world;
  const reply = call.reply = replyTo(world, call.request);
  if ("refused" in reply) return;
  if (reply.of === "CreateChannel" && reply.isRepeated && !isMember(directory, reply.channelId)) {
    world.dead = [...new Set([...world.dead, reply.channelId])];
  }
}

function wordOf(reply: Reply): string {
  if ("refused" in reply) return reply.refused;
  return "channelId" in reply ? reply.channelId ?? "none" : "done";
}

/**
 * A member that leaves beside a commit of its own, a member that lets it in anew, a founding of
 * before, kills and lost answers. Leaving and the commits are the real machines; link, stop,
 * founding, rejoin, erasing and the leave of a channel that is over are letters. The relay is
 * honest. Nothing may be written after the note of erasure, and no member may be left at the relay.
 */
import {
  type ChangeRefusal,
  type CommitCandidate,
  type CommitEvent,
  type CommitFacts,
  type CommitsState,
  type CommitWrite,
  forgetCommits,
  restoreCommits,
  stepCommits,
  timersOf as commitTimersOf,
} from "../../sdk/channel/testing/commits.ts";
import {
  type DepartureEvent,
  type DepartureFacts,
  type DepartureState,
  isAskedFor,
  newDeparture,
  stageOf,
  stepDeparture,
  timersOf as departureTimersOf,
} from "../../sdk/channel/testing/departure.ts";
import type { Kind, Move, World } from "./explore.ts";
import { bytesOf } from "./group_of_letters.ts";
import { isSame, textOf } from "./plain_state.ts";

type Plan = "rotate" | "add" | "settle" | "succession";

/** How often each may still happen. */
export interface LeavingBudgets {
  leave: number;
  change: number;
  lost: number;
  broken: number;
  kill: number;
  /** The relay takes a request whose sender waits for no answer any more. */
  late: number;
  /** Another member lets this one in anew. */
  anew: number;
  /** The relay fails at a commit, which it may have taken. */
  fails: number;
}

interface Disk {
  readonly isStopped: boolean;
  readonly leaf: string;
  readonly epoch: number;
  readonly joined: number;
  readonly used: number;
  readonly candidate: CommitCandidate | undefined;
  readonly given: readonly CommitCandidate[];
  readonly hasFounding: boolean;
  /** In our group. */
  readonly hasOthers: boolean;
  /** Another member of it is an owner. */
  readonly hasHeir: boolean;
  readonly note: boolean;
  readonly keys: boolean;
}

/** The log, by the commit that ended each epoch, and what it makes of this member. */
interface Relay {
  readonly log: readonly string[];
  readonly leaf: string;
  readonly joined: number;
  /** About this leaf. */
  readonly left: string | undefined;
  /** It has tried in vain to learn of its present leaf: an owner removes it. */
  readonly isLastTry: boolean;
  readonly isClosed: boolean;
}

type Op =
  | "subscribe"
  | "commit"
  | "find"
  | "find_founding"
  | "found"
  | "close"
  | "leave"
  | "leave_by_name";

interface Call {
  readonly call: number;
  readonly op: Op;
  readonly epoch: number;
  /** A commit's letter, or the leaf that is left. */
  readonly about: string;
  /** The membership that is left, if it is named. */
  readonly joined: number | undefined;
  readonly isLastTry: boolean;
  reply?: Reply;
}

interface Reply {
  readonly refused?: string;
  readonly epoch?: number;
  readonly hash?: string;
}

export interface LeavingState {
  readonly left: LeavingBudgets;
  disk: Disk;
  relay: Relay;
  place: "in_step" | "stopped" | "outside";
  link: "offline" | "fate" | "subscribe" | "pausing" | "reading";
  commits: CommitsState<Plan>;
  departure: DepartureState;
  channel: "open" | "over" | "erasing" | "erased";
  /** A generation or a membership, with this leaf, is being written. */
  entering: { readonly by: "generation" | "membership"; readonly leaf: string } | undefined;
  calls: Call[];
  late: readonly Call[];
  /**
   * Messages in front of the stop that the program has not taken: no generation is entered over
   * them.
   */
  isUnread: boolean;
  /** Changes of the departure by their operations, and the program's calls. */
  own: Readonly<Record<string, number>>;
  leaving: readonly number[];
  /** These leave a channel that is over. */
  byName: readonly number[];
  operations: number;
  life: number;
  fault: string | undefined;
}

export interface LeavingRules {
  /** All that may change the leaf is settled first. */
  readonly settles: boolean;
  /** The membership that is left is named. */
  readonly names: boolean;
  /** The last owner makes another member an owner first. */
  readonly handsOn: boolean;
  /** It goes from nobody who would be left without an owner while it cannot do that. */
  readonly isKept: boolean;
  /** It looks whether it is alone when all that was open is settled. */
  readonly counts: boolean;
}

export interface LeavingSetting extends LeavingRules {
  readonly isStopped: boolean;
  /** It has not read up to the stop, and its founding stands in the log. */
  readonly isUnread: boolean;
  /** The only owner of another member, or of nobody; then its change adds somebody. */
  readonly owns: "with_others" | "alone" | "beside_an_owner";
}

const allRules: LeavingRules = {
  settles: true,
  names: true,
  handsOn: true,
  isKept: true,
  counts: true,
};
const none: readonly never[] = Object.freeze([]);
const permit: NonNullable<CommitFacts<Plan>["work"]> = Object.freeze(JSON.parse('{"number":0}'));
const lost: ChangeRefusal = Object.freeze({ code: "connection_error" });

export function leavingMember(
  left: Partial<LeavingBudgets>,
  { isStopped = false, isUnread = false, owns = "beside_an_owner", ...rules }: Partial<
    LeavingSetting
  > = {},
): World<LeavingState> {
  const disk: Disk = Object.freeze({
    isStopped,
    leaf: "first",
    epoch: 1,
    joined: 0,
    used: 0,
    candidate: undefined,
    given: none,
    hasFounding: isStopped,
    hasOthers: owns !== "alone",
    hasHeir: owns === "beside_an_owner",
    note: false,
    keys: true,
  });
  const nothing = { leave: 0, change: 0, lost: 0, broken: 0, kill: 0, late: 0, anew: 0, fails: 0 };
  const late: Call = {
    call: 0,
    op: "found",
    epoch: 1,
    about: "generation",
    joined: undefined,
    isLastTry: false,
  };
  const start: LeavingState = {
    left: { ...nothing, ...left },
    relay: Object.freeze({
      log: Object.freeze(isUnread ? ["start", "generation"] : ["start"]),
      leaf: isUnread ? "generation" : "first",
      joined: 0,
      left: undefined,
      isLastTry: false,
      isClosed: false,
    }),
    late: isStopped && !isUnread ? [late] : none,
    isUnread,
    calls: [],
    operations: 0,
    life: 0,
    fault: undefined,
    ...processOf(disk),
  };
  const all = { ...allRules, ...rules };
  const isOnTime = start.left.late === 0;
  return {
    start,
    view,
    left: ({ left }) => Object.values(left),
    moves: (state) => movesOf(state, all),
    broken: ({ fault, ...state }) =>
      fault ?? brokenPromise(state) ?? (isOnTime ? brokenOnTime(state, owns) : undefined),
    isGood: (state) => state.leaving.length === 0 && isAtRest(state),
  };
}

/** Here it matters how often it has said goodbye. */
function view({ operations: _, left: __, ...state }: LeavingState): unknown {
  const { departure } = state.departure;
  const own = Object.entries(state.own).map(([operation, change]) => ({
    operation: Number(operation),
    change,
  }));
  return { ...state, own, said: departure.at === "going" ? departure.tries : 0 };
}

function processOf(disk: Disk): Pick<
  LeavingState,
  | "disk"
  | "place"
  | "link"
  | "commits"
  | "departure"
  | "channel"
  | "entering"
  | "own"
  | "leaving"
  | "byName"
> {
  const { note, keys, isStopped } = disk;
  return {
    disk,
    place: isStopped ? "stopped" : "in_step",
    link: "offline",
    commits: restoreCommits<Plan>(disk),
    departure: newDeparture(),
    channel: note ? "erasing" : keys ? "open" : "erased",
    entering: undefined,
    own: {},
    leaving: none,
    byName: none,
  };
}

function isAtRest(
  { channel, place, link, disk, relay, commits, departure }: LeavingState,
): boolean {
  if (channel === "over" || channel === "erased") return true;
  return channel === "open" && place !== "outside" && link === "reading" &&
    disk.leaf === relay.leaf &&
    commits.commit.at === "none" && commits.plans.length === 0 &&
    departure.departure.at === "staying";
}

function brokenPromise(
  { disk, relay, commits, channel }: Omit<LeavingState, "fault">,
): string | undefined {
  const isOut = relay.left !== undefined || relay.isClosed;
  if (channel === "erased" && !isOut) return "S3: the keys are erased, and the relay counts it in";
  const isRestored = channel !== "open" ||
    isSame(forgetCommits(commits), restoreCommits<Plan>(disk));
  return isRestored ? undefined : "S7: a process that starts is not as one that has forgotten";
}

/**
 * Where no request was late. Members keep an agent in the group whose statement is about another
 * leaf.
 */
function brokenOnTime(
  { relay: { left, leaf, isLastTry, isClosed, log } }: Pick<LeavingState, "relay">,
  owns: LeavingSetting["owns"],
): string | undefined {
  if (left !== undefined && left !== leaf && !isLastTry) {
    return "S3: the statement is about another leaf";
  }
  const doOthersStay = owns === "alone" ? log.some(isAdding) : true;
  if (isClosed && doOthersStay) return "S3: a channel with another member is closed";
  const isHandedOn = owns === "beside_an_owner" || log.some(isHandingOn);
  if (left === undefined || isHandedOn || !doOthersStay) return undefined;
  return "S3: the last owner is gone, and the others have none";
}

function isAdding(letter: string): boolean {
  return letter.includes("+");
}

function isHandingOn(letter: string): boolean {
  return letter.includes("^");
}

/** One event of the world under way. */
class Acting {
  readonly #world: LeavingState;
  readonly #rules: LeavingRules;
  readonly #queue: (() => void)[] = [];
  #isRunning = false;

  constructor(world: LeavingState, rules: LeavingRules) {
    this.#world = world;
    this.#rules = rules;
  }

  /** Steps follow each other; none runs inside another. */
  #soon(act: () => void): void {
    this.#queue.push(act);
    if (this.#isRunning) return;
    this.#isRunning = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) next();
    this.#isRunning = false;
  }

  #write(change: Partial<Disk>): void {
    const world = this.#world;
    if (world.disk.note) world.fault ??= "S4: something is written after the note of erasure";
    world.disk = Object.freeze({ ...world.disk, ...change });
  }

  call(
    call: number,
    op: Op,
    about: string,
    more: { readonly epoch?: number; readonly joined?: number } = {},
  ): void {
    const { disk, departure: { departure } } = this.#world;
    const { epoch = disk.epoch, joined } = more;
    const isLastTry = departure.at === "going" && departure.tries >= 3;
    this.#world.calls.push({ call, op, epoch, about, joined, isLastTry });
  }

  #work(): CommitFacts<Plan>["work"] {
    const { link, place, channel } = this.#world;
    return link === "reading" && place === "in_step" && channel === "open" ? permit : undefined;
  }

  #isToDo(plan: Plan): boolean {
    const { hasOthers, hasHeir } = this.#world.disk;
    if (plan === "rotate" || plan === "settle") return plan === "rotate";
    return plan === "add" ? !hasOthers : hasOthers && !hasHeir && this.#rules.handsOn;
  }

  commits(event: CommitEvent<Plan>): void {
    this.#soon(() => {
      const world = this.#world;
      if (world.channel !== "open") return;
      const facts: CommitFacts<Plan> = {
        work: this.#work(),
        isStopped: world.place === "stopped",
        isOnline: world.link !== "offline",
        departure: stageOf(world.departure),
        epoch: world.disk.epoch,
        made: world.disk.used,
        isAlone: !world.disk.hasOthers,
        isOwner: true,
        planOf: (plan) => this.#isToDo(plan) ? "change" : "nothing",
        jitter: (ms) => ms,
      };
      const { write, effects } = stepCommits(world.commits, event, facts);
      if (write !== undefined) this.#writeCommit(write);
      for (const effect of effects) this.#performCommit(effect);
    });
  }

  #writeCommit(write: CommitWrite): void {
    const { disk } = this.#world;
    switch (write.type) {
      case "prepared":
        return this.#write({ candidate: write.candidate, used: disk.used + 1 });
      case "entered":
        return this.#enters(letterOf(write.candidate));
      case "lost":
        return this.#write({ candidate: undefined, given: none });
      case "refused":
        return this.#write({ candidate: undefined });
      case "given":
        return this.#write({
          candidate: undefined,
          given: Object.freeze([...disk.given, write.candidate]),
        });
    }
  }

  #enters(letter: string): void {
    const { epoch, hasOthers, hasHeir } = this.#world.disk;
    this.#write({
      ...moved,
      epoch: epoch + 1,
      leaf: letter,
      hasOthers: hasOthers || isAdding(letter),
      hasHeir: hasHeir || isHandingOn(letter),
    });
  }

  #performCommit(effect: ReturnType<typeof stepCommits<Plan>>["effects"][number]): void {
    const world = this.#world;
    switch (effect.type) {
      case "send":
        if (stageOf(world.departure) === "goodbye") {
          world.fault ??= "S3: a commit is sent behind the goodbye";
        }
        return this.call(effect.call, "commit", letterOf(effect.candidate));
      case "find":
        return this.call(effect.call, "find", "", { epoch: effect.epoch });
      case "settle": {
        const change = world.own[effect.operation];
        if (change === undefined) return;
        const { [effect.operation]: _, ...own } = world.own;
        world.own = own;
        const { result } = effect;
        const why = result.is === "refused"
          ? result.why
          : result.is === "failed"
          ? lost
          : undefined;
        return this.departs({ type: "changed", change, why });
      }
      case "fate_told":
        // Unless another connection asks since.
        if (world.link === "fate" && world.commits.fate === undefined) this.#subscribe();
        return;
      case "finding":
        if (effect.finding.is === "entered") return this.commits({ type: "moved", by: "own" });
        return void (world.fault ??= `with an honest relay: ${effect.finding.is}`);
      case "report":
        return void (world.fault ??= `an honest relay is reported: ${effect.what}`);
      case "explained":
        if (effect.as === "not_ours") world.fault ??= "L1: out of step by a commit of its own";
        return;
      case "prepare":
      case "wake":
        return;
    }
  }

  departs(event: DepartureEvent): void {
    this.#soon(() => {
      const world = this.#world;
      const { place, disk } = world;
      const facts: DepartureFacts = {
        work: this.#work(),
        isOnWayBack: place === "outside",
        isBlocked: place !== "in_step" || !this.#rules.settles,
        hasFounding: place === "stopped" && disk.hasFounding && this.#rules.settles,
        isAlone: !disk.hasOthers || !this.#rules.counts,
        isAnyAbsent: false,
        isOwner: true,
        isLastOwner: !disk.hasHeir && this.#rules.isKept,
        doOthersStay: disk.hasOthers,
        isAllRead: true,
        mayName: this.#rules.names,
      };
      const before = stageOf(world.departure);
      for (const effect of stepDeparture(world.departure, event, facts).effects) {
        this.#performDeparture(effect);
      }
      if (before !== stageOf(world.departure)) this.commits({ type: "look" });
    });
  }

  #performDeparture(effect: ReturnType<typeof stepDeparture>["effects"][number]): void {
    const world = this.#world;
    const { disk } = world;
    switch (effect.type) {
      case "change": {
        const operation = ++world.operations;
        world.own = { ...world.own, [operation]: effect.change };
        return this.commits({
          type: "change",
          operation,
          plan: effect.plan.is,
          isOfDeparture: true,
        });
      }
      case "settle_founding":
        if (world.link === "offline") return this.departs({ type: "founding", why: lost });
        return this.asksFounding();
      case "say":
        // Behind what is being written: it gives another leaf, of which leaving begins anew.
        if (world.entering !== undefined) return;
        return this.call(
          effect.call,
          "leave",
          disk.leaf,
          effect.isNamed ? { joined: disk.joined } : {},
        );
      case "close":
        return this.call(effect.call, "close", "");
      case "settle":
        return void (world.leaving = world.leaving.filter((operation) =>
          operation !== effect.operation
        ));
      case "wake":
        return;
      case "ended":
        return effect.how === "gone" ? this.#erases() : this.#isOver(effect.operations);
    }
  }

  #isOver(operations: readonly number[]): void {
    const world = this.#world;
    this.#ends("over");
    if (operations.length === 0) return;
    // By its name it goes from nobody who would be left without an owner.
    if (world.disk.hasOthers && !world.disk.hasHeir) {
      return void (world.leaving = world.leaving.filter((operation) =>
        !operations.includes(operation)
      ));
    }
    world.byName = operations;
    this.call(-2, "leave_by_name", world.disk.leaf, { joined: world.disk.joined });
  }

  /** All that waits ends before anything is erased. */
  #erases(): void {
    this.#soon(() => this.#ends("erasing"));
  }

  /** Plans that wait reject, and what was being entered is not. */
  #ends(channel: "over" | "erasing"): void {
    const world = this.#world;
    world.channel = channel;
    world.entering = undefined;
    world.commits = restoreCommits<Plan>(world.disk);
  }

  // The parts around, in letters

  leave(): void {
    const world = this.#world;
    const operation = ++world.operations;
    world.leaving = [...world.leaving, operation];
    this.departs({ type: "leave", operation, successor: undefined });
  }

  connect(): void {
    const world = this.#world;
    if (
      world.place !== "in_step" ||
      (world.commits.commit.at === "none" && world.commits.given.length === 0)
    ) {
      return this.#subscribe();
    }
    world.link = "fate";
    this.commits({ type: "fate", call: -3 });
  }

  #subscribe(): void {
    this.#world.link = "subscribe";
    this.call(0, "subscribe", "");
  }

  broken(calls: readonly Call[]): void {
    this.#world.link = "offline";
    this.commits({ type: "look" });
    for (const call of calls) this.answer(call, { refused: "connection_error" });
  }

  prepared(): void {
    const { commits: { commit }, disk, life } = this.#world;
    if (commit.at !== "preparing") return;
    const plan = this.#world.commits.plans[0]?.plan;
    const kind = plan === "add" ? "+" : plan === "succession" ? "^" : ".";
    const letter = `${disk.epoch}${kind}${disk.used + 1}${"'".repeat(life)}`;
    this.commits({ type: "prepared", job: commit.job, made: candidateOf(disk.epoch, letter) });
  }

  answer({ call, op, epoch }: Call, reply: Reply): void {
    const { refused } = reply;
    switch (op) {
      case "subscribe":
        return this.#subscribed(refused);
      case "commit": {
        if (refused === undefined) return this.commits({ type: "taken", call, sequence: epoch });
        const why = { code: refused, ...(reply.epoch !== undefined && { epoch: reply.epoch }) };
        return this.commits({ type: "refused", call, why });
      }
      case "find":
        if (refused !== undefined) {
          return this.commits({ type: "refused", call, why: { code: refused } });
        }
        return this.commits({ type: "found", call, found: foundOf(reply) });
      case "find_founding":
        if (refused !== undefined) return this.departs({ type: "founding", why: lost });
        if (reply.hash === undefined) return this.departs({ type: "founding", why: undefined });
        // Nobody hears of it before it can be entered.
        if (this.#world.isUnread) return;
        // While goodbye is said the leaf stays as it is.
        if (stageOf(this.#world.departure) === "goodbye") return;
        return this.#world.place === "stopped" ? this.enters("generation", reply.hash) : undefined;
      case "close":
      case "leave":
        if (refused === undefined) return this.departs({ type: "done", call });
        return this.departs({ type: "refused", call, why: { code: refused } });
      case "leave_by_name":
        return this.#leftByName(refused);
      case "found":
        return;
    }
  }

  #subscribed(refused: string | undefined): void {
    const world = this.#world;
    if (world.link !== "subscribe") return;
    if (refused === "not_found") {
      world.link = "offline";
      return this.departs({ type: "over", how: "over" });
    }
    world.link = refused === undefined ? "reading" : "pausing";
    this.commits({ type: "look" });
    if (world.link === "reading") this.asksFounding();
  }

  /** The relay tells the end of the channel, also before it answers. */
  told(end: "left" | "closed"): void {
    const { departure } = this.#world;
    const call = departure.departure.at === "going" && "call" in departure.departure.going
      ? departure.departure.going.call
      : 0;
    if (isAskedFor(departure, end)) this.departs({ type: "done", call });
    else this.departs({ type: "over", how: "over" });
  }

  /** With each connection, and now and then. */
  asksFounding(): void {
    const { place, disk: { hasFounding }, calls } = this.#world;
    if (place !== "stopped" || !hasFounding || calls.some(({ op }) => op === "find_founding")) {
      return;
    }
    this.call(-1, "find_founding", "");
  }

  #leftByName(refused: string | undefined): void {
    const world = this.#world;
    if (refused === undefined || refused === "not_found") this.#erases();
    else world.leaving = world.leaving.filter((operation) => !world.byName.includes(operation));
    world.byName = none;
  }

  /** Another commit than ours ended our epoch: it removes and adds us. */
  reads(): void {
    this.#world.place = "outside";
    this.commits({ type: "look" });
    this.departs({ type: "look" });
  }

  /** A generation of our own, or a membership by a Welcome. */
  enters(by: "generation" | "membership", leaf: string): void {
    this.#world.entering ??= Object.freeze({ by, leaf });
  }

  /** It is durable. */
  entered({ by, leaf }: NonNullable<LeavingState["entering"]>): void {
    const world = this.#world;
    const { relay } = world;
    world.entering = undefined;
    const isGeneration = by === "generation";
    const { joined } = isGeneration ? world.disk : relay;
    const epoch = isGeneration ? relay.log.indexOf(leaf) + 1 : relay.log.length;
    const hasHeir = world.disk.hasHeir || relay.log.slice(0, epoch).some(isHandingOn);
    this.#write({ ...moved, isStopped: false, hasFounding: false, leaf, joined, epoch, hasHeir });
    world.place = "in_step";
    this.commits({ type: "moved", by });
    this.departs({ type: "entered" });
    if (by === "membership" && world.link !== "offline") this.#subscribe();
  }

  erase(): void {
    const world = this.#world;
    if (!world.disk.note && world.disk.keys) {
      return void (world.disk = Object.freeze({ ...world.disk, note: true }));
    }
    if (world.disk.keys) return void (world.disk = Object.freeze({ ...world.disk, keys: false }));
    world.disk = Object.freeze({ ...world.disk, note: false });
    world.channel = "erased";
    world.leaving = none;
    world.calls = [];
  }
}

const moved = { candidate: undefined, given: none, used: 0 };

function foundOf(
  { epoch = 0, hash }: Reply,
): Extract<CommitEvent<Plan>, { type: "found" }>["found"] {
  if (hash === undefined) return { epoch };
  // cast: nobody looks at them
  return {
    epoch,
    commit: { sequence: 0, commitHash: bytesOf(hash), sender: "" as never, timeMs: 0 },
  };
}

const candidates = new Map<string, CommitCandidate>();
const letters = new WeakMap<Uint8Array, string>();

function candidateOf(epoch: number, letter: string): CommitCandidate {
  const known = candidates.get(letter);
  if (known !== undefined) return known;
  const hash = bytesOf(letter);
  letters.set(hash, letter);
  const made = Object.freeze({
    epoch,
    hash,
    adds: isAdding(letter),
    isLast: false,
    removesLeavers: false,
  });
  candidates.set(letter, made);
  return made;
}

function letterOf({ hash }: CommitCandidate): string {
  return letters.get(hash) ?? "";
}

/** As the relay's core judges it, of one member. */
function take(state: LeavingState, { op, epoch, about, joined, isLastTry }: Call): Reply {
  const { relay } = state;
  const { log } = relay;
  const isActive = relay.left === undefined && !relay.isClosed;
  const put = (change: Partial<Relay>): Reply => {
    state.relay = Object.freeze({ ...relay, ...change });
    return {};
  };
  switch (op) {
    case "subscribe":
      return isActive ? {} : { refused: "not_found" };
    case "find":
      return { epoch: log.length, ...(log[epoch] !== undefined && { hash: log[epoch] }) };
    case "find_founding":
      return log.includes("generation") ? { hash: "generation" } : {};
    case "commit":
      if (!isActive) return { refused: "not_found" };
      if (log.includes(about)) return {};
      if (epoch !== log.length) return { refused: "epoch_conflict", epoch: log.length };
      return put({ log: Object.freeze([...log, about]), leaf: about });
    case "found":
      if (!isActive || log.includes("generation") || log.length > epoch) {
        return { refused: "epoch_conflict" };
      }
      return put({ log: Object.freeze([...log, "generation"]), leaf: "generation" });
    case "close":
      return put({ isClosed: true });
    case "leave":
    case "leave_by_name":
      if (relay.isClosed) return { refused: "not_found" };
      if (joined !== undefined && joined !== relay.joined) return { refused: "state_conflict" };
      return put({ left: about, isLastTry });
  }
}

function movesOf(state: LeavingState, rules: LeavingRules): readonly Move<LeavingState>[] {
  const moves: Move<LeavingState>[] = [];
  const add = (
    name: string,
    kind: Kind,
    act: (acting: Acting, state: LeavingState) => void,
    budget?: keyof LeavingBudgets,
  ): void => {
    if (budget !== undefined && state.left[budget] === 0) return;
    moves.push({
      name,
      kind,
      isBudgeted: budget !== undefined,
      act: (world) => {
        if (budget !== undefined) world.left[budget]--;
        act(new Acting(world, rules), world);
        // its next loss is the last
        for (const plan of world.commits.plans) if (plan.attempts === 2) plan.attempts = 39;
        forgetCalls(world);
      },
    });
  };
  addAnswers(state, add);
  addTime(state, add);
  if (state.channel === "erasing") {
    add("the next part is erased", "answer", (acting) => acting.erase());
  }
  if (state.channel === "open") addProgram(state, add);
  if (state.left.kill > 0 && state.channel !== "erased") {
    add("kill -9, and a start", "fault", (_, world) => {
      passAway(world, world.calls);
      const { disk } = world;
      Object.assign(world, { calls: [], life: world.life + 1, ...processOf(disk) });
    }, "kill");
  }
  state.late.forEach((call, at) => {
    add(`the relay takes ${call.op} ${call.about} late`, "fault", (_, world) => {
      world.late = world.late.filter((__, index) => index !== at);
      take(world, call);
    }, "late");
  });
  return moves;
}

type Add = (
  name: string,
  kind: Kind,
  act: (acting: Acting, state: LeavingState) => void,
  budget?: keyof LeavingBudgets,
) => void;

function addAnswers({ calls, link }: LeavingState, add: Add): void {
  calls.forEach((call, at) => {
    const { op, about, reply } = call;
    if (link === "offline" && op !== "leave_by_name") {
      return add(`no connection for ${op} ${about}`, "answer", (acting, world) => {
        world.calls.splice(at, 1);
        acting.answer(call, { refused: "connection_error" });
      });
    }
    if (reply === undefined) {
      add(`the relay takes ${op} ${about}`, "answer", (_, world) => {
        const mine = world.calls[at];
        if (mine !== undefined) mine.reply = Object.freeze(take(world, mine));
      });
    } else {
      add(`the answer to ${op} ${about}: ${textOf(reply)}`, "answer", (acting, world) => {
        world.calls.splice(at, 1);
        acting.answer(call, reply);
      });
    }
    add(`lost: ${op} ${about}`, "fault", (acting, world) => {
      const [mine] = world.calls.splice(at, 1);
      if (mine !== undefined) passAway(world, [mine]);
      acting.answer(call, { refused: "connection_error" });
    }, "lost");
    if (op !== "commit") return;
    add(`the relay fails at ${op} ${about}`, "fault", (acting, world) => {
      const [mine] = world.calls.splice(at, 1);
      if (mine !== undefined) passAway(world, [mine]);
      acting.answer(call, { refused: "internal" });
    }, "fails");
  });
  if (link === "offline") return;
  add("the connection breaks", "fault", (acting, world) => {
    const under = world.calls.filter(({ op }) => op !== "leave_by_name");
    world.calls = world.calls.filter(({ op }) => op === "leave_by_name");
    passAway(world, under);
    acting.broken(under);
  }, "broken");
}

function addTime(state: LeavingState, add: Add): void {
  const { channel, link, place, disk, calls, commits, departure: { departure } } = state;
  if (channel !== "open") return;
  const mayAsk = place === "stopped" && disk.hasFounding && link === "reading";
  if (mayAsk && calls.every(({ op }) => op !== "find_founding")) {
    add("it asks for its founding again", "time", (acting) => acting.asksFounding());
  }
  if (link === "reading" && (state.relay.left !== undefined || state.relay.isClosed)) {
    add("a connection to a relay that has forgotten it is made anew", "time", (acting, world) => {
      const under = world.calls.filter(({ op }) => op !== "leave_by_name");
      world.calls = world.calls.filter(({ op }) => op === "leave_by_name");
      acting.broken(under);
    });
  }
  if (link === "offline") add("a connection is made", "time", (acting) => acting.connect());
  if (link === "pausing") add("it settles again", "time", (acting) => acting.connect());
  const wake = (timer: number | undefined): void => {
    if (timer === undefined || !commitTimersOf(commits).includes(timer)) return;
    add("time for a commit", "time", (acting) => acting.commits({ type: "time", timer }));
  };
  for (const { timer } of commits.plans) wake(timer);
  wake(commits.again);
  if (commits.commit.at === "resting") wake(commits.commit.timer);
  if (departure.at !== "going" || !("timer" in departure.going)) return;
  const { at, timer } = departure.going;
  if (!departureTimersOf(state.departure).includes(timer)) return;
  add(`time to leave (${at})`, "time", (acting) => acting.departs({ type: "time", timer }));
}

function addProgram(state: LeavingState, add: Add): void {
  const { commits, departure, disk, link, place, relay } = state;
  add("leave()", "program", (acting) => acting.leave(), "leave");
  const change = disk.hasOthers ? "rotate" : "add";
  add(`the program changes the channel: ${change}`, "program", (acting, world) => {
    acting.commits({ type: "change", operation: ++world.operations, plan: change });
  }, "change");
  if (state.isUnread) {
    add("the program reads up to the stop", "program", (acting, world) => {
      world.isUnread = false;
      if (world.link === "reading") acting.asksFounding();
    });
  }
  const { entering } = state;
  if (entering !== undefined) {
    add("its group is written", "answer", (acting) => acting.entered(entering));
  }
  if (commits.commit.at === "preparing") {
    add("a commit is prepared", "answer", (acting) => acting.prepared());
  }
  if (relay.left === undefined && relay.joined === 0 && relay.log.at(-1) !== "anew") {
    add("a member lets it in anew", "program", (_, world) => {
      const log = Object.freeze([...world.relay.log, "anew"]);
      world.relay = Object.freeze({ ...world.relay, log, joined: log.length, leaf: "anew" });
    }, "anew");
  }
  const end = relay.isClosed ? "closed" : relay.left === undefined ? undefined : "left";
  if (end !== undefined && link === "reading") {
    add(`the relay tells that it was ${end}`, "notice", (acting) => acting.told(end));
  }
  // One that a late commit of ours has added speaks, or one that has followed what we have given
  // up.
  const isFollowed = isAdding(relay.log[disk.epoch] ?? "") ||
    (disk.hasOthers && disk.given.length > 0);
  const ended = relay.log[disk.epoch];
  // One that lets it in anew, too, if a commit of ours stands before it.
  const isLater = disk.joined === relay.joined || ended !== "anew";
  const isAhead = disk.epoch < relay.log.length && isFollowed && isLater;
  if (isAhead && link === "reading" && place === "in_step" && commits.entry === undefined) {
    add("it reads a message of a later epoch", "notice", (acting, world) => {
      acting.commits({ type: "entry", reading: ++world.commits.numbers });
    });
  }
  const isAnew = relay.joined !== disk.joined;
  if (!isAnew || link !== "reading" && place === "in_step") return;
  if (place === "in_step" && link === "reading" && ended === "anew") {
    return add("it reads that it was let in anew", "notice", (acting) => acting.reads());
  }
  const isKept = stageOf(departure) === "goodbye";
  if (place !== "in_step" && link !== "offline" && !isKept && state.entering === undefined) {
    add("a Welcome is opened", "notice", (acting) => acting.enters("membership", "anew"));
  }
}

function passAway(world: LeavingState, calls: readonly Call[]): void {
  if (world.left.late === 0) return;
  for (const { reply, ...call } of calls) {
    if (
      reply !== undefined || (call.op !== "commit" && call.op !== "leave" && call.op !== "close")
    ) continue;
    if (!world.late.some(({ about }) => about === call.about)) {
      world.late = [...world.late, { ...call, call: 0 }];
    }
  }
}

/** Nobody waits for these any more. */
function forgetCalls(world: LeavingState): void {
  const { commits: { commit, question }, departure: { departure }, link, byName } = world;
  const isAwaited = ({ op, call }: Call): boolean => {
    if (op === "subscribe") return link === "subscribe";
    if (op === "leave_by_name") return byName.length > 0;
    if (op === "leave" || op === "close") {
      return departure.at === "going" && "call" in departure.going && departure.going.call === call;
    }
    if (op === "find_founding") return world.place === "stopped";
    return call === question || ("call" in commit && commit.call === call);
  };
  const gone = world.calls.filter((call) => !isAwaited(call));
  if (gone.length === 0) return;
  world.calls = world.calls.filter(isAwaited);
  passAway(world, gone);
}

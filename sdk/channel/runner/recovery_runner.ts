/**
 * Carries out what `stepRecovery` says: writes, calls, timers and work with keys, whose ends are its next events. One step is over, and durable,
 * before the next begins. Whatever may enter a group takes its turn with the entries of the log: nothing is entered beside a judgement
 * of the connection.
 * Long because every effect is carried out here, each in a few lines.
 */
import { hexToBytes } from "@noble/hashes/utils.js";
import { type AgentId, foundingEpoch, generationOf } from "../../../proto/mod.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import { isCode, StaticError } from "../../base/errors.ts";
import { jitter, pause } from "../../base/runtime.ts";
import type { Serial } from "../../base/serial.ts";
import type { OwnKeyPackage } from "../../mls/key_package.ts";
import { type RecordChange, StoreError } from "../../store/mod.ts";
import { type BadCommit, deleteBadCommit, deleteReturn, putBadCommit, putReturn } from "../bad_commit.ts";
import type { Permit } from "../connection/permit.ts";
import type { ChannelDeps } from "../deps.ts";
import { type Entered, type EnteredChannel, writeEntered } from "../entering.ts";
import type { Begun, Founding, FoundingVerdict, OpenedFounding } from "../following.ts";
import { claimableOf, requestOf } from "../founding.ts";
import { deleteForeign, putForeign } from "../foreign_generation.ts";
import type { HealthLog, StoppedState } from "../health.ts";
import type { Membership } from "../membership.ts";
import { isOffered } from "../recovery/own_founding.ts";
import { stepRecovery } from "../recovery/recovery.ts";
import { restore } from "../recovery/recovery_records.ts";
import { backOf, badOf, isAgain } from "../recovery/recovery_run.ts";
import type {
  Finding,
  FoundCommit,
  Own,
  Place,
  RecoveryChange,
  RecoveryEffect,
  RecoveryEvent,
  RecoveryFacts,
  RecoveryState,
  RecoveryStep,
  Refusal,
  Report,
  Request,
  WayBack,
  Work,
} from "../recovery/recovery_state.ts";
import { mayHear } from "../recovery/way_back.ts";
import { actionFor, foreignState, problemOf } from "../stopped_words.ts";
import type { OwnEntry, StoreAge } from "../store_age.ts";
import { reportChanges } from "../welcome_back.ts";
import type { Welcome } from "../welcomes.ts";
import type { Waited } from "./link_runner.ts";
import { badOf as stopOf, baseNameOf, madeOf, RecoveryBytes, type ToldLeaf } from "./recovery_bytes.ts";
import { isLost, recoverError, refusalOf, say } from "./recovery_words.ts";

/** For a founding of ours, before this agent leaves. */
const settleMs = 30_000;

/** The reader and the connection, at this moment. */
export interface RecoverySight {
  readonly permit: Permit | undefined;
  readonly relayEpoch: number;
  readonly isAllHere: boolean;
  /** The last entry that was read. */
  readonly received: number | undefined;
  /** The program has taken what was here. */
  readonly isAllShown: boolean;
  readonly isLeaving: boolean;
  /** A commit of ours may be taken. */
  readonly hasOpenCommit: boolean;
}

export type ChannelFinding = Exclude<Finding, { readonly type: "generation" | "membership" | "founding_settled" }>;

export interface RecoveryRunnerParts extends Pick<EnteredChannel, "bad" | "returnedMs" | "foreign" | "foundings"> {
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly storeAge: StoreAge;
  /** One entry after the other, and nothing beside them. */
  readonly entries: Serial;
  readonly sight: RecoverySight;
  readonly allHere: () => Promise<Waited>;
  /** Our group moves: returns what else to write. */
  readonly onEntering: () => RecordChange;
  /** A membership is on disk. At once, and nothing runs in between. */
  readonly onMembership: (entered: Entered, joinedSequence: number) => void;
  /** Another membership, or generation, is in place: what else has to be done before anything goes on. */
  readonly onRejoined: () => Promise<void>;
  readonly onGeneration: (begun: Begun, isOwn: boolean) => Promise<void>;
  readonly onFinding: (finding: ChannelFinding) => void;
  readonly over: () => StaticError | undefined;
  readonly onFault: (fault: unknown) => void;
}

/** A generation that is entered. */
interface Entering extends Pick<OpenedFounding, "next" | "changes"> {
  /** Used by it, unless it is ours. */
  readonly own?: OwnKeyPackage;
  readonly founding: Pick<Founding, "founding" | "absent" | "sender">;
  readonly at: Begun;
  /** Our group had left its base: members may be in it again. */
  readonly isLate: boolean;
}

interface Waiting {
  readonly event: RecoveryEvent;
  readonly done: () => void;
}

export class RecoveryRunner {
  readonly #parts: RecoveryRunnerParts;
  readonly #deps: ChannelDeps;
  readonly #bytes: RecoveryBytes;
  readonly #state: RecoveryState;
  readonly #facts: RecoveryFacts;
  readonly #queue: Waiting[] = [];
  readonly #timers = new Map<number, () => void>();
  readonly #recovering = new Map<number, Deferred<void>>();
  /** Work with keys that is under way: it may write them. */
  readonly #jobs = new Set<Promise<RecoveryEvent | void>>();
  #isStepping = false;
  /** Ends with the step under way. */
  #carrying: Promise<void> = Promise.resolve();
  #isOver = false;
  #hasFailed = false;
  #operations = 0;
  /** Of a founding: what is said of it when it was entered. */
  #begun: Pick<Entering, "founding" | "at"> | undefined;
  /** The Welcome of a founding is being opened. */
  #opening: Promise<void> | undefined;
  /** Our group, as a founding on it names it; known while there are foundings. */
  #base: string | undefined;
  /** Ends that Welcomes come here. */
  #deaf: (() => void) | undefined;
  /** Those that wait until this agent is in, or asks no more. */
  #back: Deferred<void> | undefined;
  #settling: Deferred<void> | undefined;
  #settleError: unknown;
  /** Messages behind the stop, and the last entry that was counted there. */
  #unread = 0;
  #countedTo = 0;

  constructor(parts: RecoveryRunnerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    const { membership, bad, foundings, storeAge } = parts;
    const stop = (): { stopped: BadCommit | undefined; isAgain: boolean } => ({
      stopped: this.stopped,
      isAgain: this.#isAgain,
    });
    const isUnknownOwn = (entry: OwnEntry): Promise<boolean> => storeAge.isUnknownOwn(entry, parts.sight.hasOpenCommit);
    this.#bytes = new RecoveryBytes({ membership, bad, foundings, stop, isUnknownOwn }, deps);
    this.#state = restore({
      stopped: bad && stopOf(bad),
      foreign: parts.foreign,
      foundings: foundings.map(madeOf),
      returnedMs: parts.returnedMs,
      cameBackMs: storeAge.anchor.cameBackMs,
    });
    if (foundings.length > 0) this.#base = baseNameOf(membership.group.current);
    this.#facts = this.#createFacts();
    membership.onCommit(() => this.#foundingsLeft().map((hash) => membership.durable.forgetFounding(hash)));
  }

  #createFacts(): RecoveryFacts {
    const { membership, sight } = this.#parts;
    const { agentId, session, runtime, relayNowMs, welcomes } = this.#deps;
    const [bytes, state] = [this.#bytes, this.#state];
    return {
      get permit() {
        return sight.permit;
      },
      get isOnline() {
        return session.state.kind === "online";
      },
      get epoch() {
        return membership.epoch;
      },
      get logGeneration() {
        return generationOf(sight.relayEpoch);
      },
      get leaf() {
        return bytes.leaf;
      },
      get base() {
        return baseNameOf(membership.group.current);
      },
      get self() {
        return { agentId, owner: membership.group.self.owner };
      },
      get others() {
        return membership.group.members().filter((member) => member.agentId !== agentId);
      },
      get claimable() {
        return claimableOf(membership, agentId);
      },
      get isAllHere() {
        return sight.isAllHere;
      },
      get isAllRead() {
        const bad = badOf(state.place);
        return bad === undefined || (sight.received ?? 0) >= bad.sequence - 1;
      },
      get isAllShown() {
        return sight.isAllShown;
      },
      get isLeaving() {
        return sight.isLeaving;
      },
      get welcomes() {
        const { name, channelId } = membership;
        return welcomes.find(name).filter((each) => each.channelId === channelId).map((each) => bytes.welcomed(each));
      },
      get nowMs() {
        return runtime.nowMs();
      },
      get relayNowMs() {
        return relayNowMs();
      },
      jitter: (ms) => jitter(runtime, ms),
    };
  }

  // Where this agent is

  get place(): Place["at"] {
    return this.#state.place.at;
  }

  /** The commit at which this agent is stopped. */
  get stopped(): BadCommit | undefined {
    return badOf(this.#state.place) === undefined ? undefined : this.#bytes.bad;
  }

  get #asking(): WayBack | undefined {
    return backOf(this.#state.place);
  }

  /** Why this agent is on its way back, if it is. */
  get reason(): string | undefined {
    return this.#asking?.reason;
  }

  /** By nothing but the relay's word, which it may take back. */
  get isByWord(): boolean {
    return this.#asking?.by === "word";
  }

  /** An answer was worth nothing, and none has let this agent in yet. */
  get isUnwelcome(): boolean {
    return this.#asking?.answerers.isInVain === true;
  }

  /** The log holds something of ours that this store does not know. */
  get isProven(): boolean {
    return this.#state.isProven;
  }

  /** Before it asks to join anew, which it did too often. */
  get pausesUntilMs(): number | undefined {
    const step = this.#asking?.step;
    return step?.at === "resting" ? step.untilMs : undefined;
  }

  /** The earliest that this agent does not follow. */
  get foreignGeneration(): number | undefined {
    const { place } = this.#state;
    return place.at === "apart" ? place.foreign.generation : undefined;
  }

  /** Our present leaf as bytes, as far as we know. */
  get presentLeaf(): Uint8Array {
    return hexToBytes(this.#asking?.leaf ?? this.#bytes.leaf);
  }

  /** Somebody told us what our present leaf is. */
  get isLeafTold(): boolean {
    return this.#asking?.leaf !== undefined;
  }

  /** Foundings of ours that the relay may have taken. */
  get hasFoundings(): boolean {
    return this.#state.made.length > 0;
  }

  get #isAgain(): boolean {
    const bad = badOf(this.#state.place);
    return bad !== undefined && isAgain(this.#state, bad, this.#facts);
  }

  get #isOffered(): boolean {
    const bad = badOf(this.#state.place);
    return bad !== undefined && isOffered({ state: this.#state, facts: this.#facts, write: [], effects: [] }, bad);
  }

  /** In words, for `health()`. */
  get condition(): StoppedState | undefined {
    const { place } = this.#state;
    if (place.at === "apart") return foreignState(place.foreign);
    const bad = this.stopped;
    if (bad === undefined) return undefined;
    const { group } = this.#parts.membership;
    const isNow = this.#isOffered;
    return {
      problem: problemOf(bad),
      action: actionFor(bad, group, isNow),
      recoverable: group.self.owner && isNow,
    };
  }

  /** Nothing from here on is read. */
  get stopsAt(): number | undefined {
    return badOf(this.#state.place)?.sequence;
  }

  /** A message behind the stop: nobody that cannot follow the commit can read it. It may be delivered again. */
  countUnread(sequence: number): void {
    if (sequence <= this.#countedTo) return;
    this.#countedTo = sequence;
    this.#unread++;
  }

  // Events of the channel

  push(event: RecoveryEvent): void {
    void this.tell(event);
  }

  /** Resolves when the step is carried out. */
  async tell(event: RecoveryEvent): Promise<void> {
    if (this.#hasFailed || (this.#isOver && event.type !== "over")) return;
    const { promise, resolve } = createDeferred<void>();
    this.#queue.push({ event, done: resolve });
    if (!this.#isStepping) this.#run();
    await promise;
  }

  async stopAt(bad: BadCommit | undefined, reason: string): Promise<void> {
    if (bad !== undefined && this.stopped === undefined) this.#bytes.bad = bad;
    await this.tell({ type: "cannot_follow", bad: bad && stopOf(bad), reason });
  }

  /** A founding that is not forged. Resolves when this agent is in it, or is not going to be. */
  async founded(entry: Founding, verdict: Exclude<FoundingVerdict, { kind: "forged" }>): Promise<void> {
    const { founding: { generation }, sender: founder } = entry;
    if (verdict.kind === "follow") this.#bytes.entry = { founding: entry, base: verdict.base };
    const reason = "reason" in verdict ? verdict.reason : "";
    await this.tell({ type: "founding", generation, founder, verdict: verdict.kind, reason });
    await this.#opening;
  }

  leaf(told: ToldLeaf): void {
    const back = this.#asking;
    if (back !== undefined && mayHear(back)) this.push({ type: "leaf", told: this.#bytes.told(told) });
  }

  asked(agentId: AgentId, generation: number): void {
    this.push({ type: "asker", agentId, generation });
  }

  /** The group has moved by a commit. */
  moved(isOurs: boolean): void {
    const from = this.#base;
    if (from !== undefined && this.hasFoundings) {
      this.#base = baseNameOf(this.#parts.membership.group.current);
      if (from !== this.#base) this.push({ type: "moved", from });
    }
    if (isOurs && this.#state.spent.length > 0) this.push({ type: "own_commit" });
  }

  /** Foundings on a group that has moved on by a commit, which is written now. */
  #foundingsLeft(): string[] {
    const { membership: { group } } = this.#parts;
    if (this.#base === undefined || !this.hasFoundings || this.#base === baseNameOf(group.current)) return [];
    return this.#state.made.filter(({ base }) => base === this.#base).map(({ hash }) => hash);
  }

  async recover(): Promise<void> {
    if (this.#isOver) throw this.#parts.over();
    const operation = ++this.#operations;
    const waiting = createDeferred<void>();
    this.#recovering.set(operation, waiting);
    this.push({ type: "recover", operation });
    await waiting.promise;
  }

  /** Our leaf stays as it is: the program leaves. Resolves when nothing that was begun changes it any more. */
  async halt(): Promise<void> {
    await this.tell({ type: "halt" });
    // Also what is written when the channel is over.
    while (this.#isStepping) await this.#carrying;
    await Promise.all(this.#jobs);
  }

  resume(): void {
    this.push({ type: "resume" });
  }

  /** Resolves when this agent has come in, or asks no more. */
  get over(): Promise<void> {
    if (this.#asking === undefined) return Promise.resolve();
    return (this.#back ??= createDeferred<void>()).promise;
  }

  /** A founding of ours may give us another leaf: resolves when that is known, or has taken too long. Throws `StaticError`. */
  async settleFoundings(): Promise<void> {
    if (!this.hasFoundings && this.#state.founding.at === "none") return;
    const settling = this.#settling = createDeferred<void>();
    settling.promise.catch(() => {});
    await this.tell({ type: "leaves" });
    const stop = new AbortController();
    try {
      await Promise.race([settling.promise, pause(this.#deps.runtime, settleMs, stop.signal)]);
    } catch (error) {
      // The relay has no place for us: the statement may be void then, and an owner removes us.
      if (!isCode(error, "not_found", "membership_lapsed")) throw error;
    } finally {
      stop.abort();
      this.#settling = undefined;
    }
  }

  end(): void {
    this.#isOver = true;
    this.#deaf?.();
    this.#deaf = undefined;
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
    this.push({ type: "over" });
    // Of a step that fails, and of those behind it, nothing else would come.
    for (const waiting of this.#recovering.values()) waiting.reject(this.#parts.over());
    this.#recovering.clear();
    this.#back?.resolve();
    this.#settling?.resolve();
  }

  /** Nothing that it asked for is of use any more. */
  async erase(held: ReadonlySet<string>): Promise<void> {
    await this.#bytes.forgetKeys(this.#bytes.asked.filter((reference) => !held.has(reference)));
  }

  // Steps

  /** Of what was told, the numbers that the state names, or that wait for their step. */
  get #told(): ReadonlySet<number> {
    const back = this.#asking;
    const told = back === undefined ? [] : [...back.told, ...(back.look === undefined ? [] : [back.look.at])];
    const numbers = told.map((each) => each.of === "welcome" ? each.told.welcome : each.told.number);
    for (const { event } of this.#queue) {
      if (event.type === "welcome") numbers.push(event.told.welcome);
      else if (event.type === "leaf") numbers.push(event.told.number);
    }
    return new Set(numbers);
  }

  /** At once, as long as nothing has to be written or waited for. A fault ends the channel. */
  #run(): void {
    this.#isStepping = true;
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift()) {
      const { event, done } = next;
      try {
        const rest = this.#carryOut(stepRecovery(this.#state, event, this.#facts));
        if (rest !== undefined) {
          this.#carrying = rest.then(() => {
            this.#settled(done);
            this.#run();
          }).catch((fault) => this.#fail(fault, done));
          return;
        }
        this.#settled(done);
      } catch (fault) {
        return this.#fail(fault, done);
      }
    }
    this.#isStepping = false;
  }

  /** The state may be ahead of the disk: nothing is stepped any more. */
  #fail(fault: unknown, done: () => void): void {
    this.#isStepping = false;
    this.#hasFailed = true;
    this.#parts.onFault(fault);
    for (const end of [done, ...this.#queue.splice(0).map((waiting) => waiting.done)]) end();
  }

  #settled(done: () => void): void {
    this.#forgetTimers();
    this.#listen();
    if (this.#asking === undefined) {
      this.#back?.resolve();
      this.#back = undefined;
    }
    this.#bytes.keepTold(this.#told);
    done();
  }

  /** Returns a promise when something has to be waited for. */
  #carryOut({ write, effects }: RecoveryStep): Promise<void> | undefined {
    if (write.length > 0) return this.#carryOutLater(effects, this.#write(write));
    for (const [at, effect] of effects.entries()) {
      const done = this.#perform(effect);
      if (done !== undefined) return this.#carryOutLater(effects.slice(at + 1), done);
    }
    return undefined;
  }

  async #carryOutLater(effects: readonly RecoveryEffect[], first: Promise<void>): Promise<void> {
    await first;
    for (const effect of effects) await this.#perform(effect);
  }

  #perform(effect: RecoveryEffect): Promise<void> | undefined {
    if (this.#isOver && effect.type !== "settle" && effect.type !== "forget_keys") return undefined;
    const { onFault } = this.#parts;
    switch (effect.type) {
      case "call":
        return void this.#call(effect.call, effect.request).catch(onFault);
      case "job": {
        const working = this.#work(effect.job, effect.work).catch(onFault);
        if (effect.work.of === "generation") this.#opening = working;
        return undefined;
      }
      case "wake":
        this.#timers.set(
          effect.timer,
          this.#deps.runtime.after(effect.afterMs, () => {
            this.#timers.delete(effect.timer);
            this.push({ type: "time", timer: effect.timer });
          }),
        );
        return undefined;
      case "await_arrival": {
        const { operation } = effect;
        return void this.#parts.allHere().then((waited) =>
          this.push({ type: "arrived", operation, isLate: waited !== "now" })
        );
      }
      case "settle":
        return void this.#settle(effect.operation, effect.refusal);
      case "report":
        return void this.#report(effect.report);
      case "finding":
        return this.#found(effect.finding);
      case "take_welcomes":
        return void this.#deps.welcomes.forget(this.#parts.membership.channelId);
      case "forget_keys":
        return void this.#bytes.forgetKeys(effect.own).catch(onFault);
    }
  }

  /** Those that no state holds any more. */
  #forgetTimers(): void {
    if (this.#timers.size === 0) return;
    const step = this.#asking?.step;
    const { founding } = this.#state;
    const held = [
      step !== undefined && "timer" in step ? step.timer : undefined,
      step?.at === "halted" ? step.rest?.timer : undefined,
      "timer" in founding ? founding.timer : undefined,
    ];
    for (const [timer, cancel] of this.#timers) {
      if (held.includes(timer)) continue;
      cancel();
      this.#timers.delete(timer);
    }
  }

  /** Welcomes come here while it asks. */
  #listen(): void {
    const back = this.#asking;
    const isHearing = back !== undefined && mayHear(back) && !this.#isOver;
    if (!isHearing) {
      this.#deaf?.();
      this.#deaf = undefined;
    } else if (this.#deaf === undefined) {
      // One that waited is here at once.
      this.#deaf = () => {};
      this.#deaf = this.#deps.welcomes.expect(this.#parts.membership.channelId, (welcome) => this.#hear(welcome));
    }
  }

  #hear(welcome: Welcome): boolean {
    const back = this.#asking;
    if (back === undefined || !mayHear(back)) return false;
    this.push({ type: "welcome", told: this.#bytes.welcomed(welcome) });
    return true;
  }

  #settle(operation: number, refusal: Refusal | undefined): void {
    const waiting = this.#recovering.get(operation);
    this.#recovering.delete(operation);
    if (waiting === undefined) return;
    if (refusal === undefined) return waiting.resolve();
    const { membership } = this.#parts;
    const foreign = this.#state.place.at === "apart" ? foreignState(this.#state.place.foreign) : undefined;
    const bad = this.stopped;
    const { epoch, name } = membership;
    waiting.reject(recoverError(refusal, {
      action: bad && actionFor(bad, membership.group, this.#isOffered),
      foreign: foreign && `${foreign.problem}. ${foreign.action}`,
      notFollowed:
        `Channel "${name}" is at epoch ${foundingEpoch(generationOf(epoch) + 1) + 1}, and this agent is at ` +
        `epoch ${epoch}: the commits in between have not arrived. See health(), then try again`,
      over: this.#parts.over(),
    }));
  }

  #found(finding: Finding): Promise<void> | undefined {
    const { onFinding, onRejoined, onGeneration } = this.#parts;
    switch (finding.type) {
      case "membership":
        return this.#inPlace(onRejoined());
      case "generation": {
        const at = this.#begun?.at;
        this.#begun = undefined;
        return at && this.#inPlace(onGeneration(at, finding.own !== undefined));
      }
      case "founding_settled":
        return void this.#settling?.resolve();
      case "retry":
        this.#settling?.reject(this.#settleError);
        return void onFinding(finding);
      case "in_step":
        this.#settling?.resolve();
        return void onFinding(finding);
      default:
        return void onFinding(finding);
    }
  }

  /** An agent that wants to leave has its leaf now. */
  async #inPlace(entering: Promise<void>): Promise<void> {
    await entering;
    this.#settling?.resolve();
  }

  // Calls and work

  async #call(call: number, request: Request): Promise<void> {
    const isTurn = request.to === "FindCommit" || request.to === "FoundGeneration";
    const event = await this.#answer(call, request);
    if (event === undefined) return;
    await (isTurn ? this.#parts.entries.run(() => this.tell(event)) : this.tell(event));
  }

  /** Undefined when the channel hears of the end in another way. */
  async #answer(call: number, request: Request): Promise<RecoveryEvent | undefined> {
    try {
      return { type: "answered", call, answer: await this.#bytes.call(call, request) };
    } catch (error) {
      // Anything but a refusal is a fault of ours.
      if (!(error instanceof StaticError)) throw error;
      this.#settleError = error;
      const refusal = refusalOf(error);
      if (isLost(error)) return { type: "lost", call, refusal };
      return { type: "refused", call, refusal, ...(error.epoch !== undefined && { epoch: error.epoch }) };
    }
  }

  async #work(job: number, work: Work): Promise<void> {
    const working = this.#worked(job, work);
    const ended = working.catch(() => {});
    this.#jobs.add(ended);
    const event = await working.finally(() => this.#jobs.delete(ended));
    await (work.of === "welcome" ? this.#parts.entries.run(() => this.tell(event)) : this.tell(event));
    if (event.type === "done" && event.result.of === "request") await this.#forgetUnnamed(event.result.own);
  }

  /** Nobody waits any more for the request that it was made for. */
  async #forgetUnnamed({ reference }: Own): Promise<void> {
    const { own, spent } = this.#state;
    const isNamed = own?.reference === reference || spent.includes(reference);
    if (!isNamed && !this.#isOver) await this.#bytes.forgetKeys([reference]);
  }

  async #worked(job: number, work: Work): Promise<RecoveryEvent> {
    try {
      return { type: "done", job, result: await this.#bytes.work(work) };
    } catch (error) {
      if (error instanceof StoreError) throw error;
      return { type: "failed", job, refusal: refusalOf(error) };
    }
  }

  // Writes

  async #write(changes: readonly RecoveryChange[]): Promise<void> {
    const entering = changes.find((change) => change.type === "membership" || change.type === "generation");
    const records = changes.flatMap((change) => this.#recordsOf(change));
    if (entering?.type === "membership") await this.#enterMembership(entering.welcome, records);
    else if (entering?.type === "generation") await this.#enterGeneration(entering.own, records);
    else if (records.length > 0) await this.#deps.store.batch(records);
    this.#base = this.hasFoundings ? baseNameOf(this.#parts.membership.group.current) : undefined;
  }

  #recordsOf(change: RecoveryChange): readonly RecordChange[] {
    const { membership: { channelId, durable }, storeAge } = this.#parts;
    switch (change.type) {
      case "stopped": {
        const bad = this.#bytes.bad;
        this.#unread = this.#countedTo = 0;
        if (change.bad === undefined || bad === undefined) return [deleteBadCommit(channelId)];
        this.#bytes.bad = { ...bad, sequence: change.bad.sequence };
        return [putBadCommit(this.#bytes.bad)];
      }
      case "foreign":
        return [change.foreign === undefined ? deleteForeign(channelId) : putForeign(channelId, change.foreign)];
      case "founding": {
        const founding = this.#bytes.written(change.made.hash);
        return founding === undefined ? [] : [durable.prepareFounding(founding)];
      }
      case "no_founding":
        return this.#bytes.foundings.delete(change.hash) ? [durable.forgetFounding(change.hash)] : [];
      case "returned":
        return [change.atMs === undefined ? deleteReturn(channelId) : putReturn(channelId, change.atMs)];
      case "came_back":
        return [storeAge.noted({ ...storeAge.anchor, cameBackMs: change.timesMs })];
      case "generation":
      case "membership":
        return [];
    }
  }

  async #enterGeneration(own: FoundCommit | undefined, records: readonly RecordChange[]): Promise<void> {
    const { membership, membership: { channelId, durable }, health, onEntering } = this.#parts;
    const opened = own === undefined ? this.#followed() : this.#own(own);
    const { founding: { founding, sender: founder }, at: { sequence }, next, changes, isLate } = opened;
    this.#begun = opened;
    const over = [deleteBadCommit(channelId), deleteReturn(channelId), deleteForeign(channelId)];
    const foundings = [...this.#bytes.foundings.keys()].map((hash) => durable.forgetFounding(hash));
    const [members, { removed }] = [membership.group.members(), membership];
    const { blamed, without } = founding;
    const used = opened.own === undefined
      ? []
      : await this.#deps.keyPackages.usedNow(opened.own, { groupId: next.context.groupId });
    const generation = { next, changes, founder, blamed, without, sequence };
    await membership.enterGeneration(
      generation,
      () => [...over, ...foundings, ...records, ...used, onEntering()],
    );
    this.#bytes.foundings.clear();
    this.#bytes.entry = this.#bytes.openedFounding = undefined;
    if (isLate) reportChanges(membership.group.members(), { group: { members: () => members }, removed }, health);
    if (own === undefined) this.#deps.keyPackages.renew().catch(() => {}); // the next connection does it again
  }

  #followed(): Entering {
    const { entry, openedFounding } = this.#bytes;
    if (entry === undefined || openedFounding === undefined) throw new TypeError("No founding was opened");
    const { founding } = entry;
    const at = { sequence: founding.sequence, epoch: foundingEpoch(founding.founding.generation) };
    return { ...openedFounding, founding, at, isLate: false };
  }

  #own({ hash, sequence }: FoundCommit): Entering {
    const candidate = this.#bytes.foundings.get(hash);
    if (candidate === undefined) throw new TypeError("A founding is entered that is not here");
    const request = requestOf(candidate);
    const at = { sequence, epoch: Number(candidate.next.context.epoch) - 1 };
    const isLate = madeOf(candidate).base !== baseNameOf(this.#parts.membership.group.current);
    const { next, changes } = candidate;
    return { next, changes, founding: { ...request, sender: this.#deps.agentId }, at, isLate };
  }

  async #enterMembership(number: number, records: readonly RecordChange[]): Promise<void> {
    const { membership, health, onMembership } = this.#parts;
    const opened = this.#bytes.openedWelcome(number);
    if (opened === undefined) throw new TypeError("No Welcome was opened");
    const { group, maker, welcome: { joinedSequence: position } } = opened;
    const used = [...await this.#deps.keyPackages.usedNow(opened.own, group.identifiers), ...records];
    const { name, trust } = membership;
    const present = group.members();
    reportChanges(present, membership, health);
    const removed = membership.removed.filter((agentId) => !present.some((member) => member.agentId === agentId));
    const known = { rejoined: true, formerly: membership.epoch, removed, known: membership.knownIn(group) };
    const foundings = [...this.#bytes.foundings.keys()];
    const entrance = { name, trust, position, used, byOwner: maker.owner, foundings, ...known };
    // Messages that readers finish from now on belong to a membership that is over.
    membership.durable.retire();
    onMembership(await writeEntered(group, entrance, this.#deps), position);
    this.#bytes.usedUp(opened.own.reference);
    this.#deps.keyPackages.renew().catch(() => {}); // the next connection does it again
  }

  // Words

  #report(what: Report): void {
    const { health } = this.#parts;
    if (what.kind !== "recovered") return say(health, what, this.#bytes.bad, this.#deps.runtime.nowMs());
    if (this.#begun !== undefined) this.#tellBegun(this.#begun.founding, what.bad === undefined);
  }

  #tellBegun({ founding, absent, sender }: Entering["founding"], couldFollow: boolean): void {
    const { health } = this.#parts;
    const could = couldFollow ? "this agent could follow it" : "this agent could not follow it";
    const away = absent.length === 0 ? "nobody is absent" : `absent until they come back: ${absent.join(", ")}`;
    const text = `${sender} began generation ${founding.generation} of the channel on epoch ${founding.baseEpoch}, ` +
      `because of a commit of ${founding.blamed}, which is out; ${could}; ${away}`;
    health.report("recovered", text);
    if (this.#unread > 0) {
      const lost =
        `${this.#unread} messages stand in the log behind the commit that nobody here could follow; they cannot be ` +
        "read any more, ask their senders for them";
      health.report("undecryptable", lost, { count: this.#unread });
    }
    this.#unread = 0;
  }
}

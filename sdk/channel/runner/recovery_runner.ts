/**
 * Carries out what `stepRecovery` says: writes, calls, timers and work with keys, whose ends are
 * its next events. Whatever may enter a group takes its turn with the entries of the log: nothing
 * is entered beside a judgement of the connection.
 */
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { type AgentId, foundingEpoch, generationOf } from "../../../proto/mod.ts";
import { StaticError } from "../../base/errors.ts";
import { jitter } from "../../base/runtime.ts";
import { baseMembersOf } from "../../mls/base_epoch.ts";
import type { OwnKeyPackage } from "../../mls/key_package.ts";
import { type RecordChange, StoreFault } from "../../store/mod.ts";
import {
  type BadCommit,
  deleteBadCommit,
  deleteReturn,
  putBadCommit,
  putReturn,
} from "../recovery/bad_commit.ts";
import type { Permit } from "../connection/permit.ts";
import type { ChannelDeps } from "../deps.ts";
import type { EnteredChannel } from "../entering.ts";
import type { DeliveredFounding, FoundingVerdict, GenerationStart } from "../recovery/following.ts";
import { claimableOf, requestOf } from "../recovery/founding.ts";
import { deleteForeign, putForeign } from "../recovery/foreign_generation.ts";
import type { HealthLog, StoppedState } from "../health.ts";
import { leftOutBy, nobodyElse, rootOf } from "../group/lineage.ts";
import type { Membership } from "../group/membership.ts";
import { previewOf, type RecoveryPreview } from "../recovery/recovery_preview.ts";
import { choose, needsChoice, standing } from "../recovery/exclusion.ts";
import { isOffered } from "../recovery/own_founding.ts";
import { stepRecovery } from "../recovery/recovery.ts";
import { restore } from "../recovery/recovery_records.ts";
import { backOf, badOf, isAgain, type RecoveryRun, timersOf } from "../recovery/recovery_run.ts";
import type {
  ExclusionChoice,
  FoundCommit,
  RecoveryChange,
  RecoveryEffect,
  RecoveryEvent,
  RecoveryFacts,
  RecoveryFinding,
  RecoveryPlace,
  RecoveryRefusal,
  RecoveryReport,
  RecoveryRequest,
  RecoveryState,
  RecoveryWork,
  RejoinKeyPackage,
  UnfollowableCommit,
  WayBack,
} from "../recovery/recovery_state.ts";
import { mayHear } from "../recovery/way_back.ts";
import {
  actionFor,
  choiceText,
  type DefaultExclusion,
  foreignState,
  problemOf,
} from "../recovery/stopped_words.ts";
import type { ReadOwnReply, StoreAge } from "./store_age.ts";
import type { RootRecovery } from "../root/root_state.ts";
import { type OwnPast, unjustRecovery } from "../recovery/unjust_recovery.ts";
import { reportChanges } from "../recovery/welcome_back.ts";
import type { Welcome } from "./welcomes.ts";
import { Calls } from "./calls.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";
import type { RootDoor } from "./root_door.ts";
import { writeEntered } from "./entrances.ts";
import { enterGeneration } from "./group_moves.ts";
import type { WaitEnd } from "./link_runner.ts";
import type { OpenedFounding } from "./open_welcomes.ts";
import {
  badOf as stopOf,
  baseNameOf,
  type DeliveredLeaf,
  madeOf,
  RecoveryBytes,
} from "./recovery_bytes.ts";
import { errorOf, isLost, recoverError, refusalOf, say } from "./recovery_words.ts";
import type { LogTurns } from "./log_turns.ts";
import { findCommit } from "./find_commit.ts";

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

/** Knowledge of this agent and of others about the epochs behind it. */
export interface RecoveryPast extends Pick<OwnPast, "stateAt"> {
  readonly confirmedBy: (agentId: AgentId) => number | undefined;
  /** SHA-256 of the commit that ended an epoch, as long as it is kept. */
  readonly hashOf: (epoch: number) => Promise<Uint8Array | undefined>;
}

export interface RecoveryRunnerParts
  extends Pick<EnteredChannel, "bad" | "returnedMs" | "foreign" | "foundings"> {
  readonly membership: Membership;
  readonly health: HealthLog;
  readonly storeAge: StoreAge;
  readonly turns: LogTurns;
  readonly sight: RecoverySight;
  readonly past: RecoveryPast;
  readonly allHere: () => Promise<WaitEnd>;
  readonly found: RootDoor;
  readonly queue: ChannelQueue;
  readonly onFault: (fault: unknown) => void;
}

/** A generation that is entered. */
interface GenerationEntry extends Pick<OpenedFounding, "next" | "changes"> {
  /** Used by it, unless it is ours. */
  readonly own?: OwnKeyPackage;
  readonly founding: Pick<DeliveredFounding, "founding" | "absent" | "sender">;
  readonly at: GenerationStart;
  /** Our group had left its base: members may be in it again. */
  readonly isLate: boolean;
}

/** As they come: what is kept of them is known by a number from the step on. */
type ArrivedRejoinAnswer = { readonly type: "heard"; readonly welcome: Welcome } | {
  readonly type: "told";
  readonly leaf: DeliveredLeaf;
};

/** `operation`: of somebody that waits for the step. `isTurn`: it may enter a group. */
interface QueuedRecoveryEvent {
  readonly event: RecoveryEvent | ArrivedRejoinAnswer;
  readonly operation?: number;
  readonly isTurn?: boolean;
}

export class RecoveryRunner {
  readonly #parts: RecoveryRunnerParts;
  readonly #deps: ChannelDeps;
  readonly #bytes: RecoveryBytes;
  /** The state as the disk has it: a step with a write counts when the write is durable. */
  #state: RecoveryState;
  /** The state of the step that is being written. */
  #writing: RecoveryState | undefined;
  readonly #facts: RecoveryFacts;
  readonly #steps: Steps<QueuedRecoveryEvent, RecoveryEffect>;
  readonly #recovering = new Calls();
  readonly #telling = new Calls();
  /** Work with keys that is under way: it may write them. */
  readonly #jobs = new Set<Promise<RecoveryEvent | void>>();
  /** Which is stepped. */
  #given: QueuedRecoveryEvent | undefined;
  /** The error for callers, once the channel is over. */
  #over: StaticError | undefined;
  /** The founding that was entered last, until callers are told of it. */
  #begun: Pick<GenerationEntry, "founding" | "at"> | undefined;
  /** The Welcome of a founding is being opened. */
  #opening: Promise<void> | undefined;
  /** Our group, as a founding on it names it; known while there are foundings. */
  #base: string | undefined;
  /** Ends that Welcomes come here. */
  #deaf: (() => void) | undefined;
  /** Messages behind the stop, and the last entry that was counted there. */
  #unread = 0;
  #countedTo = 0;
  /**
   * The verdict on the founding that was judged last: whether it blames a commit that we followed.
   */
  #unjust: { readonly founder: AgentId; readonly text: string | undefined } | undefined;

  constructor(parts: RecoveryRunnerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    const { membership, bad, foundings, storeAge } = parts;
    const stop = (): { stopped: BadCommit | undefined; isAgain: boolean } => ({
      stopped: this.stopped,
      isAgain: this.#isAgain,
    });
    const isUnknownOwn = (entry: ReadOwnReply): Promise<boolean> =>
      storeAge.isUnknownOwn(entry, parts.sight.hasOpenCommit);
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
    this.#steps = parts.queue.add({
      step: (given) => this.#step(given),
      perform: (effect) => this.#perform(effect),
      timers: () => this.#isOver ? [] : timersOf(this.#state),
      stepped: () => this.#stepped(),
    });
    membership.onCommit(() =>
      this.#foundingsLeft().map((hash) => membership.durable.forgetFounding(hash))
    );
  }

  #createFacts(): RecoveryFacts {
    const { membership, sight } = this.#parts;
    const { agentId, session, runtime, relayNowMs, welcomes } = this.#deps;
    const bytes = this.#bytes;
    const place = (): RecoveryPlace => this.#state.place;
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
      get members() {
        return baseMembersOf(membership.group.current);
      },
      get claimable() {
        return claimableOf(membership, agentId);
      },
      get leftOut() {
        const { group: { current, binding: { owners } }, lineage } = membership;
        const blamed = badOf(place())?.blamed;
        const base = { members: baseMembersOf(current), owners, self: agentId };
        return blamed === undefined
          ? nobodyElse
          : leftOutBy(lineage, base, blamed, runtime.nowMs());
      },
      get isAllHere() {
        return sight.isAllHere;
      },
      get isAllRead() {
        const bad = badOf(place());
        // Our own commits are not delivered: what is read at the stop may be the first entry that
        // comes.
        return bad === undefined || sight.isAllHere || (sight.received ?? 0) >= bad.sequence - 1;
      },
      get isAllShown() {
        return sight.isAllShown;
      },
      get isLeaving() {
        return sight.isLeaving;
      },
      get welcomes() {
        const { name, channelId } = membership;
        return welcomes.find(name).filter((each) => each.channelId === channelId).map((each) =>
          bytes.welcomed(each)
        );
      },
      get nowMs() {
        return runtime.nowMs();
      },
      get badges() {
        return bytes.badgesNow;
      },
      get relayNowMs() {
        return relayNowMs();
      },
      jitter: (ms) => jitter(runtime, ms),
    };
  }

  // Where this agent is

  get place(): RecoveryPlace["at"] {
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

  /** The way back rests on nothing but the relay's word, which the relay may take back. */
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

  /** Foundings of ours that the relay may have taken, or that go to it when they are on disk. */
  get hasFoundings(): boolean {
    return this.#state.made.length > 0 || (this.#writing?.made.length ?? 0) > 0;
  }

  get #isAgain(): boolean {
    const bad = badOf(this.#state.place);
    return bad !== undefined && isAgain(this.#state, bad, this.#facts);
  }

  /** To be asked, not stepped. */
  get #now(): RecoveryRun {
    return { state: this.#state, facts: this.#facts, write: [], effects: [] };
  }

  /** The way out for this agent, in words. */
  get #wayOut(): { readonly isNow: boolean; readonly action: string } | undefined {
    const bad = badOf(this.#state.place);
    const { stopped } = this;
    if (bad === undefined || stopped === undefined) return undefined;
    const { group } = this.#parts.membership;
    const isNow = isOffered(this.#now, bad);
    return { isNow, action: actionFor(stopped, group, isNow ? this.#outcome(bad) : undefined) };
  }

  /** Returns the exclusion by a call without lists. */
  #outcome(bad: UnfollowableCommit): DefaultExclusion {
    const chosen = choose(this.#now, {}, bad);
    const out = "refusal" in chosen ? 0 : chosen.without.length;
    const isByLine = !this.hasFoundings && this.#state.founding.at === "none";
    return { out, isByLine, needsChoice: needsChoice(this.#now, {}, bad) };
  }

  /** Whom `recover()` with these lists would leave out. Sends nothing. Throws `StaticError`. */
  preview(choice: ExclusionChoice): RecoveryPreview {
    const bad = badOf(this.#state.place);
    const refused = standing(this.#now);
    if (refused !== undefined || bad === undefined) {
      throw this.#errorOf(refused ?? { code: "not_allowed", text: "not_stopped" });
    }
    const chosen = choose(this.#now, choice, bad);
    if ("refusal" in chosen) throw this.#errorOf(chosen.refusal);
    const { membership } = this.#parts;
    const facts = {
      members: this.#facts.members.length,
      leftOut: this.#facts.leftOut,
      lineage: membership.lineage,
    };
    const identities = new Map<AgentId, Uint8Array>(
      [...membership.group.members(), ...membership.absentMembers].map((
        { agentId, identity },
      ) => [agentId, identity]),
    );
    return previewOf(bad.blamed, chosen.without, {
      ...facts,
      choiceNeeded: needsChoice(this.#now, choice, bad),
      identities,
    });
  }

  /** In words, for `health()`. */
  get condition(): StoppedState | undefined {
    const { place } = this.#state;
    if (place.at === "apart") return foreignState(place.foreign);
    const bad = this.stopped;
    if (bad === undefined) return undefined;
    const { isNow = false, action = "" } = this.#wayOut ?? {};
    return {
      problem: problemOf(bad),
      action,
      recoverable: this.#parts.membership.group.self.owner && isNow,
    };
  }

  /** Nothing from here on is read. */
  get stopsAt(): number | undefined {
    return badOf(this.#state.place)?.sequence;
  }

  /**
   * A message behind the stop: nobody that cannot follow the commit can read it. It may be
   * delivered again.
   */
  countUnread(sequence: number): void {
    if (sequence <= this.#countedTo) return;
    this.#countedTo = sequence;
    this.#unread++;
  }

  // Events of the channel

  push(event: RecoveryEvent | ArrivedRejoinAnswer): void {
    if (!this.#isOver) this.#steps.push({ event });
  }

  get #isOver(): boolean {
    return this.#over !== undefined;
  }

  /** Resolves when the step is carried out. */
  tell(event: RecoveryEvent): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return this.#telling.begin((operation) => this.#steps.push({ event, operation }));
  }

  stopAt(bad: BadCommit | undefined, reason: string): void {
    if (bad !== undefined && this.stopped === undefined) this.#bytes.bad = bad;
    this.push({ type: "cannot_follow", bad: bad && stopOf(bad), reason });
  }

  /** A founding that is not forged. Resolves when this agent is in it, or is not going to be. */
  async founded(
    entry: DeliveredFounding,
    verdict: Exclude<FoundingVerdict, { kind: "forged" }>,
  ): Promise<void> {
    const { founding: { generation, blamed, without }, sender: founder } = entry;
    if (verdict.kind === "follow") this.#bytes.entry = { founding: entry, base: verdict.base };
    const isJudged = verdict.kind === "follow" || verdict.kind === "behind";
    this.#unjust = isJudged ? { founder, text: await this.#injustice(entry) } : undefined;
    const reason = "reason" in verdict ? verdict.reason : "";
    await this.tell({
      type: "founding",
      generation,
      founder,
      out: [blamed, ...without],
      verdict: verdict.kind,
      reason,
    });
    await this.#opening;
  }

  /** Before the group moves: afterwards nobody knows any more what this agent followed. */
  async #injustice(entry: DeliveredFounding): Promise<string | undefined> {
    const { membership: { group: { parent } }, past } = this.#parts;
    const { baseEpoch } = entry.founding;
    const confirmed = past.confirmedBy(entry.sender);
    const isOfBase = confirmed !== undefined && generationOf(confirmed) === generationOf(baseEpoch);
    return unjustRecovery(entry, {
      self: this.#deps.agentId,
      stateAt: past.stateAt,
      commitHash: parent?.base.epoch === baseEpoch
        ? parent.commitHash
        : await past.hashOf(baseEpoch),
      confirmed: isOfBase ? confirmed : undefined,
    });
  }

  leaf(told: DeliveredLeaf): void {
    const back = this.#asking;
    if (back !== undefined && mayHear(back)) this.push({ type: "told", leaf: told });
  }

  asked(agentId: AgentId, generation: number): void {
    this.push({ type: "asker", agentId, generation });
  }

  /** The group has moved by a commit. */
  moved(isOurs: boolean): void {
    const from = this.#base;
    if (from !== undefined && this.hasFoundings) {
      this.#base = baseNameOf(this.#parts.membership.group.current);
      if (from !== this.#base) this.#steps.pushFirst({ event: { type: "moved", from } });
    }
    if (isOurs && this.#state.spent.length > 0) {
      this.#steps.pushFirst({ event: { type: "own_commit" } });
    }
  }

  /** Foundings on a group that has moved on by a commit, which is written now. */
  #foundingsLeft(): string[] {
    const { membership: { group } } = this.#parts;
    if (
      this.#base === undefined || !this.hasFoundings || this.#base === baseNameOf(group.current)
    ) return [];
    return this.#state.made.filter(({ base }) => base === this.#base).map(({ hash }) => hash);
  }

  /**
   * Once for each connection, and before anything comes: the log may not hold the commit any more
   * at which we are stopped.
   */
  async settleStop(): Promise<void> {
    if (this.stopped === undefined) return;
    const { epoch, commit } = await findCommit(
      this.#parts.membership,
      this.stopped.declared.epoch,
      this.#deps,
    );
    const found = commit && { sequence: commit.sequence, hash: bytesToHex(commit.commitHash) };
    await this.tell({ type: "stop_found", epoch, ...(found && { commit: found }) });
  }

  async recover(choice: ExclusionChoice): Promise<void> {
    if (this.#over !== undefined) throw this.#over;
    await this.#recovering.begin((operation) => this.push({ type: "recover", operation, choice }));
  }

  /** Resolves when no work with keys is under way. */
  async idle(): Promise<void> {
    await Promise.all(this.#jobs);
  }

  end(over: StaticError): void {
    this.#over = over;
    this.#deaf?.();
    this.#deaf = undefined;
    this.#steps.push({ event: { type: "over" } });
    // A step that fails brings no other end for these calls.
    this.#recovering.failAll(over);
    this.#telling.settleAll();
  }

  /** Nothing that it asked for is of use any more. */
  async erase(held: ReadonlySet<string>): Promise<void> {
    await this.#bytes.forgetKeys(this.#bytes.asked.filter((reference) => !held.has(reference)));
  }

  // Steps

  #step(
    given: QueuedRecoveryEvent | { readonly type: "time"; readonly timer: number },
  ): StepResult<RecoveryEffect> {
    const event = "event" in given ? this.#eventOf(given.event) : given;
    this.#given = "event" in given ? given : undefined;
    const state = { ...this.#state };
    const { write, effects } = stepRecovery(state, event, this.#facts);
    const written = (): void => {
      this.#state = state;
      this.#writing = undefined;
    };
    if (write.length > 0) {
      this.#writing = state;
      return { effects, written: this.#write(write, written) };
    }
    written();
    return { effects };
  }

  #eventOf(event: RecoveryEvent | ArrivedRejoinAnswer): RecoveryEvent {
    if (event.type === "heard") {
      return { type: "welcome", told: this.#bytes.welcomed(event.welcome) };
    }
    return event.type === "told" ? { type: "leaf", told: this.#bytes.told(event.leaf) } : event;
  }

  #stepped(): void {
    this.#listen();
    this.#bytes.keepTold(this.#named);
    const { operation, isTurn = false } = this.#given ?? {};
    if (operation !== undefined) this.#telling.settle(operation, undefined);
    if (isTurn) this.#parts.turns.end();
    void this.#parts.found({ from: "recovery", finding: { type: "stepped" } });
  }

  /** The numbers by which the state names what it was told. */
  get #named(): ReadonlySet<number> {
    const back = this.#asking;
    const told = back === undefined
      ? []
      : [...back.told, ...(back.look === undefined ? [] : [back.look.at])];
    return new Set(
      told.map((each) => each.of === "welcome" ? each.told.welcome : each.told.number),
    );
  }

  // Effects

  #perform(effect: RecoveryEffect): void {
    if (this.#isOver && effect.type !== "settle" && effect.type !== "forget_keys") return;
    const { onFault } = this.#parts;
    switch (effect.type) {
      case "call":
        return void this.#call(effect.call, effect.request).catch(onFault);
      case "job": {
        const working = this.#work(effect.job, effect.work).catch(onFault);
        if (effect.work.of === "generation") this.#opening = working;
        return;
      }
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "await_arrival": {
        const { operation } = effect;
        return void this.#parts.allHere().then((waited) =>
          this.push({ type: "arrived", operation, isLate: waited !== "now" })
        );
      }
      case "settle":
        return this.#settle(effect.operation, effect.refusal);
      case "report":
        return this.#report(effect.report);
      case "finding":
        return this.#found(effect.finding);
      case "take_welcomes":
        return this.#deps.welcomes.forget(this.#parts.membership.channelId);
      case "forget_keys":
        return void this.#bytes.forgetKeys(effect.own).catch(onFault);
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
      this.#deaf = this.#deps.welcomes.expect(
        this.#parts.membership.channelId,
        (welcome) => this.#hear(welcome),
      );
    }
  }

  /** One that comes while another one lets us in stays where it is, for the next time. */
  #hear(welcome: Welcome): boolean {
    const back = backOf((this.#writing ?? this.#state).place);
    if (back === undefined || !mayHear(back)) return false;
    this.push({ type: "heard", welcome });
    return true;
  }

  #settle(operation: number, refusal: RecoveryRefusal | undefined): void {
    if (refusal === undefined) this.#recovering.settle(operation, undefined);
    else this.#recovering.fail(operation, this.#errorOf(refusal));
  }

  #errorOf(refusal: RecoveryRefusal): unknown {
    const { epoch, name, lineage, group } = this.#parts.membership;
    const { place } = this.#state;
    const foreign = place.at === "apart" ? foreignState(place.foreign) : undefined;
    const blamed = badOf(place)?.blamed;
    return recoverError(refusal, {
      action: this.stopped && actionFor(this.stopped, group, undefined),
      foreign: foreign && `${foreign.problem}. ${foreign.action}`,
      choice: blamed && choiceText(blamed, this.#facts.leftOut, rootOf(lineage.since, blamed)),
      notFollowed:
        `Channel "${name}" is at epoch ${
          foundingEpoch(generationOf(epoch) + 1) + 1
        }, and this agent is at ` +
        `epoch ${epoch}: the commits in between have not arrived. See health(), then try again`,
      over: this.#over,
    });
  }

  #found(finding: RecoveryFinding): void {
    const shown = this.#shown(finding);
    if (shown !== undefined) {
      this.#parts.found({ from: "recovery", finding: shown })?.catch(this.#parts.onFault);
    }
  }

  #shown(finding: RecoveryFinding): RootRecovery | undefined {
    switch (finding.type) {
      case "generation": {
        const begun = this.#begun?.at;
        this.#begun = undefined;
        return begun && { type: "generation", begun, isOwn: finding.own !== undefined };
      }
      case "retry": {
        const { refusal } = finding;
        return { type: "retry", why: refusal && { code: refusal.code, error: errorOf(refusal) } };
      }
      default:
        return finding;
    }
  }

  // Calls and work

  async #call(call: number, request: RecoveryRequest): Promise<void> {
    const isTurn = request.to === "FindCommit" || request.to === "FoundGeneration";
    const event = await this.#answer(call, request);
    if (event === undefined) return;
    if (isTurn) this.#inTurn(event);
    else this.push(event);
  }

  #inTurn(event: RecoveryEvent): void {
    this.#parts.turns.take(() => this.#steps.push({ event, isTurn: true }));
  }

  /** Undefined when the channel hears of the end in another way. */
  async #answer(call: number, request: RecoveryRequest): Promise<RecoveryEvent | undefined> {
    try {
      return { type: "answered", call, answer: await this.#bytes.call(call, request) };
    } catch (error) {
      // Anything but a refusal is a fault of ours.
      if (!(error instanceof StaticError)) throw error;
      const refusal = refusalOf(error);
      if (isLost(error)) return { type: "lost", call, refusal };
      return {
        type: "refused",
        call,
        refusal,
        ...(error.epoch !== undefined && { epoch: error.epoch }),
      };
    }
  }

  async #work(job: number, work: RecoveryWork): Promise<void> {
    const working = this.#worked(job, work);
    const ended = working.catch(() => {});
    this.#jobs.add(ended);
    const event = await working.finally(() => this.#jobs.delete(ended));
    if (work.of === "welcome") return this.#inTurn(event);
    await this.tell(event);
    if (event.type === "done" && event.result.of === "request") {
      await this.#forgetUnnamed(event.result.own);
    }
  }

  /** Nobody waits any more for the request that it was made for. */
  async #forgetUnnamed({ reference }: RejoinKeyPackage): Promise<void> {
    const { own, spent } = this.#state;
    const isNamed = own?.reference === reference || spent.includes(reference);
    if (!isNamed && !this.#isOver) await this.#bytes.forgetKeys([reference]);
  }

  async #worked(job: number, work: RecoveryWork): Promise<RecoveryEvent> {
    try {
      return { type: "done", job, result: await this.#bytes.work(work) };
    } catch (error) {
      if (error instanceof StoreFault) throw error;
      return { type: "failed", job, refusal: refusalOf(error) };
    }
  }

  // Writes

  /**
   * `written`: nothing runs between the write and this, and nobody hears of a new membership or
   * generation before it.
   */
  async #write(changes: readonly RecoveryChange[], written: () => void): Promise<void> {
    try {
      await this.#writeAll(changes, written);
    } catch (fault) {
      // Nobody knows what the disk holds: nothing is stepped any more.
      this.#steps.end();
      throw fault;
    }
  }

  async #writeAll(changes: readonly RecoveryChange[], written: () => void): Promise<void> {
    const entering = changes.find((change) =>
      change.type === "membership" || change.type === "generation"
    );
    const records = changes.flatMap((change) => this.#recordsOf(change));
    if (entering?.type === "membership") {
      await this.#enterMembership(entering.welcome, records, written);
    } else if (entering?.type === "generation") {
      await this.#enterGeneration(entering.own, records, written);
    } else {
      if (records.length > 0) await this.#deps.store.batch(records);
      written();
    }
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
        return [
          change.foreign === undefined
            ? deleteForeign(channelId)
            : putForeign(channelId, change.foreign),
        ];
      case "founding": {
        const founding = this.#bytes.written(change.made.hash);
        return founding === undefined ? [] : [durable.prepareFounding(founding)];
      }
      case "no_founding":
        return this.#bytes.foundings.delete(change.hash)
          ? [durable.forgetFounding(change.hash)]
          : [];
      case "returned":
        return [
          change.atMs === undefined ? deleteReturn(channelId) : putReturn(channelId, change.atMs),
        ];
      case "came_back":
        return [storeAge.noted({ ...storeAge.anchor, cameBackMs: change.timesMs })];
      case "generation":
      case "membership":
        return [];
    }
  }

  async #enterGeneration(
    own: FoundCommit | undefined,
    records: readonly RecordChange[],
    written: () => void,
  ): Promise<void> {
    const { membership, membership: { channelId, durable }, health, storeAge } = this.#parts;
    const opened = own === undefined ? this.#followed() : this.#own(own);
    const { founding: { founding, sender: founder }, at: { sequence }, next, changes, isLate } =
      opened;
    this.#begun = opened;
    const over = [deleteBadCommit(channelId), deleteReturn(channelId), deleteForeign(channelId)];
    const foundings = [...this.#bytes.foundings.keys()].map((hash) => durable.forgetFounding(hash));
    const [members, { removed }] = [membership.group.members(), membership];
    const { blamed, without } = founding;
    const used = opened.own === undefined
      ? []
      : await this.#deps.keyPackages.usedNow(opened.own, { groupId: next.context.groupId });
    const generation = { next, changes, founder, blamed, without, sequence };
    const alongside =
      (): RecordChange[] => [...over, ...foundings, ...records, ...used, storeAge.begunAnew()];
    await enterGeneration(generation, { alongside, written }, membership);
    this.#bytes.foundings.clear();
    this.#bytes.entry = this.#bytes.openedFounding = undefined;
    if (isLate) {
      reportChanges(
        membership.group.members(),
        { group: { members: () => members }, removed },
        health,
      );
    }
    if (own === undefined) this.#deps.keyPackages.renew();
  }

  #followed(): GenerationEntry {
    const { entry, openedFounding } = this.#bytes;
    if (entry === undefined || openedFounding === undefined) {
      throw new TypeError("No founding was opened");
    }
    const { founding } = entry;
    const at = { sequence: founding.sequence, epoch: foundingEpoch(founding.founding.generation) };
    return { ...openedFounding, founding, at, isLate: false };
  }

  #own({ hash, sequence }: FoundCommit): GenerationEntry {
    const candidate = this.#bytes.foundings.get(hash);
    if (candidate === undefined) throw new TypeError("A founding is entered that is not here");
    const request = requestOf(candidate);
    const at = { sequence, epoch: Number(candidate.next.context.epoch) - 1 };
    const isLate = madeOf(candidate).base !== baseNameOf(this.#parts.membership.group.current);
    const { next, changes } = candidate;
    return { next, changes, founding: { ...request, sender: this.#deps.agentId }, at, isLate };
  }

  async #enterMembership(
    number: number,
    records: readonly RecordChange[],
    written: () => void,
  ): Promise<void> {
    const { membership, health, storeAge, found } = this.#parts;
    const opened = this.#bytes.openedWelcome(number);
    if (opened === undefined) throw new TypeError("No Welcome was opened");
    const { group, maker, welcome: { joinedSequence: position } } = opened;
    const used = [
      ...await this.#deps.keyPackages.usedNow(opened.own, group.identifiers),
      ...records,
    ];
    const { name, trust } = membership;
    const present = group.members();
    reportChanges(present, membership, health);
    const removed = membership.removed.filter((agentId) =>
      !present.some((member) => member.agentId === agentId)
    );
    const known = {
      rejoined: true,
      formerly: membership.epoch,
      removed,
      known: membership.knownIn(group),
    };
    const foundings = [...this.#bytes.foundings.keys()];
    const entrance = { name, trust, position, used, byOwner: maker.owner, foundings, ...known };
    // Messages that readers finish from now on belong to a membership that is over.
    membership.durable.retire();
    const entered = await writeEntered(group, entrance, this.#deps);
    written();
    membership.replace(entered);
    storeAge.restart(entered.anchor);
    const { formerEpoch } = entered.anchor;
    void found({
      from: "recovery",
      finding: { type: "replaced", joinedSequence: position, formerEpoch },
    });
    this.#bytes.usedUp(opened.own.reference);
    this.#deps.keyPackages.renew();
  }

  // Words

  #report(what: RecoveryReport): void {
    const { health } = this.#parts;
    if (what.kind !== "recovered") say(health, what, this.#bytes.bad, this.#deps.runtime.nowMs());
    else if (this.#begun !== undefined) {
      this.#tellBegun(this.#begun.founding, what.bad === undefined);
    }
    if (what.kind === "begun_anew") this.#tellUnjust();
  }

  #tellUnjust(founder = this.#unjust?.founder): void {
    const unjust = this.#unjust;
    this.#unjust = undefined;
    if (unjust?.text === undefined || unjust.founder !== founder) return;
    this.#parts.health.report("unjust_recovery", unjust.text);
  }

  #tellBegun(
    { founding, absent, sender }: GenerationEntry["founding"],
    couldFollow: boolean,
  ): void {
    const { health } = this.#parts;
    const { without } = founding;
    const others = without.length === 0 ? "" : `; also out: ${without.join(", ")}`;
    const could = couldFollow ? "this agent could follow it" : "this agent could not follow it";
    const away = absent.length === 0
      ? "nobody is absent"
      : `absent until they come back: ${absent.join(", ")}`;
    const text =
      `${sender} began generation ${founding.generation} of the channel on epoch ${founding.baseEpoch}, ` +
      `because of a commit of ${founding.blamed}, which is out; ${could}; ${away}${others}`;
    health.report("recovered", text);
    this.#tellUnjust(sender);
    if (this.#unread > 0) {
      const lost =
        `${this.#unread} messages stand in the log behind the commit that nobody here could follow; they cannot be ` +
        "read any more, ask their senders for them";
      health.report("undecryptable", lost, { count: this.#unread });
    }
    this.#unread = 0;
  }
}

/**
 * Carries out what `stepNames` says: writes, calls, jobs, and the machines of channels, which begin
 * and end by it. Its queue is the agent's, and of the same kind as a channel's. The bytes that
 * belong to the state (Welcomes, memberships that are not written yet) lie here, by its numbers.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import type { AgentId, ChannelId, ChannelName } from "../../../proto/mod.ts";
import { createDeferred } from "../../base/deferred.ts";
import { isCode, type StaticError } from "../../base/errors.ts";
import type { SealingChoice } from "../../mls/sealing_rules.ts";
import type { RecordStore } from "../../store/mod.ts";
import type { ChannelDeps } from "../deps.ts";
import { hiddenError } from "../departure/end_errors.ts";
import type { EnteredChannel } from "../entering.ts";
import { toStaticError } from "../faults.ts";
import { ChannelRunner } from "./channel_runner.ts";
import { copyNames, type KeptNames, restoreNames } from "../names/kept_names.ts";
import { stepNames } from "../names/names.ts";
import type {
  NameAnswer,
  NameCall,
  NameCallOutcome,
  NameJob,
  NameRefusal,
  NameRequest,
  NamesEffect,
  NamesEvent,
  NamesFacts,
  NamesState,
  NameState,
  NamesWrite,
} from "../names/names_state.ts";
import { askOfNames, putNonce, readNonces } from "./names_at_relay.ts";
import { deleteChannel } from "../records.ts";
import { listChannels, type PreparedChannel } from "./entrances.ts";
import { hasKeys, isErasing } from "./erasing.ts";
import { Calls } from "./calls.ts";
import { ChannelQueue, type StepResult, type Steps } from "./channel_queue.ts";
import { type CallWelcomes, doJob } from "./name_jobs.ts";
import { refusalError } from "./name_refusals.ts";

const nonceBytes = 16;
/** The work that fails, in words. */
const actions: Readonly<Record<NameCall["type"], string>> = {
  create: "Cannot create the channel",
  join: "Cannot join the channel",
  invited: "Cannot join the channel",
  check: "Cannot join the channel",
  open: "Cannot open the channel",
  leave: "Cannot leave the channel",
  close: "Cannot close the channel",
};

export interface NamesRunnerParts {
  readonly deps: ChannelDeps;
  /** The last machine of each channel, also when it is over. */
  readonly channels: Map<ChannelId, ChannelRunner>;
}

/** An invite may be asked for. */
export interface InvitePermission {
  /** The membership that is here; see `join`. */
  readonly before: number | undefined;
  /** The channel, when this agent is in it and cannot go on by itself. */
  readonly stuck: ChannelRunner | undefined;
}

/** A join by a Welcome. */
export interface WelcomeJoin extends Pick<CallWelcomes, "expected" | "find"> {
  readonly receive: boolean;
  /** Only for a join by an invite: what was here when the invite was asked for. */
  readonly invited?: { readonly before: number | undefined };
}

/** A call of the program, with the bytes that belong to it. */
interface NameOperation {
  readonly event: Extract<NamesEvent, { readonly type: "called" | "close" }>;
  readonly receive: boolean;
  /** The choice of sealing for a channel that the operation makes. */
  readonly sealing: SealingChoice;
  readonly entry: CallWelcomes | undefined;
  /** The channel that is left, and the member that owns it then. */
  readonly left:
    | { readonly channel: ChannelRunner; readonly successor: AgentId | undefined }
    | undefined;
  /** The channels that the operation would enter. */
  readonly channelIds: ChannelId[];
  /** Turns the outcome into the answer to the call. */
  readonly read: (result: NameCallOutcome) => unknown;
}

type OperationInputs = Partial<Pick<NameOperation, "receive" | "sealing" | "entry" | "left">>;

interface QueuedNamesEvent {
  readonly event: NamesEvent;
  /** Why a call or a job has failed. */
  readonly fault?: unknown;
  /** The number of a call that waits until all of the step has been done. */
  readonly finishing?: number;
}

/** Why calls cannot have what their step would have written. */
type UnwrittenCalls = ReadonlyMap<number, unknown>;

interface FailureCause {
  readonly fault: unknown;
  readonly unwritten: UnwrittenCalls;
}

/** The last of a step says that it is over. */
type QueuedNamesEffect =
  | { readonly effect: NamesEffect } & FailureCause
  | { readonly effect: "stepped"; readonly finishing: number | undefined };

/** A step whose write was refused. */
interface RefusedWrite {
  readonly write: readonly NamesWrite[];
  readonly happening: QueuedNamesEvent;
  readonly unwritten: UnwrittenCalls;
}

const allWritten: UnwrittenCalls = new Map();

export class NamesRunner {
  readonly #deps: ChannelDeps;
  readonly #channels: Map<ChannelId, ChannelRunner>;
  #state: NamesState;
  readonly #steps: Steps<QueuedNamesEvent, QueuedNamesEffect>;
  readonly #calls = new Calls<unknown>();
  readonly #finishing = new Calls();
  readonly #operations = new Map<number, NameOperation>();
  /** The prepared channels by the numbers of the jobs that have made, or read, them. */
  readonly #prepared = new Map<number, PreparedChannel>();
  readonly #entered = new Map<number, EnteredChannel>();
  readonly #finished = createDeferred<void>();
  /** Nothing can be written any more. */
  #isDead = false;
  /** Set after a write that failed: nobody knows what is on disk, and nothing happens any more. */
  #over: { readonly fault: unknown } | undefined;

  constructor({ deps, channels }: NamesRunnerParts, kept: KeptNames) {
    this.#deps = deps;
    this.#channels = channels;
    this.#state = restoreNames(kept);
    const queue = new ChannelQueue(
      (ms, run) => deps.runtime.after(ms, run),
      (fault) => this.#fail(fault),
    );
    this.#steps = queue.add({
      step: (happening) => this.#step(happening),
      perform: (doing) => this.#do(doing),
    });
    void deps.store.failed.then(() => this.#isDead = true);
  }

  #factsOf(unwritten: UnwrittenCalls): NamesFacts {
    const { runtime } = this.#deps;
    return {
      isStuck: (membership) => isStuck(this.#machine(membership)),
      isHidden: (channel) => this.#isHidden(channel),
      get nonce() {
        return bytesToHex(runtime.randomBytes(nonceBytes));
      },
      isUnwritten: (operation) => unwritten.has(operation),
    };
  }

  #isHidden(channel: { readonly name: ChannelName; readonly channelId: ChannelId }): boolean {
    return this.#deps.session.covers?.(channel) === false;
  }

  /** Goes on with the erasures that an earlier process began. */
  start(): void {
    this.#steps.push({ event: { type: "start" } });
  }

  /** The names of the channels that this agent is in, as far as it knows. */
  get names(): ChannelName[] {
    return this.#all().flatMap(([name, { slot }]) => slot.at === "free" ? [] : [name]);
  }

  /** The name under which this agent is in a channel. */
  nameOf(channelId: ChannelId): ChannelName | undefined {
    return this.#all().find(([, { slot }]) => "channelId" in slot && slot.channelId === channelId)
      ?.[0];
  }

  /**
   * The channel that works under this name. It costs no step: a program may send each message by
   * the name.
   */
  running(name: string): ChannelRunner | undefined {
    if (this.#over !== undefined || this.#state.stage !== "working") return undefined;
    // cast: a name that no parser has accepted is not in there
    const slot = this.#state.names[name as ChannelName]?.slot;
    const channel = slot?.at === "open" ? this.#channels.get(slot.channelId) : undefined;
    return channel?.over === undefined ? channel : undefined;
  }

  create(
    name: ChannelName,
    { receive, sealing }: { readonly receive: boolean; readonly sealing: SealingChoice },
  ): Promise<ChannelRunner> {
    return this.#call(
      (operation) => ({ type: "called", name, by: { type: "create", operation } }),
      { receive, sealing },
      this.#opened,
    );
  }

  open(
    name: ChannelName,
    { receive, orCreates }: { readonly receive: boolean; readonly orCreates: boolean },
  ): Promise<ChannelRunner> {
    return this.#call(
      (operation) => ({ type: "called", name, by: { type: "open", operation, orCreates } }),
      { receive },
      this.#opened,
    );
  }

  join(
    name: ChannelName,
    { expected, find, invited, receive }: WelcomeJoin,
  ): Promise<ChannelRunner> {
    const entry: CallWelcomes = { expected, find, offered: [] };
    return this.#call(
      (operation) => {
        const by: NameCall = invited === undefined
          ? { type: "join", operation }
          : { type: "invited", operation, before: invited.before };
        return { type: "called", name, by };
      },
      { receive, entry },
      this.#opened,
    );
  }

  /** Throws `StaticError` when this agent can go on in the channel that it has. */
  check(name: ChannelName): Promise<InvitePermission> {
    return this.#call(
      (operation) => ({ type: "called", name, by: { type: "check", operation } }),
      {},
      (result) => {
        const { before, isStuck } = result.type === "may_ask"
          ? result
          : { before: undefined, isStuck: false };
        const slot = this.#state.names[name]?.slot;
        const stuck = isStuck && slot?.at === "open"
          ? this.#channels.get(slot.channelId)
          : undefined;
        return { before, stuck };
      },
    );
  }

  leave(channel: ChannelRunner, successor: AgentId | undefined): Promise<void> {
    const { name, number: membership } = channel;
    return this.#call(
      (operation) => ({ type: "called", name, by: { type: "leave", operation, membership } }),
      { left: { channel, successor } },
      () => {},
    );
  }

  /** Ends a channel for everybody and frees its name. */
  close(name: ChannelName): Promise<void> {
    return this.#call((operation) => ({ type: "close", name, operation }), {}, () => {});
  }

  /** No call begins any more. Resolves when no machine does either. */
  finish(): Promise<void> {
    if (this.#over !== undefined) return Promise.resolve();
    return this.#finishing.begin((finishing) =>
      this.#steps.push({ event: { type: "finish" }, finishing })
    );
  }

  /** Resolves when every machine has ended, and nothing of the names is under way. */
  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  #call<T>(
    eventOf: (operation: number) => NameOperation["event"],
    { receive = true, sealing = "require", entry, left }: OperationInputs,
    read: (result: NameCallOutcome) => T,
  ): Promise<T> {
    const answered = this.#calls.begin((operation) => {
      const event = eventOf(operation);
      const bytes = { receive, sealing, entry, left, channelIds: [] };
      this.#operations.set(operation, { event, ...bytes, read });
      if (this.#over === undefined) this.#steps.push({ event });
      else this.#failCall(operation, this.#over.fault);
    });
    return answered as Promise<T>; // cast: it was read
  }

  /** The state is as the disk is: a step with a write counts when that is durable. */
  #step(
    happening: QueuedNamesEvent | { readonly type: "time" },
    unwritten = allWritten,
  ): StepResult<QueuedNamesEffect> {
    if (!("event" in happening)) return { effects: [] };
    const { event, fault, finishing } = happening;
    const state = copyNames(this.#state);
    const { write, effects } = stepNames(state, event, this.#factsOf(unwritten));
    const goOn = (): QueuedNamesEffect[] => {
      this.#state = state;
      return [...effects.map((effect) => ({ effect, fault, unwritten })), {
        effect: "stepped",
        finishing,
      }];
    };
    if (write.length === 0) return { effects: goOn() };
    const step = { write, happening, unwritten };
    return {
      effects: [],
      written: this.#write(write).then(goOn, (failure) => this.#stepWithout(failure, step)),
    };
  }

  /**
   * Nothing was written, and the store goes on: the calls that cannot do without it fail, and the
   * step is another one.
   */
  #stepWithout(
    failure: unknown,
    { write, happening, unwritten }: RefusedWrite,
  ): StepResult<QueuedNamesEffect>["written"] | readonly QueuedNamesEffect[] {
    const isKnown = write.every(({ operation }) => unwritten.has(operation));
    if (this.#isDead || isKnown) throw failure;
    const refused = write.map(({ operation }) => [operation, failure] as const);
    const { effects, written } = this.#step(happening, new Map([...unwritten, ...refused]));
    return written ?? effects;
  }

  /** Nothing can be said any more of what is on disk. */
  #fail(fault: unknown): void {
    if (this.#over !== undefined) return;
    this.#over = { fault };
    this.#steps.end();
    for (const operation of [...this.#operations.keys()]) this.#failCall(operation, fault);
    this.#finishing.settleAll();
    for (const channel of this.#channels.values()) channel.die(fault);
    this.#finished.resolve();
  }

  /** In one write, with all of a new membership. */
  async #write(writes: readonly NamesWrite[]): Promise<void> {
    const others = writes.flatMap((write) => {
      if (write.type === "nonce") return [putNonce(write.name, write.nonce)];
      return write.type === "no_record" ? deleteChannel(write.channelId) : [];
    });
    const membership = writes.find((write) => write.type === "membership");
    if (membership === undefined) return await this.#deps.store.batch(others);
    const { made, name, isCreated, keyless } = membership;
    const prepared = this.#prepared.get(made);
    if (prepared === undefined) throw new TypeError("A membership is written that was not made");
    this.#prepared.delete(made);
    const freed = keyless === undefined ? [] : deleteChannel(keyless);
    const answered = isCreated ? [putNonce(name, undefined)] : [];
    this.#entered.set(made, await prepared.enter([...others, ...freed, ...answered]));
  }

  #do(doing: QueuedNamesEffect): void {
    if (doing.effect !== "stepped") return this.#perform(doing.effect, doing);
    this.#forgetUnused();
    if (doing.finishing !== undefined) this.#finishing.settle(doing.finishing, undefined);
  }

  #perform(effect: NamesEffect, why: FailureCause): void {
    switch (effect.type) {
      case "call":
        return this.#ask(effect.call, effect.request);
      case "job":
        return this.#work(effect.job, effect.work);
      case "begin":
        return this.#begin(effect);
      case "depart":
        return this.#depart(effect);
      case "settle":
        return this.#settle(effect, why);
      case "finished":
        return this.#finished.resolve();
    }
  }

  #ask(call: number, request: NameRequest): void {
    this.#answer(request).then(
      (answer) => this.#steps.push({ event: { type: "answered", call, answer } }),
      (error) => {
        const { code } = toStaticError(error, "asking the relay");
        this.#steps.push({
          event: { type: "refused", call, code },
          fault: this.#explained(request, error),
        });
      },
    );
  }

  async #answer(request: NameRequest): Promise<NameAnswer> {
    if (request.of === "LeaveChannel") {
      await this.#channels.get(request.channelId)?.sayLeave();
      return { of: request.of };
    }
    const answer = await askOfNames(request, this.#deps.session);
    if (request.of === "CreateChannel" && answer.of === "CreateChannel") {
      const by = this.#state.names[request.name]?.turn?.by.operation;
      if (by !== undefined) this.#operations.get(by)?.channelIds.push(answer.channelId);
    }
    return answer;
  }

  /** The relay hides channels that the pass is not for. */
  #explained(request: NameRequest, error: unknown): unknown {
    if (!("channelId" in request) || !isCode(error, "not_found")) return error;
    const { channelId } = request;
    const name = this.#holderOf(channelId);
    return name !== undefined && this.#isHidden({ name, channelId }) ? hiddenError(name) : error;
  }

  #work(job: number, work: NameJob): void {
    const [deps, channels] = [this.#deps, this.#channels];
    const entryOf = (operation: number): CallWelcomes | undefined =>
      this.#operations.get(operation)?.entry;
    const successorOf = (operation: number): AgentId | undefined =>
      this.#operations.get(operation)?.left?.successor;
    const sealingOf = (operation: number): SealingChoice =>
      this.#operations.get(operation)?.sealing ?? "require";
    const parts = { deps, channels, entryOf, successorOf, sealingOf };
    doJob(work, { ...parts, heldKeys: () => this.#heldKeys() }).then(
      ({ result, prepared, entered }) => {
        if (prepared !== undefined) this.#prepared.set(job, prepared);
        if (entered !== undefined) this.#entered.set(job, entered);
        if (work.of === "open_welcome" && prepared !== undefined) {
          this.#operations.get(work.operation)?.channelIds.push(prepared.channelId);
        }
        this.#steps.push({ event: { type: "done", job, result } });
      },
      (fault) => this.#steps.push({ event: { type: "failed", job }, fault }),
    );
  }

  /** One that cannot begin is over: its membership rests, and the call fails. */
  #begin(effect: Extract<NamesEffect, { readonly type: "begin" }>): void {
    const { membership, operation, from } = effect;
    const entered = this.#entered.get(from);
    if (entered === undefined) {
      throw new TypeError("A machine begins of a membership that is not here");
    }
    this.#entered.delete(from);
    try {
      this.#workOn(entered, effect);
    } catch (fault) {
      this.#failCall(operation, fault);
      const channel = this.#machine(membership);
      if (channel === undefined) {
        this.#steps.push({ event: { type: "over", membership, leaving: [] } });
      } else channel.die(fault);
    }
  }

  #workOn(
    entered: EnteredChannel,
    { membership, channelId, operation }: Extract<NamesEffect, { readonly type: "begin" }>,
  ): void {
    const { receive = true, entry } = this.#operations.get(operation) ?? {};
    const channel = new ChannelRunner({
      ...entered,
      receive,
      number: membership,
      keeper: {
        ended: (type, leaving) => this.#steps.push({ event: { type, membership, leaving } }),
        rejoined: () => this.#steps.push({ event: { type: "rejoined", membership } }),
        stayed: (each, error) => this.#failCall(each, error),
      },
    }, this.#deps);
    this.#channels.set(channelId, channel);
    if (entry !== undefined) {
      this.#deps.welcomes.forget(channelId);
      this.#deps.keyPackages.renew();
    }
    channel.begin();
  }

  #depart({ membership, operation }: Extract<NamesEffect, { readonly type: "depart" }>): void {
    const channel = this.#machine(membership);
    if (channel === undefined) throw new TypeError("A channel is left that nothing works in");
    channel.rooms.departure.leave(operation, this.#operations.get(operation)?.left?.successor);
  }

  #settle(
    { operation, result }: Extract<NamesEffect, { readonly type: "settle" }>,
    { fault, unwritten }: FailureCause,
  ): void {
    if (result.type === "failed") return this.#failCall(operation, fault);
    if (result.type === "unwritten") return this.#failCall(operation, unwritten.get(operation));
    const called = this.#operations.get(operation);
    if (called === undefined) return;
    if (result.type === "refused") {
      return this.#failCall(operation, this.#refusalOf(called, result.why));
    }
    this.#operations.delete(operation);
    this.#calls.settle(operation, called.read(result));
  }

  #refusalOf({ event, left, channelIds }: NameOperation, why: NameRefusal): StaticError {
    const { name } = event;
    const others = channelIds.map((channelId) => this.#holderOf(channelId));
    const other = others.find((each) => each !== undefined && each !== name);
    const isLeaving = event.type === "close" || event.by.type === "leave";
    return refusalError(why, {
      name,
      action: actionOf(event),
      isLeaving,
      other,
      over: left?.channel.over,
    });
  }

  #failCall(operation: number, why: unknown): void {
    const called = this.#operations.get(operation);
    if (called === undefined) return;
    this.#operations.delete(operation);
    this.#calls.fail(operation, toStaticError(why, actionOf(called.event)));
  }

  readonly #opened = (result: NameCallOutcome): ChannelRunner => {
    const channel = result.type === "opened" ? this.#machine(result.membership) : undefined;
    if (channel === undefined) throw new TypeError("A channel is open that nothing works in");
    return channel;
  };

  #machine(membership: number): ChannelRunner | undefined {
    return [...this.#channels.values()].find(({ number }) => number === membership);
  }

  #all(): [ChannelName, NameState][] {
    // cast: its keys are names
    return Object.entries(this.#state.names) as [ChannelName, NameState][];
  }

  /** The name that has this channel, or is about to. */
  #holderOf(channelId: ChannelId): ChannelName | undefined {
    return this.#all().find(([, { slot, turn }]) =>
      [slot, turn].some((each) =>
        each !== undefined && "channelId" in each && each.channelId === channelId
      )
    )?.[0];
  }

  #heldKeys(): ReadonlySet<string> {
    return new Set(
      this.#all().flatMap(([, { turn }]) =>
        turn !== undefined && "key" in turn ? turn.key ?? [] : []
      ),
    );
  }

  /** Memberships of jobs that no turn waits for any more. */
  #forgetUnused(): void {
    if (this.#prepared.size + this.#entered.size === 0) return;
    const held = new Set(
      this.#all().flatMap(([, { turn }]) => {
        if (turn === undefined) return [];
        return [..."job" in turn ? [turn.job] : [], ..."made" in turn ? [turn.made] : []];
      }),
    );
    for (const kept of [this.#prepared, this.#entered]) {
      for (const job of kept.keys()) if (!held.has(job)) kept.delete(job);
    }
  }
}

/** Reads the names as a process that starts finds them. */
export async function readNames(store: Pick<RecordStore, "list" | "has">): Promise<KeptNames> {
  const channels = (await listChannels(store)).map(({ channelId, name }) => ({
    channelId,
    name,
    hasKeys: hasKeys(store, channelId),
    isNoted: isErasing(store, channelId),
  }));
  return { channels, nonces: await readNonces(store) };
}

function actionOf(event: NameOperation["event"]): string {
  return actions[event.type === "close" ? "close" : event.by.type];
}

/** Returns whether the channel cannot go on by itself. */
function isStuck(channel: ChannelRunner | undefined): boolean {
  return channel?.state.stopped !== undefined || channel?.state.unwelcome === true;
}

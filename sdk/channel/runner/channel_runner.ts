/**
 * One channel at work. Its rooms, the relay, the session and the program tell the root what they
 * find, by one door; the root says which rooms hear of it, and that is carried out here, one after
 * the other. The root writes nothing, so it steps at once: also while a write holds up the queue,
 * because its end must reach those that write. Promises of a channel that is closed are here alone.
 */
import type { AgentId, ChannelId, ChannelName, NoticeEnvelope } from "../../../proto/mod.ts";
import { createDeferred, type Deferred } from "../../base/deferred.ts";
import type { StaticError } from "../../base/errors.ts";
import type { ChannelDeps } from "../deps.ts";
import type { HealthState } from "../health.ts";
import { leaveRequest } from "../departure/leave_request.ts";
import type { ExclusionChoice } from "../recovery/recovery_state.ts";
import type { RecoveryPreview } from "../recovery/recovery_preview.ts";
import { stepRoot } from "../root/root.ts";
import { newRoot, type RootEffect, type RootFacts } from "../root/root_state.ts";
import { wayOut } from "../departure/succession.ts";
import { rootFactsOf, stateOf } from "./channel_facts.ts";
import { type ChannelParts, ChannelRooms } from "./channel_rooms.ts";
import type { RootDoor } from "./root_door.ts";
import { tellRoom } from "./root_effects.ts";

/**
 * The names of the agent, as far as a channel tells them something. `leaving`, `operation`: calls
 * to leave it.
 */
export interface ChannelKeeper {
  /**
   * Once, and for each call that comes behind. `gone`: a commit, or the relay's answer, says that
   * we have no place in it any more; else its keys stay.
   */
  readonly ended: (how: "gone" | "over", leaving: readonly number[]) => void;
  /** Our leaf is another one. */
  readonly rejoined: () => void;
  /** Leaving has failed, and everything is as before. */
  readonly stayed: (operation: number, error: unknown) => void;
}

export interface ChannelRunnerParts extends Omit<ChannelParts, "found" | "isReady" | "stayed"> {
  /** The number of the membership among the names of the agent. */
  readonly number: number;
  readonly keeper: ChannelKeeper;
}

type RootInstruction<Receiver extends RootEffect["to"]> = Extract<
  RootEffect,
  { readonly to: Receiver }
>["tell"];

export class ChannelRunner {
  readonly number: number;
  readonly rooms: ChannelRooms;
  readonly #keeper: ChannelKeeper;
  readonly #deps: ChannelDeps;
  readonly #state = newRoot();
  readonly #facts: RootFacts;
  /** The root waits for one time at most. */
  #cancelTimer = (): void => {};
  #closing: Deferred<void> | undefined;

  constructor({ number, keeper, ...parts }: ChannelRunnerParts, deps: ChannelDeps) {
    this.number = number;
    this.#keeper = keeper;
    this.#deps = deps;
    const { found } = this;
    const isReady = (): boolean => this.#state.root.at === "ready";
    this.rooms = new ChannelRooms({ ...parts, found, isReady, stayed: keeper.stayed }, deps);
    this.#facts = rootFactsOf(this.rooms, deps);
  }

  get channelId(): ChannelId {
    return this.rooms.channelId;
  }

  get name(): ChannelName {
    return this.rooms.name;
  }

  get state(): HealthState {
    return stateOf(this.rooms, this.#state.root);
  }

  /** Why nothing more comes, once that is so. */
  get over(): StaticError | undefined {
    const { root } = this.#state;
    return root.at === "over" ? root.toOthers : undefined;
  }

  // The door

  readonly found: RootDoor = (event) => {
    const { effects } = stepRoot(this.#state, event, this.#facts);
    return effects.length === 0 ? undefined : this.#carryOut(effects);
  };

  /** At once, as long as nothing has to be waited for. */
  #carryOut(effects: readonly RootEffect[]): Promise<void> | undefined {
    for (const [at, effect] of effects.entries()) {
      const done = this.#perform(effect);
      if (done === undefined) continue;
      const rest = effects.slice(at + 1);
      return rest.length === 0 ? done : done.then(() => this.#carryOut(rest));
    }
    return undefined;
  }

  #perform(effect: RootEffect): Promise<void> | undefined {
    switch (effect.to) {
      case "names":
        return this.#tellNames(effect.tell);
      case "program":
        return void this.rooms.tell({ type: effect.tell });
      case "self":
        return this.#tellSelf(effect.tell);
      case "all":
        return this.#end(effect.tell);
      default:
        return tellRoom(this.rooms, effect);
    }
  }

  #tellNames(told: RootInstruction<"names">): undefined {
    if (told.type === "rejoined") this.#keeper.rejoined();
    else this.#keeper.ended(told.how, told.operations);
  }

  #tellSelf(told: RootInstruction<"self">): Promise<void> | undefined {
    switch (told) {
      case "end_handlers":
        return void this.#await(this.rooms.service.drain(), "handlers_ended");
      case "end_calls":
        return void this.#await(
          Promise.all([this.rooms.outbox.whenEmpty(), this.rooms.duties.finish()]),
          "calls_ended",
        );
      case "write":
        return void this.#writeRest();
    }
    if (told.type === "then") return this.found(told.event);
    const { timer, afterMs } = told;
    this.#cancelTimer();
    this.#cancelTimer = this.#deps.runtime.after(
      afterMs,
      () => void this.found({ from: "self", type: "time", timer }),
    );
    return undefined;
  }

  #await(ended: Promise<unknown>, type: "handlers_ended" | "calls_ended"): void {
    ended.then(() => this.found({ from: "self", type })).catch((fault) => this.die(fault));
  }

  #writeRest(): void {
    this.#cancelTimer();
    const closing = this.#closing;
    const written = (): void => {
      void this.found({ from: "self", type: "written" });
      if (this.#closing === closing) this.#closing = undefined;
    };
    this.#write().finally(written).then(closing?.resolve, closing?.reject);
  }

  async #write(): Promise<void> {
    const { inbox, position, link, outbox, confirmations, order } = this.rooms;
    inbox.acknowledge();
    await position.flush();
    link.flush();
    await outbox.close();
    await confirmations.keep();
    await order.close();
  }

  /** Loops end with the error, or quietly without one; other waiting calls reject. */
  #end({ over: { error, toOthers }, how }: RootInstruction<"all">): undefined {
    const { rooms } = this;
    this.#cancelTimer();
    rooms.duties.end();
    rooms.position.stop();
    rooms.confirmations.end();
    rooms.recovery.end(toOthers);
    rooms.service.end();
    rooms.requester.end(toOthers);
    rooms.inbox.end(error);
    rooms.outbox.end(toOthers);
    rooms.receipts.end();
    rooms.commits.end(toOthers);
    rooms.epochs.end(toOthers);
    rooms.watch.end();
    rooms.link.end();
    rooms.reading.end();
    rooms.tell({ type: "ended", error });
    rooms.events.end();
    rooms.departure.end(how);
  }

  // For the names of the agent

  /** Once, when they know it. */
  begin(): void {
    void this.found({ from: "names", type: "begin" });
  }

  /** Everything that the relay says about this channel. */
  deliver(notice: NoticeEnvelope): void {
    this.rooms.link.deliver(notice);
  }

  /** The session is online (again), or was lost. */
  connection(): void {
    void this.found({ from: "session", type: "connection" });
  }

  /** The background work itself failed: a disk that does not write, or a mistake of ours. */
  die(fault: unknown): void {
    void this.found({ from: "any", type: "fault", fault });
  }

  /** Returns the way out of a channel that is over. */
  wayOut(successor: AgentId | undefined): ReturnType<typeof wayOut> {
    return wayOut(this.rooms.membership, successor);
  }

  /** The relay may have taken a commit or a founding of ours, by which our leaf is another one. */
  get isUnsettled(): boolean {
    const { commits, recovery } = this.rooms;
    return commits.ours.length > 0 || recovery.hasFoundings;
  }

  /** Tells the relay that this agent leaves a channel that is over. Throws `StaticError`. */
  async sayLeave(): Promise<void> {
    const { leaves, recovery } = this.rooms;
    await this.#deps.session.call(
      "LeaveChannel",
      leaveRequest(leaves, !recovery.isUnwelcome, this.#deps),
    );
  }

  /**
   * Stops the channel: it works no more, and what it had to write is dropped. Resolves behind its
   * last write.
   */
  async halt(): Promise<void> {
    void this.found({ from: "names", type: "halt" });
    await this.idle();
  }

  /** Deletes the KeyPackages that it has asked to come back with, but for those that are held. */
  async forgetKeys(held: ReadonlySet<string>): Promise<void> {
    await this.rooms.recovery.erase(held);
  }

  /**
   * Writes pending changes; the channel can be opened again. Its open calls to the relay end with
   * the session.
   */
  close(): Promise<void> {
    const { promise } = this.#closing ??= createDeferred<void>();
    void this.found({ from: "program", type: "close" });
    return promise;
  }

  /** Resolves when nothing of it works any more, and the disk may go. */
  async idle(): Promise<void> {
    const { queue, recovery, membership } = this.rooms;
    await queue.idle();
    await recovery.idle();
    await membership.durable.close();
  }

  // For the program

  /**
   * Begins the channel anew, without the member whose commit nobody can follow. Resolves when this
   * agent is in the new generation, its own or that of an owner that was faster, or when the
   * channel goes on without one. Throws `StaticError`. A call while another one is under way is
   * that one, if it names nobody else.
   */
  async recover(choice: ExclusionChoice = {}): Promise<void> {
    if (this.over !== undefined) throw this.over;
    await this.rooms.recovery.recover(choice);
  }

  /**
   * Whom `recover()` with the same lists would leave out now. Throws `StaticError` where that
   * would.
   */
  previewRecovery(choice: ExclusionChoice): RecoveryPreview {
    if (this.over !== undefined) throw this.over;
    return this.rooms.recovery.preview(choice);
  }
}

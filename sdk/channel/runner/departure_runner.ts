/**
 * Carries out what `stepDeparture` says: changes of our own, calls and timers, whose ends are its
 * next events. The rooms around read the stage of leaving, and are told when it is another one.
 */
import { type AgentId, type ChannelEndReason } from "../../../proto/mod.ts";
import { createError, isCode, StaticError } from "../../base/errors.ts";
import { unreachable } from "../commits/commit_errors.ts";
import type { ChangeRefusal } from "../commits/own_commit_state.ts";
import type { Permit } from "../connection/permit.ts";
import type { ChannelDeps } from "../deps.ts";
import { hiddenError, keptOut } from "../departure/end_errors.ts";
import { toStaticError } from "../faults.ts";
import { type LeaveParts, leaveRequest } from "../departure/leave_request.ts";
import { stepDeparture } from "../departure/departure.ts";
import {
  type DepartureEffect,
  type DepartureEnd,
  type DepartureEvent,
  type DepartureFacts,
  type DepartureState,
  isAskedFor,
  type LeaveOutcome,
  type LeaveRefusal,
  newDeparture,
  type OwnPlan,
  stageOf,
  timersOf,
} from "../departure/departure_state.ts";
import type { LeaveStage } from "../departure/stage.ts";
import type { DepartureFinding } from "../root/root_state.ts";
import { doOthersStay, isLastOwner } from "../departure/succession.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";
import type { CommitRunner } from "./commit_runner.ts";
import type { RootDoor } from "./root_door.ts";
import type { RecoveryRunner } from "./recovery_runner.ts";

export interface DepartureRunnerParts extends LeaveParts {
  readonly commits: Pick<CommitRunner, "commit">;
  readonly recovery: RecoveryRunner;
  /** Permission to work, of this moment. */
  readonly work: () => Permit | undefined;
  /** All of the log is read, as far as the relay has said where it ends. */
  readonly isAllRead: () => boolean;
  /** A call to leave has failed, and everything is as before. */
  readonly onStayed: (operation: number, error: StaticError) => void;
  readonly found: RootDoor;
  readonly queue: ChannelQueue;
  readonly onFault: (fault: unknown) => void;
}

export class DepartureRunner {
  readonly #parts: DepartureRunnerParts;
  readonly #deps: ChannelDeps;
  readonly #facts: DepartureFacts;
  readonly #state: DepartureState = newDeparture();
  readonly #steps: Steps<DepartureEvent, DepartureEffect>;

  constructor(parts: DepartureRunnerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#facts = this.#createFacts();
    this.#steps = parts.queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
    });
  }

  /** Each is of the moment in which it is read. */
  #createFacts(): DepartureFacts {
    const { membership, recovery, work, isAllRead } = this.#parts;
    return {
      get work() {
        return work();
      },
      get isOnWayBack() {
        return recovery.reason !== undefined;
      },
      get isBlocked() {
        return recovery.stopped !== undefined || recovery.reason !== undefined;
      },
      get hasFounding() {
        return recovery.hasFoundings;
      },
      get isAlone() {
        return membership.group.members().length === 1;
      },
      get isAnyAbsent() {
        return membership.absent.length > 0;
      },
      get isOwner() {
        return membership.group.self.owner;
      },
      get isLastOwner() {
        return isLastOwner(membership);
      },
      get doOthersStay() {
        return doOthersStay(membership);
      },
      get isAllRead() {
        return isAllRead();
      },
      get mayName() {
        return !recovery.isUnwelcome;
      },
    };
  }

  stage(): LeaveStage {
    return stageOf(this.#state);
  }

  /**
   * Leaves for good. The last member closes the channel, the last owner has a successor.
   * `operation`: the call of the names.
   */
  leave(operation: number, successor: AgentId | undefined): void {
    this.#steps.push({ type: "leave", operation, successor });
  }

  /** The place of this agent may be another one. */
  look(): void {
    this.#steps.push({ type: "look" });
  }

  /** Our leaf is another one. */
  entered(): void {
    this.#steps.pushFirst({ type: "entered" });
  }

  /** The log was asked for a founding of ours. With a refusal, it could not be. */
  foundingSettled(why: ChangeRefusal | undefined): void {
    this.#steps.push({
      type: "founding",
      why: why && this.#unanswered(why.error ?? unreachable()),
    });
  }

  /** Whether this end of the channel is the answer to the question that is under way. */
  isAskedFor(end: ChannelEndReason | "unknown"): boolean {
    return isAskedFor(this.#state, end);
  }

  /** The relay has told that end. */
  told(): void {
    const { departure } = this.#state;
    if (departure.at !== "going" || !("call" in departure.going)) return;
    this.#steps.push({ type: "done", call: departure.going.call });
  }

  /** The channel has ended. */
  end(how: DepartureEnd): void {
    this.#steps.push({ type: "over", how });
  }

  // Steps

  #step(event: DepartureEvent): StepResult<DepartureEffect> {
    const before = this.stage();
    const step = stepDeparture(this.#state, event, this.#facts);
    this.#tellStage(before);
    return step;
  }

  #tellStage(before: LeaveStage): void {
    if (this.stage() !== before) this.#found({ is: "stage", before });
  }

  // Effects

  #found(finding: DepartureFinding): void {
    void this.#parts.found({ from: "departure", finding });
  }

  #perform(effect: DepartureEffect): void {
    const { membership: { channelId }, onStayed } = this.#parts;
    switch (effect.type) {
      case "change":
        return this.#change(effect.change, effect.plan);
      case "settle_founding":
        return this.#found({ is: "asks_founding" });
      case "close":
        return this.#call(
          effect.call,
          () => this.#deps.session.call("CloseChannel", { channelId }),
        );
      case "say":
        return this.#call(effect.call, () => this.#say(effect.isNamed));
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "settle":
        return onStayed(effect.operation, this.#errorOf(effect.result));
      case "ended":
        return this.#found({ is: "ended", how: effect.how, operations: effect.operations });
    }
  }

  #change(change: number, plan: OwnPlan): void {
    this.#parts.commits.commit(plan, { isOfDeparture: true }).then(
      () => this.#steps.push({ type: "changed", change, why: undefined }),
      (error) => this.#steps.push({ type: "changed", change, why: this.#unanswered(error) }),
    );
  }

  #call(call: number, ask: () => Promise<unknown>): void {
    ask().then(
      () => this.#steps.push({ type: "done", call }),
      (error) => {
        // Anything but a refusal is a fault of ours.
        if (!(error instanceof StaticError)) return this.#parts.onFault(error);
        this.#steps.push({ type: "refused", call, why: this.#unanswered(error) });
      },
    );
  }

  /** No write is under way that may give us another leaf. */
  #say(isNamed: boolean): Promise<unknown> {
    return this.#deps.session.call("LeaveChannel", leaveRequest(this.#parts, isNamed, this.#deps));
  }

  // Words

  /** The relay hides channels that the pass of this session is not for. */
  #unanswered(fault: unknown): LeaveRefusal {
    const { membership } = this.#parts;
    const error = toStaticError(fault, "Cannot leave the channel");
    const isHidden = isCode(error, "not_found") &&
      this.#deps.session.covers?.(membership) === false;
    return { code: error.code, error: isHidden ? hiddenError(membership.name) : error, isHidden };
  }

  #errorOf(result: LeaveOutcome): StaticError {
    if (result.is === "refused") return result.why.error ?? unreachable();
    switch (result.why) {
      case "kept_out":
        return keptOut();
      case "founding": {
        const text =
          "Cannot leave yet: the log holds, or may hold, a new beginning of the channel that this agent has made and " +
          "not entered; read its messages, see health(), and try again";
        return createError("not_allowed", text, { retryable: true });
      }
      case "leaving":
        return createError(
          "not_allowed",
          "Cannot leave: this agent is leaving the channel, with another successor",
        );
      case "absent": {
        const text =
          `Cannot leave: ${
            this.#parts.membership.absent.join(", ")
          } belong to the channel and are not back yet, and ` +
          "nobody else could let them in; wait for them, or remove them first";
        return createError("not_allowed", text);
      }
    }
  }
}

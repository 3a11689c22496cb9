/**
 * Carries out what `stepDuties` says: commits, calls, timers and reports. The age of our keys rests
 * and goes on with the duties.
 */
import type { AgentId } from "../../../proto/mod.ts";
import { isCode, StaticError } from "../../base/errors.ts";
import { jitter } from "../../base/runtime.ts";
import { MlsFault } from "../../mls/codec.ts";
import type { ChannelDeps } from "../deps.ts";
import { toStaticError } from "../faults.ts";
import type { HealthLog } from "../health.ts";
import type { Membership } from "../group/membership.ts";
import type { Plan, ReturningMember } from "../commits/plan.ts";
import { goneAbsent } from "../commits/plans.ts";
import type { DeliveredRejoinRequest } from "../root/root_state.ts";
import { maxReturns, stepDuties } from "../upkeep/duties.ts";
import {
  type DutyEffect,
  type DutyEvent,
  type DutyFacts,
  type DutyReport,
  type DutyStep,
  newDuties,
  openRequests,
  timersOf,
} from "../upkeep/duties_state.ts";
import type { ChannelQueue, Steps } from "./channel_queue.ts";
import type { CommitRunner } from "./commit_runner.ts";
import type { KeyAgeRunner } from "./key_age_runner.ts";
import { RejoinClaims } from "./rejoin_claims.ts";

export interface DutiesRunnerParts {
  readonly membership: Membership;
  readonly commits: CommitRunner;
  readonly health: HealthLog;
  readonly ages: KeyAgeRunner;
  readonly queue: ChannelQueue;
}

/** With the statement of its agent. */
interface AskedDuty extends Extract<DutyEvent, { type: "asked" }> {
  readonly body: DeliveredRejoinRequest;
}

export class DutiesRunner {
  readonly #parts: DutiesRunnerParts;
  readonly #deps: ChannelDeps;
  readonly #claims: RejoinClaims;
  readonly #facts: DutyFacts;
  readonly #state = newDuties();
  readonly #steps: Steps<DutyEvent | AskedDuty, DutyEffect>;
  /** Which is stepped. */
  #asked: DeliveredRejoinRequest | undefined;

  constructor(parts: DutiesRunnerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    const { membership, queue } = parts;
    this.#claims = new RejoinClaims(membership, deps);
    this.#facts = this.#createFacts();
    this.#steps = queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
    });
    membership.onMoved(({ added, removed }) =>
      this.#steps.pushFirst({ type: "moved", added, removed })
    );
  }

  /** Each is of the moment in which it is read. */
  #createFacts(): DutyFacts {
    const { membership, commits } = this.#parts;
    const { runtime, relayNowMs, agentId } = this.#deps;
    return {
      get nowMs() {
        return runtime.nowMs();
      },
      get relayNowMs() {
        return relayNowMs();
      },
      self: agentId,
      isGenuine: (request) => this.#asked?.requestId === request && this.#claims.keep(this.#asked),
      judge: (request) => this.#claims.judge(request),
      lacks: (request) => this.#claims.lackedBy(request),
      get leavers() {
        return membership.departures.leavers.map((leaver) => leaver.agentId);
      },
      get isWithoutLeavers() {
        return commits.isWithoutLeavers;
      },
      get wantsOwnLeaf() {
        return membership.wantsOwnLeaf;
      },
      get hasAbsentLeavers() {
        return goneAbsent(membership).length > 0;
      },
      members: () => membership.group.members(),
      joinedAfter: (member, epoch) => membership.joinedAfter(member, epoch),
      jitter: (ms) => jitter(runtime, ms),
    };
  }

  /** Members whose requests to come back can be granted now. */
  get returning(): readonly ReturningMember[] {
    return openRequests(this.#state, this.#facts).flatMap(({ leaf, requestId }) => {
      const claim = leaf === "present" ? this.#claims.of(requestId) : undefined;
      return claim === undefined ? [] : [claim];
    });
  }

  /**
   * Whether a member asks to come back from where this agent knows it to be: it cannot follow
   * either.
   */
  isStuckHere(request: DeliveredRejoinRequest): boolean {
    return this.#claims.isStuckHere(request);
  }

  /**
   * Whether a member signed that it has left for a generation of the channel, and asks to be let in
   * there.
   */
  hasLeftFor(request: DeliveredRejoinRequest, generation: number): boolean {
    return this.#claims.hasLeftFor(request, generation);
  }

  /** A member that lost its state asks to be admitted again. */
  asked(request: DeliveredRejoinRequest): void {
    const { agentId, requestId, expiresAtMs, epoch, answerer } = request;
    const isNamed = answerer === this.#deps.agentId;
    this.#steps.push({
      type: "asked",
      request: { agentId, requestId, expiresAtMs, epoch, isNamed },
      body: request,
    });
  }

  /** This member has left. */
  left(agentId: AgentId): void {
    this.#steps.push({ type: "left", agentId });
    this.#lookAtKeys();
  }

  /** The channel goes on, and may have work left. */
  start(): void {
    this.#steps.push({ type: "start" });
    this.#parts.ages.look();
  }

  /** No duty is begun any more. Work that is under way starts nothing more. */
  rest(): void {
    this.#steps.push({ type: "rest" });
    this.#parts.ages.rest();
  }

  end(): void {
    this.#steps.end();
    this.#parts.ages.end();
  }

  /** For a process that ends. */
  finish(): Promise<void> {
    return this.#parts.ages.finish();
  }

  #lookAtKeys(): void {
    if (this.#state.work.at !== "resting") this.#parts.ages.look();
  }

  #step(event: DutyEvent | AskedDuty): DutyStep {
    if (!("body" in event)) return stepDuties(this.#state, event, this.#facts);
    this.#asked = event.body;
    const step = stepDuties(this.#state, event, this.#facts);
    this.#asked = undefined;
    this.#claims.forgetOthers(new Set(this.#state.requests.map((each) => each.requestId)));
    return step;
  }

  #perform(effect: DutyEffect): void {
    switch (effect.type) {
      case "list":
        return this.#list(effect.call);
      case "tell":
        return this.#tell(effect);
      case "change":
        return this.#change(effect.change, { is: "duties", of: effect.of });
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "report": {
        const { kind, text } = shownOf(effect.report);
        return this.#parts.health.report(kind, text);
      }
    }
  }

  #list(call: number): void {
    const { channelId } = this.#parts.membership;
    this.#deps.session.call("ListMembers", { channelId }).then(({ members }) => {
      const present = members.filter(({ online, leaving }) => online && !leaving);
      this.#steps.push({
        type: "listed",
        call,
        online: new Set(present.map(({ agentId }) => agentId)),
      });
    }, () => this.#steps.push({ type: "listed", call, online: undefined }));
  }

  #tell({ call, requestId, agentId }: Extract<DutyEffect, { type: "tell" }>): void {
    const { membership } = this.#parts;
    const told = (failed?: string): void => this.#steps.push({ type: "told", call, failed });
    const place = membership.leafOf(agentId);
    if (place === undefined) return told();
    const { leafIndex, leaf: { encoded: leafNode } } = place;
    const body = { channelId: membership.channelId, requestId, leafIndex, leafNode };
    this.#deps.session.call("SendLeaf", body).then(() => told(), (error) => {
      // The request was answered, or made anew, meanwhile.
      told(
        isCode(error, "not_found", "not_allowed")
          ? undefined
          : toStaticError(error, "Cannot tell it").message,
      );
    });
  }

  #change(change: number, plan: Plan): void {
    this.#parts.commits.commit(plan).then(
      () => this.#steps.push({ type: "changed", change, why: undefined }),
      (error) => {
        const text = toStaticError(error, "Cannot commit").message;
        this.#steps.push({
          type: "changed",
          change,
          why: { isAboutContent: isAboutContent(error), text },
        });
      },
    );
  }
}

function isAboutContent(error: unknown): boolean {
  return isCode(error, "not_allowed", "invalid_request", "already_member", "unsupported_version") ||
    (error instanceof StaticError && error.cause instanceof MlsFault);
}

function untimely(agentId: AgentId): string {
  return `${agentId} asks to rejoin with a KeyPackage that has expired, or is not valid yet, by the clock of this ` +
    "machine or the relay's: one of them is wrong, or the relay repeats an old request. Set the clock of this machine " +
    "right (`static doctor` compares it), and start this program again; until then only other members can let it in";
}

function shownOf(
  report: DutyReport,
): { readonly kind: "duty_failed" | "refused_join"; readonly text: string } {
  switch (report.is) {
    case "failed":
      return {
        kind: "duty_failed",
        text: `Members that leave or return are still waiting: ${report.text}`,
      };
    case "not_genuine": {
      const text = `A request to rejoin that the relay says is of ${report.agentId} is not genuine`;
      return { kind: "refused_join", text };
    }
    case "lacking": {
      if (report.what === "time") return { kind: "refused_join", text: untimely(report.agentId) };
      const lacked = report.what === "badge" ? "badge" : "key for the layer of Welcomes";
      const then = report.what === "badge" ? "it has one" : "its program is updated";
      const text =
        `${report.agentId} asks to rejoin without a ${lacked} that the channel requires; it comes back by ` +
        `itself once ${then}`;
      return { kind: "refused_join", text };
    }
    case "too_often": {
      const text =
        `${report.agentId} came back ${maxReturns} times within a day, and asks again: this agent does not answer before a ` +
        "day is over. Its data directory is misused, or the relay keeps it out of step; an owner may remove it";
      return { kind: "refused_join", text };
    }
    case "cannot_be_granted": {
      const text = `A request of ${report.agentId} to rejoin cannot be granted; it may ask again`;
      return { kind: "refused_join", text };
    }
  }
}

/**
 * A channel from inside: for members whose client was modified, and for what an agent knows and
 * tells no user. It is the one place that knows the classes of a channel, so that tests name none
 * of them, and a class that is replaced changes one file.
 */
import type {
  AgentId,
  ChannelId,
  ChannelName,
  JoinRequestId,
  NoticeBody,
  RequestBody,
} from "../../proto/mod.ts";
import { atOnce, type InterruptibleWork } from "../base/interruptible_work.ts";
import type { StaticError } from "../base/errors.ts";
import type { Agent } from "../channel/agent.ts";
import { type BadCommit, blamedOf } from "../channel/recovery/bad_commit.ts";
import { Carrier } from "../channel/upkeep/carrier.ts";
import { claimableOf, createFounding, requestOf } from "../channel/recovery/founding.ts";
import { claimKeyPackages } from "../channel/runner/founding_claims.ts";
import type { HealthLog, HealthState } from "../channel/health.ts";
import type { ChannelRunner } from "../channel/runner/channel_runner.ts";
import type { Membership } from "../channel/group/membership.ts";
import type { Plan, PlannedChange } from "../channel/commits/plan.ts";
import type { PostOptions } from "../channel/messages/send_options.ts";
import { ReceiptBudget } from "../content/receipt_budget.ts";
import { createPace } from "../channel/upkeep/healing_pace.ts";
import type { Change, Group, PreparedCommit, ReadyMessage } from "../mls/group.ts";

/** Plans that no call of the product makes, and those that may be asked for them. */
const changes = new WeakMap<Plan, () => PlannedChange | undefined>();
const changed = new WeakSet<ChannelRunner["rooms"]["commits"]>();

export class Inside {
  readonly #live: ChannelRunner;
  readonly #agent: Agent;

  private constructor(live: ChannelRunner, agent: Agent) {
    this.#live = live;
    this.#agent = agent;
  }

  static async of(agent: Agent, channel: string): Promise<Inside> {
    return new Inside(await agent.open(channel), agent);
  }

  get #membership(): Membership {
    return this.#live.rooms.membership;
  }

  get name(): ChannelName {
    return this.#live.name;
  }

  get channelId(): ChannelId {
    return this.#live.channelId;
  }

  /** The channel's, in generation 0. */
  get groupId(): ChannelId {
    return this.#membership.groupId;
  }

  get epoch(): number {
    return this.#membership.epoch;
  }

  get group(): Group {
    return this.#membership.group;
  }

  /** Another one after each way back in. */
  get life(): unknown {
    return this.#membership.durable;
  }

  get state(): HealthState {
    return this.#live.state;
  }

  get issues(): HealthLog["issues"] {
    return this.#live.rooms.health.issues;
  }

  /** The error for callers after the end. */
  get over(): StaticError | undefined {
    return this.#live.over;
  }

  /** Messages that wait for the program. */
  get unread(): number {
    return this.#live.rooms.inbox.unread;
  }

  /** Messages of the program that wait for a connection. */
  get unsent(): number {
    return this.#live.rooms.outbox.size.waiting;
  }

  get absent(): Membership["absent"] {
    return this.#membership.absent;
  }

  get lapsed(): Membership["departures"]["lapsed"] {
    return this.#membership.departures.lapsed;
  }

  get leavers(): Membership["departures"]["leavers"] {
    return this.#membership.departures.leavers;
  }

  /** Our leaf as it came in. */
  get joinedLeaf(): Uint8Array {
    return this.#membership.joinedLeaf;
  }

  joinedEpoch(agentId: AgentId): number {
    return this.#membership.joinedEpoch(agentId);
  }

  get lineage(): Membership["lineage"] {
    return this.#membership.lineage;
  }

  isMember(agentId: AgentId): boolean {
    return this.#membership.isMember(agentId);
  }

  wasExpelledSince(agentId: AgentId, epoch: number): boolean {
    return this.#membership.wasExpelledSince(agentId, epoch);
  }

  memberOf(agentId: AgentId): ReturnType<Membership["memberOf"]> {
    return this.#membership.memberOf(agentId);
  }

  leafOf(agentId: AgentId): ReturnType<Membership["leafOf"]> {
    return this.#membership.leafOf(agentId);
  }

  /** `plan` is asked for each try; undefined when there is nothing to do any more. */
  commit(
    plan: () => Change | undefined = () => ({}),
    answers: readonly JoinRequestId[] = [],
  ): ReturnType<ChannelRunner["rooms"]["commits"]["commit"]> {
    const { commits } = this.#live.rooms;
    if (!changed.has(commits)) {
      changed.add(commits);
      const planOf = commits.planOf.bind(commits);
      commits.planOf = (each, leavers) => {
        const change = changes.get(each);
        return change === undefined ? planOf(each, leavers) : change();
      };
    }
    const wanted: Plan = { is: "settle" };
    changes.set(wanted, () => {
      const change = plan();
      return change && { change, answers };
    });
    return commits.commit(wanted);
  }

  /** A commit of ours whose fate is open. */
  get openCommit(): PreparedCommit | undefined {
    return this.#live.rooms.commits.candidate;
  }

  /** The commit is from before a crash or a lost connection. */
  get isCommitOfBefore(): boolean {
    return this.#live.rooms.commits.isOfBefore;
  }

  /** No commit is made or sent any more until `reopenCommits`, as while the agent leaves. */
  closeCommits(): Promise<void> {
    this.#live.rooms.departure.stage = () => "goodbye";
    this.#live.rooms.commits.look();
    return Promise.resolve();
  }

  reopenCommits(): void {
    Reflect.deleteProperty(this.#live.rooms.departure, "stage");
    this.#live.rooms.commits.look();
  }

  /** From now on our commits are made by `act`. */
  replacePrepare(
    act: (change: Change, prepare: (change: Change) => PreparedCommit) => PreparedCommit,
  ): void {
    const { group } = this;
    const prepare = group.beginPrepare.bind(group);
    group.beginPrepare = function* (change): InterruptibleWork<PreparedCommit> {
      yield;
      return act(change, (other) => atOnce(prepare(other)));
    };
  }

  /** From now on a commit of ours that the relay took is entered when this has resolved. */
  beforeAccept(wait: () => Promise<void>): void {
    const { durable } = this.#membership;
    const accept = durable.accept.bind(durable);
    durable.accept = async (...parts) => {
      await wait();
      return await accept(...parts);
    };
  }

  /** From now on a commit of others is followed when this has resolved. */
  beforeFollow(wait: () => Promise<void>): void {
    const { durable } = this.#membership;
    const receive = durable.receive.bind(durable);
    durable.receive = async (bytes, rules, alongside) => {
      // A message brings no changes of its own.
      if (alongside !== undefined) await wait();
      return await receive(bytes, rules, alongside);
    };
  }

  /** From now on everybody who asks to come back is taken for a member. */
  believeRejoins(): void {
    const membership = this.#membership;
    membership.isRejoinOf = () => true;
    membership.judgeLeaf = () => "present";
  }

  /** From now on nothing of these kinds is reported. */
  hideIssues(isHidden: (kind: Parameters<HealthLog["report"]>[0]) => boolean): void {
    const { health } = this.#live.rooms;
    const report = health.report.bind(health);
    health.report = (kind, text, more) => isHidden(kind) ? undefined : report(kind, text, more);
  }

  /** Told of each content that is sealed from now on. */
  onSealed(listener: (plaintext: Uint8Array) => void): void {
    const { durable } = this.#membership;
    const seal = durable.seal.bind(durable);
    durable.seal = (payload, aad, room) => {
      listener(room?.fuller ?? payload);
      return seal(payload, aad, room);
    };
  }

  /** A message as it goes to the relay. */
  seal(payload: Uint8Array, authenticatedData: Uint8Array): Promise<ReadyMessage> {
    return this.#membership.durable.seal(payload, authenticatedData);
  }

  /** A content as it is, whatever it says. */
  send(content: Uint8Array, options: PostOptions = {}): Promise<unknown> {
    return this.#live.rooms.outbox.send(content, options);
  }

  /** Undefined when its sender is not a member. */
  badCommitOf(commit: NoticeBody<"DeliverCommit">, reason: string): BadCommit | undefined {
    return this.#membership.badCommitOf(commit, reason);
  }

  /** The founding with which an owner begins its channel anew, also without these members. */
  async foundingBecauseOf(
    bad: BadCommit,
    without: readonly AgentId[] = [],
  ): Promise<RequestBody<"FoundGeneration">> {
    const { parts, keyPackages, welcomes, agentId } = this.#agent;
    const relayNowMs = (): number => parts.runtime.nowMs();
    const carrier = new Carrier(new Map(), relayNowMs);
    const silent = {
      onEvent: () => {},
      nextRun: () => 0,
      recogniser: this.#agent.clocks.recogniser,
      inviteOf: () => undefined,
      healing: { take: () => 0 },
      pace: createPace(),
      areReceiptsGiven: false,
      receiptBudget: new ReceiptBudget({ runtime: parts.runtime, usage: undefined }),
    };
    const deps = { ...parts, agentId, keyPackages, welcomes, carrier, relayNowMs, ...silent };
    const isOut = (member: AgentId): boolean =>
      member === blamedOf(bad) || without.includes(member);
    const wanted = claimableOf(this.#membership, agentId).filter((member) => !isOut(member));
    const claimed = await claimKeyPackages(wanted, this.#membership, deps);
    return requestOf(atOnce(createFounding(this.#membership, bad, claimed, deps, without)));
  }

  recover(...choice: Parameters<ChannelRunner["recover"]>): ReturnType<ChannelRunner["recover"]> {
    return this.#live.recover(...choice);
  }

  leave(): Promise<void> {
    return this.#agent.leave(this.#live);
  }

  /** Resolves when nothing is under way. */
  idle(): ReturnType<ChannelRunner["idle"]> {
    return this.#live.idle();
  }

  close(): Promise<void> {
    return this.#live.close();
  }
}

/**
 * Our place in a channel's group: which commits are followed, who has asked to leave, since when each member is in, whose
 * keys are trusted. What a commit changes here is on disk before anything that builds on it is sent.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import { type AgentId, type ChannelId, type ChannelName, equalBytes, type NoticeBody } from "../../proto/mod.ts";
import { createError, type StaticError } from "../base/errors.ts";
import { pause } from "../base/runtime.ts";
import { createRules, isLeaveValid, isRejoinValid } from "../mls/channel_rules.ts";
import type { DurableGroup } from "../mls/durable_group.ts";
import type { Group, PreparedCommit } from "../mls/group.ts";
import { credentialOf, type MemberCredential } from "../mls/leaf.ts";
import type { CommitSummary, Member } from "../mls/members.ts";
import type { Outcome } from "../mls/receive.ts";
import type { RecordChange } from "../store/mod.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Entered } from "./entering.ts";
import type { HealthLog } from "./health.ts";
import type { ChannelTrust } from "./key_changes.ts";
import { type ChannelRecord, deleteSender, type LeaveProof, putChannel, putTrust } from "./records.ts";

type DeliverCommit = NoticeBody<"DeliverCommit">;

export interface MembershipParts {
  readonly durable: DurableGroup;
  readonly record: ChannelRecord;
  readonly trust: ChannelTrust;
  readonly health: HealthLog;
}

/** What a commit changed, for whoever keeps something per member. */
export type MovedListener = (change: Pick<CommitSummary, "added" | "removed">) => void;

interface FollowedCommit {
  readonly epoch: number;
  readonly hash: Uint8Array;
}

/** Removals that are remembered one by one; of earlier ones only when the last of them was. */
const maxRemovals = 256;

interface Waiter {
  readonly epoch: number;
  readonly resolve: () => void;
  readonly reject: (error: StaticError) => void;
}

export class Membership {
  readonly trust: ChannelTrust;
  readonly #deps: ChannelDeps;
  readonly #health: HealthLog;
  #durable: DurableGroup;
  #record: ChannelRecord;
  /** By which a fork can be told. */
  #lastCommit: FollowedCommit | undefined;
  readonly #waiters = new Set<Waiter>();
  /** Why no further epoch will come. */
  #over: StaticError | undefined;
  readonly #listeners = new Set<MovedListener>();

  constructor(parts: MembershipParts, deps: ChannelDeps) {
    this.#durable = parts.durable;
    this.#record = parts.record;
    this.trust = parts.trust;
    this.#health = parts.health;
    this.#deps = deps;
  }

  get durable(): DurableGroup {
    return this.#durable;
  }

  get group(): Group {
    return this.#durable.group;
  }

  get epoch(): number {
    return this.group.epoch;
  }

  get channelId(): ChannelId {
    return this.#record.channelId;
  }

  get name(): ChannelName {
    return this.#record.name;
  }

  onMoved(listener: MovedListener): void {
    this.#listeners.add(listener);
  }

  memberOf(agentId: AgentId): Member | undefined {
    return this.group.members().find((member) => member.agentId === agentId);
  }

  /** Members that have asked to go and are still in the group. */
  get leavers(): LeaveProof[] {
    return [...this.#record.leavers.values()].filter(({ agentId }) => this.#isOther(agentId));
  }

  /** Members that the relay has given up. They may come back by themselves, so they stay until somebody is added. */
  get lapsed(): AgentId[] {
    return [...this.#record.lapsed].filter((agentId) => this.#isOther(agentId));
  }

  /** A member's statement that it leaves. Answers whether it was true; then it is remembered. */
  async noteLeave(proof: LeaveProof): Promise<boolean> {
    if (!this.#isLeaving(proof)) return false;
    await this.#save({ ...this.#record, leavers: new Map(this.#record.leavers).set(proof.agentId, proof) });
    return true;
  }

  /**
   * The relay says that a member was absent too long. Its word is enough: it could as well stop delivering to it. About those
   * that are not in the group, or came after it said so, it has no say.
   */
  async noteLapse({ agentId, epoch }: { readonly agentId: AgentId; readonly epoch: number }): Promise<void> {
    const { lapsed, since } = this.#record;
    if (!this.#isOther(agentId) || lapsed.has(agentId) || epoch < (since.get(agentId) ?? 0)) return;
    await this.#save({ ...this.#record, lapsed: new Set(this.#record.lapsed).add(agentId) });
  }

  /** Whether an agent has become a member after this epoch, be it one still or not, as far as that can be ruled out. */
  mayHaveComeSince(agentId: AgentId, epoch: number): boolean {
    const { knownFrom, since, removals } = this.#record;
    return Math.max(knownFrom, since.get(agentId) ?? 0, removals.get(agentId) ?? 0) > epoch;
  }

  isRejoinValid(
    request: { agentId: AgentId; epoch: number; keyPackageHash: Uint8Array; signature: Uint8Array },
  ): boolean {
    const { channelId } = this.#record;
    const member = this.#signerOf(request.agentId);
    return member !== undefined && isRejoinValid({ channelId, ...request }, member, this.#deps.signatures);
  }

  /** Somebody's commit. It is followed and durable, or the outcome says why not. */
  async follow(commit: DeliverCommit): Promise<Outcome> {
    const { added, removed, owners, leaves, rejoins } = commit;
    const leaving = leaves.filter((proof) => this.#isLeaving(proof)).map(({ agentId }) => agentId);
    const rules = createRules({
      declared: { added, removed, owners: owners?.agentIds },
      leaving: new Set([...leaving, ...this.#record.lapsed]),
      rejoining: new Map(
        rejoins.filter((proof) => this.isRejoinValid(proof)).map((proof) => [proof.agentId, proof.keyPackageHash]),
      ),
    });
    const { outcome } = await this.#durable.receive(
      commit.commit,
      (summary, committer) => rules(summary, committer) ?? this.trust.judge(summary.added, committer),
      (summary) => this.#changesOf(summary),
    );
    if (outcome.kind === "commit") {
      this.#lastCommit = { epoch: commit.epoch, hash: sha256(commit.commit) };
      this.#moved(outcome.summary);
    }
    return outcome;
  }

  /** The relay took our commit. */
  async accept(prepared: PreparedCommit): Promise<void> {
    await this.#durable.accept(prepared, (summary) => this.#changesOf(summary));
    this.#lastCommit = { epoch: prepared.epoch, hash: prepared.hash };
    this.#moved(prepared.summary);
  }

  /**
   * For when we cannot follow the relay's log any more. If it holds another commit than the one that it gave us, says so in
   * `health`: that is a fork and no accident. An explanation, not a condition.
   */
  async explainFork(): Promise<void> {
    const last = this.#lastCommit;
    if (last === undefined) return;
    try {
      const { channelId } = this;
      const { commit } = await this.#deps.session.call("FindCommit", { channelId, epoch: last.epoch });
      if (commit === undefined || equalBytes(commit.commitHash, last.hash)) return;
      const text = `The relay delivered another commit of epoch ${last.epoch} to us than its log holds`;
      this.#health.report("relay_lied", text);
    } catch {
      // Without it the way back is the same.
    }
  }

  /** We were brought in anew, in place of the membership before. All of it is on disk already. */
  replace({ durable, record, changed }: Entered): void {
    this.#durable = durable;
    this.#record = record;
    this.#reportChanged(changed);
    this.#wake();
  }

  /** Resolves once the group is at this epoch or a later one. */
  async waitForEpoch(epoch: number, timeoutMs: number): Promise<void> {
    if (this.epoch >= epoch) return;
    if (this.#over !== undefined) throw this.#over;
    const stop = new AbortController();
    const arrived = new Promise<void>((resolve, reject) => {
      const waiter: Waiter = { epoch, resolve, reject };
      this.#waiters.add(waiter);
      stop.signal.addEventListener("abort", () => this.#waiters.delete(waiter));
    });
    try {
      const late = pause(this.#deps.runtime, timeoutMs, stop.signal).then(() => "late");
      if (await Promise.race([arrived, late]) === "late") {
        const text =
          `Channel "${this.name}" is at epoch ${epoch}, this agent at ${this.epoch}, and the commits between ` +
          "did not arrive; see health(), then try again";
        throw createError("mls_error", text);
      }
    } finally {
      stop.abort();
    }
  }

  /** Nobody needs to wait for an epoch any more. */
  end(error: StaticError): void {
    this.#over = error;
    for (const { reject } of this.#waiters) reject(error);
    this.#waiters.clear();
  }

  /** What a commit changes here, to be written in one with it: a crash between the two would leave us with half of it. */
  #changesOf({ added, removed }: CommitSummary): RecordChange[] {
    if (added.length === 0 && removed.length === 0) return [];
    const without = <T>(map: ReadonlyMap<AgentId, T>): Map<AgentId, T> =>
      new Map([...map].filter(([agentId]) => !removed.includes(agentId)));
    const since = without(this.#record.since);
    for (const agentId of added) since.set(agentId, this.epoch);
    const lapsed = new Set([...this.#record.lapsed].filter((agentId) => !removed.includes(agentId)));
    const gone = removed.filter((agentId) => !added.includes(agentId));
    this.#record = {
      ...this.#record,
      since,
      leavers: without(this.#record.leavers),
      lapsed,
      ...this.#removalsWith(gone),
    };
    const leaves = Array.from(this.group.current.tree.leaves(), ([, leaf]) => leaf);
    const arrived = leaves.filter(({ agentId }) => added.includes(agentId)).map(({ node }) => credentialOf(node));
    this.#reportChanged(this.trust.learn(arrived));
    this.trust.prune(leaves.map(({ node }) => credentialOf(node)));
    return [
      putChannel(this.#record),
      putTrust(this.channelId, this.trust.keys()),
      ...gone.map((agentId) => deleteSender(this.channelId, agentId)),
    ];
  }

  #removalsWith(gone: readonly AgentId[]): Pick<ChannelRecord, "knownFrom" | "removals"> {
    const removals = new Map(this.#record.removals);
    let { knownFrom } = this.#record;
    for (const agentId of gone) {
      removals.delete(agentId);
      removals.set(agentId, this.epoch);
    }
    for (const [agentId, epoch] of removals) {
      if (removals.size <= maxRemovals) break;
      removals.delete(agentId);
      knownFrom = epoch;
    }
    return { knownFrom, removals };
  }

  #reportChanged(identities: readonly Uint8Array[]): void {
    for (const identity of identities) {
      const who = new TextDecoder().decode(identity);
      this.#health.report("key_changed", `"${who}" is in the channel with a new key, brought in by an owner`);
    }
  }

  #moved({ added, removed }: CommitSummary): void {
    for (const listener of this.#listeners) listener({ added, removed });
    this.#wake();
  }

  #wake(): void {
    for (const waiter of this.#waiters) {
      if (this.epoch < waiter.epoch) continue;
      this.#waiters.delete(waiter);
      waiter.resolve();
    }
  }

  #isOther(agentId: AgentId): boolean {
    return agentId !== this.#deps.agentId && this.memberOf(agentId) !== undefined;
  }

  #isLeaving(proof: LeaveProof): boolean {
    const member = this.#signerOf(proof.agentId);
    return member !== undefined && isLeaveValid({ channelId: this.channelId, ...proof }, member, this.#deps.signatures);
  }

  #signerOf(agentId: AgentId): { signatureKey: Uint8Array; memberSince: number } | undefined {
    const credential = this.#credentialOf(agentId);
    if (credential === undefined) return undefined;
    const memberSince = this.#record.since.get(agentId) ?? this.#record.joinedEpoch;
    return { signatureKey: credential.signatureKey, memberSince };
  }

  #credentialOf(agentId: AgentId): MemberCredential | undefined {
    for (const [, leaf] of this.group.current.tree.leaves()) {
      if (leaf.agentId === agentId) return credentialOf(leaf.node);
    }
    return undefined;
  }

  async #save(record: ChannelRecord): Promise<void> {
    this.#record = record;
    await this.#deps.store.batch([putChannel(record)]);
  }
}

/** What a rejoin proof says about a KeyPackage. */
export function hashOfKeyPackage(message: Uint8Array): Uint8Array {
  return sha256(message);
}

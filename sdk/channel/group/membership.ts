/**
 * Our place in a channel's group: which commits are followed, since when each member is in, whose
 * keys are trusted. A commit's changes here are on disk before
 * anything that builds on it is sent.
 */
import { sha256 } from "@noble/hashes/sha2.js";
import {
  type AgentId,
  agentIdOf,
  binaryIdFromBytes,
  type ChannelId,
  type ChannelName,
  equalBytes,
  generationOf,
  groupIdOf,
  type InviteId,
  type NoticeBody,
  rejoinStatement,
} from "../../../proto/mod.ts";
import { createError, type StaticError } from "../../base/errors.ts";
import { baseMembersOf } from "../../mls/base_epoch.ts";
import { createRules, noLeaf } from "../../mls/channel_rules.ts";
import { type Epoch, stateOf } from "../../mls/epoch.ts";
import type { DurableGroup } from "../../mls/durable_group.ts";
import type { Group } from "../../mls/group.ts";
import { credentialOf, type MemberCredential } from "../../mls/leaf.ts";
import type { CommitSummary, Member } from "../../mls/members.ts";
import { rightsOf, silencedIn } from "../../mls/policy_rules.ts";
import { leafHashOf } from "../../mls/ratchet_tree.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { BadCommit } from "../recovery/bad_commit.ts";
import type { ChannelDeps } from "../deps.ts";
import type { EnteredMembership } from "../entering.ts";
import type { HealthLog } from "../health.ts";
import type { ChannelTrust } from "./key_changes.ts";
import { Departures, type MemberPlace } from "./departures.ts";
import type {
  CommitListener,
  CommitPlace,
  FollowableCommit,
  FollowVerdict,
  FormerGeneration,
  GenerationFounder,
  RejoinClaim,
} from "./followed_commits.ts";
import { reportChangedKeys } from "./key_reports.ts";
import { type Lineage, lineageAfter, type LineageEvent } from "./lineage.ts";
import {
  isSameLoss,
  lossAfter,
  lossText,
  type SealingLoss,
  type SealingStep,
} from "./post_quantum.ts";
import {
  deleteSender,
  type FormerKnowledge,
  type MembershipRecord,
  putChannel,
  putTrust,
} from "../records.ts";
import { keptCommitOf, signedBytesOf, type SignedCommit, signedCommitOf } from "./signed_commit.ts";

type DeliverCommit = NoticeBody<"DeliverCommit">;

export interface MembershipParts {
  readonly durable: DurableGroup;
  readonly record: MembershipRecord;
  readonly trust: ChannelTrust;
  readonly health: HealthLog;
}

/** The changes of a commit. */
export interface CommitChanges extends CommitSummary {
  /** The removed members that had said that they leave. */
  readonly left: readonly AgentId[];
}

/** For parts that keep something per member. */
export type ChangesListener = (change: CommitChanges) => void;

/**
 * Number of removals that are remembered one by one. For earlier ones only the time of the last is
 * kept.
 */
const maxRemovals = 256;

export class Membership {
  readonly trust: ChannelTrust;
  readonly departures: Departures;
  readonly #deps: ChannelDeps;
  readonly #health: HealthLog;
  #durable: DurableGroup;
  #record: MembershipRecord;
  readonly #listeners = new Set<ChangesListener>();
  readonly #commitListeners = new Set<CommitListener>();
  /** The members that the last followed commit removed after they had said that they leave. */
  #left: readonly AgentId[] = [];
  /**
   * Members that had no leaf before the present commit: one that a commit adds comes back, and is
   * no newcomer.
   */
  #wereAbsent: readonly AgentId[];
  #toldLoss: SealingLoss | undefined;
  #posting: { readonly epoch: Epoch; readonly may: boolean } | undefined;

  constructor(parts: MembershipParts, deps: ChannelDeps) {
    this.#durable = parts.durable;
    this.#record = parts.record;
    this.#toldLoss = parts.record.loss;
    this.#wereAbsent = this.absent;
    this.trust = parts.trust;
    this.#health = parts.health;
    this.#deps = deps;
    this.departures = this.#createDepartures();
  }

  #createDepartures(): Departures {
    const current = (): MembershipRecord => this.#record;
    const parts = {
      get record() {
        return current();
      },
      note: (record: MembershipRecord) => this.#noted(record),
      members: this,
      health: this.#health,
    };
    return new Departures(parts, this.#deps);
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

  /** The hash of the commit that began our epoch, if it is known. */
  get began(): Uint8Array | undefined {
    const { parent } = this.group;
    return parent?.base.epoch === this.epoch - 1 ? parent.commitHash : undefined;
  }

  get channelId(): ChannelId {
    return this.#record.channelId;
  }

  get name(): ChannelName {
    return this.#record.name;
  }

  /**
   * The id of the present generation's group. Members name it when they sign statements about their
   * leaves.
   */
  get groupId(): ChannelId {
    return binaryIdFromBytes<ChannelId>(this.group.current.context.groupId);
  }

  /** All members, also those that the present generation's group has no leaf of. */
  get agentIds(): AgentId[] {
    return [...this.group.members().map(({ agentId }) => agentId), ...this.absent];
  }

  /** Members that the present generation's group has no leaf of. */
  get absent(): readonly AgentId[] {
    return (this.group.binding.generation?.absent ?? []).map(({ agentId }) => agentId);
  }

  /** The same as others see members, with what is remembered of them. */
  get absentMembers(): (Omit<Member, "leafIndex"> & { absent: true })[] {
    const { binding } = this.group;
    const known = new Map(Array.from(this.trust.keys, ({ identity, signatureKey }) => {
      return [agentIdOf(signatureKey, identity), identity];
    }));
    return this.absent.map((agentId) => {
      const identity = known.get(agentId) ?? new Uint8Array(0);
      return { agentId, identity, ...rightsOf(agentId, binding), absent: true };
    });
  }

  /** Whether our messages are shown. Asked with every message, and worked out once an epoch. */
  get mayPost(): boolean {
    const { current } = this.group;
    if (this.#posting?.epoch !== current) {
      this.#posting = { epoch: current, may: this.group.self.mayPost };
    }
    return this.#posting.may;
  }

  onMoved(listener: ChangesListener): void {
    this.#listeners.add(listener);
  }

  /** Asked when the group has moved on, before anything of it is written. */
  onCommit(listener: CommitListener): void {
    this.#commitListeners.add(listener);
  }

  /** Whether messages of this agent are not shown: its identity is known under another key. */
  isDoubtful(agentId: AgentId): boolean {
    return this.trust.isDoubtful(agentId);
  }

  /** With a leaf or without. */
  isMember(agentId: AgentId): boolean {
    return this.leafOf(agentId) !== undefined || this.absent.includes(agentId);
  }

  memberOf(agentId: AgentId): Member | undefined {
    return this.group.members().find((member) => member.agentId === agentId);
  }

  /** A member's present leaf. */
  leafOf(agentId: AgentId): MemberPlace | undefined {
    for (const [leafIndex, leaf] of this.group.current.tree.leaves()) {
      if (leaf.agentId === agentId) return { leafIndex, leaf };
    }
    return undefined;
  }

  /**
   * Our own leaf is of a KeyPackage although we came back with it: it does not name its group yet.
   */
  get wantsOwnLeaf(): boolean {
    const { tree, ownLeaf } = this.group.current;
    return this.#record.rejoined && tree.leaf(ownLeaf)?.node.leafNodeSource === "key_package";
  }

  /** SHA-256 of the leaf with which we joined, if that is known. */
  get joinedLeaf(): Uint8Array {
    return this.#record.joinedLeaf;
  }

  /** The epoch in which a member joined; 0 when that was before us. */
  joinedEpoch(agentId: AgentId): number {
    return this.#record.since.get(agentId)?.epoch ?? 0;
  }

  /** How the channel ceased to be sealed, the last time that this agent knows of. */
  get loss(): SealingLoss | undefined {
    return this.#record.loss;
  }

  /** The agents by whom members came in, as far as this agent knows. */
  get lineage(): Lineage {
    return this.#record;
  }

  /** Whether a member, or this agent itself, is known to have joined after an epoch. */
  joinedAfter(agentId: AgentId, epoch: number): boolean {
    const { joinedEpoch, since } = this.#record;
    return (agentId === this.#deps.agentId ? joinedEpoch : since.get(agentId)?.epoch ?? 0) > epoch;
  }

  /** Agents that were removed and are no members, the latest of them. */
  get removed(): readonly AgentId[] {
    return [...this.#record.removals.keys()].filter((agentId) => !this.isMember(agentId));
  }

  /**
   * Returns false only if it is certain that the agent has not become a member after this epoch; it
   * may have left again.
   */
  mayHaveComeSince(agentId: AgentId, epoch: number): boolean {
    const { knownFrom, since, removals } = this.#record;
    return Math.max(knownFrom, since.get(agentId)?.epoch ?? 0, removals.get(agentId) ?? 0) > epoch;
  }

  /**
   * Whether an agent was removed against its will after this epoch, as far as that can be ruled
   * out.
   */
  wasExpelledSince(agentId: AgentId, epoch: number): boolean {
    const { knownFrom, expelled } = this.#record;
    return (expelled.get(agentId) ?? 0) > epoch || (knownFrom > epoch && !this.isMember(agentId));
  }

  /**
   * Whether a member signed that it wants to come back with this KeyPackage. Its key is the same as
   * long as its id is.
   */
  isRejoinOf(
    { agentId, leafHash, keyPackageHash, signature, signatureKey }: RejoinClaim,
    generation: number = generationOf(this.epoch),
  ): boolean {
    const known = this.leafOf(agentId)?.leaf.node.signaturePublicKey ??
      (this.absent.includes(agentId) ? signatureKey : undefined);
    const statement = rejoinStatement({
      channelId: groupIdOf(this.channelId, generation),
      agentId,
      leafHash,
      keyPackageHash,
    });
    return known !== undefined &&
      this.#deps.signatures.verifyHandshake(known, statement, signature);
  }

  /**
   * Whether a leaf is the member's present one or an outdated one, or there is no such member. An
   * absent member has no leaf.
   */
  judgeLeaf(
    { agentId, leafHash }: Pick<RejoinClaim, "agentId" | "leafHash">,
  ): "present" | "other" | "gone" {
    const leaf = this.leafOf(agentId)?.leaf;
    if (leaf !== undefined) return equalBytes(leafHash, leafHashOf(leaf)) ? "present" : "other";
    return this.absent.includes(agentId) && equalBytes(leafHash, noLeaf) ? "present" : "gone";
  }

  /**
   * Returns the record of a commit that cannot be followed; its sender's signature was found to
   * fit.
   */
  badCommitOf(entry: DeliverCommit, reason: string): BadCommit | undefined {
    const signed = signedCommitOf(this.channelId, entry);
    const leaf = this.leafOf(entry.sender)?.leaf;
    if (signed === undefined || leaf === undefined) return undefined;
    const sinceMs = this.#deps.runtime.nowMs();
    return {
      ...signed,
      sequence: entry.sequence,
      sender: credentialOf(leaf.node),
      reason,
      sinceMs,
    };
  }

  /** Returns the parts that a new generation is compared with. */
  get beforeGeneration(): FormerGeneration {
    return {
      epoch: this.epoch,
      members: baseMembersOf(this.group.current),
      owners: this.group.binding.owners,
      sealing: this.group.binding.sealing,
    };
  }

  /**
   * The group is in a new generation: members, keys and counters go on, without those that are out.
   * Returns the changes to write with that.
   */
  generationChanges(generation: GenerationFounder, before: FormerGeneration): RecordChange[] {
    const { current } = this.group;
    const staying = new Set(baseMembersOf(current));
    const gone = before.members.filter((agentId) => !staying.has(agentId));
    const joinedLeaf = sha256(current.tree.leaf(current.ownLeaf)?.encoded ?? new Uint8Array(0));
    const lineage = this.#lineageAfter({ type: "founding", blamed: generation.blamed, out: gone });
    const lapsed = new Set([...this.#record.lapsed].filter((agentId) => staying.has(agentId)));
    const leavers = new Map(
      [...this.#record.leavers].filter(([agentId]) => this.absent.includes(agentId)),
    );
    const expelled = gone.filter((agentId) =>
      agentId === generation.blamed || generation.without.includes(agentId)
    );
    const record = {
      ...this.#record,
      ...lineage,
      lapsed,
      leavers,
      joinedLeaf,
      ...this.#removalsWith(gone, expelled),
      loss: this.#lossAfter(before, { by: generation.founder }),
    };
    const noted = this.#noted(record);
    const senders = gone.map((agentId) => deleteSender(this.channelId, agentId));
    return [...this.#heardOf(generation, { gone, epoch: before.epoch }), ...noted, ...senders];
  }

  #heardOf(
    { founder, sequence }: GenerationFounder,
    { gone, epoch }: { readonly gone: readonly AgentId[]; readonly epoch: number },
  ): RecordChange[] {
    const hash = this.group.binding.generation?.founding ?? new Uint8Array(0);
    const founded = { sequence, epoch: this.epoch - 1, hash };
    // All that stood before it has been delivered, so that the last words of those that are out are
    // known: as if not our own.
    const place = { own: false, sequence, epoch, hash: new Uint8Array(0), signed: undefined };
    const isOwn = founder === this.#deps.agentId;
    const entered = { ...place, removed: gone, silenced: [], ...(isOwn && { founded }) };
    return Array.from(this.#commitListeners, (listener) => listener(entered)).flat();
  }

  /** All of it is on disk. */
  generationEntered({ founder }: GenerationFounder, before: FormerGeneration): void {
    this.#wereAbsent = this.absent;
    const staying = baseMembersOf(this.group.current);
    const { owners } = this.group.binding;
    this.#left = [];
    this.moved({
      committer: founder,
      added: [],
      keyless: [],
      keyPackageHashes: new Map(),
      removed: before.members.filter((agentId) => !staying.includes(agentId)),
      owners: owners.length === before.owners.length ? undefined : owners,
      ownersBefore: before.owners,
    });
  }

  /**
   * Somebody's commit: how it is to be followed, or why it is not. First its sender's signature
   * over the commit and what it declares: without that, nothing in it can be held against anybody
   * but the relay.
   */
  judgeCommit(
    commit: DeliverCommit,
  ): FollowableCommit | Extract<FollowVerdict, { kind: "unsigned" | "misattributed" | "forked" }> {
    const { epoch, sequence } = commit;
    const hash = sha256(commit.commit);
    const signed = signedCommitOf(this.channelId, commit);
    if (signed === undefined) return { kind: "unsigned" };
    const standing = this.#placeOf(commit.sender, signed);
    if (standing !== "here") return { kind: standing };
    const kept = keptCommitOf(signed, commit.commit, this.leafOf(commit.sender)?.leaf);
    return {
      kind: "follow",
      rules: createRules(signed.declared, this.#deps.signatures),
      place: { own: false, hash, epoch, sequence, signed: kept },
    };
  }

  /**
   * The knowledge of members that goes on in a group that we come back into. Those that are gone
   * and have not said goodbye count as expelled: the commit or the founding that put them out was
   * not followed here, and their invites must not outlive it.
   */
  knownIn(group: Group): FormerKnowledge {
    const before = baseMembersOf(this.group.current);
    const present = new Set(baseMembersOf(group.current));
    const lineage = this.#lineageAfter({ type: "return", before, epoch: group.epoch }, group);
    const expelled = new Map(this.#record.expelled);
    for (const agentId of before) {
      if (present.has(agentId) || this.departures.hasLeft(agentId)) continue;
      expelled.delete(agentId);
      expelled.set(agentId, group.epoch);
    }
    const loss = this.#lossAfter(sealingIn(this.group), { wasAway: true }, group);
    return { ...lineage, expelled: new Map([...expelled].slice(-maxRemovals)), loss };
  }

  /** Replaces this membership after the agent was added again. Everything is on disk already. */
  replace({ durable, record, changed }: EnteredMembership): void {
    this.#durable = durable;
    this.#record = record;
    this.#wereAbsent = this.absent;
    reportChangedKeys(this.#health, changed);
    this.#tellLoss();
  }

  /** The error for callers that have waited in vain for this epoch. */
  notArrived(epoch: number): StaticError {
    const text =
      `Channel "${this.name}" is at epoch ${epoch}, and this agent is at epoch ${this.epoch}: the commits in between ` +
      "have not arrived. See health(), then try again";
    return createError("mls_error", text, { retryable: true });
  }

  /**
   * Returns the changes of a commit here, to be written together with it: a crash between the two
   * would leave half of it.
   */
  changesOf(
    summary: CommitSummary,
    place: Omit<CommitPlace, "removed" | "silenced">,
  ): RecordChange[] {
    const { removed } = summary;
    const silenced = silencedIn(this.group.current, this.group.parent?.base);
    const heard = Array.from(
      this.#commitListeners,
      (listener) => listener({ ...place, removed, silenced }),
    ).flat();
    return [...heard, ...this.#memberChanges(summary)];
  }

  #memberChanges(summary: CommitSummary): RecordChange[] {
    const { added, removed } = summary;
    for (const agentId of removed) this.departures.forget(agentId);
    this.#left = removed.filter((agentId) => this.#record.leavers.has(agentId));
    if (added.length === 0 && removed.length === 0) return [];
    const without = <T>(map: ReadonlyMap<AgentId, T>): Map<AgentId, T> =>
      new Map([...map].filter(([agentId]) => !removed.includes(agentId)));
    const { committer, ownersBefore: owners } = summary;
    const inviteOf = (agentId: AgentId): InviteId | undefined =>
      this.#deps.inviteOf(this.channelId, agentId);
    const came = {
      committer,
      added,
      removed,
      absent: this.#wereAbsent,
      owners,
      epoch: this.epoch,
      inviteOf,
    };
    const lineage = this.#lineageAfter({ type: "commit", ...came });
    this.#wereAbsent = this.absent;
    const lapsed = new Set(
      [...this.#record.lapsed].filter((agentId) => !removed.includes(agentId)),
    );
    const gone = removed.filter((agentId) => !added.includes(agentId));
    this.#record = {
      ...this.#record,
      ...lineage,
      leavers: without(this.#record.leavers),
      lapsed,
      ...this.#removalsWith(gone, gone.filter((agentId) => !this.#left.includes(agentId))),
      loss: this.#lossAfter({ sealing: this.group.parent?.base.sealing, epoch: this.epoch - 1 }, {
        by: committer,
        because: summary.keyless[0],
      }),
    };
    const leaves = Array.from(this.group.current.tree.leaves(), ([, leaf]) => leaf);
    this.#learn(summary);
    this.trust.prune(leaves.map(({ node }) => credentialOf(node)));
    return [
      putChannel(this.#record),
      putTrust(this.channelId, this.trust),
      ...gone.map((agentId) => deleteSender(this.channelId, agentId)),
    ];
  }

  #lossAfter(
    before: SealingStep["before"],
    how: Pick<SealingStep, "by" | "because"> & { readonly wasAway?: true },
    group: Group = this.group,
  ): SealingLoss | undefined {
    return lossAfter(this.#record.loss, {
      wasAway: false,
      ...how,
      before,
      after: sealingIn(group),
      nowMs: this.#deps.runtime.nowMs(),
    });
  }

  /** Once for each time that it happens. */
  #tellLoss(): void {
    const { loss } = this.#record;
    if (loss !== undefined && !isSameLoss(loss, this.#toldLoss)) {
      const { by, because } = loss;
      this.#health.report("post_quantum_lost", lossText(loss), { about: "the channel" });
      this.#health.tell({ type: "post_quantum_lost", by, because });
    }
    this.#toldLoss = loss;
  }

  #lineageAfter(event: LineageEvent, group: Group = this.group): Lineage {
    const { agentId: self, runtime } = this.#deps;
    return lineageAfter(this.#record, event, {
      self,
      members: baseMembersOf(group.current),
      nowMs: runtime.nowMs(),
    });
  }

  #removalsWith(
    gone: readonly AgentId[],
    against: readonly AgentId[],
  ): Pick<MembershipRecord, "knownFrom" | "removals" | "expelled"> {
    const [removals, expelled] = [new Map(this.#record.removals), new Map(this.#record.expelled)];
    let { knownFrom } = this.#record;
    for (const [map, agents] of [[removals, gone], [expelled, against]] as const) {
      for (const agentId of agents) {
        map.delete(agentId);
        map.set(agentId, this.epoch);
      }
      for (const [agentId, epoch] of map) {
        if (map.size <= maxRemovals) break;
        map.delete(agentId);
        knownFrom = Math.max(knownFrom, epoch);
      }
    }
    return { knownFrom, removals, expelled };
  }

  /**
   * A member that is removed and added in one commit comes back as it was: an owner that answers
   * its request does not vouch for it.
   */
  #learn({ committer, added, removed, ownersBefore }: CommitSummary): void {
    const arrived = Array.from(this.group.current.tree.leaves(), ([, leaf]) => leaf)
      .filter(({ agentId }) => added.includes(agentId));
    const credentials = (isBack: boolean): MemberCredential[] =>
      arrived.filter(({ agentId }) => removed.includes(agentId) === isBack).map(({ node }) =>
        credentialOf(node)
      );
    reportChangedKeys(this.#health, this.trust.learn(credentials(true), { byOwner: false }));
    reportChangedKeys(
      this.#health,
      this.trust.learn(credentials(false), { byOwner: ownersBefore.includes(committer) }),
    );
  }

  /** The group has followed it, and that is on disk. */
  moved(summary: CommitSummary): void {
    for (const listener of this.#listeners) listener({ ...summary, left: this.#left });
    this.#tellLoss();
  }

  /**
   * For which group a commit's sender signed it so, with what it declares: ours, or another one of
   * this epoch.
   */
  #placeOf(sender: AgentId, signed: SignedCommit): "here" | "forked" | "misattributed" {
    const { generation, state } = signed.declared;
    const place = this.leafOf(sender);
    if (
      place === undefined || generation !== generationOf(this.epoch) ||
      !this.#isSigned(place, signedBytesOf(signed), signed.signature)
    ) return "misattributed";
    return equalBytes(state, stateOf(this.group.current)) ? "here" : "forked";
  }

  /** Returns whether the key of a member's leaf has signed the statement. */
  #isSigned(
    { leaf: { node } }: MemberPlace,
    statement: Uint8Array,
    signature: Uint8Array,
  ): boolean {
    return this.#deps.signatures.verifyHandshake(node.signaturePublicKey, statement, signature);
  }

  #noted(record: MembershipRecord): RecordChange[] {
    this.#record = record;
    return [putChannel(record)];
  }
}

function sealingIn({ binding: { sealing }, epoch }: Group): SealingStep["before"] {
  return { sealing, epoch };
}

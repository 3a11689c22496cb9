/**
 * Members that go: they sign that they leave, or the relay gives them up because they were absent
 * for too long. The relay's word alone removes nobody.
 */
import {
  type AgentId,
  agentIdOf,
  type ChannelId,
  equalBytes,
  generationOf,
  groupIdOf,
  leaveStatement,
} from "../../../proto/mod.ts";
import type { Group } from "../../mls/group.ts";
import { type Leaf, leafHashOf } from "../../mls/ratchet_tree.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { ChannelDeps } from "../deps.ts";
import type { HealthLog } from "../health.ts";
import type { LeaveProof, MembershipRecord } from "../records.ts";
import type { ChannelTrust } from "./key_changes.ts";

/**
 * So many generations before the present one are looked at for the signature of a member that
 * leaves.
 */
const earlierLeaves = 8;

/** Members that a report names. */
const maxNamed = 5;

/**
 * The worth of a statement that a member leaves. A void one is about another leaf than its present
 * one: it has gone with a leaf that this agent does not know, or somebody repeats an old statement.
 * One that the member has not signed says nothing.
 */
export type LeaveVerdict = "taken" | "void" | "unsigned";

/** Where a member is, and with which leaf. */
export interface MemberPlace {
  readonly leafIndex: number;
  readonly leaf: Leaf;
}

/** The membership, as far as it is asked about those that go. */
interface MembersNow {
  readonly group: Group;
  readonly epoch: number;
  readonly channelId: ChannelId;
  /** Members without a leaf. */
  readonly absent: readonly AgentId[];
  readonly trust: ChannelTrust;
  readonly isMember: (agentId: AgentId) => boolean;
  readonly leafOf: (agentId: AgentId) => MemberPlace | undefined;
  readonly judgeLeaf: (
    of: Pick<LeaveProof, "agentId" | "leafHash">,
  ) => "present" | "other" | "gone";
}

interface DepartureParts {
  readonly record: MembershipRecord;
  /** Replaces the record. Returns the change to write. */
  readonly note: (record: MembershipRecord) => readonly RecordChange[];
  readonly members: MembersNow;
  readonly health: HealthLog;
}

export class Departures {
  readonly #parts: DepartureParts;
  readonly #members: MembersNow;
  readonly #health: HealthLog;
  readonly #deps: Pick<ChannelDeps, "agentId" | "signatures">;
  /**
   * Members that signed, about whichever leaf of theirs, that they leave, since this process began.
   */
  readonly #goodbyes = new Set<AgentId>();

  constructor(parts: DepartureParts, deps: Pick<ChannelDeps, "agentId" | "signatures">) {
    this.#parts = parts;
    this.#members = parts.members;
    this.#health = parts.health;
    this.#deps = deps;
  }

  /** The absent members that have left: an owner removes them. */
  get absentLeavers(): AgentId[] {
    const { leavers } = this.#parts.record;
    return leavers.size === 0 ? [] : this.#members.absent.filter((agentId) => leavers.has(agentId));
  }

  /** Members whose statement that they leave is about their present leaf. */
  get leavers(): LeaveProof[] {
    const { leavers } = this.#parts.record;
    if (leavers.size === 0) return [];
    return Array.from(this.#members.group.current.tree.leaves(), ([, leaf]) => leaf).flatMap(
      (leaf) => {
        const proof = leaf.agentId === this.#deps.agentId ? undefined : leavers.get(leaf.agentId);
        return proof !== undefined && equalBytes(proof.leafHash, leafHashOf(leaf)) ? [proof] : [];
      },
    );
  }

  /** Members that the relay has given up, by its word alone. They may come back by themselves. */
  get lapsed(): AgentId[] {
    return [...this.#parts.record.lapsed].filter((agentId) => this.#isOther(agentId));
  }

  /**
   * Whether a member signed that it leaves. It may have signed about a leaf that it has no more:
   * then an owner decides.
   */
  hasSaidGoodbye(agentId: AgentId): boolean {
    return this.#goodbyes.has(agentId);
  }

  /**
   * The relay delivers another member's statement that it leaves. One about its present leaf is
   * remembered, by `write`.
   */
  noteLeave(
    proof: LeaveProof,
  ): { readonly worth: LeaveVerdict; readonly write: readonly RecordChange[] } {
    const generation = this.#generationOfLeave(proof);
    if (generation === undefined) return { worth: "unsigned", write: [] };
    if (
      generation !== generationOf(this.#members.epoch) ||
      this.#members.leafOf(proof.agentId) === undefined
    ) {
      return { worth: "void", write: [] };
    }
    this.#goodbyes.add(proof.agentId);
    if (this.#members.judgeLeaf(proof) !== "present") return { worth: "void", write: [] };
    const leavers = new Map(this.#parts.record.leavers).set(proof.agentId, proof);
    return { worth: "taken", write: this.#parts.note({ ...this.#parts.record, leavers }) };
  }

  /**
   * The generation in which a member of this one signed that it leaves, the present one or one of
   * the latest before it.
   */
  #generationOfLeave({ signature, ...leave }: LeaveProof): number | undefined {
    const { agentId } = leave;
    const key = agentId === this.#deps.agentId ? undefined : this.#signatureKeyOf(agentId);
    if (key === undefined) return undefined;
    const present = generationOf(this.#members.epoch);
    for (
      let generation = present;
      generation >= Math.max(0, present - earlierLeaves);
      generation--
    ) {
      const statement = leaveStatement({
        channelId: groupIdOf(this.#members.channelId, generation),
        ...leave,
      });
      if (this.#deps.signatures.verifyHandshake(key, statement, signature)) return generation;
    }
    return undefined;
  }

  /** Returns the key of a member with a leaf, or of an absent one whose key is remembered. */
  #signatureKeyOf(agentId: AgentId): Uint8Array | undefined {
    const leaf = this.#members.leafOf(agentId)?.leaf;
    if (leaf !== undefined) return leaf.node.signaturePublicKey;
    if (!this.#members.absent.includes(agentId)) return undefined;
    for (const { identity, signatureKey } of this.#members.trust.keys) {
      if (agentIdOf(signatureKey, identity) === agentId) return signatureKey;
    }
    return undefined;
  }

  /**
   * The relay says that a member was absent too long. That changes nothing in the group: people
   * decide who is removed. About those that are not in the group, or came after it said so, it has
   * no say. Returns what is to be written; then it is reported.
   */
  noteLapse(
    { agentId, epoch }: { readonly agentId: AgentId; readonly epoch: number },
  ): readonly RecordChange[] {
    const { lapsed, since } = this.#parts.record;
    if (
      !this.#isOther(agentId) || lapsed.has(agentId) || epoch < (since.get(agentId)?.epoch ?? 0)
    ) return [];
    return this.#parts.note({ ...this.#parts.record, lapsed: new Set(lapsed).add(agentId) });
  }

  /** Also once when the channel is opened: what is known of before is on disk. */
  reportLapsed(): void {
    const { lapsed } = this;
    if (lapsed.length === 0) return;
    const named = lapsed.slice(0, maxNamed).join(", ") + (lapsed.length > maxNamed ? ", …" : "");
    const text =
      `The relay has given up members that were absent for too long, by its word: ${named}. They stay members and may ` +
      "come back; members() shows when this agent last heard of each. An owner can remove those that will not come back with " +
      "removeMember()";
    this.#health.report("member_lapsed", text, { about: "all of them" });
  }

  /** Whether an agent has said that it goes, by a statement that is remembered. */
  hasLeft(agentId: AgentId): boolean {
    return this.#parts.record.leavers.has(agentId) || this.#goodbyes.has(agentId);
  }

  /** Forgets a member that is out. */
  forget(agentId: AgentId): void {
    this.#goodbyes.delete(agentId);
  }

  #isOther(agentId: AgentId): boolean {
    return agentId !== this.#deps.agentId && this.#members.isMember(agentId);
  }
}

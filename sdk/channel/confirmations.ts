/**
 * This agent's statement about each epoch, and those of others. An epoch is confirmed once, when the channel is up to
 * date, in cells that leave anyway. The confirmed epoch and state are on disk before anybody learns of them, so that no
 * restart or rejoin makes this agent contradict itself. `fork_watch.ts` draws the conclusions from the statements of
 * others.
 */
import {
  type AgentId,
  type ChannelId,
  type Confirmation,
  epochStatement,
  equalBytes,
  type NoticeBody,
} from "../../proto/mod.ts";
import { stateOf } from "../mls/epoch.ts";
import type { RatchetTree } from "../mls/ratchet_tree.ts";
import type { RecordChange } from "../store/mod.ts";
import type { Anchor } from "./anchor.ts";
import type { Carriable, Carried } from "./carrier.ts";
import {
  deleteState,
  type KeptConfirmations,
  type OwnConfirmed,
  putConfirmed,
  putHeard,
  putLiars,
  putState,
} from "./confirmation_records.ts";
import type { ChannelDeps } from "./deps.ts";
import type { Fork } from "./events.ts";
import { ForkWatch, type Silent } from "./fork_watch.ts";
import type { HealthLog } from "./health.ts";
import { backdatedMs } from "./key_packages.ts";
import type { Membership, Moved } from "./membership.ts";

export interface ConfirmationsParts {
  readonly confirmations: KeptConfirmations;
  readonly anchor: Pick<Anchor, "formerEpoch">;
  readonly membership: Membership;
  readonly health: HealthLog;
  /** Whether the channel is where the relay says that the log is. */
  readonly isCurrent: () => boolean;
  readonly onFault: (fault: unknown) => void;
}

/** Epochs whose state is kept: members that were away for longer are compared among each other. */
export const keptEpochs = 256;
/** Epochs that follow each other faster are not confirmed one by one. */
const intervalMs = 10_000;
/** The same word is given again so often: a relay may have dropped it, and newcomers hear it from nobody else. */
const againMs = 5 * 60_000;
/** The statements of others are written at most this often. */
const keepMs = 60_000;
/** A commit that a member confirms is on its way for no longer than this. */
const aheadMs = 60_000;

export class Confirmations implements Carriable {
  readonly #parts: ConfirmationsParts;
  readonly #deps: ChannelDeps;
  readonly #states: Map<number, Uint8Array>;
  readonly #watch: ForkWatch;
  /** On disk. */
  #own: OwnConfirmed | undefined;
  #confirmation: Confirmation | undefined;
  /** When an epoch was first confirmed, and when that was last told. */
  #saidMs = -Infinity;
  #toldMs = 0;
  #isSaying = false;
  /** Others may have messages of ours from epochs up to here, of another group than ours: nothing is said about them. */
  #formerEpoch: number;
  #cancelLater: (() => void) | undefined;
  #cancelAgain: (() => void) | undefined;
  #cancelAhead: (() => void) | undefined;
  #cancelKeep: (() => void) | undefined;
  #ended = false;
  #keys: { readonly tree: RatchetTree; readonly byAgent: ReadonlyMap<AgentId, Uint8Array> } | undefined;

  constructor(parts: ConfirmationsParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    const { membership, health, confirmations: { own, states, heard, liars } } = parts;
    this.#own = own;
    this.#formerEpoch = parts.anchor.formerEpoch;
    this.#states = new Map(states);
    this.#watch = new ForkWatch({
      heard,
      liars,
      agentId: deps.agentId,
      nowMs: () => deps.runtime.nowMs(),
      stateAt: (epoch) => this.#states.get(epoch),
      joinedEpoch: (agentId) => membership.joinedEpoch(agentId),
      report: (kind, text, about) => health.report(kind, text, { about }),
      tell: health.tell,
    });
    membership.onCommit(() => this.#noteCommit());
    this.#enter();
  }

  get channelId(): ChannelId {
    return this.#parts.membership.channelId;
  }

  /** Members that differ from us, or from each other. */
  get forks(): readonly Fork[] {
    return this.#watch.forks;
  }

  get silent(): Silent[] {
    return this.#watch.silent((agentId) => this.#isMember(agentId));
  }

  /** The last epoch that a member confirmed. */
  confirmedEpoch(agentId: AgentId): number | undefined {
    if (agentId !== this.#deps.agentId) return this.#watch.confirmedOf(agentId)?.epoch;
    return this.#confirmation?.epoch;
  }

  /** When a signature of a member was last verified; of this agent, when it last signed a confirmation. */
  lastHeardMs(agentId: AgentId): number | undefined {
    if (agentId !== this.#deps.agentId) return this.#watch.lastHeardMs(agentId);
    return this.#confirmation && this.#toldMs;
  }

  /** Our own word about the present epoch, once it was given. */
  get own(): Confirmation | undefined {
    return this.#confirmation?.epoch === this.#parts.membership.epoch ? this.#confirmation : undefined;
  }

  /** Our own state of an epoch, as long as it is kept. */
  stateAt(epoch: number): Uint8Array | undefined {
    return this.#states.get(epoch);
  }

  /** Whether all of these are members here. */
  areMembers(agentIds: ReadonlyMap<AgentId, unknown>): boolean {
    if (agentIds.size > this.#leafKeys().byAgent.size) return false;
    for (const agentId of agentIds.keys()) if (!this.#isMember(agentId)) return false;
    return true;
  }

  connection(online: boolean): void {
    this.#watch.connection(online);
  }

  /**
   * The group has moved on. Its committer was with us in the epoch that it ended; whether it is in the new one it must say itself,
   * because a relay that takes a commit may tell its sender that it did not.
   */
  moved({ committer, added }: Pick<Moved, "committer" | "added">): void {
    this.#enter();
    for (const agentId of added) this.#noteAdded(agentId);
    this.#keepLater();
    const ended = this.#parts.membership.epoch - 1;
    if (this.#states.has(ended)) this.#watch.spoke(committer, ended);
  }

  /**
   * We joined anew, perhaps into another group than the one before, which had reached this epoch. Others may have messages of ours
   * from its epochs: about those nothing is said any more, so that nobody can take us for a liar. All of it is on disk already.
   */
  restart(formerEpoch: number): void {
    this.#formerEpoch = formerEpoch;
    this.#states.clear();
    this.#watch.restart(this.#parts.membership.epoch);
    this.#enter();
  }

  /** It signed its KeyPackage, which may have waited at the relay since. */
  #noteAdded(agentId: AgentId): void {
    const node = this.#parts.membership.leafOf(agentId)?.leaf.node;
    if (agentId === this.#deps.agentId || node?.leafNodeSource !== "key_package") return;
    const madeMs = 1000 * Number(node.lifetime.notBefore) + backdatedMs;
    this.#watch.heardOf(agentId, Math.min(this.#deps.runtime.nowMs(), madeMs));
  }

  /** A message of a member opened, and may carry its word about another channel. */
  heard(agentId: AgentId, epoch: number, carried: Uint8Array | undefined): void {
    if (agentId !== this.#deps.agentId) this.#watch.spoke(agentId, epoch);
    this.#keepLater();
    if (carried !== undefined) this.#deps.carrier.take(agentId, carried);
  }

  /** A message that is about to be sealed here, with our word about another channel, when there is one to give. */
  carry(plaintext: Uint8Array): Carried | undefined {
    return this.#deps.carrier.carry(plaintext, {
      channelId: this.channelId,
      members: () => this.#leafKeys().byAgent,
    });
  }

  /** Statements of members, as the relay delivers them. */
  told({ epoch, state, confirmations }: NoticeBody<"DeliverConfirmations">): void {
    const said = { epoch, state };
    const { byAgent } = this.#leafKeys();
    const message = epochStatement({ channelId: this.channelId, ...said });
    const items = confirmations.flatMap(({ agentId, signature }) => {
      const publicKey = byAgent.get(agentId);
      if (publicKey === undefined || agentId === this.#deps.agentId || this.#watch.knows(agentId, said)) return [];
      return [{ agentId, publicKey, message, signature }];
    });
    if (items.length === 0) return;
    this.#keepLater();
    const { signatures } = this.#deps;
    const areAllTrue = signatures.verifyHandshakes(items);
    for (const { agentId, publicKey, signature } of items) {
      // The relay verifies nothing, so a signature that does not fit proves nothing about anybody.
      if (areAllTrue || signatures.verifyHandshake(publicKey, message, signature)) this.#watch.statement(agentId, said);
    }
    this.#lookAhead();
  }

  /** A member's own word that came in another channel. */
  carried(agentId: AgentId, { epoch, state, signature }: Confirmation): void {
    this.told({ channelId: this.channelId, epoch, state, confirmations: [{ agentId, signature }] });
  }

  unconfirmed({ epoch, agentIds }: NoticeBody<"DeliverUnconfirmed">): void {
    if (epoch <= this.#parts.membership.epoch) this.#watch.unconfirmed(agentIds);
  }

  /** Gives our word about the present epoch, unless it would contradict an earlier one. */
  confirm(): void {
    const { epoch, group } = this.#parts.membership;
    if (this.#ended || this.#isSaying || epoch <= this.#formerEpoch || this.#leafKeys().byAgent.size < 2) return;
    const state = stateOf(group.current);
    const own = this.#own;
    if (own !== undefined && (own.epoch > epoch || (own.epoch === epoch && !equalBytes(own.state, state)))) return;
    const isNew = own?.epoch !== epoch;
    const waitMs = this.#saidMs + intervalMs - this.#deps.runtime.nowMs();
    if (isNew && waitMs > 0) {
      this.#cancelLater ??= this.#deps.runtime.after(waitMs, () => {
        this.#cancelLater = undefined;
        if (this.#parts.isCurrent()) this.confirm();
      });
      return;
    }
    this.#isSaying = true;
    this.#say({ epoch, state }, isNew).catch(this.#parts.onFault).finally(() => {
      this.#isSaying = false;
      if (this.#parts.membership.epoch !== epoch && this.#parts.isCurrent()) this.confirm();
    });
  }

  /** Writes what was heard of others since it was last written. */
  async keep(): Promise<void> {
    if (this.#cancelKeep === undefined || this.#ended) return;
    this.#cancelKeep();
    this.#cancelKeep = undefined;
    const { heard, liars } = this.#watch;
    await this.#deps.store.batch([putHeard(this.channelId, heard), putLiars(this.channelId, liars)]);
  }

  #keepLater(): void {
    if (this.#ended) return;
    this.#cancelKeep ??= this.#deps.runtime.after(keepMs, () => void this.keep().catch(this.#parts.onFault));
  }

  end(): void {
    this.#ended = true;
    this.#cancelKeep?.();
    this.#cancelLater?.();
    this.#cancelAgain?.();
    this.#cancelAhead?.();
  }

  async #say({ epoch, state }: OwnConfirmed, isNew: boolean): Promise<void> {
    const { store, runtime, signatures, identity, session } = this.#deps;
    const { channelId } = this;
    if (isNew) {
      await store.batch([putConfirmed(channelId, { epoch, state })]);
      this.#own = { epoch, state };
      this.#saidMs = runtime.nowMs();
    }
    const signature = signatures.sign(identity.signingSeed, epochStatement({ channelId, epoch, state }));
    this.#confirmation = { channelId, epoch, state, signature };
    this.#toldMs = runtime.nowMs();
    if (this.#ended) return;
    session.confirm(this.#confirmation);
    this.#cancelAgain?.();
    this.#cancelAgain = runtime.after(againMs, () => this.#parts.isCurrent() && this.confirm());
  }

  #enter(): void {
    const { epoch, group } = this.#parts.membership;
    this.#states.delete(epoch);
    this.#states.set(epoch, stateOf(group.current));
    this.#watch.moved(epoch, (agentId) => this.#isMember(agentId));
  }

  /** In one write with the commit. */
  #noteCommit(): RecordChange[] {
    const { epoch, channelId, group } = this.#parts.membership;
    const over = [...this.#states.keys()].slice(0, Math.max(0, this.#states.size + 1 - keptEpochs));
    for (const known of over) this.#states.delete(known);
    return [putState(channelId, epoch, stateOf(group.current)), ...over.map((known) => deleteState(channelId, known))];
  }

  /** A member that confirms an epoch of which the relay shows us no commit: it lies, or the relay keeps commits from us. */
  #lookAhead(): void {
    if (this.#watch.ahead.length === 0) return;
    this.#cancelAhead ??= this.#deps.runtime.after(aheadMs, () => {
      this.#cancelAhead = undefined;
      const [agentId] = this.#watch.ahead;
      if (agentId === undefined || !this.#parts.isCurrent()) return;
      const text =
        `${agentId} confirms a later epoch than the relay shows this agent: the relay keeps commits back, or ` +
        "this member lies";
      this.#parts.health.report("withheld_commit", text);
    });
  }

  #isMember(agentId: AgentId): boolean {
    return this.#leafKeys().byAgent.has(agentId);
  }

  #leafKeys(): { readonly byAgent: ReadonlyMap<AgentId, Uint8Array> } {
    const { tree } = this.#parts.membership.group.current;
    if (this.#keys?.tree !== tree) {
      const leaves = Array.from(tree.leaves(), ([, leaf]) => leaf);
      this.#keys = { tree, byAgent: new Map(leaves.map(({ agentId, node }) => [agentId, node.signaturePublicKey])) };
    }
    return this.#keys;
  }
}

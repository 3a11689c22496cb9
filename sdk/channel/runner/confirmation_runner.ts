/**
 * Carries out what `stepConfirmations` says: signatures, records, timers and words to the relay. It
 * is also asked what members have confirmed, and passes words on to other channels. No step writes,
 * so every event is stepped when it comes.
 */
import {
  type AgentId,
  type ChannelId,
  type Confirmation,
  epochStatement,
  type NoticeBody,
} from "../../../proto/mod.ts";
import { atOnce, createCarryOut, type InterruptibleWork } from "../../base/interruptible_work.ts";
import { stateOf } from "../../mls/epoch.ts";
import type { RatchetTree } from "../../mls/ratchet_tree.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { Anchor } from "../connection/anchor.ts";
import type { CarriedChannel, PlaintextWithWord } from "../upkeep/carrier.ts";
import {
  deleteState,
  putBegun,
  putConfirmed,
  putHeard,
  putLiars,
  putState,
} from "../upkeep/confirmation_records.ts";
import type { ChannelDeps } from "../deps.ts";
import type { Fork } from "../events.ts";
import type { HealthLog } from "../health.ts";
import { backdatedMs } from "./key_package_runner.ts";
import type { CommitChanges, Membership } from "../group/membership.ts";
import { stepConfirmations } from "../upkeep/confirmation.ts";
import {
  type ConfirmationEffect,
  type ConfirmationEvent,
  type ConfirmationFacts,
  type ConfirmationRecords,
  type ConfirmationState,
  type EpochMover,
  overEpochs,
  restoreConfirmations,
  timersOf,
} from "../upkeep/confirmation_state.ts";
import { type ConfirmedEpoch, heardBy, type Silent, silentIn } from "../upkeep/fork_watch.ts";
import { isHeardLately } from "../upkeep/last_heard.ts";
import {
  claimsBehind,
  type EpochClaim,
  lastConfirmed,
  lastHeardMs,
  type UnverifiedWord,
} from "../upkeep/waiting_claims.ts";
import { Calls } from "./calls.ts";
import type { ChannelQueue, Steps } from "./channel_queue.ts";

export interface ConfirmationRunnerParts {
  readonly confirmations: ConfirmationRecords;
  readonly anchor: Pick<Anchor, "formerEpoch">;
  readonly membership: Membership;
  readonly health: HealthLog;
  /** Whether the channel is where the relay says that the log is. */
  readonly isCurrent: () => boolean;
  readonly queue: ChannelQueue;
  readonly onFault: (fault: unknown) => void;
}

/** The knowledge of a member by all that is verified. */
export interface HeardMember {
  /** The last epoch that it confirmed; of this agent, that it signed. */
  readonly confirmedEpoch: number | undefined;
  /** When it was last there; of this agent, when it last signed a confirmation. */
  readonly lastHeardMs: number | undefined;
}

/** More together take as long for each, and one that is wrong spoils them all. */
const verifiedTogether = 32;

type Effect<Type extends ConfirmationEffect["type"]> = Extract<ConfirmationEffect, { type: Type }>;

export class ConfirmationRunner implements CarriedChannel {
  readonly #parts: ConfirmationRunnerParts;
  readonly #deps: ChannelDeps;
  readonly #facts: ConfirmationFacts;
  readonly #state: ConfirmationState;
  readonly #steps: Steps<ConfirmationEvent, ConfirmationEffect>;
  /** The end of the process waits for the last note of others' statements. */
  readonly #keeping = new Calls();
  /** Whether its signature is right: it depends on its bytes alone. */
  readonly #isSigned = new WeakMap<EpochClaim, boolean>();
  #keys:
    | { readonly tree: RatchetTree; readonly byAgent: ReadonlyMap<AgentId, Uint8Array> }
    | undefined;

  constructor(parts: ConfirmationRunnerParts, deps: ChannelDeps) {
    this.#parts = parts;
    this.#deps = deps;
    this.#facts = this.#createFacts();
    this.#state = restoreConfirmations(parts.confirmations, parts.anchor.formerEpoch);
    this.#steps = parts.queue.add({
      step: (event) => stepConfirmations(this.#state, event, this.#facts),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
    });
    parts.membership.onCommit(() => this.#noteCommit());
    this.#enter(undefined);
  }

  /** Each is of the moment in which it is read. */
  #createFacts(): ConfirmationFacts {
    const { membership, isCurrent } = this.#parts;
    const { runtime, agentId } = this.#deps;
    const leafKeys = (): ReadonlyMap<AgentId, Uint8Array> => this.#leafKeys;
    return {
      get nowMs() {
        return runtime.nowMs();
      },
      self: agentId,
      isMember: (member) => leafKeys().has(member),
      joinedEpoch: (member) => membership.joinedEpoch(member),
      get epoch() {
        return membership.epoch;
      },
      get state() {
        return stateOf(membership.group.current);
      },
      get members() {
        return leafKeys().size;
      },
      get isCurrent() {
        return isCurrent();
      },
    };
  }

  get channelId(): ChannelId {
    return this.#parts.membership.channelId;
  }

  /** Members that differ from us, or from each other. */
  get forks(): readonly Fork[] {
    return [...this.#state.forks.forks.values()];
  }

  get silent(): Silent[] {
    const { forks } = this.#state;
    this.#ask(forks.present.keys());
    const last = (agentId: AgentId): ConfirmedEpoch | undefined =>
      lastConfirmed(forks, agentId, this.#signedClaim(agentId));
    return silentIn(forks, this.#facts, last);
  }

  /** The last epoch that a member confirmed. */
  confirmedEpoch(agentId: AgentId): number | undefined {
    this.#ask([agentId]);
    return this.known(agentId).confirmedEpoch;
  }

  /** A statement that waits says little more, and is seldom looked at. */
  isHeardLately(agentId: AgentId): boolean {
    const isLate = (): boolean => isHeardLately(this.known(agentId).lastHeardMs, this.#facts.nowMs);
    if (isLate()) return true;
    this.#ask([agentId]);
    return isLate();
  }

  /** Returns what is known of a member by all signatures that are verified. */
  known(agentId: AgentId): HeardMember {
    const { forks, signed, toldMs } = this.#state;
    if (agentId === this.#deps.agentId) {
      return { confirmedEpoch: signed?.epoch, lastHeardMs: signed && toldMs };
    }
    const [claim, { nowMs }] = [this.#signedClaim(agentId), this.#facts];
    return {
      confirmedEpoch: lastConfirmed(forks, agentId, claim)?.epoch,
      lastHeardMs: lastHeardMs(forks, agentId, { claim, nowMs }),
    };
  }

  /** Before a question about all members: together they take a fraction of the time. */
  verifyAll(): void {
    this.#ask(this.#state.claims.keys());
  }

  /** The same, with rests. */
  async verifyInParts(): Promise<void> {
    const parts = this.#answer(this.#state.claims.keys());
    await createCarryOut(this.#deps.runtime)(parts);
  }

  #ask(agentIds: Iterable<AgentId>): void {
    atOnce(this.#answer(agentIds));
  }

  /** An answer does not wait for the queue, which may be writing; the state follows in its turn. */
  *#answer(agentIds: Iterable<AgentId>): InterruptibleWork<void> {
    const claims = Array.from(agentIds).flatMap((each) => this.#state.claims.get(each) ?? []);
    for (const some of inParts(claims)) {
      this.#look(some);
      this.#steps.push({ type: "asked", agentIds: some.map(({ agentId }) => agentId) });
      yield;
    }
  }

  /** The newest claim of a member that waits, of those that are known to be signed. */
  #signedClaim(agentId: AgentId): EpochClaim | undefined {
    return this.#newestSigned(this.#state.claims.get(agentId));
  }

  #newestSigned(claim: EpochClaim | undefined): EpochClaim | undefined {
    return claimsBehind(claim).find((each) => this.#isSigned.get(each) === true);
  }

  /** Our own word about the present epoch, once it was given. */
  get own(): Confirmation | undefined {
    const { signed } = this.#state;
    return signed?.epoch === this.#parts.membership.epoch
      ? { channelId: this.channelId, ...signed }
      : undefined;
  }

  /** Our own state of an epoch, as long as it is kept. */
  stateAt(epoch: number): Uint8Array | undefined {
    return this.#state.states.get(epoch);
  }

  /** Whether all of these are members here. */
  areMembers(agentIds: ReadonlyMap<AgentId, unknown>): boolean {
    const members = this.#leafKeys;
    if (agentIds.size > members.size) return false;
    for (const agentId of agentIds.keys()) if (!members.has(agentId)) return false;
    return true;
  }

  connection(isOnline: boolean): void {
    this.#steps.push({ type: "connection", isOnline });
  }

  /** The group has moved on. */
  moved({ committer, added }: Pick<CommitChanges, "committer" | "added">): void {
    this.#enter({ committer, added: added.flatMap((agentId) => this.#cameWith(agentId)) });
  }

  #enter(by: EpochMover | undefined): void {
    const { epoch, group } = this.#parts.membership;
    this.#steps.pushFirst({ type: "entered", epoch, state: stateOf(group.current), by });
  }

  /** Returns when the member signed its KeyPackage, which may have waited at the relay since. */
  #cameWith(agentId: AgentId): EpochMover["added"] {
    const node = this.#parts.membership.leafOf(agentId)?.leaf.node;
    if (agentId === this.#deps.agentId || node?.leafNodeSource !== "key_package") return [];
    return [{ agentId, madeMs: 1000 * Number(node.lifetime.notBefore) + backdatedMs }];
  }

  /**
   * We joined anew, perhaps into another group than the one before, which had reached this epoch.
   * Others may have messages of ours from its epochs: about those nothing is said any more, so that
   * nobody can take us for a liar. All of it is on disk already.
   */
  restart(formerEpoch: number): void {
    const { epoch, group } = this.#parts.membership;
    this.#steps.pushFirst({ type: "restarted", epoch, state: stateOf(group.current), formerEpoch });
  }

  /** A message of a member opened, and may carry its word about another channel. */
  heard(agentId: AgentId, epoch: number, carried: Uint8Array | undefined): void {
    this.#steps.push({ type: "heard", agentId, epoch });
    if (carried !== undefined) this.#deps.carrier.take(agentId, carried);
  }

  /**
   * A message that is about to be sealed here, with our word about another channel, when there is
   * one to give.
   */
  carry(plaintext: Uint8Array): PlaintextWithWord | undefined {
    return this.#deps.carrier.carry(plaintext, {
      channelId: this.channelId,
      members: () => this.#leafKeys,
    });
  }

  /** Statements of members, as the relay delivers them. */
  told({ epoch, state, confirmations }: NoticeBody<"DeliverConfirmations">): void {
    const by = this.#withKeys(confirmations);
    this.#steps.push({ type: "told", said: { epoch, state }, by, isOwn: false });
  }

  /** A member's own word that came in another channel. */
  carried(agentId: AgentId, { epoch, state, signature }: Confirmation): void {
    const by = this.#withKeys([{ agentId, signature }]);
    this.#steps.push({ type: "told", said: { epoch, state }, by, isOwn: true });
  }

  #withKeys(words: readonly Omit<UnverifiedWord, "publicKey">[]): UnverifiedWord[] {
    const keys = this.#leafKeys;
    return words.flatMap(({ agentId, signature }) => {
      const publicKey = keys.get(agentId);
      return publicKey === undefined ? [] : [{ agentId, publicKey, signature }];
    });
  }

  unconfirmed({ epoch, agentIds }: NoticeBody<"DeliverUnconfirmed">): void {
    this.#steps.push({ type: "unconfirmed", epoch, agentIds });
  }

  /** Gives our word about the present epoch, unless it would contradict an earlier one. */
  confirm(): void {
    this.#steps.push({ type: "confirm" });
  }

  /** Writes what was heard of others since it was last written, and verifies what waits before. */
  async keep(): Promise<void> {
    if (this.#steps.isOver) return;
    await this.verifyInParts();
    if (this.#steps.isOver) return;
    await this.#keeping.begin((operation) => this.#steps.push({ type: "keep", operation }));
  }

  end(): void {
    this.#steps.end();
    this.#keeping.settleAll();
  }

  /** In one write with the commit. */
  #noteCommit(): RecordChange[] {
    const { epoch, channelId, group } = this.#parts.membership;
    const over = overEpochs(this.#state, epoch).map((each) => deleteState(channelId, each));
    return [
      putState(channelId, epoch, stateOf(group.current)),
      putBegun(channelId, { epoch, atMs: this.#facts.nowMs }),
      ...over,
    ];
  }

  get #leafKeys(): ReadonlyMap<AgentId, Uint8Array> {
    const { tree } = this.#parts.membership.group.current;
    if (this.#keys?.tree !== tree) {
      const leaves = Array.from(tree.leaves(), ([, leaf]) => leaf);
      this.#keys = {
        tree,
        byAgent: new Map(leaves.map(({ agentId, node }) => [agentId, node.signaturePublicKey])),
      };
    }
    return this.#keys.byAgent;
  }

  #perform(effect: ConfirmationEffect): void {
    const { health, onFault } = this.#parts;
    switch (effect.type) {
      case "sign":
        return void this.#sign(effect).catch(onFault);
      case "tell":
        return this.#deps.session.confirm({ channelId: this.channelId, ...effect.signed });
      case "verify":
        return this.#verify(effect);
      case "look":
        return void this.verifyInParts().catch(onFault);
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "note":
        return this.#note(effect.operation);
      case "settle":
        return this.#keeping.settle(effect.operation);
      case "report":
        return health.report(
          effect.kind,
          effect.text,
          effect.about === undefined ? {} : { about: effect.about },
        );
      case "forked":
        return health.tell({ type: "forked", ...effect.fork });
    }
  }

  async #sign({ job, said, isNew }: Effect<"sign">): Promise<void> {
    const { store, signatures, identity } = this.#deps;
    const { channelId } = this;
    if (isNew) await store.batch([putConfirmed(channelId, said)]);
    const signature = signatures.sign(identity.signingSeed, epochStatement({ channelId, ...said }));
    this.#steps.push({ type: "signed", job, signature });
  }

  /** The relay verifies nothing, so a signature that does not fit proves nothing about anybody. */
  #verify({ claims: all }: Effect<"verify">): void {
    for (const some of inParts(all)) this.#look(some);
    const claims = all.flatMap((claim) => this.#newestSigned(claim) ?? []);
    const made = all.filter((claim) => this.#isSigned.get(claim) !== true);
    const doubted = made.map(({ agentId }) => agentId);
    this.#steps.push({ type: "verified", claims, doubted });
  }

  /**
   * All at once, and one by one if that fails; then those behind claims that nobody signed. None is
   * looked at again.
   */
  #look(claims: readonly EpochClaim[]): void {
    const unknown = claims.filter((claim) => !this.#isSigned.has(claim));
    if (unknown.length > 0) this.#findSigned(unknown);
    const behind = claims.flatMap((claim) =>
      this.#isSigned.get(claim) === true ? [] : claim.earlier ?? []
    );
    if (behind.length > 0) this.#look(behind);
  }

  #findSigned(claims: readonly EpochClaim[]): void {
    const { signatures } = this.#deps;
    const items = claims.map((claim) => ({
      claim,
      ...claim,
      message: epochStatement({ channelId: this.channelId, ...claim }),
    }));
    const areAllTrue = signatures.verifyHandshakes(items);
    for (const { claim, publicKey, message, signature } of items) {
      const isTrue = areAllTrue ||
        (items.length > 1 && signatures.verifyHandshake(publicKey, message, signature));
      this.#isSigned.set(claim, isTrue);
    }
  }

  #note(operation: number | undefined): void {
    const { channelId } = this;
    const { forks } = this.#state;
    const noted = this.#deps.store.batch([
      putHeard(channelId, heardBy(forks)),
      putLiars(channelId, forks.liars),
    ]);
    if (operation === undefined) return void noted.catch(this.#parts.onFault);
    noted.then(
      () => this.#keeping.settle(operation),
      (fault) => this.#keeping.fail(operation, fault),
    );
  }
}

function* inParts(claims: readonly EpochClaim[]): Generator<readonly EpochClaim[]> {
  for (let at = 0; at < claims.length; at += verifiedTogether) {
    yield claims.slice(at, at + verifiedTogether);
  }
}

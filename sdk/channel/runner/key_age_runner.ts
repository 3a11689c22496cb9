/**
 * Carries out what `stepKeyAge` says: commits, turns, timers and records. It is also asked how old
 * keys are.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { type AgentId, generationOf } from "../../../proto/mod.ts";
import { isCode } from "../../base/errors.ts";
import { type Leaf, leafHashOf } from "../../mls/ratchet_tree.ts";
import type { RecordChange } from "../../store/mod.ts";
import type { ChannelDeps } from "../deps.ts";
import { toStaticError } from "../faults.ts";
import type { HealthLog } from "../health.ts";
import type { CommitChanges, Membership } from "../group/membership.ts";
import { isRenewalWanted } from "../commits/plans.ts";
import { stepKeyAge } from "../upkeep/key_age.ts";
import { deleteKeyAge, putKeyAge, type SeenLeaf } from "../upkeep/key_age_records.ts";
import {
  areKeysOld,
  type KeyAge,
  type KeyAgeEffect,
  type KeyAgeEvent,
  type KeyAgeFacts,
  keyAgesOf,
  type KeyAgeState,
  type KeyAgeWrite,
  type KeyPlan,
  restoreKeyAges,
  timersOf,
} from "../upkeep/key_age_state.ts";
import { Calls } from "./calls.ts";
import type { ChannelQueue, StepResult, Steps } from "./channel_queue.ts";
import type { CommitRunner } from "./commit_runner.ts";

export interface KeyAgeParts {
  readonly seen: ReadonlyMap<AgentId, SeenLeaf>;
  readonly membership: Membership;
  readonly commits: Pick<CommitRunner, "commit" | "isOfBefore">;
  readonly health: HealthLog;
  readonly queue: ChannelQueue;
}

const unchanged: Readonly<Record<KeyPlan["is"], string>> = {
  heal: "This agent's keys were not changed, and it tries again",
  renew: "The channel does not use the features of this version yet",
};

export class KeyAgeRunner {
  readonly #parts: KeyAgeParts;
  readonly #deps: Pick<ChannelDeps, "runtime" | "store" | "agentId" | "healing" | "pace">;
  readonly #facts: KeyAgeFacts;
  readonly #state: KeyAgeState;
  readonly #steps: Steps<KeyAgeEvent, KeyAgeEffect>;
  readonly #names = new WeakMap<Leaf, string>();
  readonly #finishing = new Calls();
  #generation: number;

  constructor(
    parts: KeyAgeParts,
    deps: Pick<ChannelDeps, "runtime" | "store" | "agentId" | "healing" | "pace">,
  ) {
    this.#parts = parts;
    this.#deps = deps;
    const { membership, queue } = parts;
    this.#facts = this.#createFacts();
    this.#state = restoreKeyAges(parts.seen, { atMs: deps.runtime.nowMs(), draw: drawOf(deps) });
    this.#steps = queue.add({
      step: (event) => this.#step(event),
      perform: (effect) => this.#perform(effect),
      timers: () => timersOf(this.#state),
    });
    this.#generation = generationOf(membership.epoch);
    membership.onMoved((moved) => this.#moved(moved));
  }

  /** Each is of the moment in which it is read. */
  #createFacts(): KeyAgeFacts {
    const { membership } = this.#parts;
    const { runtime, agentId, pace } = this.#deps;
    const ownLeaf = (): string => this.ownLeaf;
    return {
      get nowMs() {
        return runtime.nowMs();
      },
      self: agentId,
      get ownLeaf() {
        return ownLeaf();
      },
      get members() {
        return membership.group.current.tree.memberCount;
      },
      leavesOf: (members) => this.#leavesOf(members),
      get isRenewalWanted() {
        return isRenewalWanted(membership);
      },
      pace,
      draw: () => drawOf(this.#deps),
    };
  }

  /** The name of our own leaf. */
  get ownLeaf(): string {
    const { tree, ownLeaf } = this.#parts.membership.group.current;
    return this.#nameOf(tree.leaf(ownLeaf));
  }

  /** Our keys are so old that the next commit of ours changes them, whatever else it does. */
  get isOld(): boolean {
    return areKeysOld(this.#state, this.#facts);
  }

  /** The key ages of all members, in the order of leaves. */
  get all(): KeyAge[] {
    return keyAgesOf(this.#state, this.#facts);
  }

  /** From now on, until `rest`. */
  look(): void {
    this.#steps.push({ type: "look" });
  }

  rest(): void {
    this.#steps.push({ type: "rest" });
  }

  /** For a process that ends. */
  finish(): Promise<void> {
    return this.#finishing.begin((operation) => this.#steps.push({ type: "finish", operation }));
  }

  end(): void {
    this.#steps.end();
    this.#finishing.settleAll();
  }

  #step(event: KeyAgeEvent): StepResult<KeyAgeEffect> {
    const { write, effects } = stepKeyAge(this.#state, event, this.#facts);
    if (write.length === 0) return { effects };
    return { effects, written: this.#deps.store.batch(write.map((each) => this.#changeOf(each))) };
  }

  #moved({ committer, added, removed }: CommitChanges): void {
    const generation = generationOf(this.#parts.membership.epoch);
    const isNewGeneration = generation !== this.#generation;
    this.#generation = generation;
    const { isOfBefore } = this.#parts.commits;
    this.#steps.pushFirst({
      type: "moved",
      committer,
      added,
      removed,
      isNewGeneration,
      isOfBefore,
    });
  }

  *#leavesOf(members: ReadonlySet<AgentId> | "all"): Iterable<readonly [AgentId, string]> {
    for (const [, leaf] of this.#parts.membership.group.current.tree.leaves()) {
      if (members === "all" || members.has(leaf.agentId)) yield [leaf.agentId, this.#nameOf(leaf)];
    }
  }

  /** Each leaf is hashed once. */
  #nameOf(leaf: Leaf | undefined): string {
    if (leaf === undefined) return "";
    const name = this.#names.get(leaf) ?? bytesToHex(leafHashOf(leaf).subarray(0, 16));
    this.#names.set(leaf, name);
    return name;
  }

  #changeOf(write: KeyAgeWrite): RecordChange {
    const { channelId } = this.#parts.membership;
    return write.type === "seen"
      ? putKeyAge(channelId, write.agentId, write.seen)
      : deleteKeyAge(channelId, write.agentId);
  }

  #perform(effect: KeyAgeEffect): void {
    switch (effect.type) {
      case "wake":
        return this.#steps.wake(effect.timer, effect.afterMs);
      case "ask_turn": {
        const afterMs = this.#deps.healing.take(this.#deps.runtime.nowMs());
        return this.#steps.push({ type: "turn", turn: effect.turn, afterMs });
      }
      case "change":
        return this.#change(effect.change, effect.plan);
      case "report":
        return this.#parts.health.report("duty_failed", `${unchanged[effect.of]}: ${effect.text}`);
      case "settle":
        return this.#finishing.settle(effect.operation);
    }
  }

  #change(change: number, plan: KeyPlan): void {
    this.#parts.commits.commit(plan).then(
      () => this.#steps.push({ type: "changed", change, why: undefined }),
      (error) => {
        const isLost = isCode(error, "transport_error", "connection_error");
        const text = toStaticError(error, "Cannot commit").message;
        this.#steps.push({ type: "changed", change, why: { isLost, text } });
      },
    );
  }
}

/** From 0 to 1. */
function drawOf({ runtime }: Pick<ChannelDeps, "runtime">): number {
  const [high = 0, low = 0] = runtime.randomBytes(2);
  return (high * 256 + low) / 0xffff;
}

/**
 * Since when each member of a channel has its present keys, by this agent's clock: the time at which it saw the
 * member's leaf change, or unknown. Only our own age decides anything, and only about our own commits; the others' ages
 * are shown.
 */
import { bytesToHex } from "@noble/hashes/utils.js";
import { type AgentId, generationOf } from "../../proto/mod.ts";
import { type Leaf, leafHashOf } from "../mls/ratchet_tree.ts";
import type { RecordChange } from "../store/mod.ts";
import type { ChannelDeps } from "./deps.ts";
import { deleteKeyAge, putKeyAge, type SeenLeaf } from "./key_age_records.ts";
import type { Membership, Moved } from "./membership.ts";

/** A member's keys. */
export interface KeyAge {
  /** The member. */
  readonly agentId: AgentId;
  /** When this agent saw them change, by the local clock; undefined when that was before it came, or while it was away. */
  readonly changedAtMs: number | undefined;
  /** Longer ago than a member that is online takes: it was away, or the relay takes no commits of it. */
  readonly overdue: boolean;
}

export class KeyAges {
  readonly #deps: Pick<ChannelDeps, "runtime" | "store" | "agentId" | "pace">;
  readonly #membership: Membership;
  readonly #onFault: (fault: unknown) => void;
  readonly #seen: Map<AgentId, SeenLeaf>;
  readonly #names = new WeakMap<Leaf, string>();
  #generation: number;

  constructor(
    seen: ReadonlyMap<AgentId, SeenLeaf>,
    { membership, onFault }: { readonly membership: Membership; readonly onFault: (fault: unknown) => void },
    deps: Pick<ChannelDeps, "runtime" | "store" | "agentId" | "pace">,
  ) {
    this.#seen = new Map(seen);
    this.#membership = membership;
    this.#onFault = onFault;
    this.#deps = deps;
    this.#generation = generationOf(membership.epoch);
    membership.onMoved((moved) => this.#moved(moved));
  }

  /** When our own keys were last changed. Of those that we came with that is now. */
  get own(): SeenLeaf {
    const { tree, ownLeaf } = this.#membership.group.current;
    const { agentId, runtime } = this.#deps;
    const leaf = this.#nameOf(tree.leaf(ownLeaf));
    const known = this.#seen.get(agentId);
    if (known?.leaf === leaf) return known;
    const seen = { leaf, atMs: runtime.nowMs() };
    this.#note(agentId, seen);
    return seen;
  }

  /** Our keys are so old that the next commit of ours changes them, whatever else it does. */
  get isOld(): boolean {
    return this.#deps.runtime.nowMs() - this.own.atMs >
      this.#deps.pace.restMs(this.#membership.group.current.tree.memberCount);
  }

  /** Of all members, in the order of leaves. */
  get all(): KeyAge[] {
    const { tree } = this.#membership.group.current;
    const latestMs = this.#deps.runtime.nowMs() - this.#deps.pace.periodMs(tree.memberCount);
    return Array.from(tree.leaves(), ([, leaf]) => {
      const { agentId } = leaf;
      const seen = this.#seen.get(agentId);
      const changedAtMs = seen?.leaf === this.#nameOf(leaf) ? seen.atMs : undefined;
      return { agentId, changedAtMs, overdue: (changedAtMs ?? Infinity) < latestMs };
    });
  }

  #moved({ committer, added, removed }: Moved): void {
    const generation = generationOf(this.#membership.epoch);
    const isNew = generation !== this.#generation;
    this.#generation = generation;
    const changed = new Set([committer, ...added]);
    const atMs = this.#deps.runtime.nowMs();
    for (const [, leaf] of this.#membership.group.current.tree.leaves()) {
      if (!isNew && !changed.has(leaf.agentId)) continue;
      const name = this.#nameOf(leaf);
      if (this.#seen.get(leaf.agentId)?.leaf !== name) this.#note(leaf.agentId, { leaf: name, atMs });
    }
    const gone = removed.filter((agentId) => !added.includes(agentId) && this.#seen.delete(agentId));
    this.#write(gone.map((agentId) => deleteKeyAge(this.#membership.channelId, agentId)));
  }

  /** Not in one with the commit: what a crash loses is unknown then, and changes nothing for others. */
  #note(agentId: AgentId, seen: SeenLeaf): void {
    this.#seen.set(agentId, seen);
    this.#write([putKeyAge(this.#membership.channelId, agentId, seen)]);
  }

  #write(changes: readonly RecordChange[]): void {
    if (changes.length > 0) this.#deps.store.batch(changes).catch(this.#onFault);
  }

  /** Each leaf is hashed once. */
  #nameOf(leaf: Leaf | undefined): string {
    if (leaf === undefined) return "";
    const name = this.#names.get(leaf) ?? bytesToHex(leafHashOf(leaf).subarray(0, 16));
    this.#names.set(leaf, name);
    return name;
  }
}

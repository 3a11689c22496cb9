/** The true history, which nobody in the channel sees: the schedule's end is judged by it. */
import type { AgentId, RequestBody } from "../../../proto/mod.ts";
import { decodeCommitBody, decodeFoundingBody } from "../../../relay/core/testing/world.ts";
import type { Entry } from "../../../relay/engine/mod.ts";

type Commit = Pick<RequestBody<"SendCommit">, "epoch" | "added" | "removed">;

interface Sealed {
  readonly sender: AgentId;
  /** Position among what this agent has sent. */
  readonly index: number;
  /** Of agents without a modified client: readers see their messages in order. */
  readonly honest: boolean;
}

export class Truth {
  /** Commits that the relay has taken, by epoch. */
  readonly #commits = new Map<number, Commit>();
  readonly #sealed = new Map<string, Sealed>();
  readonly #everOwners: Set<AgentId>;
  readonly #founder: AgentId;
  readonly #left = new Set<AgentId>();

  constructor(founder: AgentId) {
    this.#founder = founder;
    this.#everOwners = new Set([founder]);
  }

  /**
   * An owner asks for a change of the owners: from now on they may be believed to be some, whether
   * or not it is taken.
   */
  asked(sender: AgentId, { owners }: RequestBody<"SendCommit">): void {
    if (!this.#everOwners.has(sender)) return;
    for (const agentId of owners?.agentIds ?? []) this.#everOwners.add(agentId);
  }

  /** The relay's log has grown by this entry, whether or not its sender is told. */
  appended(entry: Entry): void {
    const { kind, epoch, sender } = entry;
    if (kind === "commit") {
      const { added, removed } = decodeCommitBody(entry);
      this.#taken({ epoch, added, removed });
    }
    if (kind === "founding") this.#founded(epoch, decodeFoundingBody(entry));
    // It is no member to the relay any more, until it is added again.
    if (kind === "leave") this.#left.add(sender);
  }

  #taken(commit: Commit): void {
    this.#commits.set(commit.epoch, commit);
    for (const agentId of commit.added) this.#left.delete(agentId);
  }

  /** A new generation: all that it does not name are out. */
  #founded(epoch: number, { founding }: RequestBody<"FoundGeneration">): void {
    const removed = [...this.members()].filter((agentId) => !founding.members.includes(agentId));
    this.#taken({ epoch, added: [], removed });
  }

  /** The relay's log begins anew: it hears of all entries again that are in it. */
  restart(): void {
    this.#commits.clear();
    this.#left.clear();
  }

  /**
   * The epoch whose commit brought a member in; -1 for the founder, undefined for those that are
   * out.
   */
  cameIn(agentId: AgentId): number | undefined {
    if (!this.members().has(agentId)) return undefined;
    return this.#inOrder().findLast(({ added }) => added.includes(agentId))?.epoch ?? -1;
  }

  /** A text of its own for a message of this agent. */
  seal(sender: AgentId, honest: boolean): string {
    const index = this.#sealed.size;
    const text = `message ${index}`;
    this.#sealed.set(text, { sender, index, honest });
    return text;
  }

  sealed(text: string): Sealed | undefined {
    return this.#sealed.get(text);
  }

  get epoch(): number {
    return Math.max(-1, ...this.#commits.keys()) + 1;
  }

  get commits(): number {
    return this.#commits.size;
  }

  get messages(): number {
    return this.#sealed.size;
  }

  members(): Set<AgentId> {
    const members = new Set([this.#founder]);
    for (const { added, removed } of this.#inOrder()) {
      for (const agentId of removed) members.delete(agentId);
      for (const agentId of added) members.add(agentId);
    }
    for (const agentId of this.#left) members.delete(agentId);
    return members;
  }

  /** It has said so, and nobody has added it since. */
  hasLeft(agentId: AgentId): boolean {
    return this.#left.has(agentId);
  }

  wasOwner(agentId: AgentId): boolean {
    return this.#everOwners.has(agentId);
  }

  #inOrder(): Commit[] {
    return [...this.#commits.values()].sort((a, b) => a.epoch - b.epoch);
  }
}

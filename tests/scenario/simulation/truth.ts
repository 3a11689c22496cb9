/** What really happened, as nobody in the channel sees it: by it the schedule's end is judged. */
import { type AgentId, foundingEpoch, type NoticeEnvelope, type RequestBody } from "../../../proto/mod.ts";

type Commit = Pick<RequestBody<"SendCommit">, "epoch" | "added" | "removed" | "owners"> & { readonly sender: AgentId };

interface Sealed {
  readonly sender: AgentId;
  /** Position among what this agent has sent. */
  readonly index: number;
  /** Of agents without a modified client: readers see their messages in order. */
  readonly honest: boolean;
}

/** What a relay that is set back to this moment knows. */
export interface TruthThen {
  readonly commits: ReadonlyMap<number, Commit>;
  readonly left: ReadonlySet<AgentId>;
}

export class Truth {
  /** What the relay has taken, by epoch. */
  #commits = new Map<number, Commit>();
  readonly #sealed = new Map<string, Sealed>();
  readonly #everOwners: Set<AgentId>;
  readonly #founder: AgentId;
  #left = new Set<AgentId>();

  constructor(founder: AgentId) {
    this.#founder = founder;
    this.#everOwners = new Set([founder]);
  }

  /** An owner asks for a change of the owners: from now on they may be believed to be some, whether or not it is taken. */
  asked(sender: AgentId, { owners }: RequestBody<"SendCommit">): void {
    if (!this.#everOwners.has(sender)) return;
    for (const agentId of owners?.agentIds ?? []) this.#everOwners.add(agentId);
  }

  taken(commit: Commit): void {
    this.#commits.set(commit.epoch, commit);
    for (const agentId of commit.added) this.#left.delete(agentId);
  }

  /** A new generation: all that it does not name are out. */
  founded({ founding }: Pick<RequestBody<"FoundGeneration">, "founding">, sender: AgentId): void {
    const epoch = foundingEpoch(founding.generation);
    if (this.#commits.has(epoch)) return;
    const removed = [...this.members()].filter((agentId) => !founding.members.includes(agentId));
    this.taken({ epoch, added: [], removed, owners: { agentIds: founding.owners }, sender });
  }

  /** The relay has taken that an agent leaves: it is no member to it any more, until it is added again. */
  left(agentId: AgentId): void {
    this.#left.add(agentId);
  }

  delivered(notice: NoticeEnvelope): void {
    if (notice.operation === "DeliverCommit") this.taken(notice.body);
    if (notice.operation === "DeliverFounding") this.founded(notice.body, notice.body.sender);
  }

  get now(): TruthThen {
    return { commits: new Map(this.#commits), left: new Set(this.#left) };
  }

  setBack({ commits, left }: TruthThen): void {
    this.#commits = new Map(commits);
    this.#left = new Set(left);
  }

  /** The epoch whose commit brought a member in; -1 for the founder, undefined for those that are out. */
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

  owners(): Set<AgentId> {
    const members = this.members();
    const owners = this.#inOrder().findLast(({ owners }) => owners !== undefined)?.owners?.agentIds;
    return new Set((owners ?? [this.#founder]).filter((agentId) => members.has(agentId)));
  }

  wasOwner(agentId: AgentId): boolean {
    return this.#everOwners.has(agentId);
  }

  get everOwners(): ReadonlySet<AgentId> {
    return this.#everOwners;
  }

  #inOrder(): Commit[] {
    return [...this.#commits.values()].sort((a, b) => a.epoch - b.epoch);
  }
}

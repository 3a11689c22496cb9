/**
 * Memberships and rights to speak that have ended, each with the last counter that was delivered before the commit that ended it.
 * A part of the log that is read again (after a restart, or because the inbox was full) could get messages inserted that such a
 * member sealed later: those have higher counters.
 */
import { type AgentId, limits } from "../../proto/mod.ts";

export interface Ending {
  readonly agentId: AgentId;
  /** The first epoch without it. */
  readonly epoch: number;
  /** Where the commit stands. */
  readonly sequence: number;
  /** Undefined until all entries before a commit of our own have been delivered. */
  readonly last: number | undefined;
}

/** The latest of them: a change of the policy may silence all members but one. */
const maxEndings = 2 * limits.membersPerChannel;

export class Endings {
  #endings: readonly Ending[];

  constructor(endings: readonly Ending[] = []) {
    this.#endings = endings;
  }

  /** In the order in which they happened. */
  get all(): readonly Ending[] {
    return this.#endings;
  }

  add(endings: readonly Ending[]): void {
    this.#endings = [...this.#endings, ...endings].slice(-maxEndings);
  }

  /** All entries before this one were delivered. Returns whether that settled something. */
  settle(sequence: number, lastOf: (ending: Ending) => number): boolean {
    const open = (ending: Ending): boolean => ending.last === undefined && ending.sequence < sequence;
    if (!this.#endings.some(open)) return false;
    this.#endings = this.#endings.map((each) => open(each) ? { ...each, last: lastOf(each) } : each);
    return true;
  }

  /** Whether a message was sent after the end of the membership that its epoch belongs to. */
  isAfter(sender: AgentId, { counter, epoch }: { readonly counter: number; readonly epoch: number }): boolean {
    const own = this.#endings.find((ending) => ending.agentId === sender && epoch < ending.epoch);
    return own?.last !== undefined && counter > own.last;
  }

  clear(): void {
    this.#endings = [];
  }
}

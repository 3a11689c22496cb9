/**
 * Changes of groups that are on their way to the log. A session that ends leaves its own behind, and the log may take them yet: an
 * agent that connects anew and asks what became of them is answered when that is decided. Else it would give up what is taken a
 * moment later, and could not follow it.
 */
import type { AgentId } from "../../proto/mod.ts";

/** `Session` is that by which an agent has sent it. */
export class UnderWay<Session> {
  readonly #changes = new Map<AgentId, Map<Promise<unknown>, Session>>();

  add(agentId: AgentId, session: Session, change: Promise<unknown>): void {
    const changes = this.#changes.get(agentId) ?? new Map<Promise<unknown>, Session>();
    this.#changes.set(agentId, changes);
    const decided = change.then(() => {}, () => {}).then(() => {
      changes.delete(decided);
      if (changes.size === 0 && this.#changes.get(agentId) === changes) this.#changes.delete(agentId);
    });
    changes.set(decided, session);
  }

  /** Resolves when all is decided that the agent has sent by other sessions than this one; undefined when nothing is under way. */
  decided(agentId: AgentId, session: Session): Promise<unknown> | undefined {
    const changes = [...this.#changes.get(agentId) ?? []].filter(([, by]) => by !== session).map(([change]) => change);
    return changes.length === 0 ? undefined : Promise.all(changes);
  }
}

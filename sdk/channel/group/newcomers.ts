/**
 * Members that came since this program opened the channel, until a call of `waitForMember()` takes
 * them. Kept with the channel, so that one that comes between two calls, or before the first, is
 * not missed. An absent member is a member: one that is back after a recovery has not come anew.
 */
import type { AgentId } from "../../../proto/mod.ts";

export class Newcomers {
  #members: ReadonlySet<AgentId>;
  /** In the order in which they came. */
  readonly #waiting = new Set<AgentId>();

  constructor(members: readonly AgentId[]) {
    this.#members = new Set(members);
  }

  /** The members have changed, perhaps by several changes. */
  look(members: readonly AgentId[]): void {
    const now = new Set(members);
    for (const agentId of this.#waiting) if (!now.has(agentId)) this.#waiting.delete(agentId);
    for (const agentId of members) if (!this.#members.has(agentId)) this.#waiting.add(agentId);
    this.#members = now;
  }

  /** The first of them for which this is true. It is returned once. */
  take(isReady: (agentId: AgentId) => boolean): AgentId | undefined {
    for (const agentId of this.#waiting) {
      if (!isReady(agentId)) continue;
      this.#waiting.delete(agentId);
      return agentId;
    }
    return undefined;
  }
}
